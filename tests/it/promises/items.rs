//! Several objects in one call: resource.fetch, resource.update and api.batch.

use serde_json::json;

use super::Server;

#[test]
fn an_iid_is_optional_where_the_type_has_none_and_asked_for_where_it_has_one() {
    let mut server = Server::sandbox();
    server.execute("resource.fetch", json!({"items": [{"itemType": "project", "fullPath": "acme/widget"}, {"itemType": "epic", "fullPath": "acme"}]})).ok().equals("/data/0/data/path_with_namespace", "acme/widget").equals("/data/1/status", "error").contains("/data/1/error/message", "`iid` is missing");
}

#[test]
fn fetch_gitlab_resource_called_as_a_tool_is_answered_with_the_call_that_runs() {
    let mut server = Server::sandbox();
    let shown = server
        .tool(
            "fetch_gitlab_resource",
            json!({"items": [{"itemType": "Issue", "fullPath": "acme/widget", "iid": 1}]}),
        )
        .code(-32602)
        .present("/data/nearest")
        .equals("/data/call/tool", "gitlab_execute_action");
    server.follow(&shown, "/data/call").ok().equals("/data/0/data/reference", "acme/widget#1");
}

#[test]
fn fetch_gitlab_resource_runs_as_an_action() {
    let mut server = Server::sandbox();
    server
        .execute(
            "fetch_gitlab_resource",
            json!({"items": [{"itemType": "Issue", "fullPath": "acme/widget", "iid": 1}]}),
        )
        .ok()
        .equals("/action", "resource.fetch")
        .equals("/data/0/data/reference", "acme/widget#1");
}

#[test]
fn resource_fetch_takes_a_list_of_items_with_itemtype_iid_and_fullpath() {
    let mut server = Server::sandbox();
    server.execute("resource.fetch", json!({"items": [{"itemType": "MergeRequest", "iid": 5, "fullPath": "acme/widget"}, {"itemType": "Issue", "iid": 2, "fullPath": "acme/widget"}]})).ok().equals("/data/*/data/reference", json!(["acme/widget!5", "acme/widget#2"]));
}

#[test]
fn item_types_are_accepted_as_gitlabs_interfaces_write_them_and_mr() {
    let mut server = Server::sandbox();
    server.execute("resource.fetch", json!({"items": [{"itemType": "MergeRequest", "fullPath": "acme/widget", "iid": 5}, {"itemType": "Issue", "fullPath": "acme/widget", "iid": 1}, {"itemType": "Epic", "fullPath": "acme", "iid": 1}, {"itemType": "merge-request", "fullPath": "acme/widget", "iid": 5}]})).ok().equals("/data/*/status", json!(["ok", "ok", "ok", "ok"])).equals("/data/*/kind", json!(["merge_request", "issue", "epic", "merge_request"]));
    server
        .execute(
            "resource.fetch",
            json!({"items": [{"itemType": "MR", "fullPath": "acme/widget", "iid": 5}]}),
        )
        .ok()
        .equals("/data/0/data/reference", "acme/widget!5");
}

#[test]
fn one_item_may_stand_without_a_list_a_list_in_place_of_params_is_refused_with_the_shape() {
    let mut server = Server::sandbox();
    server
        .execute(
            "resource.fetch",
            json!({"items": {"itemType": "issue", "fullPath": "acme/widget", "iid": 1}}),
        )
        .ok()
        .equals("/data/*/data/reference", json!(["acme/widget#1"]));
    server
        .execute("resource.fetch", json!([{"itemType": "issue", "fullPath": "acme/widget", "iid": 1}]))
        .fails("invalid_params")
        .says("object");
}

#[test]
fn items_are_answered_in_order_and_one_that_is_not_there_fails_alone() {
    let mut server = Server::sandbox();
    server.execute("resource.fetch", json!({"items": [{"itemType": "issue", "fullPath": "acme/widget", "iid": 1}, {"itemType": "issue", "fullPath": "acme/widget", "iid": 99999}, {"itemType": "merge_request", "fullPath": "acme/widget", "iid": 5}]})).ok().equals("/data/*/status", json!(["ok", "error", "ok"])).present("/data/1/error/fix");
}

#[test]
fn more_items_than_one_call_takes_are_refused_with_the_limit() {
    let mut server = Server::sandbox();
    server.execute("resource.fetch", json!({"targets": ["a/b#1", "a/b#2", "a/b#3", "a/b#4", "a/b#5", "a/b#6", "a/b#7", "a/b#8", "a/b#9", "a/b#10", "a/b#11", "a/b#12", "a/b#13", "a/b#14", "a/b#15", "a/b#16", "a/b#17", "a/b#18", "a/b#19", "a/b#20", "a/b#21"]})).fails("invalid_params").says("20").says("21");
}

#[test]
fn an_item_of_an_unknown_type_fails_alone() {
    let mut server = Server::sandbox();
    server.execute("resource.fetch", json!({"items": [{"itemType": "banana", "fullPath": "acme/widget", "iid": 1}, {"itemType": "issue", "fullPath": "acme/widget", "iid": 1}]})).ok().equals("/data/*/status", json!(["error", "ok"])).contains("/data/0/error/message", "banana");
}

#[test]
fn in_text_each_item_is_an_xml_element_that_its_content_cannot_close() {
    let mut server = Server::sandbox();
    server
        .execute("resource.fetch", json!({"targets": ["acme/widget!5"]}))
        .ok()
        .says(r#"<item kind="merge_request" target="acme/widget!5" status="ok">"#)
        .says("</item>");
}

#[test]
fn a_fetched_merge_request_can_bring_its_diffs_comments_and_linked_issues() {
    let mut server = Server::sandbox();
    server
        .execute(
            "resource.fetch",
            json!({"targets": ["acme/widget!5"], "diffs": true, "comments": true, "links": true}),
        )
        .ok()
        .contains("/data/0/diffs/data/*/new_path", "src/widget/gear.rs")
        .present("/data/0/comments/data")
        .contains("/data/0/links/data/*/iid", json!(3));
}

#[test]
fn a_file_is_fetched_under_the_item_type_repositoryfile() {
    let mut server = Server::sandbox();
    server.execute("resource.fetch", json!({"items": [{"itemType": "RepositoryFile", "fullPath": "acme/widget", "path": "README.md", "ref": "main"}]})).ok().equals("/data/0/kind", "file").equals("/data/0/status", "ok").says("A thing that turns.");
}

#[test]
fn a_fetched_file_takes_a_window_of_lines() {
    let mut server = Server::sandbox();
    server.execute("resource.fetch", json!({"items": [{"itemType": "file", "fullPath": "acme/widget", "path": "README.md", "ref": "main", "line_start": 3, "line_end": 3}]})).ok().says("A thing that turns.").says_not("logo.png").says_not("# Widget");
}

#[test]
fn a_project_is_fetched_by_its_path_alone() {
    let mut server = Server::sandbox();
    server
        .execute("resource.fetch", json!({"items": [{"itemType": "project", "fullPath": "acme/widget"}]}))
        .ok()
        .equals("/data/0/data/default_branch", "main");
}

#[test]
fn work_items_groups_pipelines_milestones_snippets_and_wiki_pages_are_fetched_as_well() {
    let mut server = Server::sandbox();
    server.execute("resource.fetch", json!({"items": [{"itemType": "work_item", "fullPath": "acme/widget", "iid": 1}, {"itemType": "group", "fullPath": "acme"}, {"itemType": "pipeline", "fullPath": "acme/widget", "id": 302}, {"itemType": "milestone", "fullPath": "acme/widget", "title": "v1.1"}, {"itemType": "snippet", "fullPath": "acme/widget", "id": 1}, {"itemType": "wiki_page", "fullPath": "acme/widget", "slug": "home"}]})).ok().equals("/data/*/status", json!(["ok", "ok", "ok", "ok", "ok", "ok"]));
}

#[test]
fn update_gitlab_resource_runs_as_an_action() {
    let mut server = Server::sandbox();
    server.execute("update_gitlab_resource", json!({"items": [{"itemType": "Issue", "fullPath": "acme/widget", "iid": 1, "title": "Renamed"}]})).ok().equals("/action", "resource.update").equals("/data/0/status", "ok");
    server
        .execute("issue.get", json!({"fullPath": "acme/widget", "iid": 1}))
        .ok()
        .equals("/data/title", "Renamed");
}

#[test]
fn an_update_that_a_type_does_not_have_is_refused_for_that_item_alone() {
    let mut server = Server::sandbox();
    server.execute("resource.update", json!({"items": [{"itemType": "epic", "fullPath": "acme", "iid": 1, "reviewers": ["bob"]}, {"itemType": "issue", "fullPath": "acme/widget", "iid": 1, "title": "Renamed"}]})).ok().equals("/data/*/status", json!(["error", "ok"])).contains("/data/0/error/message", "`reviewers`").contains("/data/0/error/message", "due_date");
}

#[test]
fn create_gitlab_resource_creates_the_item_that_it_is_given() {
    let mut server = Server::sandbox();
    server
        .execute(
            "create_gitlab_resource",
            json!({"items": [{"itemType": "Issue", "fullPath": "acme/widget", "title": "Creaks"}]}),
        )
        .ok()
        .says("Creaks");
    server
        .execute("issue.list", json!({"fullPath": "acme/widget", "search": "Creaks"}))
        .ok()
        .equals("/data/0/title", "Creaks");
}

/// Differs: docs/internals/differences.md#no-cache-of-gitlabs-objects
#[test]
fn what_was_fetched_before_is_read_from_gitlab_again() {
    let mut server = Server::sandbox();
    server
        .execute("resource.fetch", json!({"targets": ["acme/widget#1"]}))
        .ok()
        .equals("/data/0/data/title", "The gear squeaks at full speed");
    server.execute("issue.update", json!({"fullPath": "acme/widget", "iid": 1, "title": "Renamed"})).ok();
    server
        .execute("resource.fetch", json!({"targets": ["acme/widget#1"]}))
        .ok()
        .equals("/data/0/data/title", "Renamed");
}

#[test]
fn the_comments_of_an_issue_merge_request_or_epic_come_by_one_call() {
    let mut server = Server::sandbox();
    server
        .execute(
            "resource.fetch",
            json!({"targets": ["acme/widget#1", "acme/widget!5", "acme&1"], "comments": true}),
        )
        .ok()
        .present("/data/*/comments/data")
        .present("/data/0/comments/data/0/body");
    server.find("fetch comments of an issue").ok().equals("/results/0/action", "issue_note.list");
}

#[test]
fn the_contents_of_a_merge_requests_files_are_read_without_knowing_its_branch() {
    let mut server = Server::sandbox();
    server
        .execute(
            "repository.read_files",
            json!({"fullPath": "acme/widget", "files": [{"path": "src/widget/gear.rs", "ref": "!5"}]}),
        )
        .ok()
        .equals("/data/0/status", "ok")
        .contains("/data/0/data", "oil: true");
}

#[test]
fn several_calls_go_in_one_later_ones_with_values_of_earlier_answers() {
    let mut server = Server::sandbox();
    server.execute("api.batch", json!({"calls": [{"action": "issue.create", "params": {"fullPath": "acme/widget", "title": "Creaks"}}, {"action": "issue.get", "params": {"fullPath": "acme/widget", "iid": "$1.iid"}}]})).ok().equals("/data/*/status", json!(["ok", "ok"])).equals("/data/1/data/title", "Creaks");
}

#[test]
fn a_pipeline_by_iid_is_that_pipeline_of_the_project() {
    let mut server = Server::sandbox();
    let item = json!({"itemType": "pipeline", "fullPath": "acme/widget", "iid": 5});
    server
        .execute("resource.fetch", json!({"items": [item]}))
        .ok()
        .equals("/data/0/data/iid", 5)
        .equals("/data/0/data/id", 305);
}
