use serde_json::json;
use url::Url;

use super::*;
use crate::call::{self, Context, LookupCache, Step};
use crate::catalog::Catalog;

/// Fills the line as the call of that action would.
fn line(action: &str, params: Value) -> AuditLine {
    let catalog = Catalog::embedded().unwrap();
    let base = Url::parse("https://gitlab.example.com/").unwrap();
    let context = Context {
        base: &base,
        words: catalog.words().unwrap(),
        surface: catalog.operations().unwrap(),
        catalog: &catalog,
        quick_actions: Default::default(),
    };
    let action = catalog.get(action).unwrap().unwrap();
    let checked = call::check(action, params.as_object().unwrap().clone(), &context).unwrap();
    let Step::Ready(call) = checked.step(&LookupCache::default()).unwrap() else {
        panic!("unexpected question")
    };
    let auditor = Auditor::new(Audit::Off, None);
    let mut entry = auditor.begin();
    entry.set_action(checked.action(), checked.params());
    entry.set_call(&call, &checked);
    std::mem::take(&mut entry.state.line)
}

#[test]
fn the_object_is_named_and_no_other_value() {
    let widget = "acme/wid-get";
    let secret = "648d97c6eef5fc5df8d1004565b3ee5a";
    let cases = [
        ("issue.get", json!({"fullPath": widget, "iid": 7}), "/projects/acme%2Fwid-get/issues/7"),
        (
            "repository_file.get",
            json!({"fullPath": widget, "file_path": "src/plan.md", "ref": "sesame"}),
            "/projects/acme%2Fwid-get/repository/files/src%2Fplan.md",
        ),
        (
            "branch.delete",
            json!({"fullPath": widget, "branch": "old-login"}),
            "/projects/acme%2Fwid-get/repository/branches/old-login",
        ),
        (
            "issue.list",
            json!({"fullPath": widget, "search": "sesame", "scope": "project"}),
            "/projects/acme%2Fwid-get/issues",
        ),
        // Who has the secret of an upload may see it.
        (
            "project_upload.download",
            json!({"fullPath": widget, "secret": secret, "filename": "a.png"}),
            "/projects/acme%2Fwid-get/uploads/:secret/a.png",
        ),
    ];
    for (action, params, path) in cases {
        let line = line(action, params);
        assert_eq!(line.path.as_deref(), Some(path), "{action}");
        for form in [Audit::Text, Audit::Json] {
            let written = line.written(form);
            assert!(!written.contains("sesame") && !written.contains(secret), "{written}");
        }
    }
}

#[test]
fn of_graphql_the_target_is_told() {
    let line = line("branch_rule.list", json!({"fullPath": "acme/widget"}));
    assert_eq!(line.operation.as_deref(), Some("query project.branchRules"));
    assert_eq!((line.path, line.target.as_deref()), (None, Some("acme%2Fwidget")));
}

#[test]
fn of_a_direct_call_what_the_catalog_has_is_told() {
    let known = line(
        "api.rest",
        json!({"method": "GET", "path": "/projects/acme%2Fwidget/repository/branches/sesame"}),
    );
    assert_eq!(known.operation.as_deref(), Some("GET /projects/:id/repository/branches/:branch"));
    assert_eq!(known.path.as_deref(), Some("/projects/acme%2Fwidget/repository/branches/sesame"));
    let unknown = line("api.rest", json!({"path": "/no/such/sesame", "method": "POST"}));
    assert_eq!(unknown.operation.as_deref(), Some("POST (not in the catalog)"));
    assert_eq!(unknown.path, None);
}

#[test]
fn a_line_is_one_line_of_words() {
    let line = AuditLine {
        time: "2026-11-21T10:00:00Z".to_owned(),
        action: Some("issue.get".to_owned()),
        operation: Some("GET /x".to_owned()),
        decision: "allowed",
        status: Some(200),
        bytes: 12,
        ms: 3,
        outcome: "ok".to_owned(),
        ..AuditLine::default()
    };
    let text = "2026-11-21T10:00:00Z audit action=issue.get operation=\"GET /x\" decision=allowed status=200 \
                bytes=12 ms=3 outcome=ok";
    assert_eq!(line.written(Audit::Text), text);
    let json = r#"{"audit":{"time":"2026-11-21T10:00:00Z","action":"issue.get","operation":"GET /x","decision":"allowed","status":200,"bytes":12,"ms":3,"outcome":"ok"}}"#;
    assert_eq!(line.written(Audit::Json), json);
}
