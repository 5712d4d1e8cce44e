//! Errors in `params`, and in the arguments next to it.

use serde_json::{Value, json};

use super::{execute_mended, mended, refused, runs};
use crate::support::client::{Client, EXECUTE, FIND, succeed};

const WIDGET: &str = "acme/widget";

fn execute_arguments(action: &str, params: Value) -> Value {
    json!({"action": action, "params": params})
}

/// Each row is a call that is refused: its message, and one value of the call in `fix`, at that place.
#[test]
fn what_is_wrong_is_named_and_mended_in_one_step() {
    let mut client = Client::sandbox();
    let rows: [(Value, &[&str], &str, Value); 11] = [
        // Unknown, and misspelt.
        (
            execute_arguments("issue.list", json!({"fullPath": WIDGET, "lables": ["bug"]})),
            &["`lables`"],
            "/params/labels",
            json!(["bug"]),
        ),
        (
            execute_arguments("issue.list", json!({"fullPath": WIDGET, "frobnicate": 1})),
            &["`frobnicate`"],
            "/detail",
            json!("schema"),
        ),
        // No number.
        (
            execute_arguments("issue.get", json!({"fullPath": WIDGET, "iid": "12abc"})),
            &["`iid` is an integer; \"12abc\" was given"],
            "/query",
            json!("issue.get"),
        ),
        (
            execute_arguments("issue.get", json!({"fullPath": WIDGET, "iid": "1e3"})),
            &["\"1e3\" was given"],
            "/detail",
            json!("schema"),
        ),
        (
            execute_arguments("issue.get", json!({"fullPath": WIDGET, "iid": 1.5})),
            &["1.5 was given"],
            "/detail",
            json!("schema"),
        ),
        // No choice, but near one.
        (
            execute_arguments("issue.list", json!({"fullPath": WIDGET, "state": "openned"})),
            &["`opened`, `closed`"],
            "/params/state",
            json!("opened"),
        ),
        // Days in other forms.
        (
            execute_arguments(
                "issue.update",
                json!({"fullPath": WIDGET, "iid": 6, "due_date": "21/11/2026"}),
            ),
            &["`due_date` is a date such as", "21/11/2026"],
            "/params/due_date",
            json!("2026-11-21"),
        ),
        (
            execute_arguments(
                "issue.update",
                json!({"fullPath": WIDGET, "iid": 6, "due_date": "Nov 21 2026"}),
            ),
            &["Nov 21 2026"],
            "/params/due_date",
            json!("2026-11-21"),
        ),
        (
            execute_arguments("issue.list", json!({"fullPath": WIDGET, "created_after": "11/21/2026"})),
            &["`created_after` is a time such as"],
            "/params/created_after",
            json!("2026-11-21"),
        ),
        (
            execute_arguments("issue.list", json!({"fullPath": WIDGET, "created_after": "next week"})),
            &["`created_after` is a time such as", "or a date"],
            "/detail",
            json!("schema"),
        ),
        (
            execute_arguments(
                "issue.update",
                json!({"fullPath": WIDGET, "iid": 6, "due_date": "03/04/2026"}),
            ),
            &["which may be \"2026-03-04\" or \"2026-04-03\""],
            "/detail",
            json!("schema"),
        ),
    ];
    for (arguments, says, place, value) in rows {
        let (error, _) = execute_mended(&mut client, arguments.clone(), "invalid_params", says);
        assert_eq!(error["fix"]["arguments"].pointer(place), Some(&value), "{arguments}: {error}");
    }
}

#[test]
fn a_day_told_by_today_is_told_by_its_date() {
    let mut client = Client::sandbox();
    let arguments =
        execute_arguments("issue.update", json!({"fullPath": WIDGET, "iid": 6, "due_date": "tomorrow"}));
    // Midnight may pass meanwhile.
    let tomorrow = || time::OffsetDateTime::now_utc().date().next_day().unwrap().to_string();
    let before = tomorrow();
    let (error, reply) = execute_mended(&mut client, arguments, "invalid_params", &["a date such as"]);
    let said = error["fix"]["arguments"]["params"]["due_date"].as_str().unwrap().to_owned();
    assert!([before, tomorrow()].contains(&said), "{said}");
    assert_eq!(reply.structured["data"]["due_date"], said);
    // A word that GitLab accepts is kept.
    runs(
        &mut client,
        execute_arguments("issue.list", json!({"fullPath": WIDGET, "due_date": "tomorrow"})),
        &[],
    );
}

/// Each row is a call that runs, with its notes on how it was understood.
#[test]
fn what_is_plainly_meant_runs_and_is_said() {
    let mut client = Client::sandbox();
    let rows: [(Value, &[&str]); 8] = [
        (
            execute_arguments("issue.get", json!({"fullPath": WIDGET, "iid": "12"})),
            &["`iid`, which came as text, as a number"],
        ),
        (
            execute_arguments("issue.get", json!({"fullPath": WIDGET, "iid": "#12"})),
            &["`iid`, which came as text"],
        ),
        (execute_arguments("issue.get", json!({"fullPath": WIDGET, "iid": 12.0})), &[]),
        (execute_arguments("issue.list", json!({"fullPath": WIDGET, "search": 42})), &[]),
        (
            execute_arguments("issue.list", json!({"fullPath": WIDGET, "confidential": "true"})),
            &["`confidential`, which came as text"],
        ),
        (
            execute_arguments("issue.list", json!({"fullPath": WIDGET, "state": "Closed"})),
            &["`state: Closed` as `closed`"],
        ),
        (execute_arguments("issue.list", json!({"fullPath": WIDGET, "state": null, "labels": null})), &[]),
        (
            execute_arguments(
                "issue.list",
                json!({"fullPath": WIDGET, "fields": ["title"], "dry_run": false}),
            ),
            &["`fields` as an argument next to `params`"],
        ),
    ];
    for (arguments, says) in rows {
        runs(&mut client, arguments, says);
    }
    let arguments =
        json!({"action": "issue.get", "params": json!({"fullPath": WIDGET, "iid": 12}).to_string()});
    runs(&mut client, arguments, &["`params` came as text"]);
}

#[test]
fn a_parameter_of_another_scope_is_named_with_its_own() {
    let mut client = Client::sandbox();
    let says = ["`include_descendants` is not accepted for scope `project`, only for `group`"];
    let params = json!({"fullPath": WIDGET, "scope": "project", "include_descendants": true});
    let (error, _) =
        execute_mended(&mut client, execute_arguments("milestone.list", params), "invalid_params", &says);
    assert!(error["fix"]["arguments"]["params"]["include_descendants"].is_null(), "{error}");
}

#[test]
fn the_configured_project_stands_for_one_that_is_missing() {
    let mut client = Client::sandbox_with(&[("GITLAB_PROJECT", WIDGET)]);
    let note = "`fullPath` is acme/widget, the configured project";
    let reply = runs(&mut client, execute_arguments("issue.get", json!({"iid": 12})), &[note]);
    assert_eq!(reply["data"]["iid"], 12);
    // Also in what an error offers.
    let change = execute_arguments("isue.update", json!({"iid": 12, "title": "Configured"}));
    let (_, reply) = execute_mended(&mut client, change, "unknown_action", &[]);
    assert_eq!(reply.structured["data"]["title"], "Configured");
    let mut client = Client::sandbox();
    let says = ["`fullPath` is missing"];
    execute_mended(&mut client, execute_arguments("issue.get", json!({"iid": 12})), "invalid_params", &says);
}

#[test]
fn consent_is_given_beside_the_parameters_and_not_among_them() {
    let mut client = Client::sandbox();
    let arguments = execute_arguments("issue.delete", json!({"fullPath": WIDGET, "iid": 7, "confirm": true}));
    let error = refused(
        &mut client,
        (EXECUTE, arguments),
        "invalid_params",
        &["`confirm` is not a parameter of issue.delete"],
    );
    succeed(&mut client, "issue.get", json!({"fullPath": WIDGET, "iid": 7}));
    // Parameters may have been written by others: what is offered has no consent.
    let corrected = json!({"action": "issue.delete", "params": {"fullPath": WIDGET, "iid": 7}});
    assert_eq!(error["fix"]["arguments"], corrected);
    let asked = refused(&mut client, (EXECUTE, corrected), "needs_confirmation", &[]);
    super::follow(&mut client, &asked);
}

/// Errors in the tools' own arguments.
#[test]
fn arguments_that_are_none_are_mended() {
    let mut client = Client::sandbox();
    let rows = [
        (FIND, json!({"query": "list issues", "limit": "many"}), "`limit` takes a whole number"),
        (FIND, json!({}), "`query` is missing"),
        (EXECUTE, json!({}), "`action` is missing"),
        (EXECUTE, json!({"action": "issue.get", "fullPath": WIDGET, "iid": 1}), "not arguments of"),
        (
            EXECUTE,
            json!({"action": "issue.list", "params": {"fullPath": WIDGET}, "view": "tiny"}),
            "`view` takes one of",
        ),
        (FIND, json!({"query": "list issues", "domain": "isue"}), "there is no domain `isue`"),
    ];
    for (tool, arguments, says) in rows {
        mended(&mut client, (tool, arguments), "invalid_params", &[says]);
    }
}

#[test]
fn a_page_past_the_end_leads_back_to_the_last() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "state": "all", "per_page": 20, "page": 9});
    let reply = runs(
        &mut client,
        execute_arguments("issue.list", params),
        &["page 9 is past the end: the last with rows is 3"],
    );
    assert_eq!(reply["data"], json!([]));
    let last = &reply["page"]["last"];
    assert_eq!(last["arguments"]["params"]["page"], 3);
    let reply = client.call(last["tool"].as_str().unwrap(), last["arguments"].clone());
    assert!(!reply.is_error && !reply.structured["data"].as_array().unwrap().is_empty(), "{}", reply.text);
    // A list without rows is one on its first page.
    let none = runs(
        &mut client,
        execute_arguments("issue.list", json!({"fullPath": WIDGET, "search": "no such words"})),
        &[],
    );
    assert!(none["page"]["last"].is_null());
}

/// A requirement needs no title, and was offered for an issue without one.
#[test]
fn a_missing_parameter_leads_to_no_other_action() {
    let mut client = Client::sandbox();
    for (action, missing) in [("issue.create", "`title`"), ("epic.create", "`title`")] {
        let params = json!({"fullPath": "acme", "description": "Oil"});
        let call = (EXECUTE, json!({"action": action, "params": params}));
        let error = refused(&mut client, call, "invalid_params", &[missing, "missing"]);
        assert_eq!(error["fix"]["arguments"]["query"], action, "{error}");
    }
}
