//! Common location of the rows of a list, given once: the project they are all in, and the pattern of their URLs.

use serde_json::{Map, Value, json};

use super::masking::snake;
use crate::catalog::{PRESENTATION, TRACKED_MARKS};

/// The one URL of a thing.
pub const URL: &str = "web_url";

/// Replaces `group/project!45` in rows that have an iid by the project or group.
pub fn locate(rows: &mut [Map<String, Value>]) {
    let place = |row: &Map<String, Value>| place_of(row.get("reference")?.as_str()?, row);
    let places: Option<Vec<(&str, String)>> = rows.iter().map(place).collect();
    for (row, (name, place)) in rows.iter_mut().zip(places.unwrap_or_default()) {
        row.shift_remove("reference");
        row.insert(name.to_owned(), Value::String(place));
    }
}

/// The project or group of a row, from the reference that ends in its number.
pub fn place_of(reference: &str, row: &Map<String, Value>) -> Option<(&'static str, String)> {
    let at = reference.rfind(TRACKED_MARKS)?;
    let (place, number) = (reference.get(..at)?, reference.get(at + 1..)?);
    let name = if reference.get(at..)?.starts_with('&') { "group" } else { "project" };
    (!place.is_empty() && text(row, "iid").as_deref() == Some(number)).then(|| (name, place.to_owned()))
}

/// Moves the URLs out of the rows into a pattern, if they differ only in fields of the rows.
pub fn share(rows: &mut [Map<String, Value>], same: &mut Map<String, Value>) {
    let Some(key) = rows.first().and_then(|row| row.keys().find(|key| snake(key) == URL)).cloned() else {
        return;
    };
    let urls: Option<Vec<String>> =
        rows.iter().map(|row| row.get(&key).and_then(Value::as_str).map(str::to_owned)).collect();
    let Some(mut urls) = urls else { return };
    for part in PRESENTATION.url_parts {
        if are_alike(&urls) {
            break;
        }
        let put: Option<Vec<String>> =
            rows.iter().zip(&urls).map(|(row, url)| with_part(url, row, part)).collect();
        urls = put.unwrap_or(urls);
    }
    if let Some(pattern) = urls.first().filter(|_| are_alike(&urls)) {
        rows.iter_mut().for_each(|row| drop(row.shift_remove(&key)));
        same.insert(key, json!(pattern));
    }
}

fn are_alike(urls: &[String]) -> bool {
    urls.windows(2).all(|pair| pair.first() == pair.last())
}

/// Replaces the value of a field by its name in a URL, if the value is a whole segment of the path.
fn with_part(url: &str, row: &Map<String, Value>, part: &str) -> Option<String> {
    let value = text(row, part)?;
    let at = url.rmatch_indices(&value).map(|(at, _)| at).find(|at| {
        let after = url.get(at + value.len()..).unwrap_or_default();
        url.get(..*at).is_some_and(|before| before.ends_with('/'))
            && (after.is_empty() || after.starts_with(['/', '#', '?']))
    })?;
    Some(format!("{}{{{part}}}{}", url.get(..at)?, url.get(at + value.len()..)?))
}

/// A text or a number as a URL has it.
fn text(row: &Map<String, Value>, name: &str) -> Option<String> {
    let value =
        row.get(name).or_else(|| row.iter().find(|(key, _)| snake(key) == name).map(|(_, value)| value))?;
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
