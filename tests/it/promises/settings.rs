//! Limits on the actions that run: denied actions, read-only and safe mode, confirmation, scopes; and how the server is started.

use serde_json::json;

use super::{EXECUTE, Server, command, page};

#[test]
fn what_is_not_offered_is_named_with_its_setting_and_no_other_way_around_is_suggested() {
    let mut server = Server::with(&[("GITLAB_DENIED_ACTIONS", "issue.delete")], &[]);
    server.tool(EXECUTE, json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 1}, "confirm": true})).fails("denied").says("GITLAB_DENIED_ACTIONS").absent("/error/fix");
    server
        .find("delete an issue")
        .ok()
        .lacks("/results/*/action", "issue.delete")
        .matches("/notes", "Left out: .*issue.delete.*GITLAB_DENIED_ACTIONS");
}

/// Differs: docs/internals/differences.md#a-denied-read-denies-graphql-documents
#[test]
fn a_denied_read_denies_documents_of_the_caller_and_not_the_other_actions() {
    let mut server = Server::with(&[("GITLAB_DENIED_ACTIONS", "browse_milestones:burndown")], &[]);
    let document = json!({"query": "{ currentUser { username } }"});
    server.execute("api.graphql", document).fails("denied").says("GITLAB_DENIED_ACTIONS");
    server.execute("current_user.get", json!({})).ok().present("/data/username");
}

#[test]
fn gitlab_denied_tools_regex_removes_whole_tools() {
    command(&["surface", "--surface", "meta", "--meta-split", "cqrs", "--denied-tools", "^manage_"], &[])
        .ok()
        .says(r#""browse_milestones""#)
        .says_not(r#""manage_"#);
    command(&["surface", "--surface", "meta", "--denied-tools", "milestone"], &[])
        .ok()
        .lacks("/tools/*/name", "gitlab_milestones")
        .contains("/tools/*/name", "gitlab_issues");
    command(&["surface", "--surface", "meta", "--denied-tools", "("], &[])
        .exits(2)
        .says("GITLAB_DENIED_TOOLS_REGEX");
}

#[test]
fn gitlab_denied_actions_takes_tool_action_the_tool_in_the_singular_too() {
    let mut server = Server::with(
        &[
            ("TOOL_SURFACE", "meta"),
            ("GITLAB_META_SPLIT", "cqrs"),
            ("GITLAB_DENIED_ACTIONS", "manage_milestone:promote,manage_milestone:delete"),
            ("GITLAB_DOMAINS", "milestone"),
        ],
        &[],
    );
    server.method("tools/list", json!({})).ok().equals("/tools/2/name", "manage_milestones").equals(
        "/tools/2/inputSchema/properties/action/enum",
        json!(["milestone.create", "milestone.update"]),
    );
}

/// GITLAB_DENIED_ACTIONS knows short names such as burndown, and gives the nearest for one it does not know.
#[test]
fn gitlab_denied_actions_knows_short_names_such_as_burndown_and_gives_the_nearest_for_one_it() {
    command(
        &[
            "--sandbox",
            "surface",
            "--surface",
            "meta",
            "--meta-split",
            "cqrs",
            "--domains",
            "milestone",
            "--denied-actions",
            "browse_milestones:burndown,manage_milestone:promote,manage_milestone:delete",
        ],
        &[],
    )
    .ok()
    .lacks("/tools/1/inputSchema/properties/action/enum", "milestone.list_burndown_events")
    .equals("/tools/2/inputSchema/properties/action/enum", json!(["milestone.create", "milestone.update"]));
    command(&["--sandbox", "surface", "--surface", "meta", "--denied-actions", "milestone.creat"], &[])
        .exits(2)
        .says("milestone.create");
}

#[test]
fn a_denied_action_is_in_no_enum_flat_or_discriminated() {
    command(
        &[
            "surface",
            "--surface",
            "meta",
            "--meta-param-schema",
            "full",
            "--domains",
            "milestone",
            "--denied-actions",
            "milestone.delete",
        ],
        &[],
    )
    .ok()
    .lacks("/tools/1/inputSchema/properties/action/enum", "milestone.delete")
    .contains("/tools/1/inputSchema/properties/action/enum", "milestone.create");
    command(
        &[
            "surface",
            "--surface",
            "meta",
            "--meta-param-schema",
            "full",
            "--schema-mode",
            "discriminated",
            "--domains",
            "milestone",
            "--denied-actions",
            "milestone.delete",
        ],
        &[],
    )
    .ok()
    .lacks("/tools/1/inputSchema/oneOf/*/properties/action/const", "milestone.delete")
    .contains("/tools/1/inputSchema/oneOf/*/properties/action/const", "milestone.create");
}

#[test]
fn parameters_that_only_denied_actions_had_leave_the_schema() {
    command(
        &[
            "surface",
            "--surface",
            "meta",
            "--meta-param-schema",
            "full",
            "--domains",
            "milestone",
            "--denied-actions",
            "milestone.list*,milestone.get*,milestone.update,milestone.delete,milestone.promote*",
        ],
        &[],
    )
    .ok()
    .absent("/tools/1/inputSchema/properties/params/properties/milestone_id")
    .absent("/tools/1/inputSchema/properties/params/properties/state_event")
    .present("/tools/1/inputSchema/properties/params/properties/title");
}

#[test]
fn parameters_that_another_action_needs_stay() {
    command(
        &[
            "surface",
            "--surface",
            "meta",
            "--meta-param-schema",
            "full",
            "--domains",
            "milestone",
            "--denied-actions",
            "milestone.delete",
        ],
        &[],
    )
    .ok()
    .present("/tools/1/inputSchema/properties/params/properties/milestone_id");
}

#[test]
fn a_denied_action_is_refused_by_every_way_to_it() {
    let mut server = Server::with(
        &[
            ("TOOL_SURFACE", "meta"),
            ("GITLAB_META_SPLIT", "cqrs"),
            ("GITLAB_DENIED_ACTIONS", "manage_milestone:delete"),
        ],
        &[],
    );
    server.tool("manage_milestones", json!({"action": "milestone.delete", "params": {"fullPath": "acme/widget", "milestone_id": 1}, "confirm": true})).fails("denied");
    server.tool(EXECUTE, json!({"action": "milestone.delete", "params": {"fullPath": "acme/widget", "milestone_id": 1}, "confirm": true})).fails("denied").says("GITLAB_DENIED_ACTIONS");
    server.tool(EXECUTE, json!({"action": "api.rest", "params": {"method": "DELETE", "path": "/projects/1/milestones/1"}, "confirm": true})).fails("denied");
}

#[test]
fn gitlab_read_only_also_as_gitlab_read_only_mode_leaves_only_reads_in_the_enums() {
    let mut server = Server::with(
        &[("GITLAB_READ_ONLY_MODE", "true"), ("TOOL_SURFACE", "meta"), ("GITLAB_DOMAINS", "milestone")],
        &[],
    );
    server
        .method("tools/list", json!({}))
        .ok()
        .contains("/tools/1/inputSchema/properties/action/enum", "milestone.list")
        .lacks("/tools/1/inputSchema/properties/action/enum", "milestone.create")
        .lacks("/tools/1/inputSchema/properties/action/enum", "milestone.delete");
    server
        .tool(
            "gitlab_milestones",
            json!({"action": "milestone.create", "params": {"fullPath": "acme/widget", "title": "v9"}}),
        )
        .fails("denied");
}

#[test]
fn flags_of_other_servers_transports_are_answered_with_the_one_to_use() {
    command(&["--port", "8080"], &[]).exits(2).says("--http ADDRESS");
}

#[test]
fn gitlab_url_is_understood_as_url() {
    command(
        &[
            "--gitlab-url",
            "sandbox",
            "execute",
            "project.get",
            "--params",
            r#"{"fullPath": "acme/widget"}"#,
            "--json",
        ],
        &[],
    )
    .ok()
    .says("acme/widget");
}

#[test]
fn gitlab_url_and_gitlab_token_say_where_and_as_whom_under_their_older_names_too() {
    let mut server = Server::with(&[("GITLAB_PERSONAL_ACCESS_TOKEN", "glpat-sandbox-expired")], &[]);
    server.execute("current_user.get", json!({})).fails("unauthorized");
    page("docs/reference/configuration.md")
        .says("`GITLAB_URL`, or `GITLAB_API_URL`")
        .says("`GITLAB_TOKEN`, or `GITLAB_PERSONAL_ACCESS_TOKEN`");
}

#[test]
fn a_destructive_call_without_confirm_is_not_sent_and_shows_what_it_would_hit() {
    let mut server = Server::sandbox();
    server
        .execute("project.delete", json!({"fullPath": "acme/site"}))
        .fails("needs_confirmation")
        .equals("/error/would_hit/path_with_namespace", "acme/site")
        .equals("/error/fix/arguments/confirm", true);
    server.execute("project.get", json!({"fullPath": "acme/site"})).ok().equals("/data/name", "Site");
}

#[test]
fn consent_is_confirm_true_beside_the_parameters_not_among_them() {
    let mut server = Server::sandbox();
    let shown = server
        .execute("issue.delete", json!({"fullPath": "acme/widget", "iid": 1, "confirm": true}))
        .fails("invalid_params")
        .equals(
            "/error/fix/arguments",
            json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 1}}),
        );
    let asked = server.follow(&shown, "/error/fix").fails("needs_confirmation");
    server.follow(&asked, "/error/fix").ok();
    server.execute("issue.get", json!({"fullPath": "acme/widget", "iid": 1})).fails("not_found");
}

#[test]
fn yolo_mode_and_autopilot_switch_confirmation_off() {
    let mut server = Server::with(&[("YOLO_MODE", "true")], &[]);
    server.execute("issue.delete", json!({"fullPath": "acme/widget", "iid": 1})).ok();
    server.execute("issue.get", json!({"fullPath": "acme/widget", "iid": 1})).fails("not_found");
}

#[test]
fn gitlab_read_only_removes_every_change_mutations_included() {
    let mut server = Server::with(&[("GITLAB_READ_ONLY", "true")], &[]);
    server
        .execute("issue.create", json!({"fullPath": "acme/widget", "title": "New"}))
        .fails("denied")
        .says("GITLAB_READ_ONLY");
    server.execute("api.graphql", json!({"document": "mutation { createNote(input: {noteableId: \"gid://gitlab/Issue/1\", body: \"x\"}) { errors } }"})).fails("denied");
    server
        .find("create an issue")
        .ok()
        .lacks("/results/*/risk", "write")
        .lacks("/results/*/action", "issue.create");
    server.read("gitlab://tools?domain=issue").ok().says("`issue.list`").says_not("`issue.create`");
}

#[test]
fn gitlab_safe_mode_shows_the_request_of_a_change_also_with_confirm_and_sends_nothing() {
    let mut server = Server::with(&[("GITLAB_SAFE_MODE", "true")], &[]);
    server.tool(EXECUTE, json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 1}, "confirm": true})).ok().equals("/preview", true).equals("/request/method", "DELETE").says("GITLAB_SAFE_MODE");
    server
        .execute("issue.get", json!({"fullPath": "acme/widget", "iid": 1}))
        .ok()
        .equals("/data/iid", json!(1));
}

#[test]
fn the_scopes_of_the_token_filter_finds_from_the_first_one_on() {
    let mut server = Server::with(&[("GITLAB_TOKEN", "glpat-sandbox-read-api")], &[]);
    server
        .find("create an issue")
        .ok()
        .lacks("/results/*/action", "issue.create")
        .matches("/notes", "read_api");
    server
        .execute("issue.create", json!({"fullPath": "acme/widget", "title": "New"}))
        .fails("forbidden")
        .says("read_api");
}
