//! Text normalization.

use gitlab_mcp_embed::search::normalise::{Stemmer, split};

fn words(text: &str) -> Vec<String> {
    Stemmer::new(&["setting".to_owned(), "state".to_owned()]).words(text)
}

#[test]
fn case_and_separators_do_not_matter() {
    assert_eq!(split("Merge-Request_IID"), ["merge", "request", "iid"]);
    assert_eq!(words("merge requests"), words("Merge_Request"));
}

#[test]
fn camel_case_is_split_but_names_are_not() {
    assert_eq!(split("fullPath"), ["full", "path"]);
    assert_eq!(split("MergeRequest"), ["merge", "request"]);
    assert_eq!(split("GitLab NuGet OAuth"), ["gitlab", "nuget", "oauth"]);
}

#[test]
fn plurals_and_verb_endings_meet() {
    for (one, other) in [
        ("branches", "branch"),
        ("policies", "policy"),
        ("merged", "merge"),
        ("merging", "merges"),
        ("starred", "star"),
        ("statuses", "status"),
    ] {
        assert_eq!(words(one), words(other), "{one}");
    }
}

#[test]
fn false_endings_are_kept() {
    assert_eq!(words("access"), ["access"]);
    assert_eq!(words("settings"), ["setting"]);
    assert_ne!(words("states"), words("stats"));
}

#[test]
fn a_possessive_is_the_word() {
    assert_eq!(split("the user's key"), ["the", "user", "key"]);
}

#[test]
fn a_contraction_is_its_first_word() {
    assert_eq!(split("we're sure I'd say they’ll go"), ["we", "sure", "i", "say", "they", "go"]);
    assert_eq!(split("don't"), ["dont"]);
}

#[test]
fn endings_are_told() {
    let stemmer = Stemmer::default();
    assert!(stemmer.stem("issues").1.plural);
    assert!(stemmer.stem("closed").1.past);
    assert!(!stemmer.stem("close").1.past);
}
