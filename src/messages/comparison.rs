//! Compares the values that a call sent with the object in the answer.

use serde_json::{Map, Value};

use crate::call::{self, Body, Call};
use crate::catalog::{Action, Base, Param, ShownAs, ShownBy, Words};
use crate::present;
use crate::text::plain_text;
use crate::untrusted::quote;

/// Maximum length in bytes of a value that a note repeats.
const MAX_REPEATED_BYTES: usize = 80;

/// Result of a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Fields of the answer in which the parameters show.
    pub fields: Vec<String>,
    /// True if every parameter shows in a field.
    pub is_complete: bool,
    /// Fields of the answer whose value is the one that was sent, each with its parameter.
    pub as_sent: Vec<(String, String)>,
    /// Names of the parameters that show in no field.
    pub unseen: Vec<String>,
    /// Names of the parameters whose value the answer has otherwise.
    pub differs: Vec<String>,
    pub notes: Vec<String>,
}

/// A parameter with the value that was sent.
pub type SentValue<'a> = (&'a Param, Value);

/// The values that were sent, with look-ups resolved: of a REST request by its JSON body, otherwise as they were given.
pub fn sent_values<'a>(
    action: &Action,
    call: &Call,
    params: &Map<String, Value>,
    set: &[&'a Param],
) -> Vec<SentValue<'a>> {
    let is_rest = action.choices().all(|operation| operation.graphql.is_none());
    let body = match call.body() {
        Body::Json(Value::Object(body)) if is_rest => Some(body),
        _ => None,
    };
    let value = |param: &Param| {
        let wire = param.wire.as_deref().unwrap_or(&param.name);
        let sent = match body {
            Some(body) => body.get(wire),
            None if param.names.is_some() => None,
            None => params.get(&param.name),
        };
        sent.cloned().unwrap_or(Value::Null)
    };
    set.iter().map(|param| (*param, value(param))).collect()
}

/// Compares what was sent with the answer.
pub fn compare(
    words: &Words,
    action: &Action,
    sent: &[SentValue<'_>],
    answer: &Map<String, Value>,
) -> Comparison {
    let mut found = Comparison { is_complete: true, ..Comparison::default() };
    for (param, value) in sent {
        let Some((field, rule)) = field_of(words, param, answer) else {
            found.is_complete = false;
            found.unseen.push(param.name.clone());
            continue;
        };
        let answered = answer.get(&field).unwrap_or(&Value::Null);
        let kind = present::ContentKind::of([action], false);
        if is_secret(kind, &field, answered) || is_secret(kind, &param.name, value) {
            found.fields.push(field);
            continue;
        }
        if action.scanned.contains(&param.name)
            && let Some(note) = commands_note(&param.name, value, answered)
        {
            found.notes.push(note);
        } else if let Some(difference) = difference(param, rule, value, answered) {
            found.differs.push(param.name.clone());
            found.notes.push(format!("`{}` is not as sent: {difference}", param.name));
        } else if is_as_sent(rule, value, answered) {
            found.as_sent.push((field.clone(), param.name.clone()));
        }
        found.fields.push(field);
    }
    found
}

/// The field of the answer in which a parameter's value shows, with the rule that says so.
fn field_of<'w>(
    words: &'w Words,
    param: &Param,
    answer: &Map<String, Value>,
) -> Option<(String, Option<&'w ShownAs>)> {
    let by_rule = words.changes.shown_as.iter().find_map(|rule| {
        let field = renamed(&rule.param, &rule.field, &param.name)?;
        answer.contains_key(&field).then_some((field, Some(rule)))
    });
    by_rule.or_else(|| answer.contains_key(&param.name).then(|| (param.name.clone(), None)))
}

/// The field by a rule's pattern, if the name fits it.
fn renamed(pattern: &str, field: &str, name: &str) -> Option<String> {
    match pattern.split_once('*') {
        None => (pattern == name).then(|| field.to_owned()),
        Some((first, last)) => {
            let rest = name.strip_prefix(first)?.strip_suffix(last)?;
            (!rest.is_empty()).then(|| field.replacen('*', rest, 1))
        }
    }
}

/// True if a field's value would be masked.
fn is_secret(kind: present::ContentKind, field: &str, value: &Value) -> bool {
    let text = if value.is_string() { value.clone() } else { Value::String("x".to_owned()) };
    let mut shown = Value::Object(Map::from_iter([(field.to_owned(), text)]));
    !present::mask(&mut shown, kind, &[], None).hidden.is_empty()
}

/// The difference between a value and the answer, in words; none if there is none, or if they cannot be compared.
fn difference(param: &Param, rule: Option<&ShownAs>, sent: &Value, answered: &Value) -> Option<String> {
    let by = rule.map(|rule| rule.by).unwrap_or_default();
    if let Some(rule) = rule.filter(|rule| !rule.values.is_empty()) {
        let wanted = rule.values.get(sent.as_str()?)?;
        return (answered.as_str()? != wanted).then(|| as_two(sent, answered));
    }
    match by {
        ShownBy::Value => differs(param, sent, answered).then(|| as_two(sent, answered)),
        ShownBy::Ids => {
            let (wanted, has) = (ids(sent)?, ids(answered)?);
            (wanted != has).then(|| {
                let missing = wanted.iter().filter(|id| !has.contains(id)).count();
                let more = has.iter().filter(|id| !wanted.contains(id)).count();
                format!("of {} sent, the answer lacks {missing} and has {more} others", wanted.len())
            })
        }
        ShownBy::Adds => {
            let has = names(answered)?;
            let missing: Vec<String> = names(sent)?
                .into_iter()
                .filter(|name| !has.contains(name))
                .map(|name| quote(&name))
                .collect();
            (!missing.is_empty()).then(|| format!("the answer lacks {}", missing.join(", ")))
        }
        ShownBy::Removes => {
            let has = names(answered)?;
            let left: Vec<String> =
                names(sent)?.into_iter().filter(|name| has.contains(name)).map(|name| quote(&name)).collect();
            (!left.is_empty()).then(|| format!("the answer still has {}", left.join(", ")))
        }
    }
}

/// True if the answer repeats a value, so that who sent it learns nothing from it.
fn is_as_sent(rule: Option<&ShownAs>, sent: &Value, answered: &Value) -> bool {
    if rule.is_some_and(|rule| !rule.values.is_empty()) {
        return false;
    }
    match (rule.map(|rule| rule.by).unwrap_or_default(), sent, answered) {
        (ShownBy::Value, Value::String(sent), Value::String(answered)) => sent.trim() == answered.trim(),
        (ShownBy::Value, Value::Array(_), Value::Array(_)) => {
            names(sent).zip(names(answered)).is_some_and(|(sent, answered)| sent == answered)
        }
        (ShownBy::Value, Value::Bool(_) | Value::Number(_), _) => sent == answered,
        (ShownBy::Ids, ..) => ids(sent).zip(ids(answered)).is_some_and(|(sent, answered)| sent == answered),
        _ => false,
    }
}

/// True if a receipt repeats a value: a flag, a number, a short line, a list of few names.
pub fn is_short(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => text.len() <= MAX_REPEATED_BYTES && !text.contains(['\n', '\r']),
        Value::Array(_) => {
            let names = names(value);
            names.is_some_and(|names| names.iter().map(String::len).sum::<usize>() <= MAX_REPEATED_BYTES)
        }
        Value::Object(_) => false,
    }
}

/// True if two values of the same kind differ. Values of different kinds are not compared: GitLab writes some fields
/// otherwise than it takes them.
fn differs(param: &Param, sent: &Value, answered: &Value) -> bool {
    if param.kind.base == Base::DateTime {
        return false;
    }
    match (sent, answered) {
        (Value::String(sent), Value::String(answered)) => !is_same_text(sent, answered),
        (Value::Bool(sent), Value::Bool(answered)) => sent != answered,
        (Value::Number(sent), Value::Number(answered)) => sent.as_f64() != answered.as_f64(),
        (Value::String(sent), Value::Null) => !sent.trim().is_empty(),
        (Value::Number(sent), Value::Null) => sent.as_f64() != Some(0.0),
        (_, Value::Array(_)) => match (names(sent), names(answered)) {
            (Some(mut sent), Some(mut answered)) => {
                sent.sort();
                answered.sort();
                sent.dedup();
                sent != answered
            }
            _ => false,
        },
        _ => false,
    }
}

/// True if GitLab shows a text as it was sent, apart from space around it, line ends, case of choices, and what it adds
/// to dates and refs.
fn is_same_text(sent: &str, answered: &str) -> bool {
    let plain = |text: &str| text.replace("\r\n", "\n").trim().to_owned();
    let (sent, answered) = (plain(sent), plain(answered));
    sent.eq_ignore_ascii_case(&answered)
        || answered.strip_prefix(sent.as_str()).is_some_and(|rest| rest.starts_with('T'))
        || (answered.starts_with("refs/") && answered.ends_with(&format!("/{sent}")))
}

/// The ids of an object, of a list of objects, or the ids themselves. Zero and an empty text stand for nothing.
fn ids(value: &Value) -> Option<Vec<u64>> {
    let id = |value: &Value| match value {
        Value::Object(map) => map.get("id")?.as_u64(),
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    let mut ids = match value {
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::Array(items) => items.iter().map(id).collect::<Option<Vec<_>>>()?,
        one => vec![id(one)?],
    };
    ids.retain(|id| *id != 0);
    ids.sort_unstable();
    ids.dedup();
    Some(ids)
}

/// The names in a list, or in a text with commas.
fn names(value: &Value) -> Option<Vec<String>> {
    let split = |text: &str| {
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    match value {
        Value::String(text) => Some(split(text)),
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                // People have both, and are sent by their username.
                Value::Object(map) => {
                    ["username", "name"].iter().find_map(|key| map.get(*key)?.as_str()).map(str::to_owned)
                }
                other => other.as_str().map(str::to_owned),
            })
            .collect(),
        _ => None,
    }
}

/// A sent value and the answered one, if both are short. A URL may hold a password.
fn as_two(sent: &Value, answered: &Value) -> String {
    let text = |value: &Value| match value {
        Value::Null => Some("nothing".to_owned()),
        value => {
            let text = plain_text(value);
            (text.len() <= MAX_REPEATED_BYTES && !text.contains("://")).then(|| quote(&text))
        }
    };
    match (text(sent), text(answered)) {
        (Some(sent), Some(answered)) => format!("sent {sent}, the answer has {answered}"),
        _ => "the answer has another text".to_owned(),
    }
}

/// The note on the quick actions in a text, if the answer is the text without them: GitLab took them for commands, and
/// the answer does not say what they did.
fn commands_note(param: &str, sent: &Value, answered: &Value) -> Option<String> {
    // GitLab deletes carriage returns where it looks for commands.
    let sent = sent.as_str()?.replace('\r', "");
    let commands = call::commands(&sent);
    let (mut at, mut others) = (0, Vec::new());
    for line in sent.split('\n') {
        let end = at + line.len();
        if !commands.iter().any(|command| (at..end).contains(&command.at)) {
            others.push(line);
        }
        at = end + 1;
    }
    let is_taken_out = !commands.is_empty() && is_same_text(&others.join("\n"), answered.as_str()?);
    let named: Vec<String> = commands.iter().map(|command| quote(&format!("/{}", command.name))).collect();
    is_taken_out.then(|| {
        let named = named.join(", ");
        format!(
            "GitLab executed {named} in `{param}` as quick actions; the answer does not say what they changed"
        )
    })
}
