//! A text that edits change: its note, and what a preview shows of it.

use serde_json::{Map, Value, json};

use crate::present;
use crate::text::list_first;
use crate::untrusted::{mask_tokens, shortened_at_word};

/// Maximum number of changed lines that a note names.
const MAX_NAMED: usize = 10;

/// Maximum number of lines, removed or added, that a note shows, and of characters of each.
const MAX_SHOWN: usize = 6;
const LONGEST_SHOWN: usize = 120;

/// A text that edits changed.
#[derive(Debug)]
pub struct TextChange {
    /// The field of GitLab's objects that has the text.
    pub field: String,
    /// The file, or the parameter.
    pub name: String,
    pub new: String,
    pub diff: String,
    pub lines: Vec<usize>,
    pub read: (String, Map<String, Value>),
    /// The field that guards the change, with its value as it was read.
    pub guard: Option<(String, Value)>,
}

impl TextChange {
    /// Note on the changed lines: their numbers and, of a small change, what was removed and added.
    pub fn note(&self) -> String {
        let named = list_first(self.lines.iter().map(usize::to_string), MAX_NAMED);
        let noun = if self.lines.len() == 1 { "at line" } else { "at lines" };
        format!("`{}` was edited {noun} {named}{}", self.name, self.changed_lines())
    }

    /// The removed and added lines as quotes, so that no second read has to show the change; nothing if they are many.
    fn changed_lines(&self) -> String {
        let is_change = |line: &&str| line.starts_with(['-', '+']);
        let changed: Vec<&str> = self.diff.lines().filter(is_change).take(MAX_SHOWN + 1).collect();
        if changed.is_empty() || changed.len() > MAX_SHOWN {
            return String::new();
        }
        let quote = |line: &str| {
            let (sign, text) = line.split_at(1);
            format!("{sign} {}", json!(shortened_at_word(&mask_tokens(&present::line(text)), LONGEST_SHOWN)))
        };
        format!(": {}", changed.into_iter().map(quote).collect::<Vec<_>>().join(", "))
    }

    /// Replaces the whole new text in a previewed request by its diff.
    pub fn shorten_request(&self, request: &mut Value) {
        match request {
            Value::String(text) if *text == self.new => *text = format!("({} bytes, by `diff`)", text.len()),
            Value::Array(items) => items.iter_mut().for_each(|item| self.shorten_request(item)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.shorten_request(value)),
            _ => {}
        }
    }
}
