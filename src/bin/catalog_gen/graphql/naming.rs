//! Names GraphQL operations: GitLab's own words, split into a domain of curation and a verb. Curation overrides these
//! rules.

use super::reach::GraphqlPath;
use super::sdl::{Sdl, Status};
use crate::curation::{CuratedScope, Curation, Named, key};
use crate::paths::singular;

/// The curated name of the operation, if it has one.
pub fn curated<'a>(reached: &GraphqlPath<'_>, curation: &'a Curation) -> Option<&'a Named> {
    curation.names.get(&operation_key(reached))
}

/// The curated scope of the operation, if it has one.
pub fn curated_scope<'a>(reached: &GraphqlPath<'_>, curation: &'a Curation) -> Option<&'a CuratedScope> {
    curation.scopes.get(&operation_key(reached))
}

fn operation_key(reached: &GraphqlPath<'_>) -> String {
    key(if reached.mutation { "mutation" } else { "query" }, &reached.path())
}

/// Derives the action's id by rules. The error lists the entries to add to curation.
pub fn id(reached: &GraphqlPath<'_>, sdl: &Sdl, curation: &Curation) -> Result<String, String> {
    let Some(field) = reached.steps.last() else { return Err("a field without a name".to_owned()) };
    let words = snake(&field.name);
    let found = if reached.mutation {
        mutation(&words, curation)
    } else {
        let lists = field.ty.many || sdl.nodes(&field.ty.name).is_some();
        query(&words, parent(reached.owner, &field.name, sdl), lists, curation)
    };
    let kind = if reached.mutation { "mutation" } else { "query" };
    found.ok_or_else(|| format!("{kind} {} belongs to no domain", reached.path()))
}

fn mutation(words: &[String], curation: &Curation) -> Option<String> {
    let rules = &curation.rules.naming;
    let leads = words.first().is_some_and(|first| rules.mutation_verbs.contains(first));
    if leads {
        let (verb, noun) = words.split_first()?;
        if let Some((domain, rest)) = domain(noun, curation) {
            let verb = [vec![rules.canonical(verb)], rest.to_vec()].concat().join("_");
            return Some(format!("{domain}.{verb}"));
        }
    }
    let (domain, rest) = domain(words, curation)?;
    let (last, before) = rest.split_last()?;
    let plain = rules.canonical_verbs.contains_key(last);
    let verb = if plain { [vec![rules.canonical(last)], before.to_vec()].concat() } else { rest.to_vec() };
    Some(format!("{domain}.{}", verb.join("_")))
}

/// The domain of a field whose own name has no known noun: that of its parent, or of any ancestor.
fn parent<'a>(owner: &'a str, field: &str, sdl: &Sdl) -> Parent<'a> {
    let has = |other: &str| sdl.field(other, field).is_some_and(|field| field.status != Status::Deprecated);
    match owner {
        "Query" => Parent::Root,
        "CurrentUser" => Parent::Of("current_user"),
        "Project" if !has("Group") && !has("Namespace") => Parent::Of("project"),
        "Group" | "Namespace" if !has("Project") => Parent::Of("group"),
        "Project" | "Group" | "Namespace" => Parent::Of("namespace"),
        parent => Parent::Below(parent),
    }
}

enum Parent<'a> {
    Root,
    /// Reached by a path.
    Of(&'static str),
    /// Below an object with an iid.
    Below(&'a str),
}

fn query(words: &[String], parent_of: Parent<'_>, lists: bool, curation: &Curation) -> Option<String> {
    let verb = if lists { "list" } else { "get" };
    let parent = match parent_of {
        Parent::Below(parent) => Some(parent),
        Parent::Root | Parent::Of(_) => None,
    };
    let below = parent.map(|parent| [snake(parent), words.to_vec()].concat());
    let whole = |words: &[String]| match domain(words, curation) {
        Some((domain, [])) => Some(domain),
        _ => None,
    };
    if let Some(domain) = below.as_deref().and_then(whole) {
        return Some(format!("{domain}.{verb}"));
    }
    if let Some(parent) = parent {
        return Some(format!("{}.{verb}_{}", snake(parent).join("_"), words.join("_")));
    }
    if let Some(domain) = whole(words) {
        return Some(format!("{domain}.{verb}"));
    }
    match (domain(words, curation), parent_of) {
        (Some((domain, rest)), _) => Some(format!("{domain}.{verb}_{}", rest.join("_"))),
        (None, Parent::Of(domain)) => Some(format!("{domain}.{verb}_{}", words.join("_"))),
        (None, _) => None,
    }
}

/// The longest domain at the start of the words, and the remaining words.
fn domain<'w>(words: &'w [String], curation: &Curation) -> Option<(String, &'w [String])> {
    (1..=words.len()).rev().find_map(|length| {
        let (noun, rest) = words.split_at_checked(length)?;
        let plural = noun.join("_");
        let one = singular(&plural);
        let named = [&plural, &one].into_iter().find_map(|name| curation.nouns.get(name).cloned());
        let known = || [&plural, &one].into_iter().find(|name| curation.domains.contains_key(*name)).cloned();
        Some((named.or_else(known)?, rest))
    })
}

/// The words of a name in camelCase.
pub fn snake(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for c in name.chars() {
        match words.last_mut() {
            Some(word) if !c.is_ascii_uppercase() => word.push(c),
            _ => words.push(c.to_ascii_lowercase().to_string()),
        }
    }
    words
}
