//! A value as Markdown, with nothing left out: a list of short rows as a table, any other list thing by thing, one
//! thing as its fields, a text in a fence.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::diffs;
use super::fields::headed_by_paths;
use crate::catalog::PRESENTATION;
use crate::untrusted::{MAX_DASHES, defuse_tags, is_tag_end};

/// A table wider than this is no table to read.
const COLUMNS: usize = 12;

/// A cell longer than this makes no row.
const CELL: usize = 240;

/// Spaces by which the fields of a nested object are indented.
const STEP: usize = 2;

/// Maximum indentation, so that deep nesting does not multiply the bytes of an answer.
const MAX_INDENT: usize = 12;

/// Name of the marks around GitLab's text.
pub const MARK: &str = "gitlab";

/// The value to read.
pub fn render(value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() => "Nothing found.".to_owned(),
        Value::Array(items) => list(items, 0),
        Value::Object(map) => fields(map, 0),
        Value::String(text) => fenced(text),
        other => other.to_string(),
    }
}

/// Bytes of the tags around GitLab's text.
const TAGS: usize = "<gitlab>\n</gitlab>\n".len();

/// Maximum number of characters of a text that is quoted instead of tagged, and of one without spaces, such as a URL or
/// a hash.
const LONGEST_QUOTED: usize = 60;
const LONGEST_WORD: usize = 120;

/// Maximum length in bytes of a rendered value without tags.
const LONGEST_WITHOUT_TAGS: usize = 1_000;

/// Maximum length in bytes of a key that is GitLab's and no user's.
const LONGEST_KEY: usize = 40;

/// A value with its texts in quotes, so that it needs no tags around it. None if tags are shorter, or if a text or a key
/// could be taken for anything but a quoted word.
///
/// A field that was asked for by one of the paths is headed by it.
pub fn quoted(value: &Value, paths: &[String]) -> Option<String> {
    let mut room = (TAGS - 1) / "\"\"".len();
    let quoted =
        matches!(value, Value::Object(_) | Value::Array(_)).then(|| in_quotes(value, &mut room))??;
    let text = render(&headed_by_paths(Cow::Owned(quoted), paths));
    (text.len() <= LONGEST_WITHOUT_TAGS).then_some(text)
}

/// A value as JSON in one line: in tags, unless each of its texts and names could stand in quotes.
pub fn one_line(value: &Value) -> String {
    let json = value.to_string();
    match json.len() <= LONGEST_WITHOUT_TAGS && is_calm(value) {
        true => format!("{json}\n"),
        false => marked(&json),
    }
}

/// True if nothing in a value's JSON could be taken for more than quoted words.
fn is_calm(value: &Value) -> bool {
    match value {
        Value::String(text) => is_quotable(text),
        Value::Array(items) => items.iter().all(is_calm),
        Value::Object(map) => map.iter().all(|(key, value)| is_calm_key(key) && is_calm(value)),
        _ => true,
    }
}

/// False for a key by which an object would look like one of the server's next calls.
fn is_calm_key(key: &str) -> bool {
    const OF_CALLS: [&str; 2] = ["tool", "arguments"];
    is_quotable(key) && !OF_CALLS.contains(&key)
}

/// The value with its texts in quotes, as long as there is room for as many texts.
fn in_quotes(value: &Value, room: &mut usize) -> Option<Value> {
    match value {
        Value::String(text) if is_wordless(text) => Some(value.clone()),
        Value::String(text) => {
            *room = room.checked_sub(1)?;
            is_quotable(text).then(|| Value::String(format!("\"{text}\"")))
        }
        Value::Array(items) => items.iter().map(|item| in_quotes(item, room)).collect::<Option<_>>(),
        Value::Object(map) => {
            let field = |(key, value): (&String, &Value)| {
                is_gitlabs_key(key).then(|| Some((key.clone(), in_quotes(value, room)?)))?
            };
            map.iter().map(field).collect::<Option<_>>().map(Value::Object)
        }
        other => Some(other.clone()),
    }
}

/// A whole text in quotes, if it is short and of one line without its end.
pub fn quoted_text(text: &str) -> Option<String> {
    (!text.is_empty() && is_quotable(text)).then(|| format!("\"{text}\""))
}

/// True if a text is short and has nothing that ends quotes, a line, a cell or a fence, or begins a tag or a call.
fn is_quotable(text: &str) -> bool {
    let is_calm = |c: char| c.is_alphanumeric() || " -_./:@#!&+,()'*=%?;~$^[]".contains(c);
    // Before anything that reads a long text.
    if text.len() > LONGEST_WORD * char::MAX.len_utf8() {
        return false;
    }
    let longest = if text.contains(char::is_whitespace) { LONGEST_QUOTED } else { LONGEST_WORD };
    text.chars().count() <= longest && text.trim() == text && text.chars().all(is_calm)
}

/// True for a date, a time, a number or a version: nothing that could be read as words.
fn is_wordless(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_digit() || b"-:.+TZ".contains(&byte);
    text.starts_with(|c: char| c.is_ascii_digit()) && text.len() <= LONGEST_KEY && text.bytes().all(is_part)
}

/// True if a key is a field of GitLab's, and not a name that a user gave.
pub fn is_gitlabs_key(key: &str) -> bool {
    key.len() <= LONGEST_KEY && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Wraps GitLab's text in tags that the text itself cannot close: the tags get more dashes than any such tag in it (up
/// to a maximum), and lookalikes of a closing tag are changed.
pub fn marked(text: &str) -> String {
    marked_as(MARK, &Map::new(), text)
}

/// The same with another tag, with attributes.
pub fn marked_as(mark: &str, says: &Map<String, Value>, text: &str) -> String {
    let text = defuse_tags(text, mark);
    let lower = text.to_ascii_lowercase();
    let tries = lower.match_indices(mark).filter_map(|(at, _)| {
        let after = lower.get(at + mark.len()..)?;
        let rest = after.trim_start_matches('-');
        is_tag_end(rest).then(|| after.len() - rest.len())
    });
    let dashes = tries.filter(|dashes| *dashes <= MAX_DASHES).max().map_or(0, |most| most + 1);
    let mark = format!("{mark}{}", "-".repeat(dashes));
    let says: String = says.iter().map(|(name, value)| format!(" {name}=\"{}\"", attribute(value))).collect();
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("<{mark}{says}>\n{text}{end}</{mark}>\n")
}

/// An attribute's value, which can close neither the quotes around it nor the tag.
fn attribute(value: &Value) -> String {
    let text = super::sanitize::line(&inline(value));
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A text between fences longer than any run of backticks within it, so that it cannot end them.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}")
}

/// A list, its lines after so many spaces: as a table, or thing by thing where that is shorter or the only way.
fn list(items: &[Value], indent: usize) -> String {
    let rows: Option<Vec<&Map<String, Value>>> = items.iter().map(Value::as_object).collect();
    let margin = " ".repeat(indent.min(MAX_INDENT));
    match rows {
        Some(rows) => {
            let things = render_records(&rows, indent);
            let table = fits_table(&rows).then(|| table(&rows, &margin));
            table.filter(|table| table.len() < things.len()).unwrap_or(things)
        }
        None => items.iter().fold(String::new(), |mut out, item| {
            let _ = writeln!(out, "{margin}- {}", inline(item));
            out
        }),
    }
}

/// A list thing by thing, each with a heading and its fields.
fn render_records(rows: &[&Map<String, Value>], indent: usize) -> String {
    let margin = " ".repeat(indent.min(MAX_INDENT));
    rows.iter().enumerate().fold(String::new(), |mut out, (place, row)| {
        let mut row = (*row).clone();
        let heading =
            PRESENTATION.headings.iter().find(|key| row.get(**key).is_some_and(|value| !is_long(value)));
        let heading = heading.and_then(|key| Some((*key, row.shift_remove(*key)?)));
        let heading = heading.map(|(key, value)| format!(" {key}: {}", inline(&value)));
        let _ = writeln!(out, "{margin}{}.{}", place + 1, heading.unwrap_or_default());
        out.push_str(&fields(&row, indent + STEP));
        out
    })
}

/// True if a value takes more than a line.
fn is_long(value: &Value) -> bool {
    !is_flat(value) || value.is_object() || value.is_array()
}

/// The line with the fields that are the same in every row of a list.
pub fn shared(same: &Map<String, Value>) -> String {
    let said: Vec<String> =
        same.iter().map(|(key, value)| format!("{}: {}", inline_text(key), inline(value))).collect();
    format!("In every row: {}\n", said.join("; "))
}

/// Fields, one a line after so many spaces; those with the same short value share a line, in the place of the first.
/// Texts of several lines are not indented: each of their spaces counts.
fn fields(map: &Map<String, Value>, indent: usize) -> String {
    let margin = " ".repeat(indent.min(MAX_INDENT));
    let alike = names_by_value(map);
    let mut out = String::new();
    for (name, value) in map {
        let key = inline_text(name);
        let _ = match value {
            Value::String(text) if diffs::is_field(name, text) => {
                writeln!(out, "{margin}{key}:\n{}", fenced(&diffs::numbered(text)))
            }
            Value::String(text) if text.trim_end().contains('\n') => {
                writeln!(out, "{margin}{key}:\n{}", fenced(text))
            }
            Value::Array(items) if is_one_flat_object(items) => {
                writeln!(out, "{margin}{key}: {}", inline(value))
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                write!(out, "{margin}{key}:\n{}", list(items, indent + STEP))
            }
            Value::Object(inner) if !is_flat(value) => {
                write!(out, "{margin}{key}:\n{}", fields(inner, indent + STEP))
            }
            value => match alike.get(&short_scalar(value).unwrap_or_default()) {
                Some(names) if names.first() != Some(&name.as_str()) => Ok(()),
                Some(names) => {
                    let names: Vec<String> = names.iter().map(|name| inline_text(name)).collect();
                    writeln!(out, "{margin}{}: {}", names.join(", "), inline(value))
                }
                None => writeln!(out, "{margin}{key}: {}", inline(value)),
            },
        };
    }
    out
}

fn is_one_flat_object(items: &[Value]) -> bool {
    matches!(items, [item @ Value::Object(map)] if !map.is_empty() && is_flat(item))
}

/// The names of the fields with each short value.
fn names_by_value(map: &Map<String, Value>) -> HashMap<String, Vec<&str>> {
    let mut names: HashMap<String, Vec<&str>> = HashMap::new();
    for (name, value) in map {
        if let Some(value) = short_scalar(value) {
            names.entry(value).or_default().push(name);
        }
    }
    names
}

/// A flag or a text of one line as JSON, so that `"true"` is no flag. Numbers are of different things even if they are the
/// same.
fn short_scalar(value: &Value) -> Option<String> {
    let is_short = match value {
        Value::Bool(_) => true,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => !text.is_empty() && !is_long(value) && !text.contains('\n'),
        _ => false,
    };
    is_short.then(|| value.to_string())
}

fn fits_table(rows: &[&Map<String, Value>]) -> bool {
    columns(rows).len() <= COLUMNS && rows.iter().all(|row| row.values().all(is_flat))
}

/// True if a value fits into one line without loss.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= CELL && !text.trim().contains('\n'),
        Value::Array(items) => {
            items.iter().all(|item| !item.is_object() && is_flat(item)) && inline(value).len() <= CELL
        }
        Value::Object(map) => {
            map.values().all(|inner| !inner.is_object() && is_flat(inner)) && inline(value).len() <= CELL
        }
        _ => true,
    }
}

/// A table: its columns in the first line, then a row a line, after this margin. Columns with the same values are one, and
/// empty cells at a row's end are left out.
fn table(rows: &[&Map<String, Value>], margin: &str) -> String {
    let line = |mut cells: Vec<&str>| {
        cells.truncate(cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1));
        format!("{margin}|{}\n", cells.join("|"))
    };
    let mut shown: Vec<(String, Vec<String>)> = Vec::new();
    for name in columns(rows) {
        let cells = rows.iter().map(|row| row.get(name).map(cell).unwrap_or_default()).collect();
        let head = in_cell(&inline_text(name));
        let is_joined = !rows.iter().any(|row| row.get(name).is_some_and(Value::is_number));
        match shown.iter_mut().find(|(_, known)| is_joined && *known == cells) {
            Some((heads, _)) => *heads = format!("{heads}, {head}"),
            None => shown.push((head, cells)),
        }
    }
    let heads = line(shown.iter().map(|(head, _)| head.as_str()).collect());
    let row =
        |at: usize| line(shown.iter().filter_map(|(_, cells)| cells.get(at)).map(String::as_str).collect());
    std::iter::once(heads).chain((0..rows.len()).map(row)).collect()
}

/// The keys of all rows, in the order in which they came.
fn columns<'a>(rows: &[&'a Map<String, Value>]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    rows.iter().flat_map(|row| row.keys()).map(String::as_str).filter(|key| seen.insert(*key)).collect()
}

/// A value in one line that cannot break its table.
pub fn cell(value: &Value) -> String {
    in_cell(&inline(value))
}

/// A bar gets a backslash, and so does every backslash right before it, which would take the bar's away.
fn in_cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut backslashes = 0;
    for c in text.chars() {
        if c == '|' {
            out.extend(std::iter::repeat_n('\\', backslashes + 1));
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        out.push(c);
    }
    // The bar that ends the cell must not be taken for one in it.
    out.extend(std::iter::repeat_n('\\', backslashes));
    out
}

/// A text in one line: breaks and what is around them become a space, other blanks are kept, since they indent code.
fn join_lines(text: &str) -> String {
    const MAX_BLANKS: usize = 40;
    let is_blank = |c: char| matches!(c, ' ' | '\t');
    let text = text.trim_end();
    let text = text.trim_start_matches(|c: char| c.is_whitespace() && !is_blank(c));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(char::is_whitespace) {
        let (word, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(word);
        let next = after.trim_start();
        let blanks = after.strip_suffix(next).unwrap_or(after);
        match blanks.chars().all(is_blank) {
            true => out.extend(blanks.chars().take(MAX_BLANKS)),
            false => out.push(' '),
        }
        rest = next;
    }
    out.push_str(rest);
    out
}

fn inline_text(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => join_lines(text),
        Value::Array(items) => items.iter().map(inline).collect::<Vec<_>>().join(", "),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| format!("{}={}", inline_text(key), inline(value)))
            .collect::<Vec<_>>()
            .join("; "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
