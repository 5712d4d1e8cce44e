//! What a request names is taken out of its words.

use super::first;
use crate::search::mentions::{Terms, read};

struct Few;

impl Terms for Few {
    fn is_term(&self, word: &str) -> bool {
        ["ci", "cd", "issue", "list"].contains(&word)
    }

    fn is_verb(&self, word: &str) -> bool {
        ["list", "lock"].contains(&word)
    }
}

fn kinds(request: &str) -> Vec<&'static str> {
    read(request, &Few).kinds
}

fn words(request: &str) -> String {
    let read = read(request, &Few);
    read.words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn references_tell_their_kind() {
    assert_eq!(kinds("close #12"), ["issue"]);
    assert_eq!(kinds("merge acme/widget!45"), ["merge request"]);
    assert_eq!(kinds("what does @alice do"), ["user"]);
    assert_eq!(kinds("show a1b2c3d4"), ["commit"]);
    assert_eq!(kinds("read README.md"), ["file"]);
    assert_eq!(kinds("read Cargo.lock"), ["file"]);
    assert_eq!(kinds("issueList.list"), [""; 0]);
    assert_eq!(kinds("approve https://gitlab.com/a/b/-/merge_requests/7 now"), ["merge request"]);
}

#[test]
fn two_revisions_are_compared() {
    assert_eq!(kinds("what changed between v1.0 and 1.1.2"), ["compare"]);
    assert_eq!(kinds("a1b2c3d4 against f00ba12"), ["commit", "compare"]);
    assert!(kinds("what changed since v1.0").is_empty());
    assert!(kinds("from 2026-01-02 to 2026-02-03, 5 of 10 %").is_empty());
}

#[test]
fn names_numbers_and_quotes_are_no_words() {
    assert_eq!(words("delete branch feature/login"), "delete branch");
    assert_eq!(words("issue 42 in acme/widget"), "issue in");
    assert_eq!(words("send the logs to logs.acme.io"), "send the logs to");
    assert!(kinds("send the logs to logs.acme.io").is_empty());
    assert_eq!(words("create issue \"delete the old pipeline\""), "create issue");
    assert_eq!(words("create issue 'the old pipeline' in 'ci-lab' (it's new)"), "create issue in (it's new)");
    assert_eq!(words("close the users' issues and the group's"), "close the users' issues and the group's");
}

#[test]
fn words_of_the_field_are_kept_with_their_separators() {
    assert_eq!(words("CI/CD list"), "CI/CD list");
    assert_eq!(words("issue.list"), "issue.list");
    assert_eq!(words("cd/ci/list issue.cd"), "");
}

#[test]
fn the_kind_of_what_is_named_decides() {
    assert_eq!(first("approve !45"), "merge_request.approve");
    assert_eq!(first("block @alice"), "user.block");
    assert_eq!(first("list issues in merge-request/demo"), "issue.list");
    assert_eq!(first("what changed between v1.0 and v1.1"), "repository.compare");
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
