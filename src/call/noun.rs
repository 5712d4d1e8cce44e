//! Parameters that are named by the noun of what they hold: `epic` for `epic_id`, or for GitLab's own `epic_iid`.

use serde_json::{Map, Value};

use crate::catalog::{self, Action, KindRow, NameForm, Param, Resolver, Scope, TRACKED_MARKS};
use crate::text::is_digits;

/// The parameter with the project or group.
const HOLDER: &str = "fullPath";

/// The parameter with the number that people see.
pub const NUMBER: &str = "iid";

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

/// Marks of the kinds whose number a parameter takes: `#` of issues, `#` and `&` of work items. None where it may be the
/// number of anything.
pub fn own_marks(action: Option<&Action>, param: &Param) -> Option<Vec<char>> {
    let by_domain = || {
        let domain = action.filter(|_| param.name == NUMBER && param.names.is_none())?.domain();
        let is_domain = |resolver: &&Resolver| is_folded(domain, &folded(&resolver.noun));
        catalog::kinds().resolvers.iter().find(is_domain)
    };
    let resolver = param.names.and_then(catalog::resolver).or_else(by_domain)?;
    match &resolver.form {
        NameForm::Number(marks) | NameForm::NumberOrTitle(marks) => Some(marks.clone()),
        NameForm::Name(_) => {
            let noun = folded(&resolver.noun);
            let kind = catalog::kinds().kinds.iter().find(|row| is_folded(&row.name, &noun))?;
            kind.sigil.filter(|sigil| TRACKED_MARKS.contains(sigil)).map(|sigil| vec![sigil])
        }
    }
}

/// True if a name is that of the number of another kind than the parameter takes: `merge_request_iid` is no issue's.
pub fn is_of_other_kind(action: &Action, param: &Param, given: &str) -> bool {
    let given = folded(given);
    let is_named = |kind: &KindRow| nouns_of(kind).any(|noun| is_number_of_noun(&given, noun));
    let Some((_, mark)) = tracked_kinds().find(|(kind, _)| is_named(kind)) else { return false };
    own_marks(Some(action), param).is_some_and(|own| !own.contains(&mark))
}

/// The kinds that are told apart by their marks.
pub fn tracked_kinds() -> impl Iterator<Item = (&'static KindRow, char)> {
    let marked =
        |kind: &'static KindRow| Some((kind, kind.sigil.filter(|mark| TRACKED_MARKS.contains(mark))?));
    catalog::kinds().kinds.iter().filter_map(marked)
}

/// The kind of place that a number under this name is one of, where the action works on the other kind only: a `group_id` is
/// no project.
pub fn other_holder(action: &Action, param: &Param, given: &str, value: &Value) -> Option<Scope> {
    let is_number = value.is_u64() || value.as_str().is_some_and(is_digits);
    if param.name != HOLDER || !is_number {
        return None;
    }
    let names = &catalog::kinds().holder_numbers;
    let given = folded(given);
    let (said, other) = match given {
        _ if names.project.contains(&given) => (Scope::Project, Scope::Group),
        _ if names.group.contains(&given) => (Scope::Group, Scope::Project),
        _ => return None,
    };
    let mut operations = action.choices().peekable();
    operations.peek()?;
    operations.all(|operation| operation.scope == other).then_some(said)
}

/// The names of a kind: its own, and other spellings.
pub fn nouns_of(kind: &KindRow) -> impl Iterator<Item = &str> {
    let others = catalog::kinds().item_types.iter().filter(|(name, _)| *name == kind.name);
    others.flat_map(|(_, others)| others).map(String::as_str).chain([kind.name.as_str()])
}

/// True if a folded name is a noun, alone or with the ending of a number.
fn is_number_of_noun(name: &str, noun: &str) -> bool {
    let rest = name.strip_prefix(folded(noun).as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest == "number" || ENDINGS.contains(&rest))
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
