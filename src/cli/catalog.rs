//! `catalog` command: lists and shows actions, as text or JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::Serialize;
use serde_json::json;

use super::{CatalogView, Failure, typescript};
use crate::catalog::{Action, Audience, Catalog, Param, Risk, Words, note, signature};
use crate::text::plain_text;

/// Runs a `catalog` subcommand.
pub(super) fn run(view: CatalogView, out: &mut dyn Write) -> Result<(), Failure> {
    let catalog = Catalog::embedded()?;
    match view {
        CatalogView::List { json } => list(&catalog, json, out),
        CatalogView::Show { action, json } => show(&find(&catalog, &action)?, catalog.words()?, json, out),
        CatalogView::Types { names, .. } => typescript::write(&catalog, &names, out),
        CatalogView::Stats { json } => stats(&Stats::count(&catalog)?, json, out),
    }
}

/// Entry of `list --json`.
#[derive(Serialize)]
struct Listed<'a> {
    action: &'a str,
    /// Operations as written in GitLab's documentation, preferred first.
    operations: Vec<String>,
    risk: Risk,
    audience: Audience,
    summary: &'a str,
    params: Vec<&'a str>,
    aliases: &'a [String],
}

impl<'a> Listed<'a> {
    fn new(action: &'a Action) -> Listed<'a> {
        Listed {
            action: &action.id,
            operations: action.operations.iter().map(ToString::to_string).collect(),
            risk: action.risk,
            audience: action.audience,
            summary: &action.summary,
            params: action.params.iter().map(|param| param.name.as_str()).collect(),
            aliases: &action.aliases,
        }
    }
}

fn list(catalog: &Catalog, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let width = catalog.ids().map(str::len).max().unwrap_or_default();
    for action in catalog.actions() {
        let action = action?;
        if json {
            writeln!(out, "{}", json!(Listed::new(&action)))?;
        } else {
            writeln!(out, "{:width$}  {:11}  {}", action.id, action.risk.name(), action.summary)?;
        }
    }
    Ok(())
}

fn find(catalog: &Catalog, name: &str) -> Result<Action, Failure> {
    if let Some(action) = catalog.get(name)? {
        return Ok(action);
    }
    match catalog.by_alias(name).as_slice() {
        [] => Err(Failure::NoSuchAction(name.to_owned())),
        [number] => Ok(catalog.action(*number)?),
        several => Err(Failure::Ambiguous {
            alias: name.to_owned(),
            actions: several.iter().filter_map(|number| catalog.id(*number)).collect(),
        }),
    }
}

fn show(action: &Action, words: &Words, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if json {
        return Ok(writeln!(out, "{:#}", json!(action))?);
    }
    writeln!(out, "{}\n{} ({})\n", signature(action, usize::MAX, ""), action.summary, action.risk.name())?;
    for operation in &action.operations {
        writeln!(out, "  {operation}")?;
    }
    writeln!(out, "\nParameters:")?;
    for param in &action.params {
        writeln!(out, "  {}", parameter(param, words))?;
    }
    for (title, words) in [("Aliases", &action.aliases), ("Related", &action.related)] {
        if !words.is_empty() {
            writeln!(out, "\n{title}: {}", words.join(", "))?;
        }
    }
    Ok(())
}

fn parameter(param: &Param, words: &Words) -> String {
    let mut line = format!("{}: {}", param.name, param.kind);
    if param.required {
        line.push_str(", required");
    }
    if !param.scopes.is_empty() {
        let scopes: Vec<&str> = param.scopes.iter().map(|scope| scope.name()).collect();
        line.push_str(&format!(", only for {}", scopes.join(", ")));
    }
    if let Some(note) = note(param, words) {
        line.push_str(&format!(". {note}"));
    }
    line
}

/// Counts of the catalog.
#[derive(Debug, Default, Serialize)]
struct Stats {
    actions: usize,
    operations: usize,
    /// The version of GitLab whose files the catalog is made from.
    version: String,
    /// Operations that these files have.
    gitlab: BTreeMap<&'static str, usize>,
    /// Operations of REST and of GraphQL with those of older versions, without raw requests and composite actions.
    rest: usize,
    graphql: usize,
    domains: usize,
    /// Number of actions with a hand-written summary.
    curated: usize,
    /// Number of actions for machines (runners, agents).
    machine: usize,
    aliases: usize,
    risks: BTreeMap<&'static str, usize>,
}

impl Stats {
    fn count(catalog: &Catalog) -> Result<Stats, Failure> {
        let words = catalog.words()?;
        let of_gitlab = words.gitlab_operations;
        let mut stats = Stats {
            version: words.gitlab_version.to_string(),
            gitlab: [("REST", of_gitlab.rest), ("GraphQL", of_gitlab.graphql)].into(),
            aliases: catalog.aliases().count(),
            ..Stats::default()
        };
        let mut domains = BTreeSet::new();
        for action in catalog.actions() {
            let action = action?;
            stats.actions += 1;
            stats.operations += action.operations.len();
            if action.plan.is_none() && action.direct().is_none() {
                let graphql =
                    action.operations.iter().filter(|operation| operation.graphql.is_some()).count();
                stats.graphql += graphql;
                stats.rest += action.operations.len() - graphql;
            }
            stats.curated += usize::from(action.curated);
            stats.machine += usize::from(action.audience == Audience::Machine);
            *stats.risks.entry(action.risk.name()).or_default() += 1;
            domains.insert(action.domain().to_owned());
        }
        stats.domains = domains.len();
        Ok(stats)
    }
}

fn stats(stats: &Stats, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let value = json!(stats);
    if json {
        return Ok(writeln!(out, "{value:#}")?);
    }
    for (name, number) in value.as_object().into_iter().flatten() {
        match number.as_object() {
            Some(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|(part, number)| format!("{number} {part}")).collect();
                writeln!(out, "{name}: {}", parts.join(", "))?;
            }
            None => writeln!(out, "{name}: {}", plain_text(number))?,
        }
    }
    Ok(())
}
