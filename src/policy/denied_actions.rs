//! Denied actions, resolved from the patterns that people write.

use std::collections::BTreeMap;

use regex_lite::Regex;

use super::error::PolicyError;
use super::rule::Rule;
use super::settings::ToolNames;
use super::wildcard;
use crate::catalog::{Action, Catalog, CatalogError, Risk, ShortName, bare, singular};

/// The settings with a list of actions and with a regular expression.
pub const ACTIONS: &str = "GITLAB_DENIED_ACTIONS";
const TOOLS: &str = "GITLAB_DENIED_TOOLS_REGEX";

/// The denied actions by id, each with the rule that denies it.
#[derive(Clone, Debug, Default)]
pub struct Denied {
    ids: BTreeMap<String, Rule>,
    tools: Option<Regex>,
}

impl Denied {
    /// Resolves the patterns, each with the setting it is from, to actions of the catalog.
    ///
    /// # Errors
    /// A pattern that matches no action: it is a mistake, since it would deny nothing.
    pub fn parse(patterns: &[(&'static str, Vec<String>)], catalog: &Catalog) -> Result<Denied, PolicyError> {
        let mut denied = Denied::default();
        let written =
            patterns.iter().flat_map(|(origin, patterns)| patterns.iter().map(|one| (*origin, one)));
        for (origin, pattern) in written {
            let ids = matching(pattern, catalog)?;
            if ids.is_empty() {
                let nearest = actions_of_tool(pattern, catalog)?;
                return Err(PolicyError::NoAction { origin, pattern: pattern.clone(), nearest });
            }
            let rule = Rule::Denied { setting: origin, pattern: pattern.clone() };
            denied.ids.extend(ids.into_iter().map(|id| (id.to_owned(), rule.clone())));
        }
        Ok(denied)
    }

    /// Adds an expression on the names of tools and actions.
    ///
    /// # Errors
    /// An expression that is invalid, or that matches no name of any surface.
    pub fn add_tools(
        &mut self,
        text: &str,
        names: Option<ToolNames>,
        catalog: &Catalog,
    ) -> Result<(), PolicyError> {
        let expression =
            Regex::new(text).map_err(|source| PolicyError::Expression { text: text.to_owned(), source })?;
        let rule = Rule::Denied { setting: TOOLS, pattern: text.to_owned() };
        let words = catalog.words()?;
        let general = names.map(|names| names.general).unwrap_or_default();
        let mut matches = general.iter().any(|tool| expression.is_match(tool));
        for action in catalog.actions() {
            let action = action?;
            let tools = names.map(|names| (names.of_action)(words.family(&action.id), &action));
            if tools.iter().flatten().any(|tool| expression.is_match(tool)) || is_called(&action, &expression)
            {
                matches = true;
                self.ids.insert(action.id, rule.clone());
            }
        }
        if !matches {
            return Err(PolicyError::NoTool { pattern: text.to_owned(), nearest: None });
        }
        self.tools = Some(expression);
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The rule that denies an action.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.ids.get(id)
    }

    /// True if a tool of that name is removed.
    pub fn removes_tool(&self, tool: &str) -> bool {
        self.tools.as_ref().is_some_and(|expression| expression.is_match(tool))
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.keys().map(String::as_str)
    }
}

/// The pattern for the actions of a tool of another surface or server: `milestone.*` of `manage_milestone`. The name of
/// the tool alone denies nothing.
fn actions_of_tool(tool: &str, catalog: &Catalog) -> Result<Option<String>, CatalogError> {
    let tool = tool.trim().to_lowercase();
    if bare(&tool) == tool {
        return Ok(None);
    }
    Ok(catalog.words()?.domain_named(&tool).map(|domain| format!("{domain}.*")))
}

/// The ids that a pattern matches: `issue.delete`, `issue.*`, `*.delete`; also the names `manage_issue:delete` and
/// `delete_issue` of other servers.
///
/// # Errors
/// The catalog cannot be read.
pub fn matching(pattern: &str, catalog: &Catalog) -> Result<Vec<&'static str>, CatalogError> {
    let pattern = pattern.trim().to_lowercase();
    let written = match pattern.split_once(':') {
        // A tool for several domains has full ids as its actions.
        Some((_, action)) if action.contains('.') => return Ok(match_ids(action, catalog)),
        Some((tool, action)) => {
            let (tool, action) = (tool.trim(), action.trim());
            let domain = catalog.words()?.domain_named(tool).map(str::to_owned);
            let ids = [Some(bare(tool).to_owned()), Some(singular(bare(tool))), domain]
                .into_iter()
                .flatten()
                .map(|domain| match_ids(&format!("{domain}.{action}"), catalog))
                .find(|ids| !ids.is_empty());
            return ids.map_or_else(|| of_family(tool, action, catalog), Ok);
        }
        None => pattern.as_str(),
    };
    let named = match_ids(written, catalog);
    if !named.is_empty() {
        return Ok(named);
    }
    Ok(catalog.by_alias(written).into_iter().filter_map(|number| catalog.id(number)).collect())
}

/// Resolves a short name within a family: `browse_milestones:burndown`. A `browse_` tool has only actions that read. A
/// name that several actions match resolves to none, as a rule has to be unambiguous.
fn of_family(tool: &str, action: &str, catalog: &Catalog) -> Result<Vec<&'static str>, CatalogError> {
    let words = catalog.words()?;
    let Some(family) = words.family_named(tool) else { return Ok(Vec::new()) };
    let numbers = match catalog.short_name(words, family, action) {
        Some(ShortName::Exact(number)) => vec![number],
        Some(ShortName::Partial(numbers)) => numbers,
        None => Vec::new(),
    };
    let mut ids = Vec::new();
    for number in numbers {
        let is_read = catalog.action(number)?.risk == Risk::Read;
        if !tool.starts_with("browse_") || is_read {
            ids.extend(catalog.id(number));
        }
    }
    Ok(if ids.len() == 1 { ids } else { Vec::new() })
}

fn match_ids(pattern: &str, catalog: &Catalog) -> Vec<&'static str> {
    catalog.ids().filter(|id| wildcard::matches(pattern, id)).collect()
}

/// True if the expression matches one of an action's names: its id, its tool name, an alias.
fn is_called(action: &Action, expression: &Regex) -> bool {
    let as_tool = action.id.replace('.', "_");
    let turned = action.id.split_once('.').map(|(domain, verb)| format!("{verb}_{domain}"));
    let names = [action.id.as_str(), as_tool.as_str()].into_iter().chain(turned.as_deref());
    names.chain(action.aliases.iter().map(String::as_str)).any(|name| expression.is_match(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(pattern: &str) -> Vec<&'static str> {
        matching(pattern, &Catalog::embedded().unwrap()).unwrap()
    }

    fn deny_tools(text: &str, of_action: fn(&str, &Action) -> Vec<String>) -> Result<Denied, PolicyError> {
        let mut denied = Denied::default();
        let names = ToolNames { general: &["gitlab_find_action"], of_action };
        denied.add_tools(text, Some(names), &Catalog::embedded().unwrap()).map(|()| denied)
    }

    #[test]
    fn an_action_has_several_spellings() {
        for pattern in [
            "issue.delete",
            "Issue.Delete",
            "issue:delete",
            "issues:delete",
            "manage_issue:delete",
            "delete_issue",
        ] {
            assert_eq!(resolve(pattern), ["issue.delete"], "{pattern}");
        }
        assert_eq!(resolve("browse_milestones:burndown"), ["milestone.list_burndown_events"]);
        assert_eq!(resolve("manage_milestone:promote"), ["milestone.promote"]);
    }

    #[test]
    fn a_tool_of_another_server_leads_to_its_actions() {
        for (tool, actions) in
            [("manage_milestone", "milestone.*"), ("browse_labels", "label.*"), ("gitlab_issues", "issue.*")]
        {
            let patterns = [(ACTIONS, vec![tool.to_owned()])];
            let error = Denied::parse(&patterns, &Catalog::embedded().unwrap()).unwrap_err().to_string();
            assert!(error.contains(&format!("`{actions}`")), "{error}");
        }
    }

    #[test]
    fn removing_a_family_tool_denies_its_actions() {
        let name: fn(&str, &Action) -> Vec<String> = |family, action| match action.risk {
            Risk::Read => vec![format!("browse_{family}")],
            _ => vec![format!("manage_{family}")],
        };
        let denied = deny_tools("^manage_milestones$", name).unwrap();
        assert!(denied.rule("milestone.create").is_some());
        assert!(denied.rule("milestone.list").is_none() && denied.rule("label.create").is_none());
        assert_eq!(resolve("manage_issues:issue_note.create"), ["issue_note.create"]);
    }

    #[test]
    fn a_star_matches_any_rest() {
        let all = resolve("ci_variable.*");
        assert!(all.contains(&"ci_variable.list") && all.iter().all(|id| id.starts_with("ci_variable.")));
        let deletions = resolve("*.delete");
        assert!(deletions.contains(&"project.delete") && deletions.iter().all(|id| id.ends_with(".delete")));
        assert!(resolve("*.no_such_verb").is_empty());
    }

    #[test]
    fn an_expression_matches_any_name_of_an_action() {
        let deny = |text| deny_tools(text, |_, _| Vec::new());
        let denied = deny("^delete_|^gitlab_find").unwrap();
        assert!(denied.rule("issue.delete").is_some() && denied.rule("issue.get").is_none());
        assert!(denied.removes_tool("gitlab_find_action") && !denied.removes_tool("gitlab_execute_action"));
        assert!(matches!(deny("("), Err(PolicyError::Expression { .. })));
        assert!(deny("^gitlab_find_action$").is_ok(), "a tool without an action");
        assert!(matches!(deny("^manage_milestones$"), Err(PolicyError::NoTool { .. })));
    }
}
