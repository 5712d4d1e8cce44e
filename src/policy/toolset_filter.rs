//! The part of the catalog that a server starts with. It says what is offered, not what is secret: names are still
//! looked up wherever they are.

use std::collections::BTreeSet;

use super::error::PolicyError;
use super::rule::Rule;
use crate::catalog::{Action, Catalog, Words};

const TOOLSETS: &str = "GITLAB_TOOLSETS";
const DOMAINS: &str = "GITLAB_DOMAINS";

/// What is accepted as a domain.
const A_DOMAIN: &str = "the part of an action's id before the dot, such as issue or merge_request";

/// The domains whose actions are offered.
#[derive(Clone, Debug)]
pub struct Part {
    domains: BTreeSet<String>,
    rule: Rule,
}

impl Part {
    /// The domains of these toolsets, and these domains; nothing where none is named, which leaves all.
    ///
    /// # Errors
    /// A name that is none, with what is one.
    pub fn read(
        toolsets: &[String],
        domains: &[String],
        catalog: &Catalog,
    ) -> Result<Option<Part>, PolicyError> {
        if toolsets.is_empty() && domains.is_empty() {
            return Ok(None);
        }
        let words = catalog.words()?;
        let mut held = BTreeSet::new();
        for name in toolsets {
            held.extend(of_toolset(name, words)?);
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
        Ok(Some(Part { domains: held, rule: Rule::LeftOut { settings } }))
    }

    /// The rule that leaves an action out. One that stands behind another is where that one is.
    pub fn leaves_out(&self, action: &Action) -> Option<&Rule> {
        let twin = action.twin.as_deref().and_then(|id| id.split_once('.')).map(|(domain, _)| domain);
        let mut domains = [Some(action.domain()), twin].into_iter().flatten();
        (!domains.any(|domain| self.domains.contains(domain))).then_some(&self.rule)
    }
}

fn of_toolset(name: &str, words: &Words) -> Result<Vec<String>, PolicyError> {
    let Some((_, toolset)) = words.toolset_named(name) else {
        let known: Vec<&str> = words.toolsets.keys().map(String::as_str).collect();
        return Err(unknown(TOOLSETS, name, known.join(", ")));
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

    fn part(toolsets: &[&str], domains: &[&str]) -> Result<Option<Part>, PolicyError> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        Part::read(&owned(toolsets), &owned(domains), &Catalog::embedded().unwrap())
    }

    #[test]
    fn what_is_in_neither_is_left_out() {
        let catalog = Catalog::embedded().unwrap();
        let part = part(&["planning"], &["issue"]).unwrap().unwrap();
        let is_left_out = |id: &str| part.leaves_out(&catalog.get(id).unwrap().unwrap()).is_some();
        for id in ["milestone.list", "label.create", "issue.get"] {
            assert!(!is_left_out(id), "{id}");
        }
        for id in ["issue_note.list", "pipeline.get", "api.rest"] {
            assert!(is_left_out(id), "{id}");
        }
    }

    #[test]
    fn a_twin_is_where_its_other_is() {
        let catalog = Catalog::embedded().unwrap();
        let twin = catalog.actions().flatten().find(|action| {
            action.domain() == "graphql" && action.twin.as_deref().is_some_and(|id| id.starts_with("issue."))
        });
        let part = part(&[], &["issue"]).unwrap().unwrap();
        assert!(part.leaves_out(&twin.unwrap()).is_none());
    }

    #[test]
    fn a_name_that_is_none_is_refused_with_those_that_are() {
        let error = part(&["isues"], &[]).unwrap_err().to_string();
        assert!(
            error.starts_with("GITLAB_TOOLSETS: unknown name `isues`") && error.contains("issues"),
            "{error}"
        );
        assert!(
            part(&[], &["isue"]).unwrap_err().to_string().starts_with("GITLAB_DOMAINS: unknown name `isue`")
        );
        assert!(part(&[], &[]).unwrap().is_none());
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
