use proptest::prelude::*;
use url::Url;

use super::{is_url_of, parse, short};
use crate::call::Fault;
use crate::catalog::ObjectKind;

fn base() -> Url {
    Url::parse("https://gitlab.example/").unwrap()
}

/// `path | holder | kind | value | note`.
fn parse_and_render(text: &str, base: &Url) -> String {
    let reference = parse(text, base).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    let holder = reference.holder.map_or("-", |scope| scope.name());
    let note = reference.note.map(|note| format!(" note {note}")).unwrap_or_default();
    format!("{} {holder} {:?} {}{note}", reference.path, reference.kind, reference.value)
        .trim_end()
        .to_owned()
}

const PAGES: [(&str, &str); 41] = [
    ("acme/widget/-/issues/12", "acme/widget project Issue 12"),
    ("acme/widget/issues/12", "acme/widget project Issue 12"),
    ("acme/widget/-/issues/12/", "acme/widget project Issue 12"),
    ("acme/widget/-/issues/12?tab=x#note_345", "acme/widget project Issue 12 note 345"),
    ("acme/widget/-/issues/incident/12", "acme/widget project Issue 12"),
    ("acme/tools/widget-cli/-/issues/1", "acme/tools/widget-cli project Issue 1"),
    ("acme/widget/-/work_items/12", "acme/widget project WorkItem 12"),
    ("groups/acme/-/work_items/3", "acme group WorkItem 3"),
    ("acme/widget/-/merge_requests/45/diffs#x", "acme/widget project MergeRequest 45"),
    ("groups/acme/-/epics/7", "acme group Epic 7"),
    ("groups/acme/epics/7", "acme group Epic 7"),
    ("acme/-/epics/7", "acme group Epic 7"),
    ("groups/acme/tools/-/epics/7", "acme/tools group Epic 7"),
    ("acme/widget/-/commit/0badcafe", "acme/widget project Commit 0badcafe"),
    (
        "acme/widget/-/blob/main/docs/a%20b.md?ref_type=heads#L10-12",
        "acme/widget project File main/docs/a b.md",
    ),
    ("acme/widget/blob/main/a.md", "acme/widget project File main/a.md"),
    ("acme/widget/-/raw/main/a.md", "acme/widget project File main/a.md"),
    ("acme/widget/-/tree/main", "acme/widget project Branch main"),
    ("acme/widget/-/tree/main/src/x", "acme/widget project Directory main/src/x"),
    ("acme/widget/-/commits/main", "acme/widget project Branch main"),
    ("acme/widget/-/pipelines/99", "acme/widget project Pipeline 99"),
    ("acme/widget/-/jobs/100", "acme/widget project Job 100"),
    ("acme/widget/-/milestones/3", "acme/widget project Milestone %3"),
    ("groups/acme/-/milestones/3", "acme group Milestone %3"),
    ("acme/widget/-/snippets/5", "acme/widget project Snippet 5"),
    ("-/snippets/5", "- Snippet 5"),
    ("acme/widget/-/wikis/guides/oiling", "acme/widget project Wiki guides/oiling"),
    ("acme/widget/-/releases/v1.0.0", "acme/widget project Release v1.0.0"),
    ("acme/widget/-/tags/v1.0.0", "acme/widget project Tag v1.0.0"),
    ("acme/widget", "acme/widget - Holder"),
    ("acme/widget/", "acme/widget - Holder"),
    ("groups/acme", "acme group Holder"),
    ("acme/widget/-/issues", "acme/widget project Holder"),
    ("acme/widget/-/issues/new", "acme/widget project Holder"),
    ("groups/acme/-/settings", "acme group Holder"),
    ("acme/widget.git", "acme/widget - Holder"),
    ("api/v4/projects/acme%2Fwidget/issues/3", "acme/widget project Issue 3"),
    ("api/v4/projects/7/merge_requests/12/notes/5", "7 project MergeRequest 12"),
    ("api/v4/projects/acme%2Fwidget/issues", "acme/widget project Holder"),
    ("api/v4/groups/acme%2Ftools/epics/7", "acme/tools group Epic 7"),
    ("api/v4/projects/7", "7 project Holder"),
];

#[test]
fn a_page_needs_no_host() {
    assert_eq!(parse_and_render("acme/widget/-/issues/3", &base()), "acme/widget project Issue 3");
    // Several GitLabs may be configured, and the path is of none of them in particular.
    assert!(!is_url_of("acme/widget/-/issues/3", &base()));
    // The first segment may be a host.
    let other = parse("other.example/acme/widget/-/issues/3", &base());
    assert!(!other.is_ok_and(|reference| reference.kind == ObjectKind::Issue));
}

/// A milestone has another number in the API than on its page.
#[test]
fn an_address_of_the_api_with_another_number_is_refused() {
    for path in ["projects/7/milestones/3", "users/5", "projects/7/repository/files/a.md"] {
        let fault = parse(&format!("https://gitlab.example/api/v4/{path}"), &base()).unwrap_err();
        assert!(fault.to_string().contains("address of the API"), "{fault}");
    }
}

const SHORT: [(&str, &str); 13] = [
    ("acme/widget#12", "acme/widget project Issue 12"),
    ("#12", "project Issue 12"),
    ("acme/widget!45", "acme/widget project MergeRequest 45"),
    ("acme&7", "acme group Epic 7"),
    ("acme/widget", "acme/widget - Holder"),
    ("/acme/widget/", "acme/widget - Holder"),
    ("acme", "acme - Holder"),
    ("acme/widget@0badcafe", "acme/widget project Commit 0badcafe"),
    ("acme/widget%\"v1 beta\"", "acme/widget - Milestone %\"v1 beta\""),
    ("acme/widget~bug", "acme/widget - Label bug"),
    ("acme/widget~\"needs triage\"", "acme/widget - Label needs triage"),
    ("@alice", "- User alice"),
    ("acme/widget$3", "acme/widget project Snippet 3"),
];

#[test]
fn pages_are_read_under_any_root() {
    let below = Url::parse("https://gitlab.example:8443/code/").unwrap();
    for (page, expected) in PAGES {
        assert_eq!(
            parse_and_render(&format!("https://gitlab.example/{page}"), &base()).trim_start(),
            expected
        );
        assert_eq!(
            parse_and_render(&format!("https://gitlab.example:8443/code/{page}"), &below).trim_start(),
            expected
        );
        assert_eq!(parse_and_render(&format!("gitlab.example/{page}"), &base()).trim_start(), expected);
    }
}

#[test]
fn references_are_read() {
    for (text, expected) in SHORT {
        assert_eq!(parse_and_render(text, &base()).trim_start(), expected, "{text}");
    }
}

#[test]
fn what_is_none_says_so() {
    for text in
        ["", "a b", "acme/widget#", "acme/widget#x", "acme//widget", "acme/..", "ftp://gitlab.example/a", "#"]
    {
        assert!(matches!(parse(text, &base()), Err(Fault::NoTarget { .. })), "{text}");
    }
    let other = parse("https://gitlab.other/acme/widget", &base());
    assert_eq!(
        other,
        Err(Fault::OtherHost { given: "gitlab.other".into(), configured: "gitlab.example".into() })
    );
    let below = Url::parse("https://gitlab.example/code").unwrap();
    assert!(matches!(parse("https://gitlab.example/codex/a", &below), Err(Fault::NoTarget { .. })));
}

proptest! {
    #[test]
    fn reading_never_panics(text in ".*", page in "[-a-z0-9/%#?_&~!@.]*") {
        let _ = parse(&text, &base());
        let _ = parse(&format!("https://gitlab.example/{page}"), &base());
    }

    #[test]
    fn what_is_written_is_read_again(
        path in "[a-z][a-z0-9_-]{0,8}(/[a-z][a-z0-9_-]{0,8}){1,3}",
        number in 1_u32..,
        kind in prop::sample::select(vec![ObjectKind::Issue, ObjectKind::MergeRequest, ObjectKind::Epic, ObjectKind::Snippet]),
    ) {
        let mut reference = short::parse(&path).unwrap();
        reference.kind = kind;
        reference.value = number.to_string();
        let read = short::parse(&reference.to_string()).unwrap();
        prop_assert_eq!((read.path, read.kind, read.value), (reference.path, reference.kind, reference.value));
    }
}
