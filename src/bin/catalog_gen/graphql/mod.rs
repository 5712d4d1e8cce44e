//! Converts GitLab's GraphQL interface to operations of actions: which fields are operations, their names, parameters
//! and selections.

mod kept;
mod naming;
mod params;
mod reach;
mod sdl;
mod selections;
mod types;

use std::collections::BTreeMap;

use gitlab_mcp::catalog::{BodyForm, Graphql, GraphqlKind, Method, Operation, Scope};
pub use naming::snake;
pub use params::KnownParams;
pub use sdl::Sdl;

use crate::curation::Curation;
use crate::member::Member;
use crate::rules::GraphqlRules;
use reach::GraphqlPath;
use sdl::Status;
use selections::Selections;

/// Operations and types of the schema, in the catalog's form.
#[derive(Default)]
pub struct SchemaOperations {
    /// The operations of each action, by its id.
    pub groups: BTreeMap<String, Vec<Member>>,
    /// Fragments that their selections spread, one per line.
    pub fragments: Vec<String>,
    /// Fields of each type, one type per line.
    pub types: Vec<String>,
    pub mutations: usize,
    pub queries: usize,
    pub reached_by_path: usize,
    pub faults: Vec<String>,
    /// GitLab's description of each operation, for the maintainer's eyes only.
    pub descriptions: BTreeMap<String, String>,
}

/// Every operation of the schema with its action.
pub fn find(sdl: &Sdl, curation: &Curation) -> SchemaOperations {
    let all = reach::find_operations(sdl, &curation.rules.graphql);
    let selections = Selections::new(sdl, &curation.selections, &curation.rules.graphql);
    let mut groups: BTreeMap<String, Vec<Member>> = BTreeMap::new();
    let mut faults = Vec::new();
    for reached in &all {
        match assign_operation(reached, sdl, curation, &selections) {
            Ok((id, member)) => groups.entry(id).or_default().push(member),
            Err(fault) => faults.push(fault),
        }
    }
    groups.values_mut().for_each(|members| mark_alternates(members));
    // Kept fields are not GitLab's any more.
    let own = || all.iter().filter(|reached| reached.until().is_none());
    let roots = |mutation: bool| own().filter(|r| r.mutation == mutation && r.steps.len() == 1).count();
    let (mutations, queries) = (roots(true), roots(false));
    let fragments = selections.fragments();
    let spread = fragments.iter().filter_map(|line| line.split(' ').nth(1));
    SchemaOperations {
        groups,
        types: types::lines(sdl, spread),
        fragments,
        mutations,
        queries,
        reached_by_path: own().count() - mutations - queries,
        faults,
        descriptions: all
            .iter()
            .filter_map(|reached| Some((operation_name(reached), reached.steps.last()?.description.clone())))
            .collect(),
    }
}

/// Every operation of the schema, named as in an action's line: `query project.issues`.
pub fn operation_names(sdl: &Sdl, rules: &GraphqlRules) -> Vec<String> {
    reach::find_operations(sdl, rules).iter().map(operation_name).collect()
}

/// Every operation of the schema with its arguments.
pub fn operation_arguments(sdl: &Sdl, rules: &GraphqlRules) -> Vec<(String, KnownParams)> {
    let named = |reached: &GraphqlPath<'_>| (operation_name(reached), params::arguments(reached, sdl));
    reach::find_operations(sdl, rules).iter().map(named).collect()
}

fn operation_name(reached: &GraphqlPath<'_>) -> String {
    format!("{} {}", if reached.mutation { "mutation" } else { "query" }, reached.path())
}

/// Operations of the schema that curation gives a name or a scope, in curation's spelling.
pub fn used_names<'a>(sdl: &Sdl, curation: &'a Curation) -> Vec<&'a str> {
    let all = reach::find_operations(sdl, &curation.rules.graphql);
    all.iter()
        .flat_map(|reached| {
            let scope = naming::curated_scope(reached, curation).map(|curated| curated.written.as_str());
            naming::curated(reached, curation).map(|named| named.written.as_str()).into_iter().chain(scope)
        })
        .collect()
}

fn assign_operation(
    reached: &GraphqlPath<'_>,
    sdl: &Sdl,
    curation: &Curation,
    selections: &Selections<'_>,
) -> Result<(String, Member), String> {
    let named = naming::curated(reached, curation);
    let id = match named {
        Some(named) => named.id.clone(),
        None => naming::id(reached, sdl, curation)?,
    };
    let taken = params::collect(reached, sdl);
    let Some(leaf) = reached.steps.last() else { return Err(format!("{id} has no field")) };
    let selection =
        if reached.mutation { selections.select_payload(&leaf.ty.name) } else { selections.select(&leaf.ty) };
    let status = reached.status();
    let operation = Operation {
        method: Method::Post,
        path: "/api/graphql".to_owned(),
        scope: naming::curated_scope(reached, curation)
            .map_or_else(|| scope(reached, &taken.params), |curated| curated.scope),
        body: BodyForm::Json,
        alternate: named.is_some_and(|named| named.alternate),
        deprecated: status == Status::Deprecated,
        since: match &leaf.status {
            Status::Experiment(version) => version.parse().ok(),
            Status::Stable | Status::Deprecated => None,
        },
        until: reached.until(),
        graphql: Some(Graphql {
            kind: if reached.mutation { GraphqlKind::Mutation } else { GraphqlKind::Query },
            field: reached.path(),
            selection,
            variables: taken.variables,
            types: input_type(reached),
            gids: BTreeMap::new(),
            experiment: match status {
                Status::Experiment(version) => Some(version),
                Status::Stable | Status::Deprecated => None,
            },
            fragments: String::new(),
        }),
        ..Operation::default()
    };
    Ok((id, Member { operation, params: taken.params }))
}

/// Type of a mutation's `input`, if it is not named after the mutation.
fn input_type(reached: &GraphqlPath<'_>) -> BTreeMap<String, String> {
    let input = reached
        .steps
        .last()
        .filter(|_| reached.mutation)
        .and_then(|leaf| leaf.arguments.iter().find(|argument| argument.name == "input"));
    let usual = |name: &str, kind: &str| {
        let mut characters = name.chars();
        let first = characters.next().map(|first| first.to_ascii_uppercase());
        first.map(|first| format!("{first}{}Input!", characters.as_str())).as_deref() == Some(kind)
    };
    let other = input.filter(|input| !usual(&reached.path(), &input.ty.text));
    other.map(|input| ("input".to_owned(), input.ty.text.clone())).into_iter().collect()
}

/// Scope of an operation: by its root field; for a mutation, by its path argument.
fn scope(reached: &GraphqlPath<'_>, params: &[gitlab_mcp::catalog::Param]) -> Scope {
    let path = params.iter().find(|param| param.name == "fullPath");
    let wire = path.map(|path| path.wire.as_deref().unwrap_or("fullPath"));
    let first = reached.steps.first().filter(|_| reached.steps.len() > 1).map(|step| step.name.as_str());
    match (first, wire) {
        (Some("project"), _) | (_, Some("projectPath")) => Scope::Project,
        (Some("group" | "namespace"), _) | (_, Some("groupPath")) => Scope::Group,
        (None, Some(_)) => Scope::Namespace,
        (Some("currentUser"), _) => Scope::Current,
        _ => Scope::Instance,
    }
}

/// Marks alternatives: a group's operation duplicates the namespace's. Work items of projects and groups are all
/// reached through the namespace.
fn mark_alternates(members: &mut [Member]) {
    let of_group = members.iter().any(|member| begins(&member.operation, "group."));
    let of_project = members.iter().any(|member| begins(&member.operation, "project."));
    let in_either = members.iter().any(|member| begins(&member.operation, "namespace.workItem"));
    let second = if in_either && !of_project { "group." } else { "namespace." };
    for member in members.iter_mut().filter(|member| of_group && begins(&member.operation, second)) {
        member.operation.alternate = true;
    }
}

fn begins(operation: &Operation, with: &str) -> bool {
    operation.graphql.as_ref().is_some_and(|graphql| graphql.field.starts_with(with))
}
