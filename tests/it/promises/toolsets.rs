//! The toolset surface: one toolset at a time.

use serde_json::json;

use super::Server;

/// Differs: docs/internals/differences.md#everyday-tools-of-a-toolset
#[test]
fn activate_toolset_with_toolset_name_lists_the_tools_of_a_toolset() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server
        .method("tools/list", json!({}))
        .ok()
        .equals("/tools/*/name", json!(["activate_toolset", "gitlab_find_action", "gitlab_execute_action"]));
    server.tool("activate_toolset", json!({"toolset_name": "pipelines"})).ok();
    server
        .method("tools/list", json!({}))
        .ok()
        .contains("/tools/*/name", "pipeline_get")
        .at_least("/tools", 10.0);
}

/// The toolset names ci_operations, gitlab_resources and default exist; an unknown name is answered with the nearest.
#[test]
fn the_toolset_names_ci_operations_gitlab_resources_and_default_exist_an_unknown_name() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server
        .tool("activate_toolset", json!({"toolset_name": "ci_operations"}))
        .ok()
        .contains("/tools/*/tool", "pipeline_get");
    server.tool("activate_toolset", json!({"toolset_name": "gitlab_resources"})).ok().at_least("/tools", 1.0);
    server.tool("activate_toolset", json!({"toolset_name": "default"})).ok().equals("/current", "default");
    server
        .tool("activate_toolset", json!({"toolset_name": "isues"}))
        .fails("invalid_params")
        .equals("/error/fix/arguments/toolset_name", "issues");
    server
        .tool("activate_toolset", json!({"toolset_name": "local_filesystem"}))
        .fails("invalid_params")
        .matches("/error/hint", "client's own|local");
}

#[test]
fn only_the_tools_of_the_active_toolset_are_listed() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server.tool("activate_toolset", json!({"toolset_name": "issues"})).ok();
    server
        .method("tools/list", json!({}))
        .ok()
        .contains("/tools/*/name", "issue_get")
        .contains("/tools/*/name", "gitlab_find_action")
        .lacks("/tools/*/name", "pipeline_get");
    server.tool("activate_toolset", json!({"toolset_name": "pipelines"})).ok();
    server
        .method("tools/list", json!({}))
        .ok()
        .contains("/tools/*/name", "pipeline_get")
        .lacks("/tools/*/name", "issue_get");
}

#[test]
fn a_switch_is_announced_to_the_client_before_the_answer() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server.tool("activate_toolset", json!({"toolset_name": "issues"})).ok();
    server.notified("notifications/tools/list_changed");
    server.tool("activate_toolset", json!({"toolset_name": "planning"})).ok();
    server.notified("notifications/tools/list_changed");
}

#[test]
fn a_toolset_is_deactivated_by_activating_default() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server.tool("activate_toolset", json!({"toolset_name": "issues"})).ok();
    server.tool("activate_toolset", json!({"toolset_name": "default"})).ok();
    server.notified("notifications/tools/list_changed");
    server
        .method("tools/list", json!({}))
        .ok()
        .equals("/tools/*/name", json!(["activate_toolset", "gitlab_find_action", "gitlab_execute_action"]));
}

#[test]
fn activate_toolset_is_listed_whichever_toolset_is_active() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server.method("tools/list", json!({})).ok().contains("/tools/*/name", "activate_toolset");
    server.tool("activate_toolset", json!({"toolset_name": "wikis"})).ok();
    server.method("tools/list", json!({})).ok().contains("/tools/*/name", "activate_toolset");
}

#[test]
fn the_text_of_a_switch_names_the_previous_toolset_the_new_one_and_its_tools() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server.tool("activate_toolset", json!({"toolset_name": "issues"})).ok();
    server
        .tool("activate_toolset", json!({"toolset_name": "pipelines"}))
        .ok()
        .says("from issues to pipelines")
        .says("pipeline_get");
}

#[test]
fn a_switch_has_previous_current_and_count_in_its_structured_content() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server
        .tool("activate_toolset", json!({"toolset_name": "issues"}))
        .ok()
        .equals("/previous", "default")
        .equals("/current", "issues")
        .at_least("/count", 10.0);
    server
        .tool("activate_toolset", json!({"toolset_name": "wikis"}))
        .ok()
        .equals("/previous", "issues")
        .equals("/current", "wikis");
}

#[test]
fn the_active_toolset_can_be_read() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server.tool("activate_toolset", json!({"toolset_name": "issues"})).ok();
    server.read("gitlab://toolsets").ok().equals("/active", "issues");
}

/// Differs: docs/internals/differences.md#the-session-is-not-named-in-the-list-of-tools
#[test]
fn the_list_of_tools_names_the_active_toolset() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server.tool("activate_toolset", json!({"toolset_name": "issues"})).ok();
    server
        .method("tools/list", json!({}))
        .ok()
        .equals("/_meta/activeToolset", "issues")
        .absent("/_meta/sessionId");
}

#[test]
fn a_session_starts_without_an_active_toolset_whatever_other_sessions_have_activated() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server.method("tools/list", json!({})).ok().at_most("/tools", 3.0);
}

#[test]
fn a_tool_of_another_toolset_is_refused_with_the_call_that_activates_it() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server.tool("activate_toolset", json!({"toolset_name": "issues"})).ok();
    let shown = server
        .tool("pipeline_get", json!({"fullPath": "acme/widget", "pipeline_id": 302}))
        .fails("unknown_action")
        .says("pipelines")
        .equals("/error/fix/tool", "activate_toolset");
    server.follow(&shown, "/error/fix").ok();
    server
        .tool("pipeline_get", json!({"fullPath": "acme/widget", "pipeline_id": 302}))
        .ok()
        .equals("/data/id", json!(302));
}

#[test]
fn an_unknown_tool_is_answered_with_the_tools_that_are_listed_and_the_nearest() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server.tool("gitlab_nothing_like_it", json!({})).code(-32602).contains("/data/tools", "activate_toolset");
    server
        .tool("activate_toolsets", json!({"toolset_name": "issues"}))
        .code(-32602)
        .contains("/data/nearest", "activate_toolset");
}

#[test]
fn a_missing_or_misnamed_argument_of_activate_toolset_is_answered_with_a_call_that_fits() {
    let mut server = Server::with(&[("TOOL_SURFACE", "toolset")], &[]);
    server
        .tool("activate_toolset", json!({}))
        .fails("invalid_params")
        .says("toolset_name")
        .equals("/error/fix/tool", "activate_toolset");
    let shown = server
        .tool("activate_toolset", json!({"toolset": "issues"}))
        .fails("invalid_params")
        .equals("/error/fix/arguments/toolset_name", "issues");
    server.follow(&shown, "/error/fix").ok().says("issue_get");
}

#[test]
fn read_pipeline_and_run_job_lead_to_pipeline_get_and_job_play_as_tools_too() {
    let mut server = Server::sandbox();
    server.find("read_pipeline").ok().equals("/results/0/action", "pipeline.get");
    server.find("run_job").ok().equals("/results/0/action", "job.play");
    let shown = server
        .tool("read_pipeline", json!({"fullPath": "acme/widget", "pipeline_id": 302}))
        .code(-32602)
        .equals("/data/call/arguments/action", "pipeline.get");
    server.follow(&shown, "/data/call").ok().equals("/data/id", json!(302));
    server
        .tool("run_job", json!({"fullPath": "acme/widget", "job_id": 6}))
        .code(-32602)
        .equals("/data/call/arguments/action", "job.play");
}

#[test]
fn activate_toolset_on_another_surface_is_answered_with_the_setting_that_offers_it() {
    let mut server = Server::sandbox();
    server
        .tool("activate_toolset", json!({"toolset_name": "issues"}))
        .code(-32602)
        .says("TOOL_SURFACE=toolset");
    server
        .execute("activate_toolset", json!({"toolset_name": "issues"}))
        .fails("unknown_action")
        .says("TOOL_SURFACE=toolset")
        .says_not("user.activate");
}
