//! Changes of JSON with comments and trailing commas, that keep every byte which is not theirs.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use super::edit::{ConfigEditError, EditPiece, Insertion};

/// Comments and trailing commas, as clients accept them, and nothing else beyond JSON.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Members of an object at the top of a text; empty if the text or the object is missing.
pub fn members(text: &str, container: &str) -> Result<Map<String, Value>, ConfigEditError> {
    let (_, text) = without_mark(text);
    let parsed =
        parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| malformed(&error))?;
    let Some(root) = parsed.value else { return Ok(Map::new()) };
    let Value::Object(mut root) = Value::from(root) else {
        return Err(ConfigEditError::NotObject("the file".to_owned()));
    };
    match root.remove(container) {
        None => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members),
        Some(_) => Err(ConfigEditError::NotObject(format!("{container:?}"))),
    }
}

/// Insertions that add a member to an object at the top of a text. Both are created where they are missing; the member
/// has to be.
pub fn insert(
    text: &str,
    container: &str,
    name: &str,
    value: &Value,
) -> Result<Vec<Insertion>, ConfigEditError> {
    let (shift, text) = without_mark(text);
    let parsed =
        parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| malformed(&error))?;
    let root = match &parsed.value {
        Some(Node::Object(root)) => root,
        Some(_) => return Err(ConfigEditError::NotObject("the file".to_owned())),
        None => {
            let whole = Value::from_iter([(container, Value::from_iter([(name, value.clone())]))]);
            let start = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let text_of_all = format!("{start}{}\n", pretty(&whole, "  ", "", "\n"));
            return Ok(vec![Insertion { at: shift + text.len(), text: text_of_all }]);
        }
    };
    let mut insertions = match root.get(container).map(|member| &member.value) {
        Some(Node::Object(object)) => insert_member(text, root, object, name, value),
        Some(_) => return Err(ConfigEditError::NotObject(format!("{container:?}"))),
        None => insert_member(text, root, root, container, &Value::from_iter([(name, value.clone())])),
    };
    for insertion in &mut insertions {
        insertion.at += shift;
    }
    Ok(insertions)
}

/// Pieces of a text that are a member of an object at its top, with the comma that it needs; none if it is missing.
pub fn member_pieces(text: &str, container: &str, name: &str) -> Result<Vec<EditPiece>, ConfigEditError> {
    let (shift, text) = without_mark(text);
    let parsed =
        parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| malformed(&error))?;
    let object = match &parsed.value {
        Some(Node::Object(root)) => match root.get(container).map(|member| &member.value) {
            Some(Node::Object(object)) => object,
            _ => return Ok(Vec::new()),
        },
        _ => return Ok(Vec::new()),
    };
    let Some(index) = object.properties.iter().position(|member| member.name.as_str() == name) else {
        return Ok(Vec::new());
    };
    let Some(member) = object.properties.get(index) else { return Ok(Vec::new()) };
    let before = text.get(..member.range.start).unwrap_or_default();
    let start = before.trim_end_matches([' ', '\t']).len();
    // With the end of the line before, if the member begins its line.
    let is_first_on_line = before.get(..start).is_some_and(|before| before.ends_with('\n'));
    let start = match is_first_on_line {
        true => {
            start - if before.get(..start).is_some_and(|before| before.ends_with("\r\n")) { 2 } else { 1 }
        }
        false => start,
    };
    let after = Trivia::after(text, member.range.end);
    let end = after.comma.map_or(member.range.end, |comma| comma + 1);
    let mut pieces = vec![EditPiece { at: start + shift, bytes: end - start }];
    // The last member without a comma leaves the one before it last: that has none then.
    let previous = index.checked_sub(1).filter(|_| after.comma.is_none());
    if let Some(previous) = previous.and_then(|at| object.properties.get(at))
        && let Some(comma) = Trivia::after(text, previous.range.end).comma
    {
        pieces.insert(0, EditPiece { at: comma + shift, bytes: 1 });
    }
    Ok(pieces)
}

/// Places of the scalar values whose path of keys is wanted, in the order of the text.
pub fn values(text: &str, is_wanted: &dyn Fn(&[&str]) -> bool) -> Result<Vec<Range<usize>>, ConfigEditError> {
    let (shift, text) = without_mark(text);
    let parsed =
        parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| malformed(&error))?;
    let mut places = Vec::new();
    if let Some(root) = &parsed.value {
        collect_values(root, &mut Vec::new(), is_wanted, &mut places);
    }
    Ok(places.into_iter().map(|place| place.start + shift..place.end + shift).collect())
}

fn collect_values<'n>(
    node: &'n Node<'_>,
    path: &mut Vec<&'n str>,
    is_wanted: &dyn Fn(&[&str]) -> bool,
    places: &mut Vec<Range<usize>>,
) {
    match node {
        Node::Object(object) => {
            for member in &object.properties {
                path.push(member.name.as_str());
                collect_values(&member.value, path, is_wanted, places);
                path.pop();
            }
        }
        Node::Array(array) => {
            array.elements.iter().for_each(|element| collect_values(element, path, is_wanted, places));
        }
        scalar if is_wanted(path) => places.push(scalar.start()..scalar.end()),
        _ => {}
    }
}

/// The byte order mark's length, and the text after it.
fn without_mark(text: &str) -> (usize, &str) {
    text.strip_prefix('\u{feff}').map_or((0, text), |rest| ('\u{feff}'.len_utf8(), rest))
}

fn malformed(error: &jsonc_parser::errors::ParseError) -> ConfigEditError {
    ConfigEditError::Malformed { line: error.line_display(), reason: error.kind().to_string() }
}

fn insert_member(
    text: &str,
    root: &Object<'_>,
    object: &Object<'_>,
    name: &str,
    value: &Value,
) -> Vec<Insertion> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let unit = indent_unit(text, root);
    let Some(last) = object.properties.last() else {
        return vec![insert_into_empty(text, object, unit, newline, name, value)];
    };
    let own_line = object.properties.first().and_then(|first| indent_of(text, first));
    let trivia = Trivia::after(text, last.range.end);
    let member = match own_line {
        Some(indent) => format!("{newline}{indent}{}", render(name, value, unit, indent, newline)),
        // A member after a line comment would be part of it.
        None if trivia.is_line_comment => format!("{newline}{}: {value}", Value::from(name)),
        None => format!(" {}: {value}", Value::from(name)),
    };
    // As the list is written: with a trailing comma or without.
    match trivia.comma {
        Some(_) => vec![Insertion { at: trivia.line_end, text: format!("{member},") }],
        None if trivia.line_end == last.range.end => {
            vec![Insertion { at: trivia.line_end, text: format!(",{member}") }]
        }
        None => vec![
            Insertion { at: last.range.end, text: ",".to_owned() },
            Insertion { at: trivia.line_end, text: member },
        ],
    }
}

fn insert_into_empty(
    text: &str,
    object: &Object<'_>,
    unit: &str,
    newline: &str,
    name: &str,
    value: &Value,
) -> Insertion {
    let outer = line_indent(text, object.range.start);
    let indent = format!("{outer}{unit}");
    let member = render(name, value, unit, &indent, newline);
    let inside = text.get(object.range.start + 1..object.range.end - 1).unwrap_or_default();
    // After comments, on a line of its own; the brace keeps its line if it has one.
    let at = object.range.start + 1 + inside.trim_end().len();
    let rest = inside.get(inside.trim_end().len()..).unwrap_or_default();
    let end = if rest.contains('\n') { String::new() } else { format!("{newline}{outer}") };
    Insertion { at, text: format!("{newline}{indent}{member}{end}") }
}

/// `"name": value`, over several lines.
fn render(name: &str, value: &Value, unit: &str, indent: &str, newline: &str) -> String {
    format!("{}: {}", Value::from(name), pretty(value, unit, indent, newline))
}

/// A value over several lines; lists on one.
fn pretty(value: &Value, unit: &str, indent: &str, newline: &str) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let inner = format!("{indent}{unit}");
            let lines: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{inner}{}", render(name, value, unit, &inner, newline)))
                .collect();
            format!("{{{newline}{}{newline}{indent}}}", lines.join(&format!(",{newline}")))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// One step of indentation: that of the first member at the top.
fn indent_unit<'t>(text: &'t str, root: &Object<'_>) -> &'t str {
    let first = root.properties.first().and_then(|first| indent_of(text, first));
    first.filter(|indent| !indent.is_empty()).unwrap_or("  ")
}

/// The indentation of a member that begins its line.
fn indent_of<'t>(text: &'t str, member: &ObjectProp<'_>) -> Option<&'t str> {
    let before = text.get(..member.range.start)?;
    let line = before.get(before.rfind('\n')? + 1..)?;
    line.trim().is_empty().then_some(line)
}

/// The indentation of the line that a byte is in.
fn line_indent(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let line = before.get(before.rfind('\n').map_or(0, |newline| newline + 1)..).unwrap_or_default();
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}

/// Text between a member and the next one or the brace.
struct Trivia {
    comma: Option<usize>,
    /// After the member, its comma, and the comments on its line.
    line_end: usize,
    /// True if a line comment is the last of these.
    is_line_comment: bool,
}

impl Trivia {
    fn after(text: &str, from: usize) -> Trivia {
        let mut trivia = Trivia { comma: None, line_end: from, is_line_comment: false };
        let (mut at, mut is_own_line) = (from, true);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let bytes = if rest.starts_with("//") {
                rest.find(['\n', '\r']).unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else if rest.starts_with(',') && trivia.comma.is_none() {
                trivia.comma = Some(at);
                trivia.line_end = at + 1;
                trivia.is_line_comment = false;
                // A comma on a line of its own begins the line whose comments count.
                is_own_line = true;
                at += 1;
                continue;
            } else {
                match rest.chars().next().filter(|c| c.is_whitespace()) {
                    Some(space) => {
                        is_own_line &= space != '\n';
                        at += space.len_utf8();
                        continue;
                    }
                    None => break,
                }
            };
            at += bytes;
            if is_own_line {
                trivia.line_end = at;
                trivia.is_line_comment = rest.starts_with("//");
            }
        }
        trivia
    }
}
