//! The compact view: the fields of a reply that a person reads. Rules on shapes, the same for every action.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::columns::{self, ColumnRows};
use super::encoding::utf_16;
use super::masking::snake;
use super::threads;
use crate::catalog::{PRESENTATION, ROLES, RepeatedPart};

/// The one URL that is kept.
const URL: &str = "web_url";

/// Fields that a compact view keeps whatever their values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept<'a> {
    /// Fields that the action is for: they are neither dropped nor reduced to a name.
    pub shows: &'a [String],
    /// Fields that the call sets: their values are shown even if they are off.
    pub given: &'a [String],
}
/// Compacts a value for reading. Returns it with the fields that all rows of a list share, and adds the names of removed
/// fields to `dropped`.
pub fn compact(value: Value, kept: Kept, dropped: &mut Vec<String>) -> (Value, ColumnRows) {
    let (compacted, rows) = match value {
        Value::Array(items) => {
            let items = items.into_iter().map(|item| top(item, kept, dropped)).collect();
            columns::rows(items, kept.shows, dropped)
        }
        other => (top(other, kept, dropped), ColumnRows::default()),
    };
    // Fields that a reader might miss come first.
    let is_no_loss = |name: &str| PRESENTATION.is_noise(name);
    dropped.retain(|name| !PRESENTATION.silent_noise.contains(&name.as_str()));
    dropped.sort_by_cached_key(|name| (is_no_loss(name), name.clone()));
    dropped.dedup();
    (compacted, rows)
}

/// An object with only these fields and those that identify it. A field of `only` that the compact view left out, because
/// it is empty or says nothing, is added.
pub fn narrowed(compacted: Value, mut whole: Map<String, Value>, only: &[String]) -> Value {
    let Value::Object(mut kept) = compacted else { return compacted };
    let is_kept = |name: &String| only.contains(name) || PRESENTATION.identity.contains(&name.as_str());
    kept.retain(|name, _| is_kept(name));
    for name in only {
        if !kept.contains_key(name)
            && let Some(value) = whole.shift_remove(name)
        {
            kept.insert(name.clone(), nested(value, &mut Vec::new()));
        }
    }
    Value::Object(kept)
}

/// Decodes the content of a Base64 file to text, or replaces it by its size if it is not text. Base64 is unreadable in
/// any view.
pub fn decoded(value: Value) -> Value {
    let Value::Object(mut map) = value else { return value };
    let is_encoded = map.get("encoding").and_then(Value::as_str) == Some("base64");
    let content = map.get("content").and_then(Value::as_str).filter(|_| is_encoded);
    let Some(bytes) = content.and_then(|content| STANDARD.decode(content.trim()).ok()) else {
        return Value::Object(map);
    };
    let size = bytes.len();
    let (text, encoding) = match (utf_16(&bytes), String::from_utf8(bytes)) {
        (Some(text), _) => (text, Some("utf-16")),
        (None, Ok(text)) if !text.contains('\0') => (text, Some("text")),
        (None, _) => (format!("(binary: {size} bytes)"), None),
    };
    if let Some(encoding) = encoding {
        map.insert("encoding".to_owned(), json!(encoding));
    }
    map.insert("content".to_owned(), Value::String(text));
    Value::Object(map)
}

fn top(value: Value, kept_fields: Kept, dropped: &mut Vec<String>) -> Value {
    let Value::Object(map) = value else { return value };
    let whole = map.clone();
    let mut noise = Vec::new();
    let kept = object(map, kept_fields, &mut noise);
    if !kept.is_empty() {
        dropped.append(&mut noise);
        return Value::Object(kept);
    }
    // An answer that is all noise is asked for its noise.
    Value::Object(whole.into_iter().filter(|(_, value)| !is_empty(value)).collect())
}

fn object(mut map: Map<String, Value>, kept: Kept, dropped: &mut Vec<String>) -> Map<String, Value> {
    refer(&mut map);
    threads::lift_thread_state(&mut map);
    drop_repeated(&mut map, kept.shows);
    // A field that is null identifies nothing.
    let keys: HashSet<String> =
        map.iter().filter(|(_, value)| !is_empty(value)).map(|(key, _)| key.clone()).collect();
    // Among nothing but numbers, 0 is a result.
    let are_counts = map.values().all(Value::is_number);
    let told = PRESENTATION.told_null.iter().filter(|(_, beside)| map.contains_key(*beside));
    let told: Vec<&str> = told.map(|(name, _)| *name).collect();
    let mut out = Map::new();
    for (key, value) in map {
        if value.is_null() && told.contains(&key.as_str()) {
            out.insert(key, value);
            continue;
        }
        let is_shown = kept.shows.contains(&key);
        let is_quiet = is_quiet(&key, &value) && !are_counts && !is_shown && !kept.given.contains(&key);
        if is_empty(&value) || is_quiet || (is_repeated(&key, &keys) && !is_shown) {
            continue;
        }
        if is_noise(&key, &value, &keys) && !is_shown {
            if !is_said_better(&key, &keys) {
                dropped.push(key);
            }
            continue;
        }
        let value = if is_shown { keep_shown_fields(value, dropped) } else { nested(value, dropped) };
        let value = if key == ROLE { role(value) } else { value };
        out.insert(key.clone(), to_the_second(&key, value));
    }
    out
}

/// The value with the names of roles in place of their numbers, and the usernames of whole people in place of these, at
/// any depth.
pub fn with_names(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(with_names).collect(),
        Value::Object(map) => {
            let named = |(key, value): (String, Value)| {
                let value = match username(value) {
                    value if key == ROLE => role(value),
                    Value::Array(items) => with_names(items.into_iter().map(username).collect()),
                    value => with_names(value),
                };
                (key, value)
            };
            Value::Object(map.into_iter().map(named).collect())
        }
        other => other,
    }
}

fn username(value: Value) -> Value {
    match value {
        Value::Object(person) if is_whole_person(&person) => {
            person.get(USERNAME).cloned().unwrap_or_default()
        }
        other => other,
    }
}

/// True for a person as GitLab writes one (lib/api/entities/user_basic.rb), of whom no single field was asked for.
fn is_whole_person(map: &Map<String, Value>) -> bool {
    [USERNAME, "name", "avatar_url", "web_url"].into_iter().all(|field| map.contains_key(field))
}

/// The field with the number of a role.
const ROLE: &str = "access_level";

/// The name of a role in place of its number.
fn role(level: Value) -> Value {
    let name = ROLES.iter().find(|(_, number)| level.as_i64() == Some(*number)).map(|(name, _)| json!(name));
    name.unwrap_or(level)
}

/// The field that names a person.
const USERNAME: &str = "username";

/// A value that the action is for: objects keep their fields, and so do those of a list.
fn keep_shown_fields(value: Value, dropped: &mut Vec<String>) -> Value {
    match value {
        Value::Object(map) if mentioned_as(&map).is_some() => mention(map, &[]),
        Value::Object(map) if map.contains_key(USERNAME) => nested(Value::Object(map), dropped),
        Value::Object(map) => Value::Object(object(map, Kept::default(), dropped)),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| keep_shown_fields(item, dropped)).collect())
        }
        other => other,
    }
}

/// The full reference of GitLab's three, which names the project too: `group/project!45`.
fn refer(map: &mut Map<String, Value>) {
    let full = map.get("references").and_then(|references| references.get("full")).cloned();
    if let Some(full @ Value::String(_)) = full {
        map.shift_remove("references");
        map.insert("reference".to_owned(), full);
    }
}

/// Drops the fields whose values other fields say; of a thing with a number that people see, and a URL with that, the
/// other number.
fn drop_repeated(map: &mut Map<String, Value>, shows: &[String]) {
    let text = |map: &Map<String, Value>, name: &str| map.get(name)?.as_str().map(str::to_owned);
    let mut repeated: Vec<&str> = Vec::new();
    for (less, more, part) in PRESENTATION.repeated {
        let (Some(less_text), Some(more_text)) = (text(map, less), text(map, more)) else { continue };
        let is_said = match part {
            RepeatedPart::All => less_text.trim_end() == more_text,
            RepeatedPart::Beginning => more_text.starts_with(&less_text),
            RepeatedPart::End => more_text.ends_with(&less_text),
        };
        if is_said {
            repeated.push(less);
        }
    }
    let iid = map
        .get("iid")
        .and_then(Value::as_u64)
        .filter(|iid| map.get("id").and_then(Value::as_u64) != Some(*iid));
    let url = text(map, URL).unwrap_or_default();
    if iid.is_some_and(|iid| url.ends_with(&format!("/{iid}"))) {
        repeated.push("id");
    }
    map.retain(|key, _| !repeated.contains(&key.as_str()) || shows.contains(key));
}

/// Nothing that could be missed: null, an empty text, list or object.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// True for a flag that is off, a default, a count of 0 and an object of such counts, where that is the usual case.
fn is_quiet(key: &str, value: &Value) -> bool {
    let is_nothing = |value: &Value| value.as_bool() == Some(false) || value.as_u64() == Some(0);
    let counts_nothing = |counts: &Map<String, Value>| counts.values().all(|n| is_empty(n) || is_nothing(n));
    let name = snake(key);
    match value {
        Value::Bool(on) => !on && !PRESENTATION.told_off.iter().any(|ending| name.ends_with(ending)),
        Value::Number(_) => {
            is_nothing(value) && (name.ends_with("_count") || PRESENTATION.counted.contains(&name.as_str()))
        }
        Value::String(text) => PRESENTATION.defaults.contains(&(name.as_str(), text.as_str())),
        Value::Object(counts) => PRESENTATION.counts.contains(&name.as_str()) && counts_nothing(counts),
        _ => false,
    }
}

/// True if another field of the object says the same: `author_id` next to `author`, an image or page next to the one URL,
/// a text as HTML.
fn is_repeated(key: &str, siblings: &HashSet<String>) -> bool {
    let has = |name: &str| siblings.contains(name);
    let said_by_object = key.strip_suffix("_id").is_some_and(has);
    let html = key.ends_with("_html") && key.strip_suffix("_html").is_some_and(has);
    said_by_object || html
}

fn is_noise(key: &str, value: &Value, siblings: &HashSet<String>) -> bool {
    // Links to the parts of the API are an object; a list of links is data, such as a release's.
    if key == "links" && !value.is_object() {
        return false;
    }
    let has = |name: &str| siblings.contains(name);
    let other_url = (key.ends_with("_url") || key.ends_with("_path_url")) && key != URL && has(URL);
    PRESENTATION.is_noise(key) || other_url || is_said_better(key, siblings) || is_repeated(key, siblings)
}

/// True if a better key of the object says the same.
fn is_said_better(key: &str, siblings: &HashSet<String>) -> bool {
    PRESENTATION.said_better.iter().any(|(less, more)| *less == key && siblings.contains(*more))
}

/// A time without the fractions of its second: `2026-01-31T09:00:00.123Z`.
fn to_the_second(key: &str, value: Value) -> Value {
    let name = snake(key);
    let is_time = ["_at", "_date", "timestamp"].iter().any(|ending| name.ends_with(ending));
    match value {
        Value::String(text) if is_time => Value::String(without_fraction(&text).unwrap_or(text)),
        other => other,
    }
}

fn without_fraction(time: &str) -> Option<String> {
    let (second, rest) = time.split_once('.')?;
    let zone = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_time = second.len() == "2026-01-31T09:00:00".len() && second.as_bytes().get(10) == Some(&b'T');
    let is_zone = zone == "Z" || (zone.starts_with(['+', '-']) && zone.len() == "+00:00".len());
    // `+00:00` and `Z` are the same zone.
    let zone = if zone == "+00:00" { "Z" } else { zone };
    (is_time && is_zone).then(|| format!("{second}{zone}"))
}

/// A value below the top: an object that has a name is its name, a list of such a list of names.
fn nested(value: Value, dropped: &mut Vec<String>) -> Value {
    match value {
        // The page of the whole leads to the page of a part.
        Value::Object(map) if mentioned_as(&map).is_some() => mention(map, &[URL]),
        Value::Object(map) => {
            let name = reference_of(&map).or_else(|| period(&map)).or_else(|| name_of(&map));
            name.unwrap_or_else(|| Value::Object(object(map, Kept::default(), dropped)))
        }
        Value::Array(items) => Value::Array(items.into_iter().map(|item| nested(item, dropped)).collect()),
        other => other,
    }
}

/// The field by which a runner is told, which has no page of its own in a job.
const RUNNER: &str = "runner_type";

/// The keys that are kept of a mentioned thing, where it is of a kind that has them.
fn mentioned_as(map: &Map<String, Value>) -> Option<&'static [&'static str]> {
    let has = |name: &str| map.contains_key(name);
    let of_kind = PRESENTATION.mentioned.iter().find(|(kind, _)| {
        has(kind) && (has(URL) || *kind == RUNNER || (*kind == "short_id" && has("title")))
    });
    of_kind.map(|(_, kept)| *kept)
}

fn mention(map: Map<String, Value>, without: &[&str]) -> Value {
    let kept = mentioned_as(&map).unwrap_or_default();
    Value::Object(
        map.into_iter()
            .filter(|(key, _)| kept.contains(&key.as_str()) && !without.contains(&key.as_str()))
            .filter(|(_, value)| !is_empty(value))
            .map(|(key, value)| (key.clone(), to_the_second(&key, value)))
            .collect(),
    )
}

/// An iteration, which most often has no title: its period, or its number.
fn period(map: &Map<String, Value>) -> Option<Value> {
    let text = |name: &str| map.get(name).and_then(Value::as_str);
    let iid = map.get("iid").filter(|_| text("title").is_none_or(str::is_empty))?;
    match text("start_date").zip(text("due_date")) {
        Some((start, end)) => Some(json!(format!("{start} to {end}"))),
        None if text(URL).is_some_and(|url| url.contains("/iterations/")) => {
            Some(json!(format!("iteration {iid}")))
        }
        None => None,
    }
}

/// The reference and title of an issue, a merge request or an epic that is mentioned: `#14 Title`, `!59 Title`.
fn reference_of(map: &Map<String, Value>) -> Option<Value> {
    let text = |name: &str| map.get(name).and_then(Value::as_str);
    let iid = map.get("iid")?.as_u64()?;
    let title = text("title")?;
    let full = map.get("reference").or_else(|| map.get("references")?.get("full")).and_then(Value::as_str);
    let reference = match full.filter(|full| full.contains('/')) {
        Some(full) => full.to_owned(),
        None => format!("{}{iid}", sigil(map, text(URL).unwrap_or_default())?),
    };
    Some(json!(format!("{reference} {title}")))
}

/// The character before the number of a thing: <https://docs.gitlab.com/user/markdown/#gitlab-specific-references>.
fn sigil(map: &Map<String, Value>, url: &str) -> Option<char> {
    const BY_PAGE: [(&str, char); 4] =
        [("/merge_requests/", '!'), ("/issues/", '#'), ("/work_items/", '#'), ("/epics/", '&')];
    let has = |name: &str| map.contains_key(name);
    match BY_PAGE.iter().find(|(page, _)| url.contains(page)) {
        Some((_, sigil)) => Some(*sigil),
        None if !url.is_empty() => None,
        None if has("source_branch") || has("target_branch") || has("merge_status") => Some('!'),
        None if has("issue_type") => Some('#'),
        None => None,
    }
}

/// True if a thing with a name says more than a mention: it has a target, or lists and objects of its own.
fn has_substance(map: &Map<String, Value>) -> bool {
    const KNOWN: [&str; 4] = ["username", "path_with_namespace", "full_path", "fullPath"];
    let siblings: HashSet<String> = map.keys().cloned().collect();
    let is_part = |key: &str, value: &Value| {
        (value.is_array() || value.is_object())
            && !is_empty(value)
            && !PRESENTATION.surroundings.contains(&key)
            && !is_noise(key, value, &siblings)
    };
    let is_known = KNOWN.iter().any(|name| map.contains_key(*name));
    let is_milestone = map.get(URL).and_then(Value::as_str).is_some_and(|url| url.contains("/milestones/"));
    !is_known
        && !is_milestone
        && (map.get("url").is_some_and(Value::is_string)
            || map.iter().any(|(key, value)| is_part(key, value)))
}

/// A value as one text: an object by its name, or else by its id.
pub fn label(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let named = || {
                PRESENTATION
                    .object_names
                    .iter()
                    .chain(&["id"])
                    .find_map(|name| map.get(*name))
                    .filter(|name| name.is_string() || name.is_number())
            };
            let name = reference_of(map).or_else(|| named().cloned());
            name.map_or_else(|| value.to_string(), |name| label(&name))
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The name of an object that is a thing of its own (it has an id or a URL) and no more than mentioned here.
fn name_of(map: &Map<String, Value>) -> Option<Value> {
    let is_thing = map.contains_key("id") || map.contains_key(URL);
    // A note, a job or a commit is read for its content, not for a name.
    let is_read = ["body", "status", "notes", "message", "diff"].iter().any(|key| map.contains_key(*key));
    let name =
        PRESENTATION.object_names.iter().find_map(|name| map.get(*name)).filter(|name| !name.is_null());
    if is_thing && !is_read && !has_substance(map) { name.cloned() } else { None }
}
