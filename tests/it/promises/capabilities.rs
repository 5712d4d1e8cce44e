//! Resources and prompts beside the tools.

use serde_json::json;

use super::Server;

#[test]
fn capability_surface_minimal_leaves_tools_and_resources() {
    let mut server = Server::with(&[], &["--capability-surface=minimal"]);
    server
        .method("resources/list", json!({}))
        .ok()
        .equals("/resources/*/uri", json!(["gitlab://workspace/roots", "gitlab://tools"]));
    server.method("prompts/list", json!({})).code(-32601);
}

#[test]
fn the_minimal_resources_are_the_workspace_the_list_of_actions_and_each_action() {
    let mut server = Server::with(&[("CAPABILITY_SURFACE", "minimal")], &[]);
    server
        .method("resources/list", json!({}))
        .ok()
        .equals("/resources/*/uri", json!(["gitlab://workspace/roots", "gitlab://tools"]));
    server
        .method("resources/templates/list", json!({}))
        .ok()
        .contains("/resourceTemplates/*/uriTemplate", "gitlab://tools/{id}");
    server.read("gitlab://workspace/roots").ok().equals("/roots", json!([]));
    server.read("gitlab://tools/issue.get").ok().equals("/action", "issue.get");
}

#[test]
fn the_minimal_surface_has_no_guides_prompts_or_objects_of_gitlab_and_says_how_to_get_them() {
    let mut server = Server::with(&[("CAPABILITY_SURFACE", "minimal")], &[]);
    server.read("gitlab://guides/cut-release").code(-32002).says("CAPABILITY_SURFACE=full");
    server.read("gitlab://project/acme/widget/issue/1").code(-32002);
    server.method("prompts/list", json!({})).code(-32601);
}

#[test]
fn by_default_there_are_prompts_guides_and_templates_of_gitlabs_objects() {
    let mut server = Server::sandbox();
    server
        .method("prompts/list", json!({}))
        .ok()
        .contains("/prompts/*/name", "review_merge_request")
        .at_least("/prompts", 10.0);
    server
        .method("resources/list", json!({}))
        .ok()
        .contains("/resources/*/uri", "gitlab://guides/cut-release");
    server
        .method("resources/templates/list", json!({}))
        .ok()
        .contains("/resourceTemplates/*/uriTemplate", "gitlab://project/{fullPath}/issue/{iid}");
    server.read("gitlab://project/acme/widget/issue/1").ok().says("The gear squeaks at full speed");
}

#[test]
fn gitlab_workspace_roots_names_the_clients_directories_each_with_its_project() {
    let mut server = Server::in_working_copy(&[]);
    server.read("gitlab://workspace/roots").ok().equals("/roots/0/project", "acme/widget");
}

#[test]
fn gitlab_workspace_roots_names_the_default_project_before_any_call() {
    let mut server = Server::in_working_copy(&[]);
    server.read("gitlab://workspace/roots").ok().equals("/project", "acme/widget");
}

#[test]
fn gitlab_tools_id_has_the_schema_an_example_and_the_signature_of_an_action() {
    let mut server = Server::sandbox();
    server
        .read("gitlab://tools/issue.get")
        .ok()
        .matches("/signature", r"^issue\.get\(")
        .equals("/input_schema/properties/iid/type", "integer")
        .equals("/call/arguments/action", "issue.get");
}

#[test]
fn gitlab_tools_id_takes_the_name_of_a_tool_as_well() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta")], &[]);
    server.read("gitlab://tools/gitlab_issues").ok().says("issue.get").says("gitlab_issues");
    server.read("gitlab://tools/gitlab_find_action").ok().says("query");
}

#[test]
fn the_list_of_actions_names_the_tools_that_are_listed() {
    let mut server = Server::with(&[("TOOL_SURFACE", "meta")], &[]);
    server
        .read("gitlab://tools?domain=issue")
        .ok()
        .says("`issue.list`")
        .says_like("gitlab_issues|tool of its family")
        .says_not("gitlab_execute_action");
}

#[test]
fn every_answer_has_markdown_as_content_and_the_same_as_structured_content() {
    let mut server = Server::sandbox();
    server
        .execute("issue.get", json!({"fullPath": "acme/widget", "iid": 1}))
        .ok()
        .says("title: The gear squeaks at full speed")
        .equals("/data/title", "The gear squeaks at full speed");
    server.find("list issues").ok().says("**issue.list**").equals("/results/0/action", "issue.list");
}

#[test]
fn an_error_is_a_result_with_iserror_its_kind_message_hint_and_the_next_call() {
    let mut server = Server::sandbox();
    let shown = server
        .execute("issue.get", json!({"fullPath": "acme/widget", "iid": 99999}))
        .fails("not_found")
        .present("/error/message")
        .present("/error/hint")
        .equals("/error/fix/tool", "gitlab_execute_action");
    server.follow(&shown, "/error/fix").ok().equals("/action", "issue.list");
}
