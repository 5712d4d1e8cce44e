//! Projects, objects, parameters and actions under the names that people and other servers use.

use serde_json::json;

use super::{EXECUTE, FIND, Server};

#[test]
fn a_project_is_named_by_its_full_path_project_id_is_an_alias() {
    let mut server = Server::sandbox();
    server
        .execute("issue.list", json!({"fullPath": "acme/widget", "per_page": 1}))
        .ok()
        .equals("/data/0/project", "acme/widget");
    server
        .execute("issue.list", json!({"project_id": "acme/widget", "per_page": 1}))
        .ok()
        .equals("/data/0/project", "acme/widget")
        .contains("/notes", "understood `project_id` as `fullPath`");
}

#[test]
fn issues_and_merge_requests_are_named_by_iid_not_by_global_id() {
    let mut server = Server::sandbox();
    server
        .execute("issue.get", json!({"fullPath": "acme/widget", "iid": 12}))
        .ok()
        .equals("/data/iid", json!(12));
    server
        .execute("merge_request.get", json!({"fullPath": "acme/widget", "iid": "!5"}))
        .ok()
        .equals("/data/iid", json!(5));
}

/// Differs: docs/internals/differences.md#a-name-that-two-kinds-share-is-asked-about
#[test]
fn a_name_that_two_kinds_share_has_a_call_that_runs() {
    let mut server = Server::sandbox();
    let of = json!({"fullPath": "acme/widget", "iid": 12});
    server
        .execute("fetch_comments", of.clone())
        .fails("ambiguous_alias")
        .says("merge_request_note.list")
        .equals("/error/fix/arguments/action", "issue_note.list");
    server.execute("issue_note.list", of).ok();
}

#[test]
fn an_iid_may_be_a_string() {
    let mut server = Server::sandbox();
    server
        .execute("issue.get", json!({"fullPath": "acme/widget", "iid": "1"}))
        .ok()
        .equals("/data/iid", json!(1))
        .contains("/notes/0", "as a number");
}

#[test]
fn a_numeric_project_id_is_accepted() {
    let mut server = Server::sandbox();
    server
        .execute("issue.get", json!({"project_id": 1, "issue_iid": 1}))
        .ok()
        .equals("/data/reference", "acme/widget#1");
    let shown = server.execute("issue.get", json!({"project_id": 987654, "issue_iid": 1})).fails("not_found");
    server.follow(&shown, "/error/fix").ok().equals("/action", "project.list");
}

#[test]
fn a_global_id_of_a_project_is_accepted_as_project_id() {
    let mut server = Server::sandbox();
    server
        .execute("project.get", json!({"project_id": "gid://gitlab/Project/1"}))
        .ok()
        .equals("/data/path_with_namespace", "acme/widget");
}

#[test]
fn a_global_id_of_an_issue_leads_to_the_issue() {
    let mut server = Server::sandbox();
    server
        .execute("issue.get", json!({"id": "gid://gitlab/Issue/1"}))
        .ok()
        .equals("/data/reference", "acme/widget#1");
}

#[test]
fn url_is_accepted_in_place_of_path_and_number() {
    let mut server = Server::sandbox();
    let url = server.url();
    server
        .execute("get_merge_request", json!({"url": format!("{url}/acme/widget/-/merge_requests/5")}))
        .ok()
        .equals("/data/reference", "acme/widget!5");
}

#[test]
fn a_url_of_this_gitlab_works_as_target_and_as_the_action_one_of_another_host_is_refused() {
    let mut server = Server::sandbox();
    let url = server.url();
    server
        .execute("merge_request.get", json!({"target": format!("{url}/acme/widget/-/merge_requests/5")}))
        .ok()
        .equals("/data/reference", "acme/widget!5");
    server
        .execute(&format!("{url}/acme/widget/-/issues/1"), json!({}))
        .ok()
        .equals("/data/reference", "acme/widget#1");
    server
        .execute("issue.get", json!({"target": "https://elsewhere.example/acme/widget/-/issues/1"}))
        .fails("invalid_params")
        .says("elsewhere.example")
        .says("127.0.0.1");
}

#[test]
fn short_references_such_as_group_project_5_work_in_finds_and_as_target() {
    let mut server = Server::sandbox();
    server.find("gitlab-org/gitlab!123").ok().equals("/results/0/action", "merge_request.get");
    server
        .execute("issue.get", json!({"target": "acme/widget#1"}))
        .ok()
        .equals("/data/reference", "acme/widget#1");
    server.execute("epic.get", json!({"target": "acme&1"})).ok().equals("/data/iid", json!(1));
}

#[test]
fn merge_request_iid_epic_iid_issue_id_and_group_id_are_understood() {
    let mut server = Server::sandbox();
    server
        .execute("get_merge_request", json!({"project_id": "acme/widget", "merge_request_iid": 5}))
        .ok()
        .equals("/data/iid", json!(5))
        .contains("/notes", "understood `merge_request_iid` as `iid`");
    server.execute("get_epic", json!({"group_id": "acme", "epic_iid": 1})).ok().equals("/data/iid", json!(1));
    server.tool(EXECUTE, json!({"action": "update_issue", "params": {"project_id": "acme/widget", "issue_id": 1, "title": "New"}, "dry_run": true})).ok().says("PUT").says("/projects/acme%2Fwidget/issues/1");
}

#[test]
fn an_epic_is_read_by_the_path_of_its_group_and_its_iid() {
    let mut server = Server::sandbox();
    server
        .execute("epic.get", json!({"fullPath": "acme", "iid": 1}))
        .ok()
        .equals("/data/iid", json!(1))
        .present("/data/title");
}

#[test]
fn writes_take_the_same_fullpath_and_iid_as_reads() {
    let mut server = Server::sandbox();
    server.tool(EXECUTE, json!({"action": "update_issue", "params": {"fullPath": "acme/widget", "iid": 1, "title": "New"}, "dry_run": true})).ok().says("PUT").says("/projects/acme%2Fwidget/issues/1");
    server.tool(EXECUTE, json!({"action": "update_merge_request", "params": {"fullPath": "acme/widget", "iid": 5, "title": "New"}, "dry_run": true})).ok().says("PUT").says("/projects/acme%2Fwidget/merge_requests/5");
}

#[test]
fn a_milestones_state_event_is_described_as_close_or_activate_and_reopen_is_taken_as_activate() {
    let mut server = Server::sandbox();
    server
        .tool(FIND, json!({"query": "milestone.update", "detail": "schema"}))
        .ok()
        .contains("/results/0/input_schema/properties/state_event/description", "activate")
        .lacks("/results/0/input_schema/properties/state_event/description", "`reopen`");
    server
        .execute(
            "milestone.update",
            json!({"fullPath": "acme/widget", "milestone_id": 1, "state_event": "reopen"}),
        )
        .ok()
        .equals("/data/state", "active")
        .says("`state_event: reopen` as `activate`");
}

#[test]
fn execute_takes_canonical_ids_aliases_run_with_a_note_of_the_canonical_id() {
    let mut server = Server::sandbox();
    server
        .execute("get_issue", json!({"fullPath": "acme/widget", "iid": 1}))
        .ok()
        .equals("/action", "issue.get")
        .contains("/notes/0", "`issue.get`");
    server
        .execute("listIssues", json!({"fullPath": "acme/widget", "per_page": 1}))
        .ok()
        .equals("/action", "issue.list")
        .contains("/notes/0", "`issue.list`");
    server
        .execute("merge_requests.list", json!({"fullPath": "acme/widget", "per_page": 1}))
        .ok()
        .equals("/action", "merge_request.list")
        .contains("/notes/0", "`merge_request.list`");
    server.tool(EXECUTE, json!({"action": "issue.close", "params": {"fullPath": "acme/widget", "iid": 1}, "dry_run": true})).ok().equals("/action", "issue.update").says("close");
}

#[test]
fn an_alias_with_another_verb_or_noun_leads_to_the_actions_that_list_or_runs_the_only_one() {
    let mut server = Server::sandbox();
    server
        .execute("note.list", json!({"fullPath": "acme/widget", "iid": 1}))
        .fails("ambiguous_alias")
        .contains("/error/candidates/*/action", "issue_note.list");
    server.execute("hook.list", json!({"fullPath": "acme/widget"})).ok().equals("/action", "webhook.list");
}

/// A misspelled read runs; another unknown action comes with candidates and, for a misspelled id, the corrected call.
#[test]
fn a_misspelled_read_runs_another_unknown_action_comes_with_candidates_and_for_a_misspelled_id() {
    let mut server = Server::sandbox();
    server.execute("isue.list", json!({"fullPath": "acme/widget"})).ok().equals("/action", "issue.list");
    let shown = server
        .execute("isue.create", json!({"fullPath": "acme/widget", "title": "Misspelled"}))
        .fails("unknown_action")
        .equals("/error/candidates/0/action", "issue.create")
        .matches("/error/candidates/0/signature", r"^issue\.create\(");
    server.follow(&shown, "/error/fix").ok().equals("/action", "issue.create");
}

#[test]
fn a_bare_name_of_several_actions_is_answered_as_ambiguous_with_each_of_them() {
    let mut server = Server::sandbox();
    server
        .execute("list_project_user", json!({}))
        .fails("ambiguous_alias")
        .contains("/error/candidates/*/action", "project.list_users")
        .contains("/error/candidates/*/action", "user.list_projects");
    server
        .execute("list_notes", json!({"fullPath": "acme/widget", "iid": 1}))
        .fails("ambiguous_alias")
        .contains("/error/candidates/*/action", "issue_note.list");
    server
        .execute("approve", json!({"fullPath": "acme/widget", "iid": 5}))
        .fails("ambiguous_alias")
        .contains("/error/candidates/*/action", "merge_request.approve");
}

#[test]
fn rejected_parameters_say_what_is_accepted_with_the_corrected_call_or_the_schema() {
    let mut server = Server::sandbox();
    let shown = server
        .execute("issue.list", json!({"fullPath": "acme/widget", "bogus_field": 1}))
        .fails("invalid_params")
        .says("`bogus_field`")
        .says("assignee_username?: string[]")
        .equals("/error/fix/tool", "gitlab_find_action");
    server.follow(&shown, "/error/fix").ok().present("/results/0/input_schema");
    let shown = server
        .execute("issue.list", json!({"fullPath": "acme/widget", "state": "opend", "per_page": 1}))
        .fails("invalid_params");
    server.follow(&shown, "/error/fix").ok().equals("/data/0/state", "opened");
    server
        .execute("issue.create", json!({"fullPath": "acme/widget", "titel": "Squeaks"}))
        .fails("invalid_params")
        .equals("/error/fix/arguments/params/title", "Squeaks");
}

#[test]
fn a_misspelled_project_is_corrected_to_the_project_that_was_meant() {
    let mut server = Server::sandbox();
    let shown = server.execute("issue.list", json!({"fullPath": "acme/wiget"})).fails("not_found");
    server.follow(&shown, "/error/fix").ok().says("acme/widget");
}

#[test]
fn fields_that_an_operation_does_not_have_are_refused_and_nothing_is_sent() {
    let mut server = Server::sandbox();
    server.execute("pipeline_schedule_variable.create", json!({"fullPath": "acme/widget", "pipeline_schedule_id": 1, "key": "A", "value": "b", "masked": true, "protected": true})).fails("invalid_params").says("masked").says("protected");
}

#[test]
fn parameters_beside_the_action_come_back_as_the_nested_call_params_may_be_json_in_a_string() {
    let mut server = Server::sandbox();
    let shown = server
        .tool(EXECUTE, json!({"action": "issue.get", "fullPath": "acme/widget", "iid": 1}))
        .fails("invalid_params");
    server.follow(&shown, "/error/fix").ok().equals("/data/reference", "acme/widget#1");
    server
        .tool(
            EXECUTE,
            json!({"action": "issue.get", "params": "{\"fullPath\": \"acme/widget\", \"iid\": 1}"}),
        )
        .ok()
        .equals("/data/reference", "acme/widget#1");
}
