//! Settings: a change of one asks, unless it is known that the setting protects nothing or that the value closes.

use serde_json::{Value, json};

use crate::policy::vault::{gitlab, kind, run};
use crate::support::client::Client;
use crate::support::scripted_gitlab::Gitlab;

fn with(place: Value, name: &str, value: Value) -> Value {
    let mut params = place;
    params[name] = value;
    params
}

/// The requests that came and change something: neither a GET nor a query by which the question is prepared.
fn changes(gitlab: &Gitlab) -> Vec<String> {
    let all = gitlab.received().into_iter().filter(|request| request.method != "GET");
    let said = all.map(|request| format!("{} {}", request.path, String::from_utf8_lossy(&request.body)));
    said.filter(|said| !said.starts_with("/api/graphql") || said.contains("mutation")).collect()
}

/// Each of these was sent without a question.
#[test]
fn a_setting_that_nobody_has_listed_as_harmless_is_asked_about() {
    let project = |name: &str, value: Value| with(json!({"fullPath": "acme/widget"}), name, value);
    let group = |name: &str, value: Value| with(json!({"fullPath": "acme"}), name, value);
    let id =
        |id: &str, name: &str, value: Value| with(json!({"id": format!("gid://gitlab/{id}")}), name, value);
    for (action, params) in [
        // Looser than full protection, by the older number
        ("group.update", group("default_branch_protection", json!(3))),
        ("group.update", group("default_branch_protection", json!(4))),
        ("project.update", project("merge_train_enforcement", json!("enforce_with_owner_override"))),
        // A pattern that lets through more
        ("push_rule.update", project("commit_message_regex", json!(".*"))),
        ("push_rule.update", project("max_file_size", json!(100_000))),
        ("project.update", project("merge_request_title_regex", json!(".*"))),
        ("package_settings.update", group("mavenDuplicateExceptionRegex", json!(".*"))),
        ("cluster.update", with(project("environment_scope", json!("*")), "cluster_id", json!(3))),
        ("pages_domain.update", with(project("key", json!("k")), "domain", json!("acme.example"))),
        ("pipeline_schedule.take_ownership", project("pipeline_schedule_id", json!(1))),
        ("project.update", project("mirror", json!(true))),
        ("project.update", project("mirror_user_id", json!(4))),
        ("pull_mirror.update", project("mirror_branch_regex", json!(".*"))),
        ("pull_mirror.update", project("enabled", json!(true))),
        (
            "merge_request_status_check.respond",
            json!({"fullPath": "acme/widget", "iid": 1, "sha": "0123456789abcdef0123456789abcdef01234567", "external_status_check_id": 1, "status": "passed"}),
        ),
        ("project.update", project("ci_pipeline_variables_minimum_override_role", json!("owner"))),
        ("ci_cd_settings.update", project("pipelineVariablesMinimumOverrideRole", json!("MAINTAINER"))),
        (
            "group.update",
            group("ai_settings_attributes", json!({"ai_catalog_restricted_to_group_hierarchy": false})),
        ),
        ("group.update", group("tool_approval_for_session_availability", json!("default_on"))),
        ("group.update", group("lock_duo_features_enabled", json!(false))),
        ("graphql.group_update", group("toolApprovalForSessionEnabled", json!(true))),
        (
            "ai_catalog_agent.update",
            id("Ai::Catalog::Item/1", "mcpServers", json!(["gid://gitlab/Ai::Catalog::McpServer/1"])),
        ),
        ("ai_catalog_flow.update", id("Ai::Catalog::Item/1", "definition", json!("x"))),
        ("group.update", group("shared_runners_setting", json!("enabled"))),
        ("runner.update", json!({"runner_id": 1, "tag_list": ["prod"]})),
        (
            "issue.clone",
            json!({"fullPath": "acme/widget", "iid": 1, "to_project_id": "acme/site", "with_notes": true}),
        ),
        ("group.update", group("subgroup_creation_level", json!("maintainer"))),
        ("project.update", project("warn_about_potentially_unwanted_characters", json!(false))),
        ("project.update", project("request_access_enabled", json!(true))),
        ("user.update", json!({"user_id": 4, "private_profile": false})),
        // The default branch is protected as such
        ("project.update", project("default_branch", json!("attic"))),
        ("group.update", group("step_up_auth_required_oauth_provider", json!("weaker"))),
        (
            "group.update",
            group("ai_settings_attributes", json!({"prompt_injection_protection_level": "log_only"})),
        ),
        ("pages.set_use_unique_domain", project("value", json!(false))),
        ("duo_availability.set", json!({"groupId": "gid://gitlab/Group/7", "availability": "ALWAYS_ON"})),
        ("push_rule.create", project("prevent_secrets", json!(false))),
        ("project.create", json!({"name": "x", "visibility": "internal"})),
        (
            "invitation.update",
            with(project("expires_at", json!("2099-01-01")), "email", json!("a@b.example")),
        ),
        // For the readers of another place
        ("project.fork", project("namespace_path", json!("other"))),
        ("issue.clone", json!({"fullPath": "acme/vault", "iid": 1, "to_project_id": 1})),
        (
            "commit.create",
            json!({
                "fullPath": "acme/widget", "branch": "b", "commit_message": "x", "start_project": "acme/vault",
                "start_branch": "main", "actions": [{"action": "create", "file_path": "a", "content": "x"}],
            }),
        ),
        // An answer in the place of a check, an agent that goes on
        (
            "compliance_external_control.set_status",
            json!({"fullPath": "acme/widget", "control_id": 1, "status": "pass"}),
        ),
        ("duo_workflow.create_event", json!({"workflow_id": 1, "event_type": "resume", "message": "x"})),
        ("work_item.resume_workplan", json!({"id": "gid://gitlab/WorkItem/1"})),
    ] {
        let gitlab = gitlab();
        let reply = run(&mut gitlab.client(&[]), action, &params, false);
        // An object that this GitLab does not have has no question about it.
        let is_asked = ["needs_confirmation", "not_found"].contains(&kind(&reply).as_str());
        assert!(is_asked, "{action} {params}: {}", reply.text);
        assert!(changes(&gitlab).is_empty(), "{action} {params}: {:?}", changes(&gitlab));
    }
}

/// Grape reads a number as Ruby does, and takes a default, which may be any, for `null`.
#[test]
fn a_raw_value_that_gitlab_may_read_as_a_dangerous_one_is_asked_about() {
    let environment =
        |level: Value| json!({"name": "prod", "deploy_access_levels": [{"access_level": level}]});
    let rule = |required: Value| json!({"name": "x", "approvals_required": required});
    let project = "/projects/acme%2Fwidget";
    let bodies = [
        ("POST", format!("{project}/protected_environments"), environment(json!("030"))),
        ("POST", format!("{project}/protected_environments"), environment(json!("+30"))),
        ("POST", format!("{project}/protected_environments"), environment(json!("3_0"))),
        ("POST", format!("{project}/protected_environments"), environment(json!(30.0))),
        ("POST", format!("{project}/merge_requests/6/approval_rules"), rule(json!("+0"))),
        ("POST", format!("{project}/merge_requests/6/approval_rules"), rule(json!("00"))),
        ("PUT", "/groups/acme".to_owned(), json!({"project_creation_level": null})),
        ("PUT", "/groups/acme".to_owned(), json!({"default_branch_protection": null})),
        ("PUT", "/runners/1".to_owned(), json!({"access_level": null})),
    ];
    for (method, path, body) in bodies {
        let gitlab = gitlab();
        let params = json!({"method": method, "path": path, "body": body});
        let reply = run(&mut gitlab.client(&[]), "api.rest", &params, false);
        assert_eq!(kind(&reply), "needs_confirmation", "{params}: {}", reply.text);
        assert!(changes(&gitlab).is_empty(), "{params}: {:?}", changes(&gitlab));
    }
    let gitlab = gitlab();
    let closed = json!({"method": "POST", "path": format!("{project}/protected_environments"), "body": environment(json!("40"))});
    let reply = run(&mut gitlab.client(&[]), "api.rest", &closed, false);
    assert!(kind(&reply) != "needs_confirmation", "{}", reply.text);
}

#[test]
fn a_field_that_deletes_what_it_is_in_deletes() {
    let widget = |name: &str, value: Value| with(json!({"fullPath": "acme/widget"}), name, value);
    for (action, params) in [
        (
            "feature_flag.update",
            with(
                widget("strategies", json!([{"id": 3, "_destroy": true}])),
                "feature_flag_name",
                json!("whisper_mode"),
            ),
        ),
        (
            "graphql.pipeline_schedule_update",
            json!({"id": "gid://gitlab/Ci::PipelineSchedule/1", "variables": [{"id": "gid://gitlab/Ci::PipelineScheduleVariable/1", "key": "A", "value": "b", "variableType": "ENV_VAR", "destroy": true}]}),
        ),
        (
            "api.graphql",
            json!({
                "document": "mutation($input: PipelineScheduleUpdateInput!) { pipelineScheduleUpdate(input: $input) { errors } }",
                "variables": {"input": {"id": "gid://gitlab/Ci::PipelineSchedule/1", "variables": [{"id": "gid://gitlab/Ci::PipelineScheduleVariable/1", "key": "A", "value": "b", "variableType": "ENV_VAR", "destroy": true}]}},
            }),
        ),
    ] {
        let gitlab = gitlab();
        let reply = run(&mut gitlab.client(&[]), action, &params, false);
        let is_asked = ["needs_confirmation", "not_found"].contains(&kind(&reply).as_str());
        assert!(is_asked, "{action} {params}: {}", reply.text);
        assert!(changes(&gitlab).is_empty(), "{action}: {:?}", changes(&gitlab));
    }
}

/// A value that closes, and a setting that protects nothing, stay plain changes.
#[test]
fn a_setting_that_opens_nothing_is_not_asked_about() {
    let mut client = Client::sandbox();
    for params in [
        json!({"fullPath": "acme/widget", "description": "Turns"}),
        json!({"fullPath": "acme/widget", "merge_method": "ff"}),
        json!({"fullPath": "acme/widget", "topics": ["gears"]}),
        json!({"fullPath": "acme/widget", "warn_about_potentially_unwanted_characters": true}),
        json!({"fullPath": "acme/widget", "request_access_enabled": false}),
        json!({"fullPath": "acme/widget", "only_allow_merge_if_all_discussions_are_resolved": true}),
    ] {
        let reply = run(&mut client, "project.update", &params, false);
        assert!(kind(&reply) != "needs_confirmation", "{params}: {}", reply.text);
    }
}
