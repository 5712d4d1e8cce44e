//! Slips of the finger.

use super::{Confidence, find, first, ids};

#[test]
fn a_slip_is_forgiven() {
    assert_eq!(first("merge requst lsit"), "merge_request.list");
    assert_eq!(first("create a mergerequest"), "merge_request.create");
    assert_eq!(first("list pipelnes"), "pipeline.list");
}

/// Risk is a label and `confirm` the gate: a corrected verb ranks like one that was spelt right, and is never sure.
#[test]
fn a_typo_in_a_destructive_verb_is_corrected_and_unsure() {
    for (request, meant) in [
        ("delte branch", "branch.delete"),
        ("delete branhc", "branch.delete"),
        ("blokc user", "user.block"),
        ("remvoe webhok", "webhook.delete"),
        ("delte labl", "label.delete"),
        ("destory the enviroment", "environment.delete"),
    ] {
        let found = find(request);
        assert_eq!(ids(&found)[0], meant, "{request}: {:?}", ids(&found));
        assert_eq!(found.confidence, Confidence::Low, "{request}");
    }
}

#[test]
fn a_known_word_is_never_corrected() {
    assert_eq!(first("list tags"), "tag.list");
}
