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
    ] {
        let gitlab = gitlab();
        let reply = run(&mut gitlab.client(&[]), action, &params, false);
        // An object that this GitLab does not have has no question about it.
        let is_asked = ["needs_confirmation", "not_found"].contains(&kind(&reply).as_str());
        assert!(is_asked, "{action} {params}: {}", reply.text);
        assert!(changes(&gitlab).is_empty(), "{action} {params}: {:?}", changes(&gitlab));
    }
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
