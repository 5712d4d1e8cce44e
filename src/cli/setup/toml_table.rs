//! Tables of a TOML file, added at its end and removed by their lines, so that the rest keeps every byte.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::edit::{ConfigEditError, EditPiece, Insertion};

/// Tables below a table at the top of a text, by name.
pub fn members(text: &str, container: &str) -> Result<Map<String, Value>, ConfigEditError> {
    let mut root = parse(text)?;
    match root.remove(container) {
        None => Ok(Map::new()),
        Some(members) => match serde_json::to_value(members) {
            Ok(Value::Object(members)) => Ok(members),
            _ => Err(ConfigEditError::NotObject(container.to_owned())),
        },
    }
}

/// Insertion that adds a table with these values below a table at the top.
pub fn insert(
    text: &str,
    container: &str,
    name: &str,
    value: &Value,
) -> Result<Vec<Insertion>, ConfigEditError> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut table = String::new();
    if !text.is_empty() {
        table.push_str(if text.ends_with('\n') { newline } else { "\n\n" });
    }
    table.push_str(&format!("[{container}.{}]{newline}", key(name)));
    for (name, value) in value.as_object().into_iter().flatten() {
        table.push_str(&format!("{} = {}{newline}", key(name), inline(value)));
    }
    // A table that is written on one line cannot be added to.
    parse(&format!("{text}{table}")).map_err(|error| match parse(text) {
        Ok(_) => ConfigEditError::Inline(container.to_owned()),
        Err(_) => error,
    })?;
    Ok(vec![Insertion { at: text.len(), text: table }])
}

/// Pieces of a text that are a table below a table at the top, with the tables below it.
pub fn member_pieces(text: &str, container: &str, name: &str) -> Result<Vec<EditPiece>, ConfigEditError> {
    parse(text)?;
    let own = format!("{container}.{}", key(name));
    let (mut pieces, mut at, mut is_inside) = (Vec::<EditPiece>::new(), 0, false);
    for line in text.split_inclusive('\n') {
        let header =
            line.trim().strip_prefix('[').and_then(|line| line.split_once(']')).map(|(name, _)| name);
        if let Some(header) = header {
            let header = header.trim_start_matches('[').trim();
            is_inside = header == own || header.strip_prefix(&own).is_some_and(|rest| rest.starts_with('.'));
        }
        if is_inside {
            match pieces.last_mut().filter(|piece| piece.at + piece.bytes == at) {
                Some(piece) => piece.bytes += line.len(),
                None => pieces.push(EditPiece { at, bytes: line.len() }),
            }
        }
        at += line.len();
    }
    // Comments and empty lines at the end belong to what follows.
    for piece in &mut pieces {
        let inside = text.get(piece.at..piece.at + piece.bytes).unwrap_or_default();
        let mut end = inside.len();
        for line in inside.split_inclusive('\n').rev() {
            if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
                break;
            }
            end -= line.len();
        }
        piece.bytes = end;
    }
    Ok(pieces)
}

/// Places of the scalar values whose path of keys is wanted, in the order of the text.
pub fn values(text: &str, is_wanted: &dyn Fn(&[&str]) -> bool) -> Result<Vec<Range<usize>>, ConfigEditError> {
    let root = DeTable::parse(text).map_err(|error| malformed(text, &error))?;
    let mut places = Vec::new();
    collect_members(root.get_ref(), &mut Vec::new(), is_wanted, &mut places);
    places.sort_by_key(|place| place.start);
    Ok(places)
}

fn collect_members<'n>(
    table: &'n DeTable<'_>,
    path: &mut Vec<&'n str>,
    is_wanted: &dyn Fn(&[&str]) -> bool,
    places: &mut Vec<Range<usize>>,
) {
    for (name, value) in table {
        path.push(name.get_ref());
        collect_values(value, path, is_wanted, places);
        path.pop();
    }
}

fn collect_values<'n>(
    value: &'n Spanned<DeValue<'_>>,
    path: &mut Vec<&'n str>,
    is_wanted: &dyn Fn(&[&str]) -> bool,
    places: &mut Vec<Range<usize>>,
) {
    match value.get_ref() {
        DeValue::Table(table) => collect_members(table, path, is_wanted, places),
        DeValue::Array(items) => {
            items.iter().for_each(|item| collect_values(item, path, is_wanted, places));
        }
        _ if is_wanted(path) => places.push(value.span()),
        _ => {}
    }
}

fn parse(text: &str) -> Result<toml::Table, ConfigEditError> {
    toml::from_str(text).map_err(|error| malformed(text, &error))
}

fn malformed(text: &str, error: &toml::de::Error) -> ConfigEditError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    ConfigEditError::Malformed {
        line: before.matches('\n').count() + 1,
        reason: error.message().lines().next().unwrap_or_default().to_owned(),
    }
}

/// A key, quoted where it has to be.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_bare { name.to_owned() } else { Value::from(name).to_string() }
}

/// A value on one line. A JSON string is a TOML string: both have these escapes.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{} = {}", key(name), inline(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
