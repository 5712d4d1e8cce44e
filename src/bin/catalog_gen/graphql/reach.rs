//! Finds the GraphQL fields that are operations: every mutation, every root field, and fields below it that are reached
//! by a path or an iid.

use gitlab_mcp::catalog::Version;

use super::sdl::{Field, Sdl, Status};
use crate::rules::GraphqlRules;

/// A field that is an operation, with its path from the root.
pub struct GraphqlPath<'a> {
    pub mutation: bool,
    /// Fields from the root; the last is the operation's.
    pub steps: Vec<&'a Field>,
    /// The type that the last step is a field of.
    pub owner: &'a str,
}

/// Every operation, in the schema's order.
pub fn find_operations<'a>(sdl: &'a Sdl, rules: &'a GraphqlRules) -> Vec<GraphqlPath<'a>> {
    let root = |owner: &'static str| {
        sdl.fields(owner).iter().map(move |field| GraphqlPath {
            mutation: owner == "Mutation",
            steps: vec![field],
            owner,
        })
    };
    let mut found: Vec<GraphqlPath<'_>> = root("Mutation").chain(root("Query")).collect();
    let mut covered: Vec<&str> = Vec::new();
    for root in &rules.roots {
        let owner = root.owner.as_str();
        let Some(steps) = steps(sdl, &root.path) else { continue };
        // The same object by another path is the same operation.
        if covered.contains(&owner) {
            continue;
        }
        covered.push(owner);
        let stays = |field: &&Field| {
            let name = format!("{owner}.{}", field.name);
            is_thing(sdl, field) || rules.deprecated_fields.contains(&name)
        };
        let below = sdl.fields(owner).iter().filter(stays);
        found.extend(below.map(|field| GraphqlPath {
            mutation: false,
            steps: steps.iter().copied().chain([field]).collect(),
            owner,
        }));
    }
    found
}

fn steps<'a>(sdl: &'a Sdl, path: &str) -> Option<Vec<&'a Field>> {
    let mut owner = "Query";
    let mut steps = Vec::new();
    for name in path.split('.') {
        let field = sdl.field(owner, name)?;
        owner = &field.ty.name;
        steps.push(field);
    }
    Some(steps)
}

/// True if it is a list or an object, and not deprecated.
fn is_thing(sdl: &Sdl, field: &Field) -> bool {
    field.status != Status::Deprecated && (field.ty.many || !sdl.is_leaf(&field.ty.name))
}

impl GraphqlPath<'_> {
    /// Fields from the root: `project.branchRules`.
    pub fn path(&self) -> String {
        self.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join(".")
    }

    /// The first version that lacks a step.
    pub fn until(&self) -> Option<Version> {
        self.steps.iter().filter_map(|step| step.until).min()
    }

    /// Status of the least stable step.
    pub fn status(&self) -> Status {
        let all = || self.steps.iter().map(|step| &step.status);
        let deprecated = all().any(|status| *status == Status::Deprecated);
        let experiment = all().rev().find(|status| matches!(status, Status::Experiment(_)));
        if deprecated { Status::Deprecated } else { experiment.cloned().unwrap_or(Status::Stable) }
    }
}
