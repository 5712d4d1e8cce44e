//! Masking of entities, and their effect on the ranking.

use super::first;
use crate::search::entities::{Terms, parse, tokens};

struct Few;

impl Terms for Few {
    fn is_term(&self, word: &str) -> bool {
        ["ci", "cd", "issue", "list"].contains(&word)
    }

    fn is_known(&self, word: &str) -> bool {
        ["add", "the", "merge", "request", "support", "for", "delete", "project", "issues", "of"]
            .contains(&word)
    }

    fn is_verb(&self, word: &str) -> bool {
        ["list", "lock"].contains(&word)
    }
}

fn masked(request: &str) -> String {
    tokens(&parse(request, &Few)).join(" ")
}

#[test]
fn references_are_typed() {
    assert_eq!(masked("close #12"), "close [issue]");
    assert_eq!(masked("merge acme/widget!45"), "merge [mr]");
    assert_eq!(masked("what does @alice do"), "what does [user] do");
    assert_eq!(masked("show a1b2c3d4"), "show [commit]");
    assert_eq!(masked("read README.md or Cargo.lock"), "read [file] or [file]");
    assert_eq!(masked("issueList.list"), "issue list list");
    assert_eq!(masked("approve https://gitlab.com/a/b/-/merge_requests/7 now"), "approve [mr] now");
    assert_eq!(masked("open https://git.example.org:8929/a/b/-/pipelines"), "open [url] pipeline");
    assert_eq!(
        masked("put ~bug and %v1 on &4 for a.b@example.com"),
        "put [label] and [milestone] on [epic] for [email]"
    );
}

#[test]
fn numbers_dates_and_versions_are_typed() {
    assert_eq!(
        masked("jobs since 2026-01-02 or 10/2022 or March 3rd"),
        "jobs since [date] or [date] or [date]"
    );
    assert_eq!(masked("the 42 newest of v1.2.3, at 10%"), "the [number] newest of [version] at [number]");
}

#[test]
fn names_and_quotes_are_masked() {
    assert_eq!(masked("delete branch feature/login"), "delete branch [path]");
    assert_eq!(masked("issue 42 in acme/widget"), "issue [number] in [path]");
    assert_eq!(masked("send the logs to logs.acme.io"), "send the logs to [url]");
    assert_eq!(masked("create issue \"delete the old pipeline\""), "create issue [quote]");
    assert_eq!(
        masked("create issue 'the old pipeline' in 'ci-lab' (it's new)"),
        "create issue [quote] in [quote] it new"
    );
    assert_eq!(masked("close the users' issues and the group's"), "close the users issues and the group");
    assert_eq!(masked("add the Omar Haddad of nanoGPT-fr"), "add the [name] of [name]");
    assert_eq!(masked("merge-request of cloud-notes"), "merge request of [name]");
    assert_eq!(masked("Will Omar delete the merge request"), "will [name] delete the merge request");
}

#[test]
fn capitals_of_a_title_are_no_names() {
    assert_eq!(masked("Add Support For Merge Request Widgets"), "add support for merge request widgets");
}

#[test]
fn terms_of_the_field_keep_their_separators() {
    assert_eq!(masked("CI/CD list"), "ci cd list");
    assert_eq!(masked("cd/ci/list issue.cd"), "[path] [file]");
    assert_eq!(masked("list/lock/list the issues"), "list lock list the issues");
}

#[test]
fn a_query_that_is_one_quotation_is_read() {
    assert_eq!(masked("\"list issues\""), "list issues");
}

#[test]
fn the_type_of_a_named_object_decides() {
    assert_eq!(first("approve !45"), "merge_request.approve");
    assert_eq!(first("block @alice"), "user.block");
    assert_eq!(first("list issues in merge-request/demo"), "issue.list");
    assert_eq!(first("what changed between v1.0 and v1.1"), "repository.compare");
}

#[test]
fn verbs_with_slashes_between_them_are_verbs() {
    assert!(first("creates/updates/deletes labels of a group").starts_with("label."));
    assert!(first("create/list/delete branches of acme/web").starts_with("branch."));
}

#[test]
fn a_path_of_words_is_a_path() {
    assert_eq!(first("open issues of runner/cluster/wiki"), "issue.list");
    assert_eq!(first("show me deploy/key.txt on main"), "repository_file.get");
}

#[test]
fn quoted_text_asks_for_nothing() {
    assert_eq!(first("create an issue titled \"delete pipeline schedule variable\""), "issue.create");
}
