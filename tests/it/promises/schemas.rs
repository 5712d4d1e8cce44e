//! Schemas of the meta surface: what they hold, what denying prunes, and descriptions of one's own.

use serde_json::json;

use super::{FIND, Folder, Server, command, page};

#[test]
fn gitlab_tool_tool_replaces_the_description_of_a_tool() {
    command(
        &["surface", "--surface", "meta"],
        &[
            ("GITLAB_META_SPLIT", "cqrs"),
            ("GITLAB_DOMAINS", "milestone"),
            ("GITLAB_TOOL_BROWSE_MILESTONES", "Milestone operations"),
        ],
    )
    .ok()
    .equals("/tools/1/name", "browse_milestones")
    .equals("/tools/1/description", "Milestone operations")
    .contains("/tools/2/description", "Milestones of GitLab");
}

#[test]
fn denying_actions_makes_the_schemas_smaller_by_what_only_they_had() {
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
    .equals("/tools/1/name", "gitlab_milestones")
    .at_most("/tools/1", 2100.0);
    command(&["surface", "--surface", "meta", "--meta-param-schema", "full", "--domains", "milestone"], &[])
        .ok()
        .at_least("/tools/1", 4200.0);
}

#[test]
fn the_description_of_a_tool_follows_the_actions_that_are_left() {
    command(&["surface", "--surface", "meta", "--domains", "milestone"], &[])
        .ok()
        .contains("/tools/1/description", "change");
    command(&["surface", "--surface", "meta", "--domains", "milestone", "--read-only"], &[])
        .ok()
        .equals("/tools/1/annotations/readOnlyHint", true)
        .lacks("/tools/1/description", "changes them");
}

#[test]
fn the_discriminated_schema_has_an_alternative_for_each_action_with_its_own_required_parameters() {
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
        ],
        &[],
    )
    .ok()
    .contains("/tools/1/inputSchema/oneOf/*/properties/action/const", "milestone.create")
    .equals("/tools/1/inputSchema/oneOf/0/properties/action/const", "milestone.create")
    .equals("/tools/1/inputSchema/oneOf/0/properties/params/required", json!(["fullPath", "title"]))
    .contains("/tools/1/inputSchema/oneOf/1/properties/params/required", "milestone_id");
}

#[test]
fn the_flat_schema_is_the_default() {
    command(&["surface", "--surface", "meta", "--meta-param-schema", "full", "--domains", "milestone"], &[])
        .ok()
        .absent("/tools/1/inputSchema/oneOf")
        .present("/tools/1/inputSchema/properties/params/properties/start_date")
        .contains(
            "/tools/1/inputSchema/properties/params/properties/state_event/description",
            "Only for milestone.update.",
        );
}

#[test]
fn gitlab_schema_mode_takes_flat_and_discriminated_and_no_other_value() {
    command(
        &[
            "surface",
            "--surface",
            "meta",
            "--meta-param-schema",
            "compact",
            "--schema-mode",
            "discriminated",
            "--domains",
            "milestone",
        ],
        &[],
    )
    .ok()
    .at_least("/tools/1/inputSchema/oneOf", 5.0);
    command(
        &[
            "surface",
            "--surface",
            "meta",
            "--meta-param-schema",
            "compact",
            "--schema-mode",
            "flat",
            "--domains",
            "milestone",
        ],
        &[],
    )
    .ok()
    .absent("/tools/1/inputSchema/oneOf");
    command(&["surface", "--surface", "meta", "--schema-mode", "x"], &[])
        .exits(2)
        .says("flat or discriminated");
}

#[test]
fn gitlab_action_tool_action_replaces_the_description_of_an_action() {
    command(
        &["surface", "--surface", "meta", "--meta-param-schema", "full"],
        &[
            ("GITLAB_META_SPLIT", "cqrs"),
            ("GITLAB_DOMAINS", "milestone"),
            ("GITLAB_ACTION_MANAGE_MILESTONE_CREATE", "Plan a release"),
        ],
    )
    .ok()
    .matches(
        "/tools/2/inputSchema/properties/action/description",
        r"milestone\.create\(.*\): Plan a release",
    );
    command(
        &["surface", "--surface", "meta", "--meta-param-schema", "opaque"],
        &[
            ("GITLAB_META_SPLIT", "cqrs"),
            ("GITLAB_DOMAINS", "milestone"),
            ("GITLAB_ACTION_MANAGE_MILESTONE_CREATE", "Plan a release"),
        ],
    )
    .ok()
    .contains("/tools/2/inputSchema/properties/action/description", "Plan a release");
}

#[test]
fn gitlab_param_tool_param_replaces_the_description_of_a_parameter_without_additions() {
    command(
        &["surface", "--surface", "meta", "--meta-param-schema", "full"],
        &[
            ("GITLAB_META_SPLIT", "cqrs"),
            ("GITLAB_DOMAINS", "milestone"),
            ("GITLAB_PARAM_MANAGE_MILESTONE_TITLE", "Title"),
        ],
    )
    .ok()
    .equals("/tools/2/inputSchema/properties/params/properties/title/description", "Title");
    command(
        &["surface", "--surface", "meta", "--meta-param-schema", "compact"],
        &[
            ("GITLAB_META_SPLIT", "cqrs"),
            ("GITLAB_DOMAINS", "milestone"),
            ("GITLAB_PARAM_MANAGE_MILESTONE_TITLE", "Title"),
        ],
    )
    .ok()
    .equals("/tools/2/inputSchema/properties/params/properties/title/description", "Title");
}

#[test]
fn overrides_know_a_parameter_by_the_aliases_that_calls_know_such_as_namespace() {
    command(
        &["surface", "--surface", "meta", "--meta-param-schema", "full"],
        &[
            ("GITLAB_META_SPLIT", "cqrs"),
            ("GITLAB_DOMAINS", "milestone"),
            ("GITLAB_PARAM_BROWSE_MILESTONES_NAMESPACE", "Path of your team's project"),
        ],
    )
    .ok()
    .says("Path of your team's project")
    .says_not("WARN");
}

#[test]
fn overrides_reach_the_finds_of_the_default_surface() {
    let mut server = Server::with(
        &[
            ("GITLAB_ACTION_MANAGE_MILESTONE_CREATE", "Plan a release"),
            ("GITLAB_PARAM_MANAGE_MILESTONE_TITLE", "The version, such as 4.2"),
            ("GITLAB_TOOL_BROWSE_MILESTONES", "Milestone operations"),
        ],
        &[],
    );
    server
        .tool(FIND, json!({"query": "milestone.create", "detail": "schema"}))
        .ok()
        .equals("/results/0/summary", "Plan a release")
        .equals("/results/0/input_schema/properties/title/description", "The version, such as 4.2");
}

#[test]
fn an_override_that_matches_nothing_is_warned_of_at_the_start_with_the_nearest_name() {
    command(
        &["surface", "--surface", "meta", "--tokens"],
        &[("GITLAB_ACTION_MILESTONES_CRATE", "Plan a release"), ("GITLAB_DOMAINS", "milestone")],
    )
    .ok()
    .says("WARN")
    .says("GITLAB_ACTION_MILESTONES_CRATE describes nothing")
    .says("GITLAB_ACTION_MILESTONE_CREATE");
}

#[test]
fn schemas_are_made_in_four_steps_source_pruning_descriptions_output() {
    page("docs/reference/customization.md")
        .says("1. **Source.**")
        .says("2. **Prune.**")
        .says("3. **Describe.**")
        .says("4. **Output.**");
    command(
        &["surface", "--surface", "meta", "--meta-param-schema", "full", "--schema-mode", "discriminated"],
        &[
            ("GITLAB_DOMAINS", "milestone"),
            ("GITLAB_DENIED_ACTIONS", "milestone.delete"),
            ("GITLAB_ACTION_MILESTONES_CREATE", "Plan a release"),
        ],
    )
    .ok()
    .contains("/tools/1/inputSchema/oneOf/*/properties/action/const", "milestone.create")
    .lacks("/tools/1/inputSchema/oneOf/*/properties/action/const", "milestone.delete")
    .says("Plan a release");
}

#[test]
fn a_file_holds_descriptions_as_well_and_a_variable_is_stronger() {
    let folder = Folder::with(&[(
        "words.toml",
        "[tools]\ngitlab_milestones = \"from the file\"\ngitlab_labels = \"from the file\"\n",
    )]);
    command(
        &["surface", "--surface", "meta"],
        &[
            ("GITLAB_CUSTOMISE", &folder.path("words.toml")),
            ("GITLAB_DOMAINS", "milestone,label"),
            ("GITLAB_TOOL_LABELS", "from the variable"),
        ],
    )
    .ok()
    .contains("/tools/*/description", "from the file")
    .contains("/tools/*/description", "from the variable");
}

#[test]
fn a_call_runs_the_same_under_a_flat_and_a_discriminated_schema() {
    let mut server = Server::with(
        &[
            ("TOOL_SURFACE", "meta"),
            ("META_PARAM_SCHEMA", "full"),
            ("GITLAB_SCHEMA_MODE", "discriminated"),
            ("GITLAB_DOMAINS", "milestone"),
        ],
        &[],
    );
    server.tool("gitlab_milestones", json!({"action": "create", "params": {"fullPath": "acme/widget", "title": "v9"}, "dry_run": true})).ok().equals("/request/method", "POST").equals("/request/body/title", "v9");
    server.tool("gitlab_milestones", json!({"action": "milestone.create", "params": {"fullPath": "acme/widget", "title": "v9"}, "dry_run": true})).ok().equals("/request/body/title", "v9");
}

#[test]
fn parameters_that_an_action_needs_are_required_in_its_alternative_and_checked_in_a_call() {
    let mut server = Server::sandbox();
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
        ],
        &[],
    )
    .ok()
    .present("/tools/1/inputSchema/oneOf/*/properties/params/required");
    server
        .execute("milestone.create", json!({"fullPath": "acme/widget"}))
        .fails("invalid_params")
        .says("`title` is missing");
}

#[test]
fn every_variable_is_documented_with_examples() {
    page("docs/reference/configuration.md")
        .says("`GITLAB_SCHEMA_MODE`")
        .says("`META_PARAM_SCHEMA`")
        .says("`GITLAB_DENIED_ACTIONS`")
        .says("`GITLAB_META_SPLIT`");
    page("docs/reference/customization.md")
        .says("`GITLAB_TOOL_<TOOL>`")
        .says("`GITLAB_ACTION_<TOOL>_<ACTION>`")
        .says("`GITLAB_PARAM_<TOOL>_<PARAM>`");
}

#[test]
fn meta_param_schema_is_opaque_by_default_compact_or_full_another_value_stops_the_start() {
    command(&["surface", "--surface", "meta", "--domains", "milestone"], &[])
        .ok()
        .equals("/tools/1/inputSchema/properties/params/type", "object")
        .absent("/tools/1/inputSchema/properties/params/properties");
    command(
        &["surface", "--surface", "meta", "--domains", "milestone", "--meta-param-schema", "compact"],
        &[],
    )
    .ok()
    .equals("/tools/1/inputSchema/properties/params/properties/title/type", "string")
    .absent("/tools/1/inputSchema/properties/params/properties/title/description");
    command(&["surface", "--surface", "meta", "--domains", "milestone", "--meta-param-schema", "full"], &[])
        .ok()
        .present("/tools/1/inputSchema/properties/params/properties/title/description");
    command(&["surface", "--surface", "meta", "--meta-param-schema", "foo"], &[])
        .exits(2)
        .says("opaque, compact or full");
}
