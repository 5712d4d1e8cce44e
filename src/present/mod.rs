//! A reply to what a model should read: what a person would look at, within a budget of bytes, with the way to
//! the rest said. Text from GitLab is data: cleaned of what could hide or pass for anything else.

mod clean;
mod compact;
mod fields;
mod limit;
mod markdown;
mod rows;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

pub use clean::cleaned;

/// What came back, whatever brought it.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Empty,
    Json(Value),
    Text(String),
    Binary { bytes: usize, content_type: String, filename: Option<String> },
}

/// How it should be shown.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Paths of the fields to show, such as `author.username`; all that the view has where there are none.
    pub fields: &'a [String],
    /// Everything GitLab sent, instead of what a person reads.
    pub full: bool,
    /// How many bytes the data may have as JSON.
    pub budget: usize,
    /// Where in a long text to begin, in bytes.
    pub offset: usize,
}

/// What is shown, with what is not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presented {
    pub data: Value,
    /// The same as Markdown.
    pub text: String,
    /// How many rows of a list are shown and how many came, where not all are shown.
    pub rows: Option<(usize, usize)>,
    /// The texts that were cut, by path, with how many bytes they have and where to go on.
    pub cut: Vec<Cut>,
    /// What was left out by the compact view, by name.
    pub dropped: Vec<String>,
    pub notes: Vec<String>,
}

/// How many of the fields that are not shown are named.
const NAMED: usize = 12;

impl Presented {
    /// The names of fields that were left out, and how many more there are.
    pub fn left_out(&self) -> (&[String], usize) {
        let named = self.dropped.get(..NAMED).unwrap_or(&self.dropped);
        (named, self.dropped.len() - named.len())
    }
}

/// A text that was too long to be shown at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The field, or nothing where the whole answer is a text.
    pub path: Option<String>,
    pub total_bytes: usize,
    pub next_offset: usize,
}

/// Shows what came back.
pub fn present(content: Content, options: &Options) -> Presented {
    match content {
        Content::Empty => {
            Presented { text: "Done; GitLab answered with nothing.".to_owned(), ..Presented::default() }
        }
        Content::Text(text) => window(None, &text, options),
        Content::Binary { bytes, content_type, filename } => binary(bytes, &content_type, filename),
        Content::Json(value) => structured(clean::cleaned_value(value), options),
    }
}

fn binary(bytes: usize, content_type: &str, filename: Option<String>) -> Presented {
    let data = json!({"binary": true, "bytes": bytes, "content_type": content_type, "filename": filename});
    let name = filename.map(|name| format!(" ({name})")).unwrap_or_default();
    let text = format!("A binary of {bytes} bytes, {content_type}{name}; not shown.");
    Presented { data, text, ..Presented::default() }
}

/// A stretch of a text from the offset, cut between lines where it can be.
fn window(path: Option<String>, text: &str, options: &Options) -> Presented {
    let text = clean::cleaned(text);
    let start = limit::floor_boundary(&text, options.offset);
    let rest = text.get(start..).unwrap_or_default();
    let shown = limit::lines_within(rest, options.budget);
    let end = start + shown.len();
    let cut = (end < text.len()).then_some(Cut { path, total_bytes: text.len(), next_offset: end });
    let notes = if start > 0 && start >= text.len() {
        vec![format!("the text ends at byte {}", text.len())]
    } else {
        Vec::new()
    };
    Presented {
        data: Value::String(shown.to_owned()),
        text: markdown::fenced(shown),
        cut: cut.into_iter().collect(),
        notes,
        ..Presented::default()
    }
}

fn structured(value: Value, options: &Options) -> Presented {
    let mut notes = Vec::new();
    let mut dropped = Vec::new();
    let chosen = if !options.fields.is_empty() {
        fields::select(&value, options.fields, &mut notes)
    } else if options.full {
        value
    } else {
        compact::compact(value, &mut dropped)
    };
    if let Some((path, text)) = only_text(&chosen, options) {
        return Presented { notes, ..window(Some(path), &text, options) };
    }
    let limited = limit::within(chosen, options.budget);
    Presented {
        text: markdown::render(&limited.value),
        data: limited.value,
        rows: limited.rows,
        cut: limited.cut,
        dropped,
        notes,
    }
}

/// The text of the one field that is being read in stretches.
fn only_text(value: &Value, options: &Options) -> Option<(String, String)> {
    let [path] = options.fields else { return None };
    let mut found = value;
    for name in path.split('.') {
        found = found.get(name)?;
    }
    let text = found.as_str()?;
    (options.offset > 0 || text.len() > options.budget).then(|| (path.clone(), text.to_owned()))
}

/// `omitted` as answers carry it: each thing that is not shown, with how to get it.
pub fn omitted(presented: &Presented) -> Map<String, Value> {
    let mut omitted = Map::new();
    for cut in &presented.cut {
        let path = cut.path.clone().unwrap_or_else(|| "text".to_owned());
        omitted.insert(path, json!({"bytes": cut.total_bytes, "continue_at": cut.next_offset}));
    }
    if !presented.dropped.is_empty() {
        let (named, more) = presented.left_out();
        let get = "fields: [\"NAME\"], or view: \"full\"";
        omitted.insert("fields".to_owned(), json!({"names": named, "more": more, "get": get}));
    }
    omitted
}
