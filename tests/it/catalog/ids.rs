//! Ids that are kept: former ones stay aliases, and each id follows the rules of docs/internals/catalog-format.md.

use std::collections::BTreeMap;

use gitlab_mcp::catalog::{Audience, Catalog, Risk};

use crate::catalog::data::actions;

/// Reads whose id is GitLab's own noun or verb, because that is what people say.
const OWN_WORDS: &[&str] = &[
    "admin_token.identify",
    "ai_git_command.suggest",
    "badge.render",
    "changelog.generate",
    "code_suggestion.complete",
    "commit.diff",
    "duo_chat.ask",
    "glql.query",
    "job.log",
    "markdown.render",
    "maven_virtual_registry_upstream.test_existing",
    "merge_request.overview",
    "orbit.query",
    "orbit.run_named_query",
    "pipeline.diagnose",
    "product_analytics.dry_run",
    "product_analytics.query",
    "project.resolve",
    "repository.compare",
    "repository.validate_codeowners",
    "repository_file.blame",
    "resource.fetch",
    "search.run",
    "search.run_semantic",
    "subscription.preview_billable_user_change",
];

const READING_VERBS: &[&str] =
    &["check", "count", "download", "exists", "find", "get", "list", "read", "search"];

/// Actions whose id names a holder: another thing than the action without it, or of a parent that is no scope.
const WITH_A_HOLDER: &[&str] = &[
    // Counts how often each dependency is used, where `dependency.list` describes those of one project.
    "dependency.list_in_group",
    // Any user's; `duo_workflow.list` has the token's own.
    "duo_workflow.list_in_project",
    // Links of all epics; `epic_link.list` has those of one.
    "epic_link.list_in_group",
    // As administrator, for another user.
    "personal_access_token.create_for_user",
    "project.create_for_user",
    // In all accessible projects.
    "deploy_key.list_of_user",
    // Sets them for all projects of a group, with exceptions.
    "security_settings.set_validity_checks_in_group",
    // The setting's own name.
    "security_settings.set_container_scanning_for_registry",
    // Parents that are no scope.
    "container_virtual_registry_upstream.list_in_registry",
    "ldap_group.list_in_provider",
    "ldap_group_link.delete_in_provider",
    "maven_virtual_registry_upstream.list_in_registry",
    "snippet_storage_move.list_in_snippet",
    "vulnerability.list_of_occurrence",
];

#[derive(serde::Deserialize)]
struct RenamedFile {
    renamed: BTreeMap<String, String>,
}

fn renamed() -> BTreeMap<String, String> {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/catalog/renamed.toml"));
    toml::from_str::<RenamedFile>(text).unwrap().renamed
}

#[test]
fn a_former_id_is_an_alias_of_one_action() {
    let catalog = Catalog::embedded().unwrap();
    for (former, current) in renamed() {
        assert!(catalog.number(&former).is_none(), "{former} is an action");
        let ids: Vec<_> = catalog.by_alias(&former).into_iter().filter_map(|n| catalog.id(n)).collect();
        assert_eq!(ids, [current.as_str()], "{former}");
    }
}

#[test]
fn the_documentation_lists_every_former_id() {
    let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/renamed-actions.md"));
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.strip_suffix("` |")?.split("` | `");
        Some((cells.next()?.to_owned(), cells.next()?.to_owned()))
    });
    assert_eq!(rows.collect::<BTreeMap<_, _>>(), renamed());
}

#[test]
fn scopes_bulk_and_self_are_spelled_in_one_way() {
    let other = regex::Regex::new(
        r"_(of|for)_(group|project|namespace|provider|snippet)s?$|_(many|batch)$|(^|[._])own(_|$)",
    )
    .unwrap();
    let ids =
        actions().into_iter().filter(|action| action.twin.is_none() && action.audience == Audience::Person);
    let bad: Vec<String> = ids.map(|action| action.id).filter(|id| other.is_match(id)).collect();
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn an_id_names_a_holder_only_where_that_is_another_thing() {
    let holder = regex::Regex::new(
        r"_(in|of|for)_(group|project|namespace|instance|user|registry|provider|snippet|occurrence)s?$",
    )
    .unwrap();
    let ids =
        actions().into_iter().filter(|action| action.twin.is_none() && action.audience == Audience::Person);
    let mut found: Vec<String> = ids.map(|action| action.id).filter(|id| holder.is_match(id)).collect();
    let mut reviewed = WITH_A_HOLDER.to_vec();
    found.sort();
    reviewed.sort_unstable();
    assert_eq!(found, reviewed);
}

#[test]
fn reads_begin_with_a_reading_verb_or_are_called_as_people_call_them() {
    let reads = actions().into_iter().filter(|action| {
        action.risk == Risk::Read && action.twin.is_none() && action.audience == Audience::Person
    });
    let begins = |id: &str| {
        let verb = id.split_once('.').map_or("", |(_, verb)| verb).split('_').next().unwrap();
        READING_VERBS.contains(&verb)
    };
    let own: Vec<String> = reads.map(|action| action.id).filter(|id| !begins(id)).collect();
    assert_eq!(own, OWN_WORDS);
}
