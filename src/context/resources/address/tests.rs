use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The name of the object and its action's parameters.
fn thing(uri: &str) -> (&'static str, Value) {
    match parse(uri) {
        Ok(ResourceUri::ResourceKind(reading)) => {
            (reading.thing.row.name.as_str(), Value::Object(reading.params))
        }
        other => panic!("{uri}: {other:?}"),
    }
}

fn refusal(uri: &str) -> (ErrorKind, String) {
    let error = parse(uri).expect_err(uri);
    (error.kind, error.message)
}

#[test]
fn a_path_may_be_encoded_ended_by_a_dash_or_plain() {
    let issue = json!({"fullPath": "acme/tools/widget-cli", "iid": "12"});
    for uri in [
        "gitlab://project/acme%2Ftools%2Fwidget-cli/issue/12",
        "gitlab://project/acme%2ftools%2fwidget-cli/issue/12",
        "gitlab://project/acme%2Ftools%2Fwidget-cli/-/issue/12",
        "gitlab://project/acme/tools/widget-cli/-/issue/12",
        "gitlab://project/acme/tools/widget-cli/issue/12",
        "gitlab://project/acme/tools/widget-cli/issue/12/",
        "GitLab://project/acme/tools/widget-cli/issue/12",
    ] {
        assert_eq!(thing(uri), ("issue", issue.clone()), "{uri}");
    }
    for uri in
        ["gitlab://project/acme/widget", "gitlab://project/acme%2Fwidget", "gitlab://project/acme/widget/-"]
    {
        assert_eq!(thing(uri), ("project", json!({"fullPath": "acme/widget"})), "{uri}");
    }
    assert_eq!(thing("gitlab://project/42/issue/1"), ("issue", json!({"fullPath": "42", "iid": "1"})));
    assert_eq!(thing("gitlab://group/acme"), ("group", json!({"fullPath": "acme"})));
    assert_eq!(thing("gitlab://group/acme/tools"), ("group", json!({"fullPath": "acme/tools"})));
    assert_eq!(thing("gitlab://group/acme/epic/3"), ("epic", json!({"fullPath": "acme", "iid": "3"})));
}

/// Groups and projects named like words of the URI scheme.
#[test]
fn the_shortest_path_wins_unless_a_dash_ends_it() {
    let of = |path: &str, iid: &str| ("issue", json!({"fullPath": path, "iid": iid}));
    assert_eq!(thing("gitlab://project/issue/issue/issue/7"), of("issue/issue", "7"));
    assert_eq!(thing("gitlab://project/acme/issue/widget/issue/7"), of("acme/issue/widget", "7"));
    assert_eq!(thing("gitlab://project/issue/12/issue/7"), of("issue/12", "7"));
    assert_eq!(thing("gitlab://project/a/issue/12/-/issue/7"), of("a/issue/12", "7"));
    assert_eq!(thing("gitlab://project/a%2Fissue%2F12/issue/7"), of("a/issue/12", "7"));
    assert_eq!(thing("gitlab://project/acme/issue"), ("project", json!({"fullPath": "acme/issue"})));
    assert_eq!(
        thing("gitlab://project/acme/widget/file/main/docs/issue/1"),
        ("file", json!({"fullPath": "acme/widget", "ref": "main", "file_path": "docs/issue/1"}))
    );
}

#[test]
fn names_are_decoded_once() {
    let file =
        |at: &str, path: &str| ("file", json!({"fullPath": "acme/widget", "ref": at, "file_path": path}));
    let base = "gitlab://project/acme/widget";
    assert_eq!(thing(&format!("{base}/file/feature%2Fx/src/a%20b%23.rs")), file("feature/x", "src/a b#.rs"));
    assert_eq!(thing(&format!("{base}/file/main/docs%2F100%25.md")), file("main", "docs/100%.md"));
    assert_eq!(thing(&format!("{base}/file/docs%2F%C3%A9t%C3%A9/été.md")), file("docs/été", "été.md"));
    assert_eq!(thing(&format!("{base}/file/main/%252e%252e/x")), file("main", "%2e%2e/x"));
    let (name, params) = thing(&format!("{base}/wiki/guides/oiling"));
    assert_eq!((name, &params["slug"]), ("wiki_page", &json!("guides/oiling")));
    let (name, params) = thing(&format!("{base}/milestone/2"));
    assert_eq!((name, &params["milestone_id"]), ("milestone", &json!("%2")));
    assert_eq!(thing("gitlab://user/alice"), ("user", json!({"user_id": "alice"})));
    assert_eq!(thing("gitlab://snippet/3"), ("personal_snippet", json!({"snippet_id": "3"})));
}

#[test]
fn a_query_may_have_parameters_of_the_action() {
    let Ok(ResourceUri::ResourceKind(log)) = parse("gitlab://project/acme/widget/job/7/log?lines=-50") else {
        panic!()
    };
    assert_eq!((log.thing.row.name.as_str(), log.lines.as_deref()), ("job_log", Some("-50")));
    let (_, params) = thing("gitlab://project/acme/widget/merge_request/5/diff?page=2&per_page=10");
    assert_eq!((&params["page"], &params["per_page"]), (&json!("2"), &json!("10")));
    for uri in [
        "gitlab://project/acme/widget/issue/1?lines=1-5",
        "gitlab://project/acme/widget/merge_request/5/diff?scope=group",
        "gitlab://project/acme/widget/merge_request/5/diff?fullPath=other",
        "gitlab://tools?after=x",
        "gitlab://tools/issue.get?page=1",
        "gitlab://guides/raw-api?x=1",
        "gitlab://workspace/roots?x=1",
        "gitlab://tools?page=two",
        "gitlab://tools?page",
        "gitlab://tools?domain=%zz",
    ] {
        assert_eq!(refusal(uri).0, ErrorKind::InvalidParams, "{uri}");
    }
}

#[test]
fn parent_segments_invisible_characters_and_bad_encoding_are_refused() {
    for uri in [
        "gitlab://project/acme/../root",
        "gitlab://project/acme/%2e%2e/root",
        "gitlab://project/acme%2F..%2Froot/issue/1",
        "gitlab://project/acme//widget",
        "gitlab://project/acme/./widget",
        "gitlab://project/acme/widget/file/main/../../etc/passwd",
        "gitlab://project/acme/widget/file/main/a%2F..%2Fb",
        "gitlab://project/acme/widget/file/main/a%00b",
        "gitlab://project/acme/widget/file/main/a%0d%0aHost: x",
        "gitlab://project/acme/widget/file/main/a\\b",
        "gitlab://project/acme/widget/file/main/a\u{202e}b",
        "gitlab://project/acme/widget/file/main/%E0%80",
        "gitlab://project/acme/widget/file/main/100%",
        "gitlab://project/acme/widget/file/main/a%2",
        "gitlab://project/acme/wid get/issue/1",
        "gitlab://project/acme%252Fwidget/issue/1",
        "gitlab://project/acme/widget/issue/1#note_3",
        "gitlab://project/%2Facme/issue/1",
        "gitlab:///project/acme/widget",
        "gitlab://",
    ] {
        let (kind, message) = refusal(uri);
        assert_eq!(kind, ErrorKind::InvalidParams, "{uri}: {message}");
        assert!(!message.contains(['\n', '\r', '\0', '\u{202e}']), "{message:?}");
    }
    let long = format!("gitlab://project/{}", "a/".repeat(4_000));
    let (kind, message) = refusal(&long);
    assert!(kind == ErrorKind::InvalidParams && message.len() < 300, "{message}");
}

#[test]
fn an_unknown_uri_is_not_found() {
    for uri in [
        "",
        "gitlab",
        "gitlab:project/acme/widget",
        "http://gitlab.com/acme/widget",
        "file:///etc/passwd",
        "javascript://gitlab/%0aalert(1)",
        "gitlab://nothing/acme/widget",
        "gitlab://me@project/acme/widget",
        "gitlab://project:80/acme/widget",
        "gitlab://project",
        "gitlab://tools/a/b",
        "gitlab://user/alice/keys",
        "gitlab://project/acme%2Fwidget/secret/1",
        "gitlab://project/acme/widget/-/issue/twelve",
        "gitlab://project/acme/widget/-/issue/123456789012345678901234567890",
        "gitlab://group/acme%2Ftools/issue/1",
    ] {
        assert_eq!(refusal(uri).0, ErrorKind::NotFound, "{uri}");
    }
}

/// Each template, filled by RFC 6570, parses as its own object.
#[test]
fn a_filled_template_parses_as_its_object() {
    for known in RESOURCE_KINDS.iter() {
        let mut uri = known.row.template.clone();
        if let Some((address, _)) = uri.clone().split_once("{?") {
            uri = address.to_owned();
        }
        uri = uri.replace("{+fullPath}", "acme/widget").replace("{fullPath}", "acme%2Fwidget");
        for part in &known.parts {
            let UriPart::Value(value) = part else { continue };
            let filling = if value.form == VariableForm::Number { "7" } else { "x" };
            uri = uri
                .replace(&format!("{{{}}}", value.name), filling)
                .replace(&format!("{{+{}}}", value.name), "x/y");
        }
        assert!(!uri.contains('{'), "{uri}");
        assert_eq!(thing(&uri).0, known.row.name, "{uri}");
    }
    let mut templates: Vec<&str> = RESOURCE_KINDS.iter().map(|kind| kind.row.template.as_str()).collect();
    templates.sort();
    templates.dedup();
    assert_eq!(templates.len(), RESOURCE_KINDS.len());
}

/// The table agrees with the catalog.
#[test]
fn every_object_has_a_read_action_with_its_parameters() {
    let catalog = crate::catalog::Catalog::embedded().unwrap();
    for ResourceKind { row, parts, query, .. } in RESOURCE_KINDS.iter() {
        let action = catalog.get(&row.action).unwrap().unwrap_or_else(|| panic!("{}", row.action));
        assert_eq!(action.risk, crate::catalog::Risk::Read, "{}", row.name);
        let mut known: BTreeSet<&str> = row.variables.keys().map(String::as_str).collect();
        for part in parts {
            let UriPart::Value(value) = part else { continue };
            assert!(action.param(value.param).is_some(), "{}: {}", row.name, value.param);
            known.remove(value.name);
        }
        assert!(known.is_empty(), "{}: {known:?} is in no template", row.name);
        for name in query.iter().filter(|name| **name != "lines") {
            assert!(action.param(name).is_some(), "{}: {name}", row.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// For any input, a parsed path has no parent segments and no invisible characters.
    #[test]
    fn nothing_that_is_read_climbs_or_hides(
        kind in "project|group|user|snippet|tools|guides|x",
        parts in prop::collection::vec(
            "issue|file|wiki|-|acme|acme%2Fwidget|[0-9]{1,3}|\\.{1,2}|%2e%2E|%2f|%25|%00|\\PC{0,4}|%[0-9a-fA-F]{2}",
            0..7,
        ),
        query in "(\\?(lines|page|fullPath|x)=\\PC{0,4})?",
    ) {
        if let Ok(ResourceUri::ResourceKind(reading)) = parse(&format!("gitlab://{kind}/{}{query}", parts.join("/"))) {
            for (name, value) in &reading.params {
                let text = value.as_str().unwrap();
                let is_of_query = reading.thing.query.contains(&name.as_str());
                prop_assert!(is_of_query || !text.split('/').any(|part| ["", ".", ".."].contains(&part)), "{}", text);
                prop_assert!(!text.chars().any(char::is_control), "{:?}", text);
            }
            let path = reading.params.get("fullPath");
            prop_assert!(path.is_none_or(|path| is_full_path(path.as_str().unwrap())));
        }
    }
}
