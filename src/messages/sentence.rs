//! A call as a sentence for a person: `Delete branch quiet-gears of acme/widget? It is not merged.` Verb and noun are
//! the catalog's, the facts are of the object that was looked up. Texts of GitLab and of the model are words or quoted.

use std::cmp::Reverse;

use serde_json::{Map, Value};
use url::Url;

use crate::call::{self, Call, Location, QuickCommand, Role};
use crate::catalog::{Action, Place, Touched};
use crate::messages::change::is_new;
use crate::messages::request::CheckedCall;
use crate::text::{capitalize, plain_text};
use crate::untrusted::{Secrets, quote};

/// Parameters that a question names.
const MAX_PARAMS: usize = 12;
/// Characters of a parameter's value, of each text in a value of several, of all that such a value has, and of a name.
const MAX_VALUE_CHARACTERS: usize = 200;
const MAX_PART_CHARACTERS: usize = 60;
const MAX_PARTS_CHARACTERS: usize = 1_500;
/// A quotation has five hundred characters at most.
const MAX_QUOTED_PARTS: usize = 450;
const MAX_NAME_CHARACTERS: usize = 100;
/// Quick actions, operations of a document and places that a question names.
const MAX_LISTED: usize = 20;

/// Fields of an object with the sentence on each value; `{}` is the value.
const FACTS: [(&str, Option<&str>, &str); 13] = [
    ("merged", Some("false"), "It is not merged."),
    ("merged", Some("true"), "It is merged."),
    ("default", Some("true"), "It is the default branch."),
    ("protected", Some("true"), "It is protected."),
    ("archived", Some("true"), "It is archived."),
    ("state", None, "Its state is {}."),
    ("status", None, "Its status is {}."),
    ("visibility", None, "It is {}."),
    ("environment_scope", None, "Its environment scope is {}."),
    ("target_branch", None, "Its target branch is {}."),
    ("url", None, "Its URL is {}."),
    ("cron", None, "It runs at {}."),
    ("last_activity_at", None, "It was last active at {}."),
];

/// Fields of an object that count what is in it.
const COUNTS: [(&str, &str); 5] = [
    ("open_issues_count", "open issues"),
    ("user_notes_count", "comments"),
    ("forks_count", "forks"),
    ("star_count", "stars"),
    ("projects", "projects"),
];

/// A call in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sentence {
    /// `Delete branch quiet-gears of acme/widget`
    pub what: String,
    /// `It is not merged.`
    facts: Vec<String>,
    /// The address of the object.
    url: Option<String>,
}

/// The object that a call would hit, as its summary fields.
#[derive(Clone, Copy, Debug)]
pub struct HitObject<'a> {
    pub fields: &'a Map<String, Value>,
    /// The address of the instance.
    pub base: &'a Url,
}

impl Sentence {
    /// The sentence for a call and the object that it would hit. A raw request is `named` by the action that it amounts
    /// to.
    pub fn new(call: CheckedCall<'_>, named: Option<&Action>, hit: HitObject<'_>) -> Sentence {
        let checked = call.checked;
        let is_raw = checked.action().direct().is_some();
        let action = named.unwrap_or_else(|| checked.action());
        // Else it is the project or group that holds the object.
        let is_itself = is_raw || hit.text("kind").as_deref() == Some(action.domain());
        let name = if is_itself { object_name(action, hit) } else { String::new() };
        let path = if is_raw { String::new() } else { path_values(call, hit, &name) };
        let mut what = phrase(action, &[name.as_str(), path.as_str()]);
        let places = changed_places(call.call);
        // Each operation of a document has a place of its own.
        let is_one = !call.call.effects().is_document() || places.len() < 2;
        if let Some(place) = place_name(call.call, hit).filter(|place| *place != name && is_one) {
            let preposition = if name.is_empty() && path.is_empty() { "in" } else { "of" };
            what = format!("{what} {preposition} {place}");
        }
        let mut facts = if is_itself { facts(hit.fields) } else { Vec::new() };
        facts.extend(request_facts(call, action));
        if places.len() > 1 {
            let words = places.iter().map(|place| word(place));
            facts.push(format!("It names {}.", list_some(words, MAX_LISTED)));
        }
        let url = hit.fields.get("web_url").and_then(Value::as_str).and_then(shown_url);
        Sentence { what, facts, url }
    }

    /// The sentence for an action whose request is not known beforehand.
    pub fn for_action(action: &Action, params: &Map<String, Value>) -> Sentence {
        let place = params.get("fullPath").map(|path| format!("in {}", word(&plain_text(path))));
        let others: Vec<(&String, &Value)> = params.iter().filter(|(name, _)| *name != "fullPath").collect();
        let what = phrase(action, &[place.as_deref().unwrap_or_default()]);
        let commands = call::scan(action, params).into_iter().flat_map(|scanned| scanned.commands);
        let commands: Vec<String> =
            commands.map(|command| named_command(&format!("/{}", command.name), &command)).collect();
        let facts = contained(&commands, "quick actions").into_iter().chain(with_params(&others));
        Sentence { what, facts: facts.collect(), url: None }
    }

    /// Adds further facts.
    pub fn add(&mut self, facts: Vec<String>) {
        self.facts.extend(facts);
    }

    /// As a question, with the address of the object in a line of its own.
    pub fn question(&self) -> String {
        let sentence = self.with_facts('?');
        self.url.iter().fold(sentence, |text, url| format!("{text}\n{url}"))
    }

    /// As an item of a list.
    pub fn statement(&self) -> String {
        self.with_facts('.')
    }

    fn with_facts(&self, end: char) -> String {
        let facts = self.facts.iter().map(|fact| format!(" {fact}"));
        format!("{}{end}{}", self.what, facts.collect::<String>())
    }

    /// Removes secrets.
    pub fn redact(&mut self, secrets: &Secrets) {
        let texts = std::iter::once(&mut self.what).chain(&mut self.facts).chain(&mut self.url);
        texts.for_each(|text| {
            secrets.redact_string(text);
        });
    }
}

/// `Delete branch`, and its object. An action whose verb is no single word is described by its summary.
fn phrase(action: &Action, object: &[&str]) -> String {
    let noun = action.domain().replace('_', " ");
    let verb = action.verb();
    let is_plain = !verb.contains('_') && action.direct().is_none() && action.plan.is_none();
    let start = match is_plain {
        true => format!("{} {noun}", capitalize(verb)),
        false => format!("{}: {noun}", action.summary),
    };
    let parts = std::iter::once(start.as_str()).chain(object.iter().copied());
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

impl HitObject<'_> {
    fn text(self, field: &str) -> Option<String> {
        self.fields.get(field).map(plain_text)
    }
}

/// The project or group that a call works on.
fn place_name(call: &Call, hit: HitObject<'_>) -> Option<String> {
    let place = call.effects().places().iter().find(|place| place.role == Role::Works)?;
    match &place.location {
        Location::Path(path) => Some(path.to_string()),
        Location::Id { kind, id } => {
            let path = hit.text("web_url").and_then(|url| call::path_of(&url, hit.base));
            let by_id = || format!("{} {id}", format!("{kind:?}").to_lowercase());
            Some(path.map_or_else(by_id, |path| word(&path)))
        }
        _ => None,
    }
}

/// `#45 "Fix the pump"`, `quiet-gears`, `acme/widget`.
fn object_name(action: &Action, hit: HitObject<'_>) -> String {
    if let Some(iid) = hit.text("iid") {
        let mark = call::mark_of(action.domain()).unwrap_or('#');
        let title = hit.text("title").map(|title| format!(" {}", quote(&title)));
        return format!("{mark}{}{}", word(&iid), title.unwrap_or_default());
    }
    let fields = ["path_with_namespace", "full_path", "name", "key", "tag_name", "username", "title"];
    fields.into_iter().find_map(|field| hit.text(field)).map(|name| word(&name)).unwrap_or_default()
}

/// The parameters of the path that the name of the object does not show: alone as a word, else with their names.
fn path_values(call: CheckedCall<'_>, hit: HitObject<'_>, name: &str) -> String {
    let shown = |value: &Value| {
        !name.is_empty() && hit.fields.values().any(|field| plain_text(field) == plain_text(value))
    };
    let params = params(call, true).filter(|(param, value)| *param != "fullPath" && !shown(value));
    let params: Vec<(&String, &Value)> = params.collect();
    match params.as_slice() {
        [] => String::new(),
        // The number of the issue is none of its new note.
        [(_, only)] if name.is_empty() && !is_new(call.checked.action().verb()) => word(&plain_text(only)),
        several => format!("({})", list_params(several)),
    }
}

/// The parameters that are in the path of the request, or the others.
fn params<'a>(
    call: CheckedCall<'a>,
    is_in_path: bool,
) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    let action = call.checked.action();
    let is_path =
        |name: &str| name == "fullPath" || action.param(name).is_some_and(|param| param.place == Place::Path);
    call.checked.params().iter().filter(move |(name, _)| is_path(name) == is_in_path)
}

/// The projects and groups that a call names, apart from those that it only reads.
fn changed_places(call: &Call) -> Vec<String> {
    let places = call.effects().places().iter().filter(|place| place.role != Role::Reads);
    let mut paths: Vec<String> = Vec::new();
    for path in places.filter_map(|place| place.location.path()) {
        let path = path.to_string();
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// The operations of a call besides that of its action, the strictest first: the quick actions of its texts with their
/// arguments, the mutations of a document.
fn operations(call: CheckedCall<'_>) -> Vec<String> {
    let CheckedCall { call: request, checked } = call;
    let scanned = call::scan(checked.action(), checked.params());
    let mut touched: Vec<&Touched> = request.effects().touches().iter().collect();
    touched.sort_by_key(|touched| Reverse(touched.risk));
    let (mut named, mut commands): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    for touched in touched {
        let Some(command) = touched.operation.strip_prefix("quick action ") else {
            if request.effects().is_document() {
                named.push(touched.operation.clone());
            }
            continue;
        };
        // Each line of a command is one of the call's effects, and all of its lines are named here.
        if commands.contains(&command) {
            continue;
        }
        commands.push(command);
        let written = scanned.iter().flat_map(|scanned| &scanned.commands);
        let written = written.filter(|written| command.strip_prefix('/') == Some(written.name.as_str()));
        let mut texts: Vec<String> = written
            .filter(|written| !written.argument.is_empty())
            .map(|written| named_command(command, written))
            .collect();
        if texts.is_empty() {
            texts.push(command.to_owned());
        }
        named.extend(texts);
    }
    let mut once: Vec<(String, usize)> = Vec::new();
    for name in named {
        match once.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => *times += 1,
            None => once.push((name, 1)),
        }
    }
    let counted = |(name, times)| if times == 1 { name } else { format!("{name} ({times} times)") };
    once.into_iter().map(counted).collect()
}

/// A quick action with its argument.
fn named_command(name: &str, command: &QuickCommand) -> String {
    match command.argument.as_str() {
        "" => name.to_owned(),
        argument => format!("{name} {}", quote(&cut(argument, MAX_PART_CHARACTERS))),
    }
}

/// The fact that a call contains these; none without any.
fn contained(names: &[String], kind: &str) -> Option<String> {
    let kind = if names.len() == 1 { kind.trim_end_matches('s') } else { kind };
    (!names.is_empty())
        .then(|| format!("It contains the {kind} {}.", list_some(names.iter().cloned(), MAX_LISTED)))
}

/// Its quick actions or the operations of its document, its other parameters, and the request where the caller wrote that.
/// `action` is the one that it amounts to.
fn request_facts(call: CheckedCall<'_>, action: &Action) -> Vec<String> {
    let CheckedCall { call: request, checked } = call;
    let mut facts = Vec::new();
    let operations = operations(call);
    let is_command = operations.iter().any(|name| name.starts_with('/'));
    facts.extend(contained(&operations, if is_command { "quick actions" } else { "operations" }));
    let mut others: Vec<(&String, &Value)> = params(call, false).collect();
    // The state of the object, which the server adds, is nothing to decide on.
    let state = checked.action().pin.as_ref().map(|pin| &pin.param);
    others.retain(|(name, _)| Some(*name) != state);
    if checked.action().direct().is_some() {
        let path = cut(request.path(), MAX_VALUE_CHARACTERS);
        facts.push(format!("It is the raw request {} {path}.", request.method().name()));
        others.retain(|(name, _)| !["method", "path"].contains(&name.as_str()));
    }
    let mut shown: Map<String, Value> =
        others.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    if checked.action().direct().is_some() {
        // The fields of a body are those of the action.
        shown.values_mut().for_each(|value| *value = call::raised_first(action, "", value.take()));
    } else if let Value::Object(sorted) = call::raised_first(action, "", Value::Object(shown.clone())) {
        shown = sorted;
    }
    facts.extend(with_params(&shown.iter().collect::<Vec<_>>()));
    facts.extend(landing(request));
    facts
}

/// The place of the result, if no parameter names it.
fn landing(call: &Call) -> Option<String> {
    call.effects().places().iter().find_map(|place| match place.location {
        Location::TopLevel => Some("It lands at the top level, in no group.".to_owned()),
        Location::OwnNamespace => Some("It lands in your own namespace.".to_owned()),
        _ => None,
    })
}

/// The first texts, and the number of the others as the last of the list.
fn list_some(texts: impl ExactSizeIterator<Item = String>, max: usize) -> String {
    let more = texts.len().saturating_sub(max);
    let more = (more > 0).then(|| format!("and {more} more"));
    texts.take(max).chain(more).collect::<Vec<_>>().join(", ")
}

fn facts(hit: &Map<String, Value>) -> Vec<String> {
    let mut facts = Vec::new();
    for (field, expected, sentence) in FACTS {
        let Some(value) = hit.get(field).map(plain_text) else { continue };
        if expected.is_none_or(|expected| expected == value) {
            facts.push(sentence.replace("{}", &word(&value)));
        }
    }
    let counts = COUNTS.iter().filter_map(|(field, things)| {
        let count = hit.get(*field)?.as_u64().filter(|count| *count > 0)?;
        Some(format!("{count} {things}"))
    });
    let counts: Vec<String> = counts.collect();
    if !counts.is_empty() {
        facts.push(format!("It has {}.", counts.join(", ")));
    }
    facts
}

/// `With access_level 50, user_id "eve".`
fn with_params(params: &[(&String, &Value)]) -> Option<String> {
    (!params.is_empty()).then(|| format!("With {}.", list_params(params)))
}

fn list_params(params: &[(&String, &Value)]) -> String {
    let texts = params.iter().map(|(name, value)| match value {
        Value::Bool(_) | Value::Number(_) | Value::Null => format!("{} {value}", word(name)),
        Value::String(text) => {
            let shown = cut(text, MAX_VALUE_CHARACTERS);
            format!("{} {}{}", word(name), quote(&shown), other_host(text, &shown))
        }
        Value::Array(items) if items.len() > 1 => format!("{} {}", word(name), list_items(items)),
        other => format!("{} {}", word(name), parts(other)),
    });
    list_some(texts, MAX_PARAMS)
}

/// The items of a list, as many as a question has room for, with the number of the others.
fn list_items(items: &[Value]) -> String {
    let (mut shown, mut size) = (Vec::new(), 0);
    for item in items {
        let item = parts(item);
        size += item.chars().count();
        if size > MAX_PARTS_CHARACTERS {
            break;
        }
        shown.push(item);
    }
    let more = items.len() - shown.len();
    if more > 0 {
        shown.push(format!("and {more} more of {}", items.len()));
    }
    shown.join(", ")
}

/// A value of several parts, each text of it shortened.
fn parts(value: &Value) -> String {
    quote(&cut(&plain_text(&with_short_texts(value.clone())), MAX_QUOTED_PARTS))
}

/// A text of at most some characters: its beginning and its end, with the number of those between. One that is cut at its end
/// hides what matters behind what does not.
fn cut(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (start, end) = (most * 2 / 3, most / 3);
    let at = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let (before, after) = (text.get(..at(start)), text.get(at(count - end)..));
    let between = count - start - end;
    format!("{} … ({between} characters) … {}", before.unwrap_or_default(), after.unwrap_or_default())
}

/// An address as a line of its own. The URL parser drops line ends and encodes blanks.
fn shown_url(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| ["http", "https"].contains(&url.scheme()))?;
    Some(url.to_string())
}

/// The hosts that a URL is read as, unless what is shown of it begins with the only one: `https://good.example:x@evil.example`,
/// one of many labels that is cut, one in letters that look like others. WHATWG takes a backslash for a slash, RFC 3986
/// for a part of the user's name.
fn other_host(text: &str, shown: &str) -> String {
    let text = text.trim();
    let Some((scheme, after)) = text.split_once("://") else { return String::new() };
    let parsed = Url::parse(text).ok();
    let Some(host) = parsed.as_ref().and_then(Url::host_str) else { return String::new() };
    let authority = after.split(['/', '?', '#']).next().unwrap_or_default();
    let by_rfc = authority.rsplit('@').next().unwrap_or_default();
    let begins_with_it = shown.trim_start().get(scheme.len() + 3..).is_some_and(|rest| {
        let named = rest.get(..host.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(host));
        let port = |rest: &str| {
            rest.trim_start_matches(':').trim_start_matches(|c: char| c.is_ascii_digit()).to_owned()
        };
        named
            && rest
                .get(host.len()..)
                .is_some_and(|rest| port(rest).is_empty() || port(rest).starts_with(['/', '?', '#']))
    });
    let is_same = by_rfc.get(..host.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(host));
    match (begins_with_it, is_same || !text.contains('\\')) {
        (true, true) => String::new(),
        (_, true) => format!(" (the host is {})", whole(host)),
        (_, false) => format!(" (the host is {} or {})", whole(host), whole(by_rfc)),
    }
}

/// A name as [`word`] has it, however long.
fn whole(host: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    if host.chars().all(is_plain) { host.to_owned() } else { quote(host) }
}

/// A value with its texts shortened: a long one hides none of the others.
fn with_short_texts(value: Value) -> Value {
    match value {
        Value::String(text) => {
            let shown = cut(&text, MAX_PART_CHARACTERS);
            let host = other_host(&text, &shown);
            Value::String(shown + &host)
        }
        Value::Array(items) => items.into_iter().map(with_short_texts).collect(),
        Value::Object(fields) => {
            let short = |name: &str| cut(name, MAX_PART_CHARACTERS);
            Value::Object(
                fields.into_iter().map(|(name, field)| (short(&name), with_short_texts(field))).collect(),
            )
        }
        other => other,
    }
}

/// A name as it is if it is a single plain word, else quoted: it cannot be taken for part of the sentence.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/@:+".contains(c);
    let is_word = !text.is_empty() && text.chars().all(is_plain) && text.len() <= MAX_NAME_CHARACTERS;
    if is_word { text.to_owned() } else { quote(&cut(text, MAX_NAME_CHARACTERS)) }
}
