//! Names by which callers call the parameters of an action.

use serde_json::{Map, Value};

use super::noun::{NUMBER, folded, is_folded, is_of_other_kind, param_by_noun, param_with_noun};
use crate::catalog::{self, Action, GlossaryEntry, Names, Param, Words};

/// Finds the parameter for a name: by its own name; by GitLab's name in the path or request; by the same letters in
/// another case; by a spelling of the glossary, of which the earliest listed wins; by the noun of what it holds. Never
/// one that is in `taken`.
pub fn named<'a>(
    action: &'a Action,
    given: &str,
    taken: &Map<String, Value>,
    words: &Words,
) -> Option<&'a Param> {
    let free = || action.params.iter().filter(|param| !taken.contains_key(&param.name));
    let by = |name: &str| free().find(|param| param.name == name);
    let wired = || free().find(|param| param.wire.as_deref() == Some(given));
    let filled =
        || action.operations.iter().find_map(|operation| operation.bind.get(given)).and_then(|name| by(name));
    let bare = given.strip_suffix("[]").unwrap_or(given);
    let folded_name = folded(bare);
    let cased = || free().find(|param| is_folded(&param.name, &folded_name));
    let glossary = || {
        let folded_given = folded(given);
        let ranked =
            free().filter_map(|param| Some((rank(words.glossary.get(&param.name)?, &folded_given)?, param)));
        // A parameter that only helps to look the object up is not the object: `id` of a job is no pipeline's.
        let is_aid = |param: &Param| param.place == catalog::Place::Selector;
        let found = ranked.min_by_key(|(rank, param)| (is_aid(param), *rank)).map(|(_, param)| param);
        // The glossary's `issue` is the number of any issue: an `issue_id` of the action is closer.
        let is_number = found.is_some_and(|param| param.name == NUMBER);
        let found = found.filter(|param| !is_of_other_kind(action, param, bare));
        is_number.then(|| param_with_noun(action, bare, taken)).flatten().or(found)
    };
    let noun = || param_by_noun(action, bare, taken);
    let by_name = || named_object(action, bare).filter(|param| !taken.contains_key(&param.name));
    let plain = action.param(given).or_else(filled).or_else(wired).or_else(cased);
    plain.or_else(glossary).or_else(noun).or_else(by_name)
}

/// The only parameter with the object of an action, or the name of a new one, for a spelling that is the domain
/// (`epic`), or the field by which the object is looked up (`title` of a milestone).
fn named_object<'a>(action: &'a Action, given: &str) -> Option<&'a Param> {
    let mut objects = action.params.iter().filter(|param| {
        param.required && !param.kind.many && param.place == catalog::Place::Path && param.name != "fullPath"
    });
    let is_kind = folded(given) == folded(action.domain());
    let Some(object) = objects.next().filter(|_| objects.next().is_none()) else {
        // The name of an object that is created.
        let mut names = ["name", "title"].into_iter().filter_map(|name| action.param(name));
        return names.find(|name| is_kind && name.required);
    };
    let is_field = |names: Names| {
        let reads = catalog::resolver(names).map(|resolver| resolver.reads.as_slice()).unwrap_or_default();
        let mut fields = reads.iter().flat_map(|read| &read.by).map(|field| field.trim_start_matches('/'));
        fields.any(|field| field == given)
    };
    (is_kind || object.names.is_some_and(is_field)).then_some(object)
}

/// Finds the parameter of an action for a spelling.
pub fn param_named<'a>(action: &'a Action, given: &str, words: &Words) -> Option<&'a Param> {
    named(action, given, &Map::new(), words)
}

/// Position of a folded spelling in the glossary entry of a parameter.
fn rank(entry: &GlossaryEntry, folded_name: &str) -> Option<usize> {
    entry.aliases.iter().position(|alias| is_folded(alias, folded_name))
}

/// Finds the field for a spelling: by its own name, by the same letters in another case, or by a name that
/// `item_fields` of `catalog/kinds.toml` gives it.
pub fn field_named<'a>(param: &'a Param, given: &str) -> Option<&'a Param> {
    let fields = || param.fields.iter();
    fields()
        .find(|field| field.name == given)
        .or_else(|| fields().find(|field| is_folded(&field.name, &folded(given))))
        .or_else(|| fields().find(|field| is_spelling(&field.name, given)))
}

/// True if one of the two is the name of a row of `item_fields` and the other is in it.
pub fn is_spelling(name: &str, given: &str) -> bool {
    let is = |known: &String, word: &str| folded(known) == folded(word);
    catalog::kinds().item_fields.iter().any(|(known, others)| {
        let among = |word: &str| others.iter().any(|other| is(other, word));
        is(known, name) && among(given) || is(known, given) && among(name)
    })
}
