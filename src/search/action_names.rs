//! Matches names that are neither ids nor aliases: words in another order, number or case (`merge_requests.list`,
//! `listIssues`), a short noun (`mr.get`), another verb (`issue.show`, `epic.close`).

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Action, Catalog, Language};

/// Prefixes that clients and other servers give to the names of tools.
const PREFIXES: [&str; 3] = ["mcp", "gitlab", "gl"];

/// A name longer than this, in bytes, is none.
const MAX_NAME_BYTES: usize = 100;

/// The verb that asks for many.
const LIST: &str = "list";

/// Verbs that do not identify an action by themselves.
const GENERIC: [&str; 8] = ["list", "get", "create", "add", "update", "delete", "search", "set"];

/// Actions that match a name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NameMatches {
    /// Numbers of the actions in order; a single one if the name is exact.
    pub actions: Vec<usize>,
    /// True if the match replaced the verb by one of the same meaning.
    pub by_verb: bool,
}

/// Matches a name that is neither an id nor an alias.
pub fn match_name(catalog: &Catalog, language: &Language, given: &str) -> NameMatches {
    if given.len() > MAX_NAME_BYTES || given.contains(char::is_whitespace) {
        return NameMatches::default();
    }
    let known = NameIndex::new(catalog);
    let name_words = expand_synonyms(&without_prefix(given), language);
    let plainly = |actions: Vec<usize>| NameMatches { actions, by_verb: false };
    let as_list = get_as_list(&name_words).map(|name_words| known.by_stems(&name_words)).unwrap_or_default();
    if as_list.len() == 1 {
        return plainly(as_list);
    }
    let exact = known.by_words(&name_words);
    if exact.len() == 1 {
        return plainly(exact);
    }
    let alike = known.by_stems(&name_words);
    if !alike.is_empty() {
        let domain = given
            .split_once('.')
            .map(|(domain, _)| stems(&expand_synonyms(&without_prefix(domain), language)));
        let held = alike
            .iter()
            .copied()
            .filter(|number| domain.as_ref().is_some_and(|domain| known.is_in_domain(*number, domain)));
        let held: Vec<usize> = held.collect();
        return plainly(if held.len() == 1 { held } else { alike });
    }
    NameMatches { actions: match_other_verbs(&known, language, &name_words), by_verb: true }
}

/// The words of the name that the action's id has not: `close` of `issue.close`, which is `issue.update`.
pub fn unmatched_words(action: &Action, language: &Language, given: &str) -> Vec<String> {
    let own = stems(&words(&action.id));
    expand_synonyms(&without_prefix(given), language)
        .into_iter()
        .filter(|word| !own.contains(&stem(word)))
        .collect()
}

/// True if the action's id has every word of the name: `note.list` of `issue_note.list`. A verb that most families have
/// is not enough.
pub fn is_within(action: &Action, language: &Language, given: &str) -> bool {
    let own = stems(&words(&action.id));
    let name_words = expand_synonyms(&without_prefix(given), language);
    let is_generic = |word: &String| GENERIC.contains(&word.as_str());
    !name_words.iter().all(is_generic) && name_words.iter().all(|word| own.contains(&stem(word)))
}

/// As [`is_within`], with words that may be parts of the id's words: `hook.list` of `webhook.list`.
pub fn is_part(action: &Action, language: &Language, given: &str) -> bool {
    let own = stems(&words(&action.id));
    let name_words = expand_synonyms(&without_prefix(given), language);
    let is_generic = |word: &String| GENERIC.contains(&word.as_str());
    let is_of = |word: &String| {
        let stem = stem(word);
        let is_long = stem.len() > 3 && !is_generic(word);
        own.iter().any(|known| *known == stem || (is_long && known.ends_with(&stem)))
    };
    !name_words.iter().all(is_generic) && name_words.iter().all(is_of)
}

/// True if the name has a word of the action's id.
pub fn shares_word(action: &Action, language: &Language, given: &str) -> bool {
    let own = stems(&words(&action.id));
    expand_synonyms(&without_prefix(given), language).iter().any(|word| own.contains(&stem(word)))
}

/// True if a name has the domain of other actions: `repository.archive`, which as a name of `project.archive` has
/// `repository` for `project`. The words of the action's aliases are its own.
pub fn names_other_domain(catalog: &Catalog, action: &Action, given: &str) -> bool {
    let domain = |name: &str| name.split_once('.').map(|(domain, _)| stems(&without_prefix(domain)));
    let domains: BTreeSet<BTreeSet<String>> = catalog.ids().filter_map(domain).collect();
    let own: Vec<&String> = std::iter::once(&action.id).chain(&action.aliases).collect();
    let own_words: BTreeSet<String> = own.iter().flat_map(|name| stems(&words(name))).collect();
    let is_other_word = stems(&without_prefix(given))
        .into_iter()
        .any(|word| !own_words.contains(&word) && domains.contains(&BTreeSet::from([word])));
    let is_other_domain = domain(given).is_some_and(|given| {
        domains.contains(&given) && !own.iter().any(|name| domain(name).as_ref() == Some(&given))
    });
    is_other_word || is_other_domain
}

/// True if a name is that id except for misspelt words; a word with a meaning of its own is not misspelt (`close`
/// is not `clone`).
pub fn is_misspelt(catalog: &Catalog, language: &Language, given: &str, id: &str) -> bool {
    let own = stems(&words(id));
    let known: BTreeSet<String> = catalog.ids().chain(catalog.aliases()).flat_map(words).collect();
    let is_word = |word: &String| {
        let name_words = language.verbs.iter().flat_map(|verb| &verb.say);
        known.contains(word)
            || known.contains(&stem(word))
            || name_words.into_iter().any(|known| known == word)
    };
    let name_words = without_prefix(given);
    !name_words.is_empty() && name_words.iter().all(|word| own.contains(&stem(word)) || !is_word(word))
}

/// The words of a name: `listIssues` and `list-issues` have two.
pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn without_prefix(given: &str) -> Vec<String> {
    let words = words(given);
    let start = words.iter().take_while(|word| PREFIXES.contains(&word.as_str())).count();
    words.get(start..).unwrap_or_default().to_vec()
}

/// The words, each in the place of a shorter one that means them and nothing else.
fn expand_synonyms(given: &[String], language: &Language) -> Vec<String> {
    let meaning = |word: &String| {
        let means = |synonym: &&crate::catalog::Synonym| {
            synonym.weight >= 1.0 && synonym.mean.len() == 1 && synonym.say.contains(word)
        };
        language.synonyms.iter().find(means).and_then(|synonym| synonym.mean.first())
    };
    given.iter().flat_map(|word| words(meaning(word).unwrap_or(word))).collect()
}

fn stem(word: &str) -> String {
    let endings = [("ies", "y"), ("ches", "ch"), ("sses", "ss"), ("s", "")];
    let cut = |(ending, left): &(&str, &str)| Some(format!("{}{left}", word.strip_suffix(ending)?));
    let stem = endings.iter().find_map(cut).filter(|stem| stem.len() > 2 && !word.ends_with("ss"));
    stem.unwrap_or_else(|| word.to_owned())
}

fn stems(words: &[String]) -> BTreeSet<String> {
    words.iter().map(|word| stem(word)).collect()
}

fn sorted(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    words.sort();
    words
}

/// Rewrites `get` with a plural as `list`.
fn get_as_list(name_words: &[String]) -> Option<Vec<String>> {
    let at = name_words.iter().position(|word| word == "get")?;
    let are_several = name_words.iter().enumerate().any(|(place, word)| place != at && stem(word) != *word);
    let listed = name_words
        .iter()
        .enumerate()
        .map(|(place, word)| if place == at { "list".to_owned() } else { word.clone() });
    are_several.then(|| listed.collect())
}

/// The actions whose names have another verb of the same meaning. The first that there is, as the language has its
/// verbs in order; several where a plain word may ask for one thing or for many. A verb by itself is of everything.
fn match_other_verbs(known: &NameIndex, language: &Language, name_words: &[String]) -> Vec<usize> {
    if name_words.len() < 2 {
        return Vec::new();
    }
    for (at, word) in name_words.iter().enumerate() {
        let mut found: Vec<usize> = Vec::new();
        let verbs = language.verbs.iter().filter(|verb| verb.say.contains(word));
        // `list` asks for many: to get one of them is another request.
        let fits = |meaning: &&String| word != LIST || *meaning == LIST;
        for meaning in verbs.flat_map(|verb| &verb.mean).filter(fits) {
            let mut other = name_words.to_vec();
            if let Some(place) = other.get_mut(at) {
                place.clone_from(meaning);
            }
            let other = get_as_list(&other).unwrap_or(other);
            for number in known.by_stems(&other) {
                if !found.contains(&number) {
                    found.push(number);
                }
            }
        }
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// Every name in the catalog with its words. Made anew for each name that nothing has: no call needs it that is right.
struct NameIndex {
    by_words: BTreeMap<Vec<String>, Vec<usize>>,
    by_stems: BTreeMap<Vec<String>, Vec<usize>>,
    domains: Vec<BTreeSet<String>>,
}

impl NameIndex {
    fn new(catalog: &Catalog) -> NameIndex {
        let mut known =
            NameIndex { by_words: BTreeMap::new(), by_stems: BTreeMap::new(), domains: Vec::new() };
        for (number, id) in catalog.ids().enumerate() {
            let domain = id.split_once('.').map_or(id, |(domain, _)| domain);
            known.domains.push(stems(&words(domain)));
            known.add(id, number);
        }
        for alias in catalog.aliases() {
            catalog.by_alias(alias).into_iter().for_each(|number| known.add(alias, number));
        }
        known
    }

    fn add(&mut self, name: &str, number: usize) {
        let words = words(name);
        let stemmed: Vec<String> = words.iter().map(|word| stem(word)).collect();
        for (names, key) in [(&mut self.by_words, sorted(&words)), (&mut self.by_stems, sorted(&stemmed))] {
            let numbers = names.entry(key).or_default();
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
    }

    fn by_words(&self, name_words: &[String]) -> Vec<usize> {
        self.by_words.get(&sorted(name_words)).cloned().unwrap_or_default()
    }

    fn by_stems(&self, name_words: &[String]) -> Vec<usize> {
        let stemmed: Vec<String> = name_words.iter().map(|word| stem(word)).collect();
        self.by_stems.get(&sorted(&stemmed)).cloned().unwrap_or_default()
    }

    fn is_in_domain(&self, number: usize, domain: &BTreeSet<String>) -> bool {
        self.domains.get(number).is_some_and(|known| known == domain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched_ids(given: &str) -> Vec<&'static str> {
        let catalog = Catalog::embedded().unwrap();
        let language = &catalog.words().unwrap().language;
        let found = match_name(&catalog, language, given).actions;
        found.into_iter().filter_map(|number| catalog.id(number)).collect()
    }

    #[test]
    fn a_name_means_one_action_in_any_order_number_and_case() {
        for (given, id) in [
            ("merge_requests.list", "merge_request.list"),
            ("listMergeRequests", "merge_request.list"),
            ("list-merge-requests", "merge_request.list"),
            ("mcp__gitlab__list_issues", "issue.list"),
            ("gitlab_get_issue", "issue.get"),
            ("mr.list", "merge_request.list"),
            ("get_merge_requests", "merge_request.list"),
            ("branches/list", "branch.list"),
            ("ISSUE.GET", "issue.get"),
            ("issue.close", "issue.update"),
            ("issue.modify", "issue.update"),
            ("pipeline.rerun", "pipeline.retry"),
        ] {
            assert_eq!(matched_ids(given), [id], "{given}");
        }
    }

    #[test]
    fn a_name_of_several_actions_means_each_and_a_stranger_none() {
        assert_eq!(matched_ids("list_project_user"), ["project.list_users", "user.list_projects"]);
        for given in
            ["frobnicate", "", "list", "issue", "list the issues", "note.list", "key.list", "hook.list"]
        {
            assert!(matched_ids(given).is_empty(), "{given}: {:?}", matched_ids(given));
        }
    }

    #[test]
    fn a_word_that_means_something_is_not_misspelt() {
        let catalog = Catalog::embedded().unwrap();
        let language = &catalog.words().unwrap().language;
        let is_misspelt = |given, id| is_misspelt(&catalog, language, given, id);
        assert!(
            is_misspelt("isue.list", "issue.list") && is_misspelt("merge_requst.gett", "merge_request.get")
        );
        assert!(!is_misspelt("issue.close", "issue.clone") && !is_misspelt("issue.reopen", "issue.reorder"));
    }

    #[test]
    fn another_domain_is_not_the_action_s() {
        let catalog = Catalog::embedded().unwrap();
        for (given, id, is_other) in [
            ("repository.archive", "project.archive", true),
            ("projects.archive", "project.archive", false),
            // An alias.
            ("archive_repository", "project.archive", false),
            ("mr.create", "merge_request.create", false),
            ("mcp__gitlab__create_issue", "issue.create", false),
        ] {
            let action = catalog.get(id).unwrap().unwrap();
            assert_eq!(names_other_domain(&catalog, &action, given), is_other, "{given}");
        }
    }

    #[test]
    fn what_the_id_does_not_say_is_left_over() {
        let catalog = Catalog::embedded().unwrap();
        let language = &catalog.words().unwrap().language;
        let update = catalog.get("merge_request.update").unwrap().unwrap();
        assert_eq!(unmatched_words(&update, language, "close_mr"), ["close"]);
    }
}
