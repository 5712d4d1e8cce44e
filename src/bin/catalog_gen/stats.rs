//! Figures of the catalog.

use std::collections::BTreeSet;
use std::io::Write as _;

use gitlab_mcp::catalog::{Action, Audience, Risk};

use crate::curation::Curation;
use crate::openapi::Document;
use crate::output::Schema;

/// Prints the figures to standard output.
pub fn print(document: &Document, schema: &Schema, actions: &[Action], curation: &Curation) {
    let domains: BTreeSet<&str> = actions.iter().map(Action::domain).collect();
    let families: BTreeSet<&str> = curation.domains.values().map(|domain| domain.family.as_str()).collect();
    let params: Vec<_> = actions.iter().flat_map(|action| &action.params).collect();
    let noted = params.iter().filter(|param| {
        param.note.is_some() || curation.glossary.get(&param.name).is_some_and(|entry| !entry.note.is_empty())
    });
    let of_risk = |risk: Risk| actions.iter().filter(|action| action.risk == risk).count();
    let figures = [
        ("operations", document.operations.len() + schema.operations()),
        ("  of REST", document.operations.len()),
        ("  of GraphQL", schema.operations()),
        ("    mutations", schema.mutations),
        ("    fields of the root", schema.queries),
        ("    reached by a path", schema.fields),
        ("actions", actions.len()),
        ("  of any operation", actions.iter().filter(|action| action.direct().is_some()).count()),
        ("  made of others", actions.iter().filter(|action| action.plan.is_some()).count()),
        ("  twins of others", actions.iter().filter(|action| action.twin.is_some()).count()),
        ("  for people", actions.iter().filter(|action| action.audience == Audience::Person).count()),
        ("  with curated words", actions.iter().filter(|action| action.curated).count()),
        ("  ranked without them", ranked_without_words(actions)),
        ("  that read", of_risk(Risk::Read)),
        ("  that write", of_risk(Risk::Write)),
        ("  that grant", of_risk(Risk::Grant)),
        ("  that destroy", of_risk(Risk::Destructive)),
        ("domains", domains.len()),
        ("families of domains", families.len()),
        ("parameters", params.len()),
        ("  with a note", noted.count()),
        ("  that take names", params.iter().filter(|param| param.names.is_some()).count()),
    ];
    let mut out = std::io::stdout().lock();
    for (name, figure) in figures {
        let _ = writeln!(out, "{name:<24}{figure:>7}");
    }
}

/// Number of ranked actions whose summary is generated; duplicates are not ranked.
fn ranked_without_words(actions: &[Action]) -> usize {
    actions.iter().filter(|action| action.twin.is_none() && !action.curated).count()
}
