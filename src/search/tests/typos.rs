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
fn what_a_typo_holds_back_leaves_its_score_to_what_is_harmless() {
    let found = find("delte lable");
    let first = &found.hits[0];
    assert_eq!((first.action.id.as_str(), first.action.risk), ("label.update", Risk::Write));
    // As near as it would be, were the verb no guess; what cannot be said of the noun alone.
    assert!(first.score > 0.6, "{}", first.score);
}

#[test]
fn what_a_typo_holds_back_stays_in_its_order() {
    for (request, meant) in [
        ("remvoe webhok", "webhook.delete"),
        ("delte labl", "label.delete"),
        ("destory the enviroment", "environment.delete"),
    ] {
        let found = find(request);
        let first_held = found.hits.iter().find(|hit| hit.action.risk == Risk::Destructive);
        assert_eq!(first_held.map(|hit| hit.action.id.as_str()), Some(meant), "{request}: {:?}", ids(&found));
    }
}

#[test]
fn a_known_word_is_never_corrected() {
    assert_eq!(first("list tags"), "tag.list");
}
