//! Rare parameter names and values lead to their actions.

use super::{Confidence, find, first, ids};

#[test]
fn a_rare_parameter_leads_to_its_actions_however_it_is_spelt() {
    for name in ["squash_commit_message", "squashCommitMessage", "squash commit message"] {
        assert_eq!(first(name), "merge_request.merge", "{name}");
    }
    assert_eq!(first("only_allow_merge_if_pipeline_succeeds"), "project.update");
}

#[test]
fn a_rare_value_leads_to_its_actions() {
    let found = find("created_by_me");
    for id in ["issue.list", "merge_request.list"] {
        assert!(ids(&found)[..4].contains(&id), "{:?}", ids(&found));
    }
    assert_eq!(first("list merge requests created_by_me"), "merge_request.list");
}

#[test]
fn a_request_in_words_is_taken_at_its_words() {
    let found = find("list issues");
    assert_eq!((ids(&found)[0], found.confidence), ("issue.list", Confidence::High));
}
