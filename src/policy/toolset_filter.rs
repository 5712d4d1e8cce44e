//! Toolset filter: the part of the catalog that is offered. It is not access control: names outside of it are still
//! resolved in look-ups.

use std::collections::BTreeSet;

use super::error::PolicyError;
use super::rule::Rule;
use crate::catalog::{Action, Catalog, Words};

const TOOLSETS: &str = "GITLAB_TOOLSETS";
const DOMAINS: &str = "GITLAB_DOMAINS";

/// Header by which a caller over HTTP restricts itself.
const CALLER_TOOLSETS: &str = "X-MCP-Toolsets";

/// Description of a valid domain, for errors.
const A_DOMAIN: &str = "the part of an action's id before the dot, such as issue or merge_request";

/// The domains whose actions are offered, with the actions that their composite actions are made of.
#[derive(Clone, Debug)]
pub struct ToolsetFilter {
    domains: BTreeSet<String>,
    parts: BTreeSet<String>,
    /// As written.
    settings: Vec<String>,
    rule: Rule,
}

impl ToolsetFilter {
    /// Resolves toolsets and domains; `None` if both are empty, which offers everything.
    ///
    /// # Errors
    /// An unknown name, with the accepted ones.
    pub fn parse(
        toolsets: &[String],
        domains: &[String],
        catalog: &Catalog,
    ) -> Result<Option<ToolsetFilter>, PolicyError> {
        if toolsets.is_empty() && domains.is_empty() {
            return Ok(None);
        }
        let words = catalog.words()?;
        let mut held = BTreeSet::new();
        for name in toolsets {
            held.extend(domains_of(TOOLSETS, name, words)?);
        }
        for name in domains {
            if !words.domains.contains_key(name) {
                return Err(unknown(DOMAINS, name, A_DOMAIN.to_owned()));
            }
            held.insert(name.clone());
        }
        let named = [(TOOLSETS, toolsets), (DOMAINS, domains)];
        let named = named.iter().filter(|(_, names)| !names.is_empty());
        let settings = named.map(|(setting, names)| format!("{setting}={}", names.join(","))).collect();
        Ok(Some(ToolsetFilter::new(held, settings, words)))
    }

    /// Resolves the toolsets that a caller names; `None` if it names none.
    ///
    /// # Errors
    /// An unknown name, with the accepted ones.
    pub fn of_caller(toolsets: &[String], catalog: &Catalog) -> Result<Option<ToolsetFilter>, PolicyError> {
        if toolsets.is_empty() {
            return Ok(None);
        }
        let words = catalog.words()?;
        let mut held = BTreeSet::new();
        for name in toolsets {
            held.extend(domains_of(CALLER_TOOLSETS, name, words)?);
        }
        let settings = vec![format!("{CALLER_TOOLSETS}: {}", toolsets.join(","))];
        Ok(Some(ToolsetFilter::new(held, settings, words)))
    }

    fn new(domains: BTreeSet<String>, settings: Vec<String>, words: &Words) -> ToolsetFilter {
        let parts =
            domains.iter().filter_map(|name| words.domains.get(name)).flat_map(|domain| &domain.parts);
        let rule = Rule::NotOffered { settings: settings.clone() };
        ToolsetFilter { parts: parts.cloned().collect(), domains, settings, rule }
    }

    pub fn settings(&self) -> impl Iterator<Item = &str> {
        self.settings.iter().map(String::as_str)
    }

    /// The rule that denies an action. A duplicate is offered if its original is.
    pub fn deny(&self, action: &Action) -> Option<&Rule> {
        let mut ids = [Some(&action.id), action.twin.as_ref()].into_iter().flatten();
        (!ids.any(|id| self.offers(id))).then_some(&self.rule)
    }

    /// True if an action that is no duplicate is offered.
    pub fn offers(&self, id: &str) -> bool {
        let domain = id.split_once('.').map_or(id, |(domain, _)| domain);
        self.domains.contains(domain) || self.parts.contains(id)
    }
}

fn domains_of(origin: &'static str, name: &str, words: &Words) -> Result<Vec<String>, PolicyError> {
    let Some((_, toolset)) = words.toolset_named(name) else {
        let known: Vec<&str> = words.toolsets.keys().map(String::as_str).collect();
        return Err(unknown(origin, name, known.join(", ")));
    };
    let domains = words.domains.iter().filter(|(_, domain)| toolset.families.contains(&domain.family));
    Ok(domains.map(|(name, _)| name.clone()).collect())
}

fn unknown(origin: &'static str, name: &str, accepted: String) -> PolicyError {
    PolicyError::NoPart { origin, name: name.to_owned(), accepted }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile_filter(toolsets: &[&str], domains: &[&str]) -> Result<Option<ToolsetFilter>, PolicyError> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        ToolsetFilter::parse(&owned(toolsets), &owned(domains), &Catalog::embedded().unwrap())
    }

    #[test]
    fn actions_outside_toolsets_and_domains_are_denied() {
        let catalog = Catalog::embedded().unwrap();
        let part = compile_filter(&["planning"], &["issue"]).unwrap().unwrap();
        let is_denied = |id: &str| part.deny(&catalog.get(id).unwrap().unwrap()).is_some();
        for id in ["milestone.list", "label.create", "issue.get"] {
            assert!(!is_denied(id), "{id}");
        }
        for id in ["issue_note.list", "pipeline.get", "api.rest"] {
            assert!(is_denied(id), "{id}");
        }
    }

    #[test]
    fn a_duplicate_is_offered_with_its_original() {
        let catalog = Catalog::embedded().unwrap();
        let twin = catalog.actions().flatten().find(|action| {
            action.domain() == "graphql" && action.twin.as_deref().is_some_and(|id| id.starts_with("issue."))
        });
        let part = compile_filter(&[], &["issue"]).unwrap().unwrap();
        assert!(part.deny(&twin.unwrap()).is_none());
    }

    #[test]
    fn a_composite_action_brings_the_actions_that_it_is_made_of() {
        let catalog = Catalog::embedded().unwrap();
        for name in ["composite", "gitlab_resources"] {
            let part = compile_filter(&[name], &[]).unwrap().unwrap();
            let is_denied = |id: &str| part.deny(&catalog.get(id).unwrap().unwrap()).is_some();
            for id in ["resource.fetch", "merge_request.get", "issue.update", "repository_file.create"] {
                assert!(!is_denied(id), "{name}: {id}");
            }
            for id in ["issue.delete", "merge_request.merge", "pipeline.list"] {
                assert!(is_denied(id), "{name}: {id}");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_accepted_ones() {
        let error = compile_filter(&["isues"], &[]).unwrap_err().to_string();
        assert!(
            error.starts_with("GITLAB_TOOLSETS: unknown name `isues`") && error.contains("issues"),
            "{error}"
        );
        assert!(
            compile_filter(&[], &["isue"])
                .unwrap_err()
                .to_string()
                .starts_with("GITLAB_DOMAINS: unknown name `isue`")
        );
        assert!(compile_filter(&[], &[]).unwrap().is_none());
    }

    #[test]
    fn every_family_is_in_one_toolset_and_every_toolset_of_one_agent() {
        let catalog = Catalog::embedded().unwrap();
        let words = catalog.words().unwrap();
        let mut held: Vec<&String> = words.toolsets.values().flat_map(|toolset| &toolset.families).collect();
        held.sort();
        assert_eq!(held, words.families.keys().collect::<Vec<_>>());
        let mut shared: Vec<&String> = words.agents.values().flat_map(|agent| &agent.toolsets).collect();
        shared.sort();
        assert_eq!(shared, words.toolsets.keys().collect::<Vec<_>>());
        for id in catalog.ids() {
            assert!(!words.family(id).is_empty(), "{id} is of no family");
        }
    }
}
