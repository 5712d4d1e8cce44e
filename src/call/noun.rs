//! Parameters that are named by the noun of what they hold: `epic` for `epic_id`, or for GitLab's own `epic_iid`.

use serde_json::{Map, Value};

use crate::catalog::{Action, Param};

/// Endings of the names of parameters with a number or id.
const ENDINGS: [&str; 2] = ["id", "iid"];

/// Finds the parameter with the number of a noun: `X_id` or `X_iid` by its own name or by GitLab's, or the number of the
/// action's own object if the noun is the domain. None if several are possible, or if the only one is in `taken`.
pub fn param_by_noun<'a>(action: &'a Action, noun: &str, taken: &Map<String, Value>) -> Option<&'a Param> {
    let noun = folded(noun);
    let is_domain = is_folded(action.domain(), &noun);
    let bound = action.operations.iter().flat_map(|operation| &operation.bind);
    let bound: Vec<&String> =
        bound.filter(|(theirs, _)| is_number_of(theirs, &noun)).map(|(_, ours)| ours).collect();
    let is_number = |param: &&Param| {
        is_number_of(&param.name, &noun)
            || (is_domain && is_number_of(&param.name, ""))
            || bound.contains(&&param.name)
    };
    only(action.params.iter().filter(is_number)).filter(|param| !taken.contains_key(&param.name))
}

/// Finds the parameter `X_id` or `X_iid` by its own name alone.
pub fn param_with_noun<'a>(action: &'a Action, noun: &str, taken: &Map<String, Value>) -> Option<&'a Param> {
    let noun = folded(noun);
    let is_number = |param: &&Param| is_number_of(&param.name, &noun);
    only(action.params.iter().filter(is_number)).filter(|param| !taken.contains_key(&param.name))
}

fn only<'a>(mut found: impl Iterator<Item = &'a Param>) -> Option<&'a Param> {
    found.next().filter(|_| found.next().is_none())
}

/// True if a name is a folded noun with the ending of a number; that of no noun is the ending alone.
fn is_number_of(name: &str, noun: &str) -> bool {
    let mut letters = letters(name);
    noun.chars().all(|letter| letters.next() == Some(letter))
        && ENDINGS.contains(&letters.collect::<String>().as_str())
}

/// A name in lower case, letters and digits alone: case and separators do not distinguish parameters.
pub fn folded(name: &str) -> String {
    letters(name).collect()
}

/// True if a name is the folded one. A large action has hundreds of names to compare with, most of which differ in the
/// first letter.
pub fn is_folded(name: &str, folded: &str) -> bool {
    letters(name).eq(folded.chars())
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}
