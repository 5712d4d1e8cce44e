//! Updates to a new GitLab version: the generated files, the vectors of new actions, and a report.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;

use gitlab_mcp::catalog::{Action, Operation};

use crate::api_files::{ApiFiles, Versions};
use crate::error::GeneratorError;
use crate::generated::Generated;
use crate::paths::{segments, singular};
use crate::{documentation, output, vectors};

/// Generates, embeds new actions and prints the added, removed and renamed ids as a list of remaining tasks. With a new
/// version, additions to the catalog are marked as introduced after the old one.
pub fn run(
    catalog: &Path,
    files: &ApiFiles,
    versions: &Versions,
    is_preview: bool,
) -> Result<(), GeneratorError> {
    let before = output::load_actions(catalog)?;
    let is_newer = versions.gitlab_version.is_some();
    let older = if is_newer { Some((before.as_slice(), output::gitlab_version(catalog)?)) } else { None };
    let generated = Generated::build_over(catalog, files, older)?;
    let mut out = std::io::stdout().lock();
    for line in changes(&before, &generated.actions) {
        writeln!(out, "{line}")?;
    }
    if is_preview {
        return Ok(());
    }
    let source = generated.source(catalog, versions)?;
    output::write(catalog, &generated.render(&source))?;
    documentation::write(catalog, &source.figures())?;
    let embedded = vectors::write(catalog, &generated.actions)?;
    writeln!(out, "{embedded} actions that the training does not know have a vector")?;
    Ok(())
}

/// Report of the added, renamed and removed ids, the number of changed ones, and the remaining manual tasks.
fn changes(before: &[Action], after: &[Action]) -> Vec<String> {
    let ids =
        |actions: &[Action]| -> BTreeSet<String> { actions.iter().map(|action| action.id.clone()).collect() };
    let (old, new) = (ids(before), ids(after));
    let is_known = |id: &str| after.iter().any(|action| action.aliases.iter().any(|alias| alias == id));
    let mut lines = Vec::new();
    for action in after.iter().filter(|action| !old.contains(&action.id)) {
        let operations: Vec<String> = action.choices().map(ToString::to_string).collect();
        let todo = if action.curated { "" } else { "; write its summary and phrases in catalog/curation" };
        lines.push(format!("new: {} ({}){todo}", action.id, operations.join(", ")));
    }
    for gone in before.iter().filter(|action| !new.contains(&action.id)) {
        let has = |action: &&Action| {
            let has = |operation: &Operation| {
                action.operations.iter().any(|o| o.to_string() == operation.to_string())
            };
            gone.operations.iter().any(has)
        };
        let id = &gone.id;
        lines.push(match after.iter().find(has) {
            Some(other) if is_known(id) => format!("renamed: {id} is {}", other.id),
            Some(other) => format!("renamed: {id} is {}; add it to catalog/renamed.toml", other.id),
            None if is_known(id) => format!("gone: {id}"),
            None => format!("gone: {id}; add it to catalog/renamed.toml if another action does the same"),
        });
    }
    lines.extend(new_domains(after, &old));
    let changed = after.iter().filter(|action| old.contains(&action.id) && !before.contains(action)).count();
    lines.push(format!("{changed} actions changed"));
    lines
}

/// New collections of projects and groups that should become a domain: `project.badges`, as named by the rules, becomes
/// `badge.create`.
fn new_domains(after: &[Action], old: &BTreeSet<String>) -> Vec<String> {
    let mut collections: BTreeMap<String, usize> = BTreeMap::new();
    let fresh = after.iter().filter(|action| {
        matches!(action.domain(), "project" | "group") && !action.curated && !old.contains(&action.id)
    });
    for operation in fresh.flat_map(Action::choices).filter(|operation| operation.graphql.is_none()) {
        if let [_, _, collection, ..] = segments(&operation.path).as_slice() {
            *collections.entry(collection.clone()).or_default() += 1;
        }
    }
    let several = collections.into_iter().filter(|(_, count)| *count > 1);
    several
        .map(|(plural, count)| {
            let domain = singular(&plural);
            format!(
                "suggestion: {count} new operations below */{plural}; `[domain.{domain}]` with `paths = [\"*/{plural}\"]` in \
                 catalog/curation names them {domain}.list and so on"
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_and_removed_ids_are_listed() {
        let action = |id: &str, aliases: &[&str]| Action {
            id: id.to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            ..serde_json::from_str(r#"{"action": "x.y", "summary": "", "risk": "read", "operations": []}"#)
                .unwrap()
        };
        let with = |mut action: Action, path: &str| {
            let operation = format!(r#"{{"method": "GET", "path": "{path}", "scope": "instance"}}"#);
            action.operations.push(serde_json::from_str(&operation).unwrap());
            action
        };
        let before = [
            action("a.get", &[]),
            action("b.get", &[]),
            action("c.get", &[]),
            action("d.get", &[]),
            with(action("f.show", &[]), "/f"),
        ];
        let after = [
            action("a.get", &[]),
            action("d.get", &["c.get"]),
            with(action("e.get", &[]), "/e"),
            with(action("f.get", &[]), "/f"),
        ];
        assert_eq!(
            changes(&before, &after),
            [
                "new: e.get (GET /e); write its summary and phrases in catalog/curation",
                "new: f.get (GET /f); write its summary and phrases in catalog/curation",
                "gone: b.get; add it to catalog/renamed.toml if another action does the same",
                "gone: c.get",
                "renamed: f.show is f.get; add it to catalog/renamed.toml",
                "1 actions changed",
            ]
        );
    }

    #[test]
    fn a_new_collection_of_projects_is_suggested_as_a_domain() {
        let operation = |method: &str, path: &str| {
            serde_json::from_str(&format!(
                r#"{{"method": "{method}", "path": "{path}", "scope": "project"}}"#
            ))
            .unwrap()
        };
        let action = |id: &str, operations: Vec<Operation>| Action {
            id: id.to_owned(),
            operations,
            ..serde_json::from_str(r#"{"action": "x.y", "summary": "", "risk": "read", "operations": []}"#)
                .unwrap()
        };
        let after = [
            action("project.list_badges", vec![operation("GET", "/projects/:id/badges")]),
            action("project.badges", vec![operation("POST", "/projects/:id/badges")]),
            action("project.get_moon", vec![operation("GET", "/projects/:id/moon")]),
        ];
        let [line] = &*new_domains(&after, &BTreeSet::new()) else { panic!("one suggestion") };
        assert!(line.starts_with("suggestion: 2 new operations below */badges; `[domain.badge]`"), "{line}");
        let known = after.iter().map(|action| action.id.clone()).collect();
        assert_eq!(new_domains(&after, &known), Vec::<String>::new());
    }
}
