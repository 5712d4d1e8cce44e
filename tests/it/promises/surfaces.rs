//! The tools that a client is offered: surfaces, their names and what they answer.

use serde_json::json;

use super::{EXECUTE, Server, command};

#[test]
fn one_tool_for_each_family_of_actions_or_two_for_each_composite_actions_on_every_surface() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta")], &[]);
    server
        .method("tools/list", json!({}))
        .ok()
        .contains("/tools/*/name", "gitlab_issues")
        .at_least("/tools", 33.0)
        .at_most("/tools", 51.0);
    server
        .tool(
            "gitlab_issues",
            json!({"action": "issue.get", "params": {"fullPath": "acme/widget", "iid": 1}}),
        )
        .ok()
        .equals("/data/iid", json!(1));
    server
        .tool(EXECUTE, json!({"action": "resource.fetch", "params": {"targets": ["acme/widget#1"]}}))
        .ok()
        .equals("/data/0/status", "ok");
}

#[test]
fn with_gitlab_meta_split_cqrs_each_family_has_a_tool_that_reads_and_one_that_changes() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta"), ("GITLAB_META_SPLIT", "cqrs")], &[]);
    server
        .method("tools/list", json!({}))
        .ok()
        .contains("/tools/*/name", "browse_issues")
        .contains("/tools/*/name", "manage_issues");
    server.tool("browse_issues", json!({"action": "issue.update", "params": {"fullPath": "acme/widget", "iid": 1, "title": "New"}})).fails("unknown_action").equals("/error/fix/tool", "manage_issues");
}

#[test]
fn a_tool_runs_under_the_singular_of_its_name() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta"), ("GITLAB_META_SPLIT", "cqrs")], &[]);
    server.tool("manage_milestone", json!({"action": "milestone.create", "params": {"fullPath": "acme/widget", "title": "v9"}, "dry_run": true})).ok().equals("/action", "milestone.create").equals("/preview", true);
}

/// Differs: docs/internals/differences.md#parameters-in-params
#[test]
fn parameters_stand_in_params_beside_the_action_they_come_back_as_the_nested_call() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta")], &[]);
    let shown = server
        .tool("gitlab_issues", json!({"action": "issue.get", "fullPath": "acme/widget", "iid": 1}))
        .fails("invalid_params");
    server.follow(&shown, "/error/fix").ok().equals("/data/iid", json!(1));
}

#[test]
fn namespace_is_understood_as_the_path_of_a_project_or_group() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta"), ("GITLAB_META_SPLIT", "cqrs")], &[]);
    server
        .tool("browse_milestones", json!({"action": "list", "params": {"namespace": "acme/widget"}}))
        .ok()
        .contains("/data/*/title", "v1.1")
        .contains("/notes", "understood `namespace` as `fullPath`");
}

#[test]
fn create_list_and_get_run_as_short_names_of_the_familys_own_actions() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta")], &[]);
    server
        .tool("gitlab_milestones", json!({"action": "list", "params": {"fullPath": "acme/widget"}}))
        .ok()
        .equals("/action", "milestone.list");
    server
        .tool(
            "gitlab_issues",
            json!({"action": "list", "params": {"fullPath": "acme/widget", "per_page": 1}}),
        )
        .ok()
        .equals("/action", "issue.list");
    server.tool("gitlab_issues", json!({"action": "create", "params": {"fullPath": "acme/widget", "title": "New"}, "dry_run": true})).ok().equals("/action", "issue.create");
    server
        .tool("gitlab_issues", json!({"action": "get", "params": {"fullPath": "acme/widget", "iid": 1}}))
        .ok()
        .equals("/action", "issue.get");
}

#[test]
fn short_names_run_in_families_with_actions_of_several_things() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta")], &[]);
    server
        .tool(
            "gitlab_merge_requests",
            json!({"action": "list", "params": {"fullPath": "acme/widget", "per_page": 1}}),
        )
        .ok()
        .equals("/action", "merge_request.list");
    server
        .tool(
            "gitlab_merge_requests",
            json!({"action": "get", "params": {"fullPath": "acme/widget", "iid": 5}}),
        )
        .ok()
        .equals("/action", "merge_request.get");
    server
        .tool("gitlab_projects", json!({"action": "get", "params": {"fullPath": "acme/widget"}}))
        .ok()
        .equals("/action", "project.get");
    server
        .tool(
            "gitlab_pipelines",
            json!({"action": "list", "params": {"fullPath": "acme/widget", "per_page": 1}}),
        )
        .ok()
        .equals("/action", "pipeline.list");
}

#[test]
fn burndown_of_milestones_runs_or_comes_back_as_the_corrected_call_with_its_parameters() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta"), ("GITLAB_META_SPLIT", "cqrs")], &[]);
    server.tool("browse_milestones", json!({"action": "burndown", "params": {"fullPath": "acme/widget", "milestone_id": 1}, "dry_run": true})).ok().equals("/action", "milestone.list_burndown_events");
}

#[test]
fn the_two_tools_have_their_names_titles_annotations_and_output_schemas() {
    let mut server = Server::sandbox();
    server
        .method("tools/list", json!({}))
        .ok()
        .equals("/tools/*/name", json!(["gitlab_find_action", "gitlab_execute_action"]))
        .present("/tools/*/title")
        .present("/tools/*/outputSchema")
        .equals("/tools/0/annotations/readOnlyHint", true)
        .equals("/tools/1/annotations/destructiveHint", true);
}

#[test]
fn the_dynamic_surface_is_the_default() {
    command(&["--sandbox", "surface"], &[])
        .ok()
        .equals("/tools/*/name", json!(["gitlab_find_action", "gitlab_execute_action"]));
}

#[test]
fn tool_surface_chooses_the_surface_another_value_stops_the_start_with_the_choices() {
    let mut server = Server::with(&[("GITLAB_TOOL_SURFACE", "meta")], &[]);
    server.method("tools/list", json!({})).ok().contains("/tools/*/name", "gitlab_issues");
    command(
        &["--sandbox", "--tool-surface", "banana", "find", "list issues"],
        &[("GITLAB_TOOL_SURFACE", "meta")],
    )
    .exits(2)
    .says("dynamic, meta, individual or toolset");
}

#[test]
fn tool_surface_meta_does_the_same_as_a_flag() {
    let mut server = Server::with(&[], &["--tool-surface=meta"]);
    server
        .method("tools/list", json!({}))
        .ok()
        .contains("/tools/*/name", "gitlab_issues")
        .at_least("/tools", 34.0);
}

#[test]
fn the_catalog_holds_more_than_a_thousand_operations() {
    let mut server = Server::sandbox();
    server.read("gitlab://tools").ok().says_like(r"\b[2-9],?\d{3} actions");
}

#[test]
fn the_meta_surface_has_33_to_50_tools_of_families_and_the_finder() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta")], &[]);
    server
        .method("tools/list", json!({}))
        .ok()
        .at_least("/tools", 34.0)
        .at_most("/tools", 51.0)
        .contains("/tools/*/name", "gitlab_find_action");
}

#[test]
fn calls_schemas_and_safety_are_the_same_on_every_surface() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta")], &[]);
    server
        .tool(
            "gitlab_milestones",
            json!({"action": "milestone.delete", "params": {"fullPath": "acme/widget", "milestone_id": 1}}),
        )
        .fails("needs_confirmation")
        .equals("/error/fix/tool", "gitlab_milestones")
        .equals("/error/fix/arguments/confirm", true)
        .equals("/error/would_hit/title", "v1.0");
    server
        .tool(
            EXECUTE,
            json!({"action": "milestone.delete", "params": {"fullPath": "acme/widget", "milestone_id": 1}}),
        )
        .fails("needs_confirmation");
}

/// A tool of meta runs under the singular of its name; a name further off is answered with the nearest tool and its call.
#[test]
fn a_tool_of_meta_runs_under_the_singular_of_its_name_a_name_further_off_is_answered() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta")], &[]);
    server
        .tool(
            "gitlab_merge_request",
            json!({"action": "merge_request.list", "params": {"fullPath": "acme/widget", "per_page": 1}}),
        )
        .ok()
        .equals("/action", "merge_request.list");
    server
        .tool("gitlab_project", json!({"action": "project.get", "params": {"fullPath": "acme/widget"}}))
        .ok()
        .equals("/action", "project.get");
    let shown = server
        .tool(
            "gitlab_mergerequest",
            json!({"action": "merge_request.list", "params": {"fullPath": "acme/widget", "per_page": 1}}),
        )
        .code(-32602)
        .contains("/data/nearest", "gitlab_merge_requests")
        .equals("/data/call/tool", "gitlab_merge_requests");
    server.follow(&shown, "/data/call").ok().equals("/action", "merge_request.list");
}
