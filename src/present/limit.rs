//! What fits into a budget of bytes: whole rows of a list, long texts cut at a line, never half a character.

use serde_json::Value;

use super::Cut;
use super::window::{Place, window};

/// A value that fits, with what was cut off it.
pub struct Limited {
    pub value: Value,
    pub rows: Option<(usize, usize)>,
    pub cut: Vec<Cut>,
}

/// The value within the budget.
pub fn within(mut value: Value, budget: usize) -> Limited {
    if size(&value) <= budget {
        return Limited { value, rows: None, cut: Vec::new() };
    }
    let mut cut = Vec::new();
    // A list of things with long texts shows more things and less of each.
    let longest = if value.is_array() { budget / 20 } else { budget * 3 / 4 };
    shorten(&mut value, longest, &mut String::new(), &mut cut);
    let rows = value.as_array_mut().and_then(|items| keep_rows(items, budget));
    if rows.is_none() && size(&value) > budget {
        cut.clear();
        shorten(&mut value, budget / 50, &mut String::new(), &mut cut);
    }
    Limited { value, rows, cut }
}

fn keep_rows(items: &mut Vec<Value>, budget: usize) -> Option<(usize, usize)> {
    let total = items.len();
    let mut used = 2;
    let fitting = items
        .iter()
        .take_while(|item| {
            used += size(item) + 1;
            used <= budget
        })
        .count();
    let shown = fitting.max(1);
    items.truncate(shown);
    (shown < total).then_some((shown, total))
}

fn size(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(0, |bytes| bytes.len())
}

/// Cuts every text that is longer than that. A cut below a list has no path that a caller could ask for.
fn shorten(value: &mut Value, longest: usize, path: &mut String, cut: &mut Vec<Cut>) {
    match value {
        Value::String(text) if text.len() > longest => {
            let shown = lines_within(text, longest).to_owned();
            if !path.is_empty() && !path.contains("[]") {
                cut.push(Cut { path: Some(path.clone()), window: window(text, Place::Beginning, longest) });
            }
            *text = format!("{shown}… ({} of {} bytes)", shown.len(), text.len());
        }
        Value::Array(items) => {
            let length = path.len();
            path.push_str("[]");
            items.iter_mut().for_each(|item| shorten(item, longest, path, cut));
            path.truncate(length);
        }
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                let length = path.len();
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
                shorten(value, longest, path, cut);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// The beginning of a text that fits: whole lines where the last of them is not too far back.
pub fn lines_within(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let hard = text.get(..floor_boundary(text, bytes)).unwrap_or_default();
    match hard.rfind('\n') {
        Some(at) if at >= hard.len() / 2 => hard.get(..=at).unwrap_or(hard),
        _ => hard,
    }
}

/// The last position not behind `at` where a character begins.
pub fn floor_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|position| text.is_char_boundary(*position)).unwrap_or(0)
}
