//! Time, links and other calls that an update takes along, in one order.

use serde_json::json;

use super::names::{WIDGET, with_iid};
use crate::support::client::{Client, Reply, execute, follow, refused, succeed};

/// The actions of the calls of a batch.
fn actions_of(reply: &Reply) -> Vec<&str> {
    let calls = reply.structured["data"].as_array().unwrap();
    calls.iter().map(|call| call["action"].as_str().unwrap()).collect()
}

/// Estimate and time spent of an issue, in seconds.
fn time_stats(client: &mut Client, project: &str, iid: u64) -> [u64; 2] {
    let stats = succeed(client, "issue.get_time_stats", json!({"fullPath": project, "iid": iid}));
    ["time_estimate", "total_time_spent"].map(|name| stats["data"][name].as_u64().unwrap())
}

#[test]
fn an_update_estimates_and_logs_time_with_a_comment() {
    for (place, number) in [("fullPath", "iid"), ("project_id", "issue_iid")] {
        let mut client = Client::sandbox();
        let params = json!({
            place: WIDGET, number: 1,
            "time_estimate": "4h", "spent": "1h30m", "comment": "Took longer.", "weight": 3,
        });
        let reply = execute(&mut client, "issue.update", params);
        assert!(!reply.is_error, "{}", reply.text);
        let expected =
            ["issue_note.create", "issue.update", "issue.set_time_estimate", "issue.add_spent_time"];
        assert_eq!(actions_of(&reply), expected, "{}", reply.text);
        assert_eq!(time_stats(&mut client, WIDGET, 1), [14_400, 5_400]);
    }
    let mut client = Client::sandbox();
    // Nothing but time is one call.
    let reply = execute(&mut client, "merge_request.update", with_iid(5, &json!({"time_estimate": "2h"})));
    assert_eq!(reply.structured["data"]["time_estimate"], 7_200, "{}", reply.text);
}

#[test]
fn a_companion_has_the_project_of_its_call_by_any_spelling() {
    let mut client = Client::sandbox_with(&[("GITLAB_PROJECT", "acme/site")]);
    let before = time_stats(&mut client, "acme/site", 1);
    let params = json!({"project_id": WIDGET, "iid": 1, "title": "Rattle", "time_spent": "1h"});
    let reply = execute(&mut client, "issue.update", params);
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(actions_of(&reply), ["issue.update", "issue.add_spent_time"], "{}", reply.text);
    assert_eq!(time_stats(&mut client, WIDGET, 1)[1], 3_600);
    assert_eq!(time_stats(&mut client, "acme/site", 1), before);
    let issue = succeed(&mut client, "issue.get", with_iid(1, &json!({})));
    assert_eq!(issue["data"]["title"], "Rattle");
}

#[test]
fn two_spellings_of_a_companion_are_refused() {
    let mut client = Client::sandbox();
    let params = with_iid(1, &json!({"time_spent": "1h", "spent": "2h"}));
    let error = refused(&execute(&mut client, "issue.update", params), "invalid_params");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`time_spent`") && message.contains("`spent`"), "{error}");
    assert_eq!(time_stats(&mut client, WIDGET, 1)[1], 0);
}

#[test]
fn companions_have_one_order_by_number_title_and_page() {
    let title = "Which screws are these?";
    let changes = json!({"title": "Those bolts", "comment": "M4.", "time_spent": "1h"});
    for iid in [json!(15), json!(title), json!([title]), json!("acme/widget#15")] {
        // The project is that of the reference, not the default one.
        let mut client = Client::sandbox_with(&[("GITLAB_PROJECT", "acme/site")]);
        let mut params = with_iid(iid.clone(), &changes);
        if iid == "acme/widget#15" {
            params.as_object_mut().unwrap().remove("fullPath");
        }
        let reply = execute(&mut client, "issue.update", params);
        assert!(!reply.is_error, "{}", reply.text);
        let expected = ["issue_note.create", "issue.update", "issue.add_spent_time"];
        assert_eq!(actions_of(&reply), expected, "{iid}: {}", reply.text);
        assert_eq!(time_stats(&mut client, WIDGET, 15)[1], 3_600, "{iid}");
        let issue = succeed(&mut client, "issue.get", with_iid(15, &json!({})));
        assert_eq!(issue["data"]["title"], "Those bolts", "{iid}");
    }
}

#[test]
fn the_corrected_call_of_a_title_keeps_its_companions() {
    let mut client = Client::sandbox();
    let params = with_iid("Which scrws are these?", &json!({"state_event": "close", "comment": "M4."}));
    let error = refused(&execute(&mut client, "issue.update", params), "not_found");
    assert_eq!(
        error["fix"]["arguments"]["params"],
        with_iid(15, &json!({"state_event": "close", "comment": "M4."})),
        "{error}"
    );
    let notes = succeed(&mut client, "issue_note.list", with_iid(15, &json!({})));
    assert!(!notes.to_string().contains("M4."), "{notes}");
    let reply = follow(&mut client, &error["fix"]);
    assert_eq!(actions_of(&reply), ["issue_note.create", "issue.update"], "{}", reply.text);
}
