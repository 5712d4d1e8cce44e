//! What a request names is taken out of its words.

use super::first;
use crate::search::mentions::read;

fn kinds(request: &str) -> Vec<&'static str> {
    read(request, &|word| ["ci", "cd", "issue", "list"].contains(&word)).kinds
}

fn words(request: &str) -> String {
    let read = read(request, &|word| ["ci", "cd", "issue", "list"].contains(&word));
    read.words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn references_tell_their_kind() {
    assert_eq!(kinds("close #12"), ["issue"]);
    assert_eq!(kinds("merge acme/widget!45"), ["merge request"]);
    assert_eq!(kinds("what does @alice do"), ["user"]);
    assert_eq!(kinds("show a1b2c3d4"), ["commit"]);
    assert_eq!(kinds("read README.md"), ["file"]);
    assert_eq!(kinds("approve https://gitlab.com/a/b/-/merge_requests/7 now"), ["merge request"]);
}

#[test]
fn names_numbers_and_quotes_are_no_words() {
    assert_eq!(words("delete branch feature/login"), "delete branch");
    assert_eq!(words("issue 42 in acme/widget"), "issue in");
    assert_eq!(words("create issue \"delete the old pipeline\""), "create issue");
}

#[test]
fn words_of_the_field_are_kept_with_their_separators() {
    assert_eq!(words("CI/CD list"), "CI/CD list");
    assert_eq!(words("issue.list"), "issue.list");
}

#[test]
fn the_kind_of_what_is_named_decides() {
    assert_eq!(first("approve !45"), "merge_request.approve");
    assert_eq!(first("block @alice"), "user.block");
    assert_eq!(first("list issues in merge-request/demo"), "issue.list");
}

#[test]
fn quoted_text_asks_for_nothing() {
    assert_eq!(first("create an issue titled \"delete pipeline schedule variable\""), "issue.create");
}
