//! Forms in which callers write parameters, as the parameters of the action: names in brackets as GitLab's documentation
//! writes them, and negated names.

use serde_json::{Map, Value, json};

use super::location::GLOBAL;
use super::noun::folded;
use super::param_names::{is_spelling, param_named};
use super::{Fault, encoded, taken_away};
use crate::catalog::{self, Action, Base, NameForm, Names, Param, Words};
use crate::text::{is_digits, plain_text};

/// The parameter that holds negated filters (<https://docs.gitlab.com/api/issues/#list-issues>).
const NOT: &str = "not";

/// Moves `not[labels]`, `not.labels` and `not_labels` into the parameter that holds them, unless it has another value for
/// the name. Says in `understood` which.
pub fn nest(
    action: &Action,
    params: Map<String, Value>,
    words: &Words,
    understood: &mut Vec<String>,
) -> Map<String, Value> {
    let mut nested = Map::new();
    let mut moved = Vec::new();
    for (given, value) in params {
        match parts(action, &given, &value, words) {
            Some((outer, inner)) if !value.is_null() || taken_away::is_by_null(&outer, &inner) => {
                moved.push((given, outer, inner, value));
            }
            _ => drop(nested.insert(given, value)),
        }
    }
    for (given, outer, inner, value) in moved {
        let held = nested.entry(outer.clone()).or_insert_with(|| json!({}));
        if held.is_null() {
            *held = json!({});
        }
        if let Some(Ok(Value::Object(object))) = held.as_str().map(serde_json::from_str) {
            *held = Value::Object(object);
        }
        match held.as_object_mut().filter(|held| !held.contains_key(&inner)) {
            Some(held) => {
                understood.push(format!("`{given}` as `{outer}.{inner}`"));
                held.insert(inner, value);
            }
            None => drop(nested.insert(given, value)),
        }
    }
    nested
}

/// Joins the owner and the name of a project, as other systems take them, to its path.
pub fn join_owner(
    action: &Action,
    params: &mut Map<String, Value>,
    words: &Words,
    understood: &mut Vec<String>,
) {
    let mut owners = catalog::kinds().owner_params.iter();
    let Some(owner) = owners.find(|name| params.contains_key(*name) && action.param(name).is_none()) else {
        return;
    };
    let is_name = |(given, value): &(&String, &Value)| {
        // Digits are the id of the place, which needs no owner.
        let is_name = |text: &str| !text.is_empty() && !text.contains('/') && !is_digits(text);
        let is_bare = value.as_str().is_some_and(is_name);
        is_bare
            && *given != owner
            && param_named(action, given, words).is_some_and(|param| param.name == PATH)
    };
    let Some(name) = params.iter().find(is_name).map(|(given, _)| given.clone()) else { return };
    let Some(owned) = params.get(owner).and_then(Value::as_str).map(|text| text.trim_matches('/')) else {
        return;
    };
    let path = format!("{owned}/{}", params.get(&name).map(plain_text).unwrap_or_default());
    understood.push(format!("`{owner}` and `{name}` as `{PATH}: {path}`"));
    params.shift_remove(owner);
    params.shift_remove(&name);
    params.insert(PATH.to_owned(), json!(path));
}

/// Joins what callers give in parts into the reference that the parameter of a global id takes: the type and the number
/// (`noteable_type` and `noteable_iid` are `#21` or `!5`), and the number of a kind with its project, beside the path of a
/// group (`issue_iid` and `project` are `acme/widget#17`).
pub fn join_reference(
    action: &Action,
    params: &mut Map<String, Value>,
    words: &Words,
    understood: &mut Vec<String>,
) {
    for param in action.params.iter().filter(|param| !params.contains_key(&param.name)) {
        let folded_name = folded(&param.name);
        let Some(stem) = folded_name.strip_suffix("id").filter(|stem| !stem.is_empty()) else { continue };
        let given = |ending: &str| {
            // The bare number of a milestone's own action is that of the milestone.
            let is_own = |name: &str| name == ending && folded(action.domain()) == stem;
            let is_it = |name: &&String| {
                let name_folded = folded(name);
                (name_folded.strip_prefix(stem) == Some(ending) || is_own(&name_folded))
                    && action.param(name).is_none()
            };
            params.keys().find(is_it).cloned()
        };
        let Some(number) = given("iid") else { continue };
        let kind = given("type").filter(|_| param.gid.is_some());
        let word = match &kind {
            Some(kind) => params.get(kind).and_then(Value::as_str).map(folded).unwrap_or_default(),
            None if param.kind.base == Base::IntegerOrString => stem.to_owned(),
            None => continue,
        };
        let row = catalog::kinds().kinds.iter().find(|row| folded(&row.name) == word);
        let Some(sigil) = row.and_then(|row| row.sigil).or_else(|| mark_of_name(param)) else { continue };
        let project = words.glossary.get(PATH).and_then(|entry| {
            // An `id` or a `group` beside the path is no project of the number.
            let is_path = |name: &&String| {
                name.contains(PROJECT) && entry.aliases.contains(*name) && action.param(name).is_none()
            };
            params.keys().find(is_path).filter(|_| params.contains_key(PATH)).cloned()
        });
        let Some(digits) = params.get(&number).map(plain_text).filter(|text| is_digits(text)) else {
            continue;
        };
        let path = project.as_ref().and_then(|name| params.get(name)).map(plain_text).unwrap_or_default();
        let reference = format!("{path}{sigil}{digits}");
        let parts: Vec<String> = [kind, project, Some(number)].into_iter().flatten().collect();
        understood.push(format!("`{}` as `{}: {reference}`", parts.join("` and `"), param.name));
        parts.iter().for_each(|name| drop(params.shift_remove(name)));
        params.insert(param.name.clone(), json!(reference));
        return;
    }
}

/// The mark before the number that a parameter takes besides an id: `%` of milestones, which are looked up by it.
fn mark_of_name(param: &Param) -> Option<char> {
    let resolver = catalog::resolver(param.names?)?;
    let has_number = resolver.reads.iter().flat_map(|read| &read.by).any(|field| field == "/iid");
    match &resolver.form {
        NameForm::Name(mark) if has_number => mark.chars().next(),
        _ => None,
    }
}

/// Makes the number of a merge request its latest pipeline, where a pipeline is wanted and no merge request:
/// `merge_request: 12` is `pipeline_id: !12`.
pub fn join_pipeline(action: &Action, params: &mut Map<String, Value>, understood: &mut Vec<String>) {
    let is_pipeline = |param: &&Param| param.names.is_some_and(Names::is_pipeline) || param.name == PIPELINE;
    let Some(param) = action.params.iter().find(is_pipeline) else { return };
    let numbers = &catalog::kinds().pipeline_numbers;
    let is_merge_request = |name: &str| numbers.merge_request.contains(&folded(name));
    let is_number = |name: &&String| is_merge_request(name);
    let Some(given) = params.keys().find(is_number).filter(|_| !params.contains_key(&param.name)).cloned()
    else {
        return;
    };
    let number = params.get(&given).map(|value| plain_text(value).trim_start_matches('!').to_owned());
    let takes_it = action.params.iter().any(|param| param.name == "iid" || is_merge_request(&param.name));
    if let Some(number) = number.filter(|number| !number.is_empty() && !takes_it) {
        understood.push(format!("`{given}` as `{}: !{number}`", param.name));
        params.shift_remove(&given);
        params.insert(param.name.clone(), json!(format!("!{number}")));
    }
}

/// Makes one number of a pipeline the other, where the action takes that: its id, which its URL has, and its iid in the
/// project. `pipeline_id: 305` is `iid: id:305`, and `iid: 5` is `pipeline_id: iid:5`.
pub fn join_pipeline_number(action: &Action, params: &mut Map<String, Value>, understood: &mut Vec<String>) {
    let find = |names: Names| action.params.iter().find(|param| param.names == Some(names));
    let numbers = &catalog::kinds().pipeline_numbers;
    let (param, others, mark) = match (find(Names::PipelineIid), find(Names::Pipeline)) {
        (Some(iid), None) => (iid, &numbers.id, "id:"),
        (None, Some(id)) => (id, &numbers.iid, "iid:"),
        _ => return,
    };
    let is_own = |name: &str| action.param(name).is_some();
    // The `iid` of another action is that of its own object.
    let may_be = |name: &str| name != "iid" || action.domain() == "pipeline";
    let is_other = |name: &&String| others.contains(&folded(name)) && !is_own(name) && may_be(name);
    let Some(given) = params.keys().find(is_other).filter(|_| !params.contains_key(&param.name)).cloned()
    else {
        return;
    };
    let number = params.get(&given).map(plain_text).unwrap_or_default();
    let bare = number.trim_start_matches('#');
    let number = if is_digits(bare) { format!("{mark}{bare}") } else { number };
    understood.push(format!("`{given}` as `{}: {number}`", param.name));
    params.shift_remove(&given);
    params.insert(param.name.clone(), json!(number));
}

/// The parameter of a pipeline.
const PIPELINE: &str = "pipeline_id";

/// The parameter of a project's or group's path, and the word in its spellings for that of a project alone.
const PATH: &str = "fullPath";
const PROJECT: &str = "project";

/// Moves `none` and `any` from a parameter that GitLab takes for a username to the one that has the words:
/// `assignee_username: none` is `assignee_id: none`.
pub fn move_words(
    action: &Action,
    params: &mut Map<String, Value>,
    words: &Words,
    understood: &mut Vec<String>,
) {
    let moved = |given: &String, value: &Value| {
        let param = param_named(action, given, words)?;
        let word = match value {
            Value::Array(only) => only.first().filter(|_| only.len() == 1)?.as_str()?,
            one => one.as_str()?,
        };
        let sibling = action.param(&format!("{}{ID}", param.name.strip_suffix(USERNAME)?))?;
        let takes =
            catalog::resolver(sibling.names?)?.words.iter().any(|known| known.eq_ignore_ascii_case(word));
        (takes && !params.contains_key(&sibling.name))
            .then(|| (given.clone(), sibling.name.clone(), word.to_owned()))
    };
    let found: Vec<_> = params.iter().filter_map(|(given, value)| moved(given, value)).collect();
    for (given, sibling, word) in found {
        understood.push(format!("`{given}: {word}` as `{sibling}`"));
        params.shift_remove(&given);
        params.insert(sibling, json!(word));
    }
}

/// Makes a flag that is off the one that says the opposite: `resolved: false` is `unresolved: true`. One that is on would be
/// `unresolved: false`, which filters nothing.
pub fn turn_flags(action: &Action, params: &mut Map<String, Value>, understood: &mut Vec<String>) {
    for (given, opposite) in &catalog::kinds().opposite_flags {
        let is_off = params.get(given).is_some_and(|value| plain_text(value).eq_ignore_ascii_case("false"));
        if is_off
            && action.param(given).is_none()
            && action.param(opposite).is_some()
            && !params.contains_key(opposite)
        {
            understood.push(format!("`{given}: false` as `{opposite}: true`"));
            params.shift_remove(given);
            params.insert(opposite.clone(), json!(true));
        }
    }
}

/// Converts the values of a map to texts where GitLab takes nothing else: `1` of a CI/CD variable is `"1"`.
pub fn text_values(action: &Action, params: &mut Map<String, Value>) {
    let maps = catalog::kinds()
        .text_maps
        .iter()
        .filter_map(|path| path.strip_prefix(action.id.as_str())?.strip_prefix(':'));
    for name in maps {
        let fields = params.get_mut(name).and_then(Value::as_object_mut).into_iter().flatten();
        for (_, value) in fields.filter(|(_, value)| value.is_number() || value.is_boolean()) {
            *value = json!(plain_text(value));
        }
    }
}

/// End of a parameter that holds a username, and of the one beside it that holds an id or a word.
const USERNAME: &str = "_username";
const ID: &str = "_id";

/// The parameter and its field that a name is of.
fn parts(action: &Action, given: &str, value: &Value, words: &Words) -> Option<(String, String)> {
    if action.param(given).is_some() {
        return None;
    }
    let bare = given.strip_suffix("[]").unwrap_or(given);
    let in_brackets = || bare.strip_suffix(']')?.split_once('[');
    let negated = || Some((NOT, bare.strip_prefix(NOT)?.strip_prefix('_')?));
    let Some((outer, inner)) = in_brackets().or_else(|| bare.split_once('.')).or_else(negated) else {
        let is_elsewhere = param_named(action, given, words).is_some_and(|param| may_be(param, value));
        return if is_elsewhere { None } else { only_field(action, bare, value) };
    };
    let param = action.param(outer).filter(is_object)?;
    let field = param.fields.iter().find(|field| field.name == inner)?;
    Some((param.name.clone(), field.name.clone()))
}

fn is_object(param: &&Param) -> bool {
    param.kind.base == Base::Object && !param.kind.many
}

/// False for a value that is none of the choices of a parameter: `status: "Done"` is no state.
fn may_be(param: &Param, value: &Value) -> bool {
    let text = folded(&plain_text(value));
    let is_choice = |choice: &String| text.starts_with(&folded(choice)) || folded(choice).starts_with(&text);
    param.choices.is_empty() || param.choices.iter().any(is_choice)
}

/// The field of the only object that has it: `environment_scope` of `filter`, `due_date` of a widget of a work item.
fn only_field(action: &Action, given: &str, value: &Value) -> Option<(String, String)> {
    let objects = || action.params.iter().filter(is_object).filter(|param| param.name != NOT);
    let by = |is_it: &dyn Fn(&Param, &Param) -> bool| {
        let fields = objects().flat_map(|param| param.fields.iter().map(move |field| (param, field)));
        let mut found = fields.filter(|(param, field)| is_it(param, field));
        let (param, field) = found.next()?;
        found.next().is_none().then(|| (param.name.clone(), field.name.clone()))
    };
    let name = folded(given);
    let stem = name.strip_suffix('s').unwrap_or(&name);
    let text = plain_text(value);
    let is_id = is_digits(&text) || text.starts_with(GLOBAL);
    // A status is given by its name.
    let names_it = |param: &Param, field: &Param| {
        !is_id && field.name == NAME && folded(&param.name) == format!("{name}widget")
    };
    by(&names_it)
        .or_else(|| by(&|_, field| field.name == given))
        .or_else(|| by(&|_, field| folded(&field.name) == name))
        // `milestone` is `milestoneId`, and `assignees` are `assigneeIds`.
        .or_else(|| {
            by(&|_, field| [format!("{stem}id"), format!("{stem}ids")].contains(&folded(&field.name)))
        })
        .or_else(|| by(&|_, field| is_spelling(&field.name, given)))
}

/// The field with the name of what an object names.
const NAME: &str = "name";

/// Notes on texts of several lines whose line ends are written as `\n`, which GitLab shows as it is.
pub fn literal_line_ends(action: &Action, params: &Map<String, Value>) -> Vec<String> {
    let texts = action.scanned.iter().filter_map(|name| Some((name, params.get(name)?.as_str()?)));
    let literal = texts.filter(|(_, text)| text.contains("\\n") && !text.contains('\n'));
    literal.map(|(name, _)| format!("`{name}` has `\\n` as two characters, not as a line end")).collect()
}

/// The fault of a content that is said to be Base64 and is not: GitLab would store what it can decode of it. Base64 is
/// read as GitLab reads it, with line ends.
pub fn not_base64(action: &Action, params: &Map<String, Value>) -> Option<Fault> {
    let is_wrong = |fields: &Map<String, Value>| {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let is_encoded = text("encoding").is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64"));
        is_encoded && text("content").is_some_and(|content| encoded::decode(content).is_none())
    };
    let fault = |name: String| Fault::WrongType {
        name,
        given: "what is not Base64".to_owned(),
        expected: "Base64, as `encoding` says".to_owned(),
    };
    if is_wrong(params) {
        return Some(fault("content".to_owned()));
    }
    let lists =
        action.params.iter().filter_map(|param| Some((&param.name, params.get(&param.name)?.as_array()?)));
    lists.into_iter().find_map(|(name, items)| {
        let at = items.iter().position(|item| item.as_object().is_some_and(is_wrong))?;
        Some(fault(format!("{name}[{at}].content")))
    })
}
