//! Summary of a write: the object, the fields that the call set, and values that differ in GitLab's response.

mod subject;

use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::catalog::{Action, Interface, Param, Place, Receipt, Risk, Words};
use crate::gitlab::{Content, Reply};
use crate::messages::comparison;
use crate::present;
use crate::present::beginning::Beginnings;
use crate::text::{list_first, object_fields};
use crate::untrusted::quote;

/// Status of a request that GitLab carries out later (RFC 9110, 15.3.3).
const ACCEPTED: u16 = 202;

/// Status of a change that was made before.
const NOT_MODIFIED: u16 = 304;

/// Maximum number of parameters that are named.
const MAX_NAMED: usize = 12;

/// Maximum number of characters of a parameter's value that is repeated.
const LONGEST_VALUE: usize = 60;

/// Values of the call, by where the answer has them.
struct ToldValues {
    /// Fields of the answer with a value as it was sent.
    set_fields: Vec<String>,
    /// Their parameters.
    repeated: Vec<String>,
    /// Parameters whose value only the sentence can tell.
    valued: Vec<String>,
}

/// True for the verb of an action that makes something.
pub fn is_new(verb: &str) -> bool {
    matches!(verb, "create" | "add")
}

/// Summary of a write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// The first sentence of the answer.
    pub sentence: String,
    /// The sentence without the place, the action and the parameters of the call.
    pub brief: String,
    /// The outcome in one word, such as `Created`, if it says as much as the sentence.
    pub outcome: Option<&'static str>,
    /// The object, in words.
    subject: Option<String>,
    /// Names of the parameters that describe the change.
    set: Vec<String>,
    /// Names of the parameters whose value the answer has otherwise.
    differs: Vec<String>,
    /// True if the sentence says all that is known.
    pub is_whole: bool,
    /// The answer has nothing of what was set.
    pub is_untold: bool,
    /// Fields of the answer that the text does not repeat: the sentence has them, or the call sent them.
    pub said: Vec<String>,
    /// Fields of the answer that are shown apart from those that identify the object; all if empty.
    pub fields: Vec<String>,
    pub notes: Vec<String>,
}

/// A field that every object has, and that identifies it.
const ADDRESS: &str = "web_url";

impl Change {
    /// Leaves out fields whose new value the caller knows.
    pub fn leave_out(&mut self, fields: &[String]) {
        let before = self.fields.len();
        self.said.extend(fields.iter().cloned());
        self.fields.retain(|field| !fields.contains(field));
        if self.fields.is_empty() && before > 0 {
            self.fields.push(ADDRESS.to_owned());
        }
    }

    /// The beginnings of the answer's text, with this body or this line after the sentence.
    pub fn beginnings(&self, body: &str, line: Option<String>) -> Beginnings {
        let beginnings = Beginnings::of_write((&self.sentence, &self.brief, self.outcome), body, line);
        if self.is_untold { beginnings.with_room() } else { beginnings }
    }

    /// Adds what the answer has of the values that were sent.
    fn add_comparison(
        &mut self,
        action: &Action,
        answer: &Map<String, Value>,
        found: comparison::Comparison,
    ) -> ToldValues {
        let verb = action.verb();
        self.is_untold = found.as_sent.is_empty() && !found.unseen.is_empty();
        // The receipt repeats what was set, apart from long texts.
        let is_long = |field: &str| answer.get(field).is_some_and(|value| !comparison::is_short(value));
        let (long, shown): (Vec<_>, Vec<_>) =
            found.as_sent.into_iter().partition(|(field, _)| is_long(field));
        let (fields, long): (Vec<String>, Vec<String>) = long.into_iter().unzip();
        self.said.extend(fields);
        let (set_fields, repeated) = shown.into_iter().unzip();
        if verb == "update" || is_new(verb) || verb == "rotate" {
            self.differs = found.differs;
            self.notes.splice(0..0, found.notes);
        }
        if verb == "create" && answer.get("created_at") == answer.get("updated_at") {
            // The times of what was made just now.
            self.said.extend(["created_at", "updated_at"].map(str::to_owned));
        }
        if verb == "update" && found.is_complete {
            self.fields = found.fields;
        }
        // A deleted object has no fields worth showing.
        if matches!(verb, "delete" | "remove") && subject::is_named(answer) {
            self.fields = action.shows.iter().cloned().chain(["id".to_owned()]).collect();
        }
        ToldValues { set_fields, repeated, valued: [long, found.unseen].concat() }
    }

    /// The structured form.
    pub fn structured(&self) -> Value {
        let mut out = Map::new();
        if let Some(subject) = &self.subject {
            out.insert("object".to_owned(), json!(subject));
        }
        for (name, list) in [("set", &self.set), ("differs", &self.differs)] {
            if !list.is_empty() {
                out.insert(name.to_owned(), json!(list));
            }
        }
        Value::Object(out)
    }
}

/// The change that a raw request made, if GitLab answered without content.
fn raw_change(call: &Call, reply: &Reply) -> Option<Change> {
    let is_empty = reply.content == Content::Empty && reply.status != NOT_MODIFIED;
    let (method, path, status) = (call.method().name(), call.path(), reply.status);
    let sentence = || format!("Done: {method} {path}. GitLab answered {status} without content.");
    is_empty.then(|| Change { sentence: sentence(), ..Change::default() })
}

/// Describes the change that a call made; none if it only read.
pub fn describe(
    words: &Words,
    action: &Action,
    call: &Call,
    params: &Map<String, Value>,
    reply: &Reply,
) -> Option<Change> {
    if call.risk() == Risk::Read || action.direct() == Some(Interface::Graphql) {
        return None;
    }
    let answer = match &reply.content {
        Content::Json(Value::Object(answer)) => Some(answer),
        _ => None,
    };
    if action.direct().is_some() {
        return raw_change(call, reply);
    }
    let params = &with_numbers(params, call);
    let name = |is_placed| subject::name_subject(words, (action, call), params, answer, is_placed);
    let (subject, said) = name(true).map(|subject| (subject.text, subject.said)).unzip();
    let set = described(action, call, params);
    let mut change = Change { subject: subject.clone(), said: said.unwrap_or_default(), ..Change::default() };
    let verb = action.verb();
    let told = answer.map(|answer| {
        let sent = comparison::sent_values(action, call, params, &set);
        let found = comparison::compare(words, action, &sent, answer);
        change.notes.extend(moved_note(words, action, params, answer));
        change.add_comparison(action, answer, found)
    });
    change.is_whole = reply.content == Content::Empty;
    change.said.extend(answer.filter(|answer| is_status_line(answer)).map(|_| "message".to_owned()));
    let ran_commands = answer.filter(|_| !action.scanned.is_empty()).is_some_and(ran_only_commands);
    change.sentence = sentence(action, reply, subject.as_deref(), ran_commands);
    change.outcome = (!ran_commands && !matches!(reply.status, ACCEPTED | NOT_MODIFIED))
        .then(|| past_tense(verb).unwrap_or("Done"));
    change.brief = match (change.outcome, name(false)) {
        (Some(outcome), Some(subject)) => format!("{outcome}: {}.", subject.text),
        (Some(outcome), None) => format!("{outcome}."),
        (None, _) => change.sentence.clone(),
    };
    if let (Some(told), Some(receipt)) = (&told, receipt(words, &action.id)) {
        let others = told.set_fields.iter().filter(|field| !receipt.fields.contains(field));
        change.fields = receipt.fields.iter().chain(others).cloned().collect();
    }
    let takes_away = matches!(verb, "delete" | "remove");
    if !takes_away && !ran_commands && !set.is_empty() {
        change.set = set.iter().map(|param| param.name.clone()).collect();
        change.sentence += &values_sentence(action, &set, told.as_ref(), params, subject.as_deref());
    }
    if reply.content == Content::Empty && reply.status != NOT_MODIFIED {
        if takes_away {
            change.sentence += &with_values(action, &set, params);
        }
        if verb != "delete" {
            change.sentence += " GitLab answered without content.";
        }
    }
    Some(change)
}

/// The values that were set, but those that a new object shows; of another one, the names say what changed.
fn values_sentence(
    action: &Action,
    set: &[&Param],
    told: Option<&ToldValues>,
    params: &Map<String, Value>,
    subject: Option<&str>,
) -> String {
    let repeated = told.filter(|_| is_new(action.verb())).map(|told| told.repeated.as_slice());
    let is_repeated = |param: &&&Param| repeated.unwrap_or_default().contains(&param.name);
    let other: Vec<&Param> = set.iter().filter(|param| !is_repeated(param)).copied().collect();
    set_values(action, (&other, told.map(|told| told.valued.as_slice())), params, subject)
}

/// The note on an object whose address the update changed.
fn moved_note(
    words: &Words,
    action: &Action,
    params: &Map<String, Value>,
    answer: &Map<String, Value>,
) -> Option<String> {
    let rule = words.changes.moved.iter().find(|rule| rule.actions.contains(&action.id))?;
    let (old, new) = (params.get(&rule.field)?.as_str()?, answer.get(&rule.field)?.as_str()?);
    let name = &rule.field;
    (old != new).then(|| {
        format!(
            "it moved: its {name} is now {} (it was {}); links to it lead nowhere",
            quote(new),
            quote(old)
        )
    })
}

/// The fields that the answer of a write is narrowed to, if there is a rule for it.
fn receipt<'w>(words: &'w Words, id: &str) -> Option<&'w Receipt> {
    words.changes.receipts.iter().find(|receipt| receipt.actions.iter().any(|action| action == id))
}

/// The parameters that a write set, with their short values: ` Set: labels ["bug"], due_date "2026-04-01", description.`
/// Facts of the subject are left out, and so is the text of what was made. A secret is only named. So is a
/// parameter whose value the answer shows: it is not in `valued`, which is none if there is no answer.
fn set_values(
    action: &Action,
    (set, valued): (&[&Param], Option<&[String]>),
    params: &Map<String, Value>,
    subject: Option<&str>,
) -> String {
    let is_said = |param: &Param| {
        let value = params.get(&param.name).and_then(Value::as_str);
        let is_named = value.zip(subject).is_some_and(|(value, subject)| subject.contains(&quote(value)));
        is_new(action.verb()) && (is_named || action.scanned.contains(&param.name))
    };
    let named: Vec<&Param> = set.iter().copied().filter(|param| !is_said(param)).collect();
    let is_valued = |param: &&Param| valued.is_none_or(|valued| valued.contains(&param.name));
    let values = masked_values(action, named.iter().copied().filter(is_valued), params);
    let text = |param: &&Param| {
        // A value that is masked is another one.
        let value = values.get(&param.name).filter(|value| params.get(&param.name) == Some(*value));
        let value = value.and_then(|value| short_value(param, value));
        // An update that renames has the new name in its subject.
        let is_named =
            |value: &str| value.starts_with('"') && subject.is_some_and(|subject| subject.contains(value));
        match value.filter(|value| !is_named(value)) {
            Some(value) => format!("{} {value}", param.name),
            None => param.name.clone(),
        }
    };
    match named.as_slice() {
        [] => String::new(),
        named => format!(" Set: {}.", list_first(named.iter().map(text), MAX_NAMED)),
    }
}

/// The given values of parameters, without secrets.
fn masked_values<'p>(
    action: &Action,
    set: impl Iterator<Item = &'p Param>,
    params: &Map<String, Value>,
) -> Map<String, Value> {
    let given = set.filter_map(|param| Some((param.name.clone(), params.get(&param.name)?.clone())));
    let mut values = Value::Object(given.collect());
    present::mask(&mut values, present::ContentKind::of([action], false), &[], None);
    object_fields(values)
}

/// A value in a few characters: a flag, a number, a role by its name, a short text or a list of those.
fn short_value(param: &Param, value: &Value) -> Option<String> {
    let text = match value {
        Value::Bool(_) => value.to_string(),
        Value::Number(_) => param.choice_name(&value.to_string()).to_owned(),
        Value::String(text) if text.contains(['\n', '\r']) => return None,
        Value::String(text) => quote(text),
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(|item| short_value(param, item)).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Null | Value::Object(_) => return None,
    };
    (text.chars().count() <= LONGEST_VALUE).then_some(text)
}

/// The parameters with the number of an object in place of its title.
fn with_numbers(params: &Map<String, Value>, call: &Call) -> Map<String, Value> {
    let mut params = params.clone();
    for resolved in call.resolved().iter().filter(|resolved| resolved.param == "iid") {
        params.insert(resolved.param.clone(), json!(resolved.id));
    }
    params
}

/// The parameters of a call that describe the change and not the object: neither in the path nor a choice of operation.
fn described<'a>(action: &'a Action, call: &Call, params: &Map<String, Value>) -> Vec<&'a Param> {
    let operation = action.operations.iter().find(|operation| operation.to_string() == call.operation());
    let identifies = |name: &str| {
        matches!(name, "fullPath" | "iid" | "id")
            || operation.is_some_and(|operation| operation.is_filled_by(name))
    };
    // A default that is the place of the call says nothing.
    let is_default = |param: &Param| {
        let is_place = param.default.as_ref().is_some_and(|default| default.0 == "{fullPath}");
        param.sends_default && is_place && params.get(&param.name) == params.get("fullPath")
    };
    let describes = |param: &&Param| {
        params.contains_key(&param.name)
            && !is_default(param)
            && !matches!(param.place, Place::Path | Place::Selector)
            && !identifies(&param.name)
    };
    action.params.iter().filter(describes).collect()
}

/// True if an answer says that a text held only quick actions: GitLab ran them and stored no text
/// (<https://docs.gitlab.com/api/notes/>).
fn ran_only_commands(answer: &Map<String, Value>) -> bool {
    answer.contains_key("commands_changes") && !answer.contains_key("id")
}

/// True if an answer is no more than its status in words, such as `{"message": "202 Accepted"}`.
fn is_status_line(answer: &Map<String, Value>) -> bool {
    let message = answer.get("message").and_then(Value::as_str).filter(|_| answer.len() == 1);
    message.and_then(|message| message.split_once(' ')).is_some_and(|(status, words)| {
        status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit()) && !words.contains(' ')
    })
}

/// The sentence on the outcome. The verbs of the catalog have one meaning each; any other verb is named by its id.
fn sentence(action: &Action, reply: &Reply, subject: Option<&str>, ran_commands: bool) -> String {
    let Some(subject) = subject else { return format!("Done ({}).", action.id) };
    if ran_commands {
        return format!(
            "Done ({}): {subject}. GitLab ran the quick actions and stored no text; `summary` says what they did.",
            action.id
        );
    }
    match past_tense(action.verb()) {
        _ if reply.status == NOT_MODIFIED => format!("Unchanged ({}): {subject}.", action.id),
        _ if reply.status == ACCEPTED => {
            format!("Accepted ({}): {subject}. GitLab does it in the background.", action.id)
        }
        Some(outcome) => format!("{outcome}: {subject}."),
        None => format!("Done ({}): {subject}.", action.id),
    }
}

/// The outcome of a verb of the catalog that has one meaning.
fn past_tense(verb: &str) -> Option<&'static str> {
    match verb {
        "create" => Some("Created"),
        "update" => Some("Updated"),
        "delete" => Some("Deleted"),
        "add" => Some("Added"),
        "remove" => Some("Removed"),
        _ => None,
    }
}

/// The short values of parameters, without secrets.
fn with_values(action: &Action, set: &[&Param], params: &Map<String, Value>) -> String {
    let is_short = |value: &Value| !value.is_object() && !value.is_array() && !value.is_null();
    let short = set.iter().copied().filter(|param| params.get(&param.name).is_some_and(is_short));
    let texts: Vec<String> = masked_values(action, short, params)
        .iter()
        .take(MAX_NAMED)
        .map(|(name, value)| match value {
            Value::String(text) => {
                format!("{name} {}", quote(&crate::untrusted::shortened(text, LONGEST_VALUE)))
            }
            other => format!("{name} {other}"),
        })
        .collect();
    if texts.is_empty() { String::new() } else { format!(" With: {}.", texts.join(", ")) }
}
