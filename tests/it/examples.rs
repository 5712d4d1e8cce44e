//! The example calls of the catalog: believable, at the right scope, and accepted by GitLab's routes.

use gitlab_mcp::catalog::{Action, Audience, Catalog, Place, Risk, Scope, example};
use serde_json::Value;

use crate::catalog::data::actions;
use crate::support::client::{Client, execute};

/// Read examples that fail on the sandbox although it has their route, by reason.
const FAILING: [(&str, &[&str]); 5] = [
    (
        "GitLab 19.5 no longer has it",
        &[
            "ai_agent.get",
            "ai_agent.list",
            "product_analytics.dry_run",
            "product_analytics.get_metadata",
            "product_analytics.get_project_settings",
            "product_analytics.query",
            "security_policy.get_sync_status",
        ],
    ),
    ("the sandbox has no embeddings", &["search.run_semantic"]),
    (
        "only an administrator may",
        &[
            "feature.list",
            "instance_settings.get",
            "instance_statistics.get",
            "issue.get_by_id",
            "system_hook.get",
            "system_hook.list",
            "user.list_memberships",
        ],
    ),
    (
        "the demonstration data has no such object, or has it under another number",
        &[
            "application.get",
            "blob.get",
            "blob.get_raw",
            "ci_variable.get",
            "commit.get_signature",
            "commit_discussion.get",
            "deploy_token.get",
            "dockerfile_template.get",
            "draft_note.get",
            "epic_discussion.get",
            "epic_note.get",
            "epic_note_reaction.get",
            "epic_note_reaction.list",
            "epic_reaction.get",
            "epic_reaction.list",
            "feature_flag_user_list.get",
            "freeze_period.get",
            "group.get_avatar",
            "group_access_token.get",
            "issue.get_closed_as_duplicate_of",
            "issue_milestone_event.get",
            "issue_note_reaction.get",
            "issue_state_event.get",
            "job_artifact.get_file",
            "job_artifact.get_file_by_ref",
            "merge_request_approval_rule.get",
            "merge_request_diff_version.get",
            "merge_request_discussion.get",
            "merge_request_label_event.get",
            "merge_request_milestone_event.get",
            "note.get",
            "merge_request_note.get",
            "merge_request_note_reaction.get",
            "merge_request_note_reaction.list",
            "merge_request_reaction.get",
            "merge_request_state_event.get",
            "pipeline_schedule_variable.get",
            "project.get_avatar",
            "project_export.download",
            "project_upload.download",
            "project_upload.get",
            "protected_environment.get",
            "remote_mirror.get",
            "resource_group.get",
            "service_account.get",
            "service_account_token.list",
            "snippet.get_file",
            "snippet_discussion.get",
            "snippet_note.get",
            "snippet_note_reaction.get",
            "snippet_note_reaction.list",
            "snippet_reaction.get",
            "ssh_key.get",
            "user_email.get",
        ],
    ),
    ("the remote is of another host", &["project.resolve"]),
];

/// The actions that a person could want, without duplicates.
fn ranked() -> impl Iterator<Item = Action> {
    actions().into_iter().filter(|action| action.twin.is_none() && action.audience == Audience::Person)
}

fn is_missing_in_the_sandbox(text: &str) -> bool {
    let signs =
        ["doesn't exist on type", "isn't a defined input type", "status: 501", "not found: 404 Not Found"];
    signs.iter().any(|sign| text.contains(sign))
}

#[test]
fn read_examples_succeed_on_the_sandbox() {
    let catalog = Catalog::embedded().unwrap();
    let words = catalog.words().unwrap();
    let mut client = Client::sandbox();
    let (mut succeeded, mut failed) = (0, Vec::new());
    for action in ranked().filter(|action| action.risk == Risk::Read) {
        let reply = execute(&mut client, &action.id, Value::Object(example(&action, words)));
        if !reply.is_error {
            succeeded += 1;
        } else if !is_missing_in_the_sandbox(&reply.text) {
            failed.push(action.id);
        }
    }
    let mut expected: Vec<&str> = FAILING.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    expected.sort_unstable();
    assert_eq!(failed, expected);
    assert!(succeeded > 200, "{succeeded}: the sandbox has lost routes");
}

#[test]
fn an_example_on_a_group_names_a_group() {
    let catalog = Catalog::embedded().unwrap();
    let words = catalog.words().unwrap();
    for action in ranked() {
        let params = example(&action, words);
        let scope = action.choices().next().map(|operation| operation.scope);
        if scope == Some(Scope::Group) && params.contains_key("fullPath") {
            assert_ne!(params["fullPath"], "acme/widget", "{}", action.id);
        }
    }
}

#[test]
fn the_example_of_an_update_changes_something() {
    let catalog = Catalog::embedded().unwrap();
    let words = catalog.words().unwrap();
    for action in ranked().filter(|action| action.id.contains(".update") && action.plan.is_none()) {
        let params = example(&action, words);
        let sets = action.params.iter().any(|param| {
            !matches!(param.place, Place::Path | Place::Selector) && params.contains_key(&param.name)
        });
        assert!(sets, "{} {params:?}", action.id);
    }
}

#[test]
fn examples_have_believable_values() {
    let catalog = Catalog::embedded().unwrap();
    let words = catalog.words().unwrap();
    for action in ranked() {
        let text = Value::Object(example(&action, words)).to_string();
        assert!(!text.contains("\"example\""), "{} {text}", action.id);
    }
}

#[test]
fn examples_name_people_projects_and_groups_instead_of_ids() {
    let catalog = Catalog::embedded().unwrap();
    let words = catalog.words().unwrap();
    for action in ranked() {
        let params = example(&action, words);
        for param in &action.params {
            let Some((names, value)) = param.names.zip(params.get(&param.name)) else { continue };
            let has_name = words.examples.references.contains_key(&names);
            assert!(!has_name || !value.is_number(), "{}: {} is {value}", action.id, param.name);
        }
    }
}
