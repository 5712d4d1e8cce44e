//! Slips of the finger.

use super::{Risk, find, first, ids};

#[test]
fn a_slip_is_forgiven() {
    assert_eq!(first("merge requst lsit"), "merge_request.list");
    assert_eq!(first("create a mergerequest"), "merge_request.create");
    assert_eq!(first("list pipelnes"), "pipeline.list");
}

#[test]
fn a_typo_never_lifts_a_destructive_action() {
    for request in ["delte branch", "delete branhc", "blokc user", "reomve the project"] {
        let found = find(request);
        let first = found.hits.first().map(|hit| hit.action.risk);
        assert!(first.is_some() && first != Some(Risk::Destructive), "{request}: {:?}", ids(&found));
    }
}

#[test]
fn a_known_word_is_never_corrected() {
    assert_eq!(first("list tags"), "tag.list");
}
