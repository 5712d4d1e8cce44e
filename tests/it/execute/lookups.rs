//! Look-ups of names in long lists, and of ids that are no longer right.

use serde_json::json;

use crate::support::client::{Client, execute, succeed};
use crate::support::fixtures::PROJECT;
use crate::support::scripted_gitlab::{Gitlab, answer};

#[test]
fn a_look_up_that_gave_up_says_so() {
    let gitlab = Gitlab::with_project();
    let rows = json!([{"id": 1, "iid": 1, "title": "another"}, {"id": 2, "iid": 2, "title": "one more"}]);
    let page = answer(200, rows).header("x-next-page", "2");
    gitlab.answer("GET", "/milestones", page);
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": PROJECT, "title": "x", "milestone_id": "v9"});
    let error = execute(&mut client, "issue.create", params).structured["error"].clone();
    assert_eq!(error["kind"], "not_found", "{error}");
    assert!(error["message"].as_str().unwrap().contains("among the first 10 rows"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("The list is longer"), "{error}");
}

#[test]
fn an_id_that_graphql_does_not_find_is_looked_up_again() {
    let mut client = Client::sandbox();
    let update = json!({"id": "acme/widget#3", "title": "Oil the hinges"});
    assert_eq!(succeed(&mut client, "work_item.update", update.clone())["lookups"], 1);
    let delete =
        json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 3}, "confirm": true});
    assert!(!client.call("gitlab_execute_action", delete).is_error);
    let stale = execute(&mut client, "work_item.update", update.clone());
    assert_eq!(stale.structured["error"]["kind"], "not_found", "{}", stale.text);
    let again = execute(&mut client, "work_item.update", update);
    assert!(again.text.contains("`id`: no "), "it is looked up, and not found: {}", again.text);
}

/// <https://docs.gitlab.com/api/project_job_token_scopes/>: where GitLab takes the number of a project alone, a path
/// is answered "id is invalid".
#[test]
fn a_path_is_looked_up_where_gitlab_takes_a_number_alone() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("GET", "/share_locations", answer(200, json!([{"id": 4, "full_path": "crew"}])));
    let mut client = gitlab.client(&[]);
    let data = succeed(&mut client, "project.list_share_locations", json!({"fullPath": PROJECT}));
    assert_eq!(data["lookups"], 1, "{data}");
    assert_eq!(gitlab.last("/share_locations").line, "GET /api/v4/projects/27418650/share_locations");
}
