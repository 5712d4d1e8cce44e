//! Misspelt requests.

use super::{Confidence, find, first, ids};

#[test]
fn a_slip_is_forgiven() {
    assert_eq!(first("merge requst lsit"), "merge_request.list");
    assert_eq!(first("create a mergerequest"), "merge_request.create");
    assert_eq!(first("list pipelnes"), "pipeline.list");
}

/// Confirmation, not ranking, protects against destructive actions: a corrected verb ranks like a correct one but never
/// has high confidence.
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

#[test]
fn slips_in_both_words_are_corrected() {
    for (request, meant) in [
        ("list isses", "issue.list"),
        ("lst isues", "issue.list"),
        ("piplne list", "pipeline.list"),
        ("lits pipelnes", "pipeline.list"),
        ("lisst isus", "issue.list"),
        ("delte brnach", "branch.delete"),
        ("rerty pipline", "pipeline.retry"),
        ("aprove merg request", "merge_request.approve"),
    ] {
        assert_eq!(first(request), meant, "{request}");
    }
    assert!(!find("updaet brnach").hits.is_empty());
}

#[test]
fn names_are_not_corrected_where_nothing_is_lacking() {
    for request in ["list issues in foo", "list jobs for anna", "create a branch called brandt"] {
        let understood = &find(request).hits[0].explain[0];
        assert!(!understood.contains("read as"), "{understood}");
    }
}
