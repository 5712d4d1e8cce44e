//! Differences between two catalogs, as lines of the report of an update.

use std::collections::{BTreeMap, BTreeSet};

use gitlab_mcp::catalog::{Action, Operation, Param};

use crate::paths::{segments, singular, unnamed};

/// Report of the added, renamed, removed and changed ids.
pub fn actions(before: &[Action], after: &[Action]) -> Vec<String> {
    let ids =
        |actions: &[Action]| -> BTreeSet<String> { actions.iter().map(|action| action.id.clone()).collect() };
    let (old, new) = (ids(before), ids(after));
    let is_known = |id: &str| after.iter().any(|action| action.aliases.iter().any(|alias| alias == id));
    let mut lines = Vec::new();
    for action in after.iter().filter(|action| !old.contains(&action.id)) {
        let operations: Vec<String> = action.choices().map(ToString::to_string).collect();
        let twin = action.twin.as_ref().map(|twin| format!(", a duplicate of {twin}")).unwrap_or_default();
        lines.push(format!("new: {} ({}: {}){twin}", action.id, action.risk.name(), operations.join(", ")));
    }
    for gone in before.iter().filter(|action| !new.contains(&action.id)) {
        let has = |action: &&Action| {
            let has = |operation: &Operation| {
                action.operations.iter().any(|o| o.to_string() == operation.to_string())
            };
            gone.operations.iter().any(has)
        };
        let id = &gone.id;
        // A release has no ranked action without words.
        let was_released = gone.curated || gone.twin.is_some();
        lines.push(match after.iter().find(has) {
            Some(other) if is_known(id) => format!("renamed: {id} is {}", other.id),
            Some(other) if !was_released => format!("renamed: {id} is {}; it was never released", other.id),
            Some(other) => format!("renamed: {id} is {}; add it to catalog/renamed.toml", other.id),
            None if is_known(id) => format!("gone: {id}"),
            None => format!("gone: {id}; add it to catalog/renamed.toml if another action does the same"),
        });
    }
    let mut others = 0;
    for action in after {
        let Some(known) = before.iter().find(|known| known.id == action.id && *known != action) else {
            continue;
        };
        let gone = newly_gone(known, action);
        match differences(known, action) {
            parts if !parts.is_empty() => {
                lines.push(format!("changed: {}: {}", action.id, parts.join("; ")));
            }
            _ if gone.is_empty() => others += 1,
            _ => {}
        }
        lines.extend(gone);
    }
    if others > 0 {
        lines.push(format!("{others} actions changed only in words, marks or answers"));
    }
    lines.extend(new_domains(after, &old));
    lines
}

/// Lines for the operations of an action that are marked as gone, and were not before.
fn newly_gone(before: &Action, after: &Action) -> Vec<String> {
    let is_known = |gone: &Operation| {
        let same = before.operations.iter().find(|known| known.to_string() == gone.to_string());
        same.is_some_and(|known| known.until.is_some())
    };
    let marked = after.operations.iter().filter(|operation| !is_known(operation));
    marked
        .filter_map(|operation| {
            let (id, until) = (&after.id, operation.until?);
            Some(format!(
                "marked as gone: {id}: {operation} since {until}; remove the mark from catalog/kept if GitLab still has it"
            ))
        })
        .collect()
}

/// Operations that GitLab's files no longer have, each with its action and with new operations that end alike.
pub fn operations(before: &[Action], now: &BTreeSet<String>) -> Vec<String> {
    let of_files = |operation: &&Operation| operation.any.is_none();
    let name = |operation: &Operation| operation.to_string();
    let known: BTreeSet<String> = before.iter().flat_map(|action| &action.operations).map(name).collect();
    let shapes: BTreeSet<String> = now.iter().map(|name| shape(name)).collect();
    let end = |name: &str| {
        let (method, path) = name.split_once(' ').unwrap_or(("", name));
        let last = path.rsplit(['/', '.']).find(|part| !part.starts_with([':', '*']));
        (method.to_owned(), last.unwrap_or_default().to_owned())
    };
    let mut lines = Vec::new();
    for action in before.iter().filter(|action| action.direct().is_none()) {
        for operation in action.operations.iter().filter(of_files) {
            let gone = name(operation);
            if now.contains(&gone) || shapes.contains(&shape(&gone)) {
                continue;
            }
            let alike: Vec<&str> = now
                .iter()
                .filter(|new| !known.contains(*new) && end(new) == end(&gone))
                .map(String::as_str)
                .collect();
            let perhaps = if alike.is_empty() {
                String::new()
            } else {
                format!("; new and perhaps the same: {}", alike.join(", "))
            };
            lines.push(format!("GitLab's files no longer have {gone}, of {}{perhaps}", action.id));
        }
    }
    lines
}

/// An operation without the names of its placeholders: a path whose placeholder has another name, or is no glob any more, is
/// the same path.
fn shape(name: &str) -> String {
    match name.split_once(' ') {
        Some((method, path)) if path.starts_with('/') => {
            format!("{method} {}", segments(&unnamed(path)).join("/"))
        }
        _ => name.to_owned(),
    }
}

/// The operations of an action that another one lacks.
fn operations_beside(one: &Action, other: &Action) -> Vec<String> {
    let known: BTreeSet<String> = other.choices().map(|operation| shape(&operation.to_string())).collect();
    let names: BTreeSet<String> = one.choices().map(ToString::to_string).collect();
    names.into_iter().filter(|name| !known.contains(&shape(name))).collect()
}

/// Values of the parameters of an action that the same parameters of another one lack: `state=upcoming`.
fn values_beside(one: &Action, other: &Action) -> Vec<String> {
    let beside = |param: &Param| -> Vec<String> {
        let Some(known) = other.param(&param.name).filter(|known| !known.choices.is_empty()) else {
            return Vec::new();
        };
        let fresh = param.choices.iter().filter(|choice| !known.choices.contains(choice));
        fresh.map(|choice| format!("{}={choice}", param.name)).collect()
    };
    one.params.iter().flat_map(beside).collect()
}

/// Differences that a caller notices: operations, parameters, their values, risk, and what GitLab deprecated.
fn differences(old: &Action, new: &Action) -> Vec<String> {
    let params = |action: &Action, is_wanted: &dyn Fn(&Param) -> bool| -> BTreeSet<String> {
        action.params.iter().filter(|param| is_wanted(param)).map(|param| param.name.clone()).collect()
    };
    let any = |_: &Param| true;
    let required = |param: &Param| param.required;
    let (had, has) = (params(old, &any), params(new, &any));
    let must: BTreeSet<String> = params(new, &required)
        .difference(&params(old, &required))
        .filter(|name| had.contains(*name))
        .cloned()
        .collect();
    let minus = |one: &BTreeSet<String>, other: &BTreeSet<String>| -> Vec<String> {
        one.difference(other).cloned().collect()
    };
    let lists = [
        ("new operation", operations_beside(new, old)),
        ("operation gone", operations_beside(old, new)),
        ("new parameter", minus(&has, &had)),
        ("parameter gone", minus(&had, &has)),
        ("now required", must.into_iter().collect()),
        ("new value", values_beside(new, old)),
        ("value gone", values_beside(old, new)),
    ];
    let mut parts: Vec<String> = lists
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what} {}", names.join(", ")))
        .collect();
    if new.deprecated && !old.deprecated {
        parts.push("now deprecated by GitLab".to_owned());
    }
    if old.risk != new.risk {
        parts.push(format!("{} instead of {}", new.risk.name(), old.risk.name()));
    }
    parts
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
    use gitlab_mcp::catalog::Risk;

    use super::*;

    #[test]
    fn added_and_removed_ids_are_listed() {
        let action = |id: &str, aliases: &[&str]| Action {
            id: id.to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            risk: Risk::Read,
            ..Action::default()
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
            with(Action { curated: true, ..action("f.show", &[]) }, "/f"),
            with(action("g.show", &[]), "/f"),
        ];
        let after = [
            action("a.get", &[]),
            action("d.get", &["c.get"]),
            with(action("e.get", &[]), "/e"),
            with(action("f.get", &[]), "/f"),
        ];
        assert_eq!(
            actions(&before, &after),
            [
                "new: e.get (read: GET /e)",
                "new: f.get (read: GET /f)",
                "gone: b.get; add it to catalog/renamed.toml if another action does the same",
                "gone: c.get",
                "renamed: f.show is f.get; add it to catalog/renamed.toml",
                "renamed: g.show is f.get; it was never released",
                "1 actions changed only in words, marks or answers",
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
            risk: Risk::Read,
            ..Action::default()
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

    #[test]
    fn changes_of_operations_parameters_and_risk_are_named() {
        let action = |text: &str| serde_json::from_str::<Action>(text).unwrap();
        let old = action(
            r#"{"action": "a.get", "summary": "", "risk": "read", "params": [{"name": "id", "type": "string"}, {"name": "page", "type": "integer"}],
                "operations": [{"method": "GET", "path": "/a", "scope": "instance"}]}"#,
        );
        let new = action(
            r#"{"action": "a.get", "summary": "", "risk": "write", "params": [{"name": "id", "type": "string", "required": true}, {"name": "sort", "type": "string"}],
                "operations": [{"method": "GET", "path": "/a", "scope": "instance"}, {"method": "GET", "path": "/projects/:id/a", "scope": "project"}]}"#,
        );
        assert_eq!(
            actions(&[old], &[new]),
            [
                "changed: a.get: new operation GET /projects/:id/a; new parameter sort; parameter gone page; now required id; write instead of read"
            ]
        );
    }

    #[test]
    fn new_values_and_deprecations_are_named_and_other_names_of_placeholders_are_not() {
        let action = |path: &str, values: &str, more: &str| {
            serde_json::from_str::<Action>(&format!(
                r#"{{"action": "a.get", "summary": "", "risk": "read", {more}
                    "params": [{{"name": "state", "type": "string", "enum": [{values}]}}],
                    "operations": [{{"method": "GET", "path": "{path}", "scope": "project"}}]}}"#
            ))
            .unwrap()
        };
        let old = action("/projects/:id/a/:label_id", r#""open", "closed""#, "");
        let new = action("/projects/:id/a/:name", r#""open", "upcoming""#, r#""deprecated": true,"#);
        assert_eq!(
            actions(&[old], &[new]),
            ["changed: a.get: new value state=upcoming; value gone state=closed; now deprecated by GitLab"]
        );
    }

    #[test]
    fn operations_that_are_newly_marked_as_gone_are_named() {
        let mut before: Action = serde_json::from_str(
            r#"{"action": "topic.merge", "summary": "", "risk": "write", "operations": [
                {"method": "POST", "path": "/topics/merge", "scope": "instance"},
                {"method": "POST", "path": "/topics/:id/merge", "scope": "project", "until": "19.5"}]}"#,
        )
        .unwrap();
        let mut after = before.clone();
        after.operations[0].until = Some("19.7".parse().unwrap());
        let line = "marked as gone: topic.merge: POST /topics/merge since 19.7; remove the mark from catalog/kept if \
                    GitLab still has it";
        assert_eq!(actions(std::slice::from_ref(&before), std::slice::from_ref(&after)), [line]);
        before.risk = Risk::Read;
        let lines = actions(&[before], &[after]);
        assert_eq!(lines, ["changed: topic.merge: write instead of read", line]);
    }

    #[test]
    fn operations_that_are_gone_are_named_with_what_may_have_replaced_them() {
        let before: Action = serde_json::from_str(
            r#"{"action": "topic.merge", "summary": "", "risk": "write", "operations": [
                {"method": "POST", "path": "/topics/merge", "scope": "instance"},
                {"method": "GET", "path": "/topics/:id/*file", "scope": "instance"},
                {"method": "GET", "path": "/topics/Named(Id='*name')", "scope": "instance"},
                {"method": "GET", "path": "/topics", "scope": "instance"}]}"#,
        )
        .unwrap();
        let now = [
            "POST /topics/:id/merge",
            "GET /topics",
            "GET /topics/:topic_id/:file_name",
            "GET /topics/Named(Id=':name')",
            "POST /topics",
        ]
        .map(str::to_owned)
        .into();
        assert_eq!(
            operations(&[before], &now),
            [
                "GitLab's files no longer have POST /topics/merge, of topic.merge; new and perhaps the same: POST /topics/:id/merge"
            ]
        );
    }
}
