//! Terms of other products, and the role of each index field.

use super::{find, first};
use crate::catalog::Catalog;

#[test]
fn other_products_words_are_understood() {
    assert_eq!(first("list PRs"), first("list merge requests"));
    assert_eq!(first("list pull requests"), "merge_request.list");
    assert_eq!(first("open a ticket"), "issue.create");
    assert_eq!(first("add a secret for CI"), "ci_variable.create");
    assert_eq!(first("rerun the pipeline"), "pipeline.retry");
    assert_eq!(first("abandon CL 12"), "merge_request.update");
}

#[test]
fn verbs_have_many_words() {
    for request in ["remove a project access token", "delete project access token"] {
        assert!(first(request).starts_with("project_access_token."), "{request}");
    }
    assert!(first("renew a project access token").starts_with("project_access_token.rotate"));
    assert_eq!(first("show the log of a job"), "job.log");
}

#[test]
fn an_explanation_names_the_steps() {
    let found = find("list pull requests");
    let explain = found.hits[0].explain.join("\n");
    for step in [
        "understood:",
        "encoded: list pull requests",
        "object:",
        "probability:",
        "meaning:",
        "words:",
        "text:",
        "verb:",
    ] {
        assert!(explain.contains(step), "{step} is missing in\n{explain}");
    }
}

/// Rows of the language file that can never match, or of which only the last is used.
#[test]
fn the_language_file_has_no_dead_or_doubled_rows() {
    let catalog = crate::catalog::Catalog::embedded().unwrap();
    let language = &catalog.words().unwrap().language;
    let stemmer = gitlab_mcp_embed::search::normalise::Stemmer::new(&language.never_stem);
    let mut faults = Vec::new();
    let lists = [
        ("stopwords", &language.stopwords),
        ("never_stem", &language.never_stem),
        ("prepositions", &language.prepositions),
        ("attributes", &language.attributes),
        ("questions", &language.questions),
        ("states", &language.states),
        ("passives", &language.passives),
        ("ordinary", &language.ordinary),
        ("many", &language.many),
        ("one", &language.one),
    ];
    for (name, words) in lists {
        let mut seen = std::collections::HashSet::new();
        for word in words {
            if !seen.insert(word) {
                faults.push(format!("{name}: {word} is listed twice"));
            }
            if gitlab_mcp_embed::search::normalise::split(word) != [word.as_str()] {
                faults.push(format!("{name}: {word} is never a token"));
            }
        }
    }
    let key = |phrase: &String| stemmer.words(phrase).join(" ");
    let mut verbs = std::collections::HashMap::new();
    for verb in &language.verbs {
        for say in &verb.say {
            if let Some(other) = verbs.insert(key(say), &verb.mean).filter(|other| *other != &verb.mean) {
                faults.push(format!("verb: {say} means {other:?} and {:?}", verb.mean));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_suggested_action_is_there_once_and_reads() {
    let catalog = Catalog::embedded().unwrap();
    let suggested = &catalog.words().unwrap().language.suggested;
    for (at, id) in suggested.iter().enumerate() {
        let action = catalog.get(id).unwrap().unwrap_or_else(|| panic!("there is no {id}"));
        assert_eq!(action.risk, crate::catalog::Risk::Read, "{id}");
        assert!(!suggested[..at].contains(id), "{id} is there twice");
    }
}

#[test]
fn another_product_s_ticket_is_an_issue_unless_the_product_is_meant() {
    assert_eq!(first("list jira tickets"), "issue.list");
    assert_eq!(first("create a Jira ticket"), "issue.create");
    assert_eq!(first("set up the jira integration"), "integration.update_jira");
    assert_eq!(first("import our jira tickets"), "jira_import.start");
}

/// `list` is the verb of this request, and no list of a board.
#[test]
fn a_verb_is_not_told_as_the_object() {
    let found = find("merge request list open authored by me project");
    let explain = found.hits[0].explain.join("\n");
    assert_eq!(found.hits[0].action.id, "merge_request.list");
    assert!(!explain.contains("object: list"), "{explain}");
    let explain = find("close an issue").hits[0].explain.join("\n");
    assert!(explain.contains("object: issue"), "{explain}");
}
