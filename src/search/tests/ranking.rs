//! The ranking as a whole: order, limits, filters, confidence.

use super::{Confidence, Risk, find, find_with, first, ids};
use crate::catalog::Catalog;
use crate::search::{Query, Ranker};

#[test]
fn the_same_query_gives_the_same_answer() {
    for request in ["project", "list variables of a group", "delete the thing"] {
        let one: Vec<(usize, f32)> = find(request).hits.iter().map(|hit| (hit.number, hit.score)).collect();
        let other: Vec<(usize, f32)> = find(request).hits.iter().map(|hit| (hit.number, hit.score)).collect();
        assert_eq!(one, other, "{request}");
    }
}

#[test]
fn nonsense_finds_nothing_and_says_what_could_be_asked() {
    for request in ["xyzzy plugh qwfp", "what is the weather today", ""] {
        let found = find(request);
        assert_eq!((found.confidence, found.total, found.hits.len()), (Confidence::None, 0, 0), "{request}");
        assert!(!found.suggestions.is_empty(), "{request}");
    }
}

#[test]
fn a_clear_request_is_sure_and_a_vague_one_is_not() {
    assert_eq!(find("approve a merge request").confidence, Confidence::High);
    assert_eq!(find("project").confidence, Confidence::Low);
    assert_eq!(find("delete").confidence, Confidence::Low);
}

/// Requests of many certainties.
const UNEQUAL: [&str; 40] = [
    "members",
    "close it",
    "show runners",
    "delete token",
    "search code",
    "who can push",
    "release notes",
    "cancel the build",
    "download log",
    "add a person",
    "change the name",
    "latest version",
    "protect it",
    "assign to me",
    "stop the app",
    "open bugs",
    "see variables",
    "merge it now",
    "rename label",
    "get file",
    "compare branches",
    "mirror",
    "invite user",
    "usage of storage",
    "enable feature",
    "retry",
    "list hooks",
    "upload",
    "history of a file",
    "who approved",
    "export members",
    "move ticket",
    "set due date",
    "create tag",
    "environments",
    "revoke key",
    "view todo list",
    "epic children",
    "board lists",
    "approve deployment",
];

#[test]
fn confidence_is_high_from_the_threshold_on_and_not_below() {
    let catalog = Catalog::embedded().unwrap();
    let threshold = Ranker::open(&catalog).unwrap().model.softmax.high;
    let mut near = 0;
    for request in UNEQUAL {
        let found = find(request);
        let is_high = found.confidence == Confidence::High;
        assert_eq!(is_high, found.certainty >= threshold, "{request}: {}", found.certainty);
        near += usize::from((threshold * 0.75..threshold).contains(&found.certainty));
    }
    assert!(near >= 3, "{near} requests are just below the threshold");
}

#[test]
fn a_request_in_the_words_of_an_id_is_sure() {
    for request in
        ["list issues", "create merge request", "fork project", "list commits", "create issue", "get project"]
    {
        assert_eq!(find(request).confidence, Confidence::High, "{request}");
    }
}

#[test]
fn results_are_sorted_by_score_whatever_their_risk() {
    let requests = [
        "delete",
        "merge",
        "remove it",
        "wipe",
        "transfer",
        "delete timelog",
        "delte branch",
        "who deleted the release",
        "can old branches be deleted safely?",
        "create a branch, commit a file and open a merge request",
    ];
    for request in requests {
        let found = find(request);
        let scores: Vec<f32> = found.hits.iter().map(|hit| hit.score).collect();
        assert!(
            !scores.is_empty() && scores.is_sorted_by(|a, b| a >= b),
            "{request}: {scores:?} {:?}",
            ids(&found)
        );
    }
}

#[test]
fn deleting_by_name_finds_the_destructive_action_first() {
    for noun in
        ["branch", "tag", "release", "label", "milestone", "issue", "project", "user", "webhook", "snippet"]
    {
        assert_eq!(first(&format!("delete the {noun}")), format!("{noun}.delete"));
    }
}

#[test]
fn actions_that_are_not_allowed_are_not_found() {
    let found = find_with("delete a branch", &|action| action.risk == Risk::Read);
    assert!(!found.hits.is_empty());
    assert!(found.hits.iter().all(|hit| hit.action.risk == Risk::Read));
    assert_eq!(found.withheld.first().map(String::as_str), Some("branch.delete"));
    assert!(found.withheld.iter().all(|id| found.hits.iter().all(|hit| hit.action.id != *id)));
    assert_eq!(find("delete a branch").withheld, Vec::<String>::new());
}

#[test]
fn actions_of_other_domains_are_not_reported_as_withheld() {
    let catalog = Catalog::embedded().unwrap();
    let ranker = Ranker::open(&catalog).unwrap();
    for words in ["branch.delete", "delete a branch"] {
        let query = Query { words, limit: 5, domain: Some("issue"), allow: &|_| false, explain: false };
        let withheld = ranker.rank(&catalog, &query).unwrap().withheld;
        assert!(withheld.iter().all(|id| id.starts_with("issue.")), "{words}: {withheld:?}");
    }
}

#[test]
fn a_domain_holds_the_search() {
    let catalog = Catalog::embedded().unwrap();
    let ranker = Ranker::open(&catalog).unwrap();
    let query = Query { words: "create", limit: 5, domain: Some("label"), allow: &|_| true, explain: false };
    let found = ranker.rank(&catalog, &query).unwrap();
    assert_eq!(found.hits[0].action.id, "label.create");
    assert!(found.hits.iter().all(|hit| hit.action.domain() == "label"));
}

#[test]
fn the_limit_holds_and_the_total_counts_beyond_it() {
    let catalog = Catalog::embedded().unwrap();
    let ranker = Ranker::open(&catalog).unwrap();
    let query = Query { words: "issue", limit: 2, domain: None, allow: &|_| true, explain: false };
    let found = ranker.rank(&catalog, &query).unwrap();
    assert_eq!(found.hits.len(), 2);
    assert!(found.total > 2);
    assert!(found.hits.iter().all(|hit| hit.explain.is_empty()));
}

#[test]
fn ids_of_the_common_tasks_come_first() {
    for (request, id) in [
        ("retry a pipeline", "pipeline.retry"),
        ("read the log of a failed job", "job.log"),
        ("get a file from the repository", "repository_file.get"),
        ("rotate a project access token", "project_access_token.rotate"),
        ("create a ci variable", "ci_variable.create"),
    ] {
        assert_eq!(first(request), id, "{request}");
    }
}

#[test]
fn an_imperative_after_a_story_may_be_destructive() {
    assert_eq!(first("we're done with milestone 4, so drop it"), "milestone.delete");
    let trial = "This trial spoils our dashboard; delete every vulnerability of the project, and tell Kim";
    assert_eq!(first(trial), "vulnerability.remove_all_from_project");
}

#[test]
fn a_verb_that_reads_outweighs_a_participle() {
    assert_eq!(first("look, the webhook 3 has no use any more and can go"), "webhook.delete");
    let found = find("show revoked tokens");
    assert_ne!(found.hits[0].action.risk, Risk::Destructive);
}

#[test]
fn a_verb_or_a_noun_of_gitlab_is_never_refused() {
    for (request, id) in [
        ("list issues in foo", "issue.list"),
        ("list open issues of project pizza", "issue.list"),
        ("Follow ['zoe-k', 'm.lee'] on GitLab", "user.follow"),
        ("create a new group \"q-lab\" with members ann and bo", "group.create"),
        ("delete branch foo", "branch.delete"),
        ("create project foo", "project.create"),
        ("show the pipelines of lasagna", "pipeline.list"),
    ] {
        assert_eq!(first(request), id, "{request}");
    }
    let found = find("Fork nanoGPT-fr.");
    assert!(ids(&found)[..3].contains(&"project.fork"), "{:?}", ids(&found));
    assert_ne!(found.confidence, Confidence::High);
}

#[test]
fn suggestions_are_what_is_allowed() {
    let found = find_with("xyzzy plugh qwfp", &|action| action.domain() != "issue");
    assert_eq!(found.suggestions[..3], ["merge_request.list", "project.list", "pipeline.list"]);
    assert_eq!(found.suggestions.len(), 6);
    assert!(find_with("xyzzy plugh qwfp", &|_| false).suggestions.is_empty());
}

#[test]
fn out_of_domain_requests_are_detected() {
    for request in ["is the printer out of paper", "knead the dough", "book a table for eight on Friday"] {
        assert_eq!(find(request).confidence, Confidence::None, "{request}");
    }
    for request in ["cat README.md", "who reviews this", "the fortnight that is planned in our group"] {
        assert!(!find(request).hits.is_empty(), "{request}");
    }
}

#[test]
fn each_ranked_action_has_a_learned_vector() {
    let catalog = Catalog::embedded().unwrap();
    let ranker = Ranker::open(&catalog).unwrap();
    for (number, action) in catalog.actions().map(Result::unwrap).enumerate() {
        let has_vector = ranker.embeddings.has_vector(number);
        assert!(has_vector || action.twin.is_some(), "{}: run `cargo dev vectors`", action.id);
    }
}
