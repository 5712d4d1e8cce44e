//! Other products' words, and what each place of the index is for.

use super::{find, first};

#[test]
fn other_products_words_are_understood() {
    assert_eq!(first("list PRs"), first("list merge requests"));
    assert_eq!(first("list pull requests"), "merge_request.list");
    assert_eq!(first("open a ticket"), "issue.create");
    assert_eq!(first("add a secret for CI"), "ci_variable.create");
    assert_eq!(first("rerun the pipeline"), "pipeline.retry");
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
    for step in ["understood:", "asked for: list", "object:", "words:", "line:", "verb:"] {
        assert!(explain.contains(step), "{step} is missing in\n{explain}");
    }
}
