//! Names within a family of domains: the family behind a tool's name, and the action behind a short name of one of
//! its actions (`list` of `gitlab_issues` is `issue.list`).

use gitlab_mcp_embed::catalog::language::Words;
use gitlab_mcp_embed::catalog::model::Action;

use super::reader::Catalog;

/// The actions that a short name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShortName {
    /// The number of the one action with this name.
    Exact(usize),
    /// Numbers of actions whose verb contains the words of the name: `burndown` of `list_burndown_events`.
    Partial(Vec<usize>),
}

impl Catalog {
    /// The actions of a family that a name means: an id, a verb of its main domain, a verb that one action of the
    /// family has, an alias, or words of a verb.
    pub fn short_name(&self, words: &Words, family: &str, given: &str) -> Option<ShortName> {
        let given = given.trim().to_lowercase().replace([' ', '-'], "_");
        let main = words.main_domain(family);
        let is_own = |number: &usize| self.id(*number).is_some_and(|id| words.family(id) == family);
        let verb = |number: &usize| self.id(*number).and_then(|id| id.split_once('.')).map(|(_, verb)| verb);
        let only = |numbers: Vec<usize>| if let [one] = numbers.as_slice() { Some(*one) } else { None };
        let own = || (0..self.len()).filter(is_own);
        let exact = self
            .number(&given)
            .filter(is_own)
            .or_else(|| self.number(&format!("{}.{given}", main?)))
            .or_else(|| only(own().filter(|number| verb(number) == Some(given.as_str())).collect()))
            .or_else(|| only(self.by_alias(&given).into_iter().filter(is_own).collect()));
        if let Some(number) = exact {
            return Some(ShortName::Exact(number));
        }
        let said: Vec<&str> = given.split('_').filter(|word| !word.is_empty()).collect();
        if said.is_empty() || given.contains('.') {
            return None;
        }
        let holds = |number: &usize| {
            let has = |word: &&str| verb(number).is_some_and(|verb| verb.split('_').any(|own| own == *word));
            said.iter().all(has)
        };
        let in_main = |number: &usize| {
            self.id(*number).and_then(|id| id.split_once('.')).map(|(domain, _)| domain) == main
        };
        let held: Vec<usize> = own().filter(holds).collect();
        let mut found: Vec<usize> = held.iter().copied().filter(in_main).collect();
        if found.is_empty() {
            found = held;
        }
        (!found.is_empty()).then_some(ShortName::Partial(found))
    }

    /// The same as actions, those that have an action in front of them left out.
    pub fn short_name_actions(&self, words: &Words, family: &str, given: &str) -> Vec<Action> {
        let numbers = match self.short_name(words, family, given) {
            Some(ShortName::Exact(number)) => vec![number],
            Some(ShortName::Partial(numbers)) => numbers,
            None => Vec::new(),
        };
        let actions = numbers.into_iter().filter_map(|number| self.action(number).ok());
        actions.filter(|action| action.is_offered()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids_of(family: &str, given: &str) -> Vec<String> {
        let catalog = Catalog::embedded().unwrap();
        let words = catalog.words().unwrap();
        catalog.short_name_actions(words, family, given).into_iter().map(|action| action.id).collect()
    }

    #[test]
    fn short_names_mean_the_main_domain() {
        for (family, given, id) in [
            ("issues", "list", "issue.list"),
            ("issues", "create", "issue.create"),
            ("merge_requests", "get", "merge_request.get"),
            ("projects", "get", "project.get"),
            ("pipelines", "list", "pipeline.list"),
            ("wikis", "list", "wiki_page.list"),
            ("milestones", "burndown", "milestone.list_burndown_events"),
            ("milestones", "create_milestone", "milestone.create"),
        ] {
            assert_eq!(ids_of(family, given), [id], "{family} {given}");
        }
        assert!(ids_of("issues", "frobnicate").is_empty() && ids_of("issues", "").is_empty());
    }

    #[test]
    fn families_and_domains_are_named_in_either_number() {
        let catalog = Catalog::embedded().unwrap();
        let words = catalog.words().unwrap();
        for name in ["gitlab_merge_request", "merge_requests", "manage_merge_request"] {
            assert_eq!(words.family_named(name), Some("merge_requests"), "{name}");
        }
        assert_eq!(words.family_named("security_policy"), Some("security_policies"));
        assert_eq!(words.domain_named("gitlab_branches"), None);
        assert_eq!(words.domain_named("gitlab_branch"), Some("branch"));
        assert_eq!(words.family_named("gitlab_frob"), None);
    }
}
