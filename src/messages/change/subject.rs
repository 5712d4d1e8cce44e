//! Names the object of a write by the parameters of the call and by the answer: `issue acme/widget#3 "Title"`,
//! `label "bug" in acme/widget`.

use serde_json::{Map, Value};

use crate::call::{self, Call, Resolved};
use crate::catalog::{Action, Method, Names, PRESENTATION, Words};
use crate::text::is_number;
use crate::untrusted::{quote, shortened};

/// Domains whose object is the place itself.
const HOLDERS: [&str; 3] = ["project", "group", "namespace"];

/// Maximum number of characters of a name.
const MAX_NAME_CHARACTERS: usize = 100;

/// Minimum length of a hash that is named by its beginning, and the length of that.
const HASH: usize = 32;
const SHORT_HASH: usize = 8;

/// The object of a write in words, and the fields of the answer that the words have.
#[derive(Debug)]
pub struct Subject {
    pub text: String,
    pub said: Vec<String>,
}

/// The object, with its place if `is_placed`; none if neither the parameters nor the answer name one. The mark of an object
/// has its place in any case.
pub fn name_subject(
    words: &Words,
    (action, call): (&Action, &Call),
    params: &Map<String, Value>,
    answer: Option<&Map<String, Value>>,
    is_placed: bool,
) -> Option<Subject> {
    let noun = noun(words, action);
    let mark = container_mark(action.domain());
    if let Some(reference) =
        answer.and_then(full_reference).filter(|reference| is_own_object(mark, reference))
    {
        let said = ["reference", "iid"].into_iter().chain(said_title(answer));
        return Some(Subject::new(format!("{noun} {reference}{}", title(answer)), said));
    }
    let place = object_reference(params, mark.map(|(mark, _)| mark));
    let within = place.as_ref().filter(|_| is_placed).map(|place| format!(" in {place}")).unwrap_or_default();
    let held = held_values(action, call, params);
    // A number in the path may be that of another thing.
    let own_id = answer.and_then(|answer| answer.get("id")).and_then(written);
    let id = held.as_ref().filter(|held| is_number(held) && own_id.as_ref() == Some(*held)).map(|_| "id");
    let named = answer.and_then(name_of);
    let named_by = named.iter().map(|(key, _)| *key);
    let named_by = named_by.filter(|key| id != Some(*key) && is_whole_in(answer, key));
    let said: Vec<&str> = named_by.chain(id).collect();
    let name = named.or_else(|| name_of(params)).map(|(_, name)| name);
    if mark.is_some_and(|(_, is_object)| is_object) && params.contains_key("iid") {
        let is_same = answer.and_then(|answer| answer.get("iid")) == params.get("iid");
        let title = if is_same { title(answer) } else { String::new() };
        let part = held.map(|held| format!(", {held}")).unwrap_or_default();
        let said = is_same.then(|| ["iid"].into_iter().chain(said_title(answer))).into_iter().flatten();
        return Some(Subject::new(format!("{noun} {}{title}{part}", place?), said));
    }
    let is_new = call.method() == Method::Post;
    let is_pipeline = name.as_ref().is_some_and(|name| is_resolved_pipeline(action, call, name));
    let (text, said) = match (held, name) {
        (Some(_), Some(name)) if is_pipeline => (format!("{noun} {name}{within}"), said),
        // The path of a new object names its parent: the release of a link, the thread of a note.
        (Some(held), Some(name)) if is_new && held.starts_with('"') && !held.contains(&name) => {
            (format!("{noun} {name} of {held}{within}"), said)
        }
        (Some(held), Some(name)) if is_number(&name) => {
            (format!("{noun} {held}{within}"), Vec::from_iter(id))
        }
        (Some(held), Some(name)) if held.contains(&name) => (format!("{noun} {held}{within}"), said),
        (Some(held), Some(name)) if held.starts_with('"') && !is_of_answer(answer, &held) => {
            (format!("{noun} {held}{within}, now {name}"), said)
        }
        (Some(held), Some(name)) => (format!("{noun} {held} {name}{within}"), said),
        (Some(held), None) => (format!("{noun} {held}{within}"), Vec::new()),
        (None, _) if HOLDERS.contains(&action.domain()) && place.is_some() => {
            (format!("{noun} {}", place.unwrap_or_default()), Vec::new())
        }
        (None, Some(name)) => (format!("{noun} {name}{within}"), said),
        (None, None) => (format!("{noun} in {}", place?), Vec::new()),
    };
    Some(Subject::new(text, said))
}

/// True if the name is the number of a pipeline that the call gives by a word. `latest` names another one with each run, so
/// the number is better.
fn is_resolved_pipeline(action: &Action, call: &Call, name: &str) -> bool {
    let is_it = |resolved: &Resolved| {
        let param = action.param(&resolved.param);
        param.is_some_and(|param| param.names == Some(Names::Pipeline)) && resolved.id.to_string() == name
    };
    call.resolved().iter().any(is_it)
}

impl Subject {
    fn new<'k>(text: String, said: impl IntoIterator<Item = &'k str>) -> Subject {
        Subject { text, said: said.into_iter().map(str::to_owned).collect() }
    }
}

/// True if an answer has a name for its object.
pub fn is_named(answer: &Map<String, Value>) -> bool {
    name_of(answer).is_some()
}

/// True if a name in quotes is a field of the object, whatever its case: `"Carol"` of `carol`.
fn is_of_answer(answer: Option<&Map<String, Value>>, held: &str) -> bool {
    let mut texts = answer.into_iter().flat_map(|answer| answer.values()).filter_map(Value::as_str);
    texts.any(|text| quote(text).eq_ignore_ascii_case(held))
}

/// `title`, if the words on the object have the whole of it.
fn said_title(answer: Option<&Map<String, Value>>) -> Option<&'static str> {
    let title = answer?.get("title")?.as_str()?;
    is_whole(title).then_some("title")
}

/// True if the words on an object have a text as it is.
fn is_whole(text: &str) -> bool {
    quote(&shortened(text, MAX_NAME_CHARACTERS)) == format!("\"{text}\"")
}

/// True if the words on an object have a field of an answer as it is.
fn is_whole_in(answer: Option<&Map<String, Value>>, field: &str) -> bool {
    match answer.and_then(|answer| answer.get(field)) {
        Some(Value::String(text)) => is_whole(text) && !is_hash(text),
        Some(value) => value.is_number(),
        None => false,
    }
}

/// The mark before the numbers of a domain's objects, or of the objects that contain them; true if it is the former.
fn container_mark(domain: &str) -> Option<(char, bool)> {
    let mut prefix = domain;
    loop {
        if let Some(mark) = call::mark_of(prefix) {
            return Some((mark, prefix == domain));
        }
        prefix = prefix.rsplit_once('_')?.0;
    }
}

/// True if a reference is one of the domain's own objects.
fn is_own_object(mark: Option<(char, bool)>, reference: &str) -> bool {
    mark.is_some_and(|(mark, is_object)| is_object && reference.contains(mark))
}

/// The full reference in an answer, if it is written as GitLab writes one.
fn full_reference(answer: &Map<String, Value>) -> Option<&str> {
    let full = answer.get("references")?.get("full")?.as_str()?;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | '#' | '!' | '&');
    (full.len() <= 300 && full.chars().all(is_part)).then_some(full)
}

fn title(answer: Option<&Map<String, Value>>) -> String {
    let title = answer.and_then(|answer| answer.get("title")).and_then(Value::as_str);
    title.map(|title| format!(" {}", quote(&shortened(title, MAX_NAME_CHARACTERS)))).unwrap_or_default()
}

/// The place: a path, with the number of what contains the object.
fn object_reference(params: &Map<String, Value>, mark: Option<char>) -> Option<String> {
    let path = match params.get("fullPath")? {
        Value::String(path) if is_path(path) => path.clone(),
        other => written(other)?,
    };
    Some(match (params.get("iid").and_then(written), mark) {
        (Some(iid), Some(mark)) => format!("{path}{mark}{iid}"),
        (Some(iid), None) => format!("{path}, iid {iid}"),
        (None, _) => path,
    })
}

/// True if a text has only characters that GitLab allows in a path.
fn is_path(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
    !text.is_empty() && text.len() <= 300 && text.chars().all(is_part)
}

/// The values in the path of the request that identify the object, apart from its place.
fn held_values(action: &Action, call: &Call, params: &Map<String, Value>) -> Option<String> {
    let operation = action.operations.iter().find(|operation| operation.to_string() == call.operation())?;
    let mut held: Vec<(&str, String)> = Vec::new();
    for (placeholder, _) in operation.placeholders() {
        let name = operation.filled_by(placeholder);
        let is_known = held.iter().any(|(known, _)| *known == name);
        if matches!(name, "fullPath" | "iid") || is_known {
            continue;
        }
        held.extend(params.get(name).and_then(written).map(|value| (name, value)));
    }
    match held.as_slice() {
        [] => None,
        [(_, value)] => Some(value.clone()),
        several => {
            let named: Vec<String> = several.iter().map(|(name, value)| format!("{name} {value}")).collect();
            Some(named.join(", "))
        }
    }
}

/// A value of a parameter or an answer: a number as it is, a text in quotes.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) if is_number(text) => Some(text.clone()),
        Value::String(text) if is_hash(text) => {
            Some(quote(&text.chars().take(SHORT_HASH).collect::<String>()))
        }
        Value::String(text) => Some(quote(&shortened(text, MAX_NAME_CHARACTERS))),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// True for the id of a commit, a discussion and the like.
fn is_hash(text: &str) -> bool {
    text.len() >= HASH && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The field that names an object, and the name.
fn name_of(answer: &Map<String, Value>) -> Option<(&'static str, String)> {
    PRESENTATION.subject_names.iter().find_map(|name| Some((*name, written(answer.get(*name)?)?)))
}

/// The noun of an action's object, as people call it.
fn noun(words: &Words, action: &Action) -> String {
    let noun = words.domains.get(action.domain()).and_then(|domain| domain.nouns.first().cloned());
    noun.unwrap_or_else(|| action.domain().replace('_', " "))
}
