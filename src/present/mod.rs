//! Presentation of a reply to a model: the fields a person would look at, within a budget of bytes, with a hint at how
//! to get the rest. Text from GitLab is data: cleaned of characters that could hide or imitate something, without
//! secrets, and wrapped in tags that it cannot close.

pub mod aggregate;
mod attachment;
pub mod beginning;
mod columns;
mod common_prefix;
mod compact;
mod content_hint;
mod diffs;
mod encoding;
mod failure;
mod fields;
pub mod inner_list;
mod log_sections;
mod log_stamps;
mod markdown;
mod masking;
mod picture;
mod row_identity;
mod sanitize;
mod terminal;
#[cfg(test)]
mod tests;
mod threads;
mod upstream_truncation;

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::text::{self, Cut, Limited, MAX_CUT, Position, lines_within};
use crate::untrusted::{Secrets, defuse, mask_tokens, shortened};

pub use attachment::Attachment;
pub use compact::{Kept, label};
pub use content_hint::ContentKind;
pub use encoding::text_of;
pub use failure::{ReportedFailure, Stretch, failure};
pub use fields::{Missing, is_plain, missing_in, values_at};
pub use log_sections::{plain_log, section, sections};
pub use markdown::{MARK, fenced, marked, marked_as, one_line};
pub use masking::{FieldNames, Masked, mask};
pub use picture::{Picture, PictureError, decode_picture, is_picture};
pub use sanitize::{cleaned, cleaned_value, line};
pub use upstream_truncation::is_left_out;

/// Content of a reply, from any transport.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenContent {
    /// Nothing, in answer to a change.
    Done,
    /// Nothing, in answer to a read: an empty file, a log without a line.
    Empty,
    /// A 304: a change that was made before.
    Unchanged,
    Json(Value),
    Text(String),
    Binary {
        bytes: Vec<u8>,
        content_type: String,
        filename: Option<String>,
        /// The bytes as a picture, if they are one.
        picture: Option<Picture>,
    },
}

/// Options of the presentation.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Kind of the answer, from the action.
    pub kind: ContentKind,
    /// Paths of the fields to show, such as `author.username`; all fields of the view if empty.
    pub fields: &'a [String],
    /// True to show all fields that GitLab sent, instead of the compact view.
    pub full: bool,
    /// True to show secrets unmasked.
    pub unmasked: bool,
    /// Maximum size of the data in bytes of JSON.
    pub budget: usize,
    /// Start of the shown part of a long text; by default the one for its kind.
    pub place: Option<Position>,
    /// The token and the values of extra headers, which are never shown.
    pub secrets: &'a Secrets,
    /// Fields that the compact view never leaves out.
    pub kept: Kept<'a>,
    /// Fields to which the compact view of an object is narrowed, with those that identify it; not narrowed if empty. What
    /// narrowing leaves out is not named.
    pub only: &'a [String],
    /// Fields that the first sentence of the answer has: the text does not repeat them.
    pub said: &'a [String],
    /// Fields behind the aliases of a GraphQL document.
    pub names: Option<&'a FieldNames>,
}

impl<'a> Options<'a> {
    /// Options of the compact view.
    pub fn new(kind: ContentKind, budget: usize, secrets: &'a Secrets) -> Options<'a> {
        let (full, unmasked) = (false, false);
        Options {
            kind,
            fields: &[],
            full,
            unmasked,
            budget,
            place: None,
            secrets,
            kept: Kept::default(),
            only: &[],
            said: &[],
            names: None,
        }
    }
}

/// Shown content, with a record of the parts not shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presented {
    pub data: Value,
    /// The same as Markdown.
    pub text: String,
    /// True if the text is GitLab's and not in quotes: it needs tags around it.
    pub quoted: bool,
    /// True if it is bytes that are not shown, or a picture that is not shown in full size.
    pub binary: bool,
    /// The bytes, or the picture as it is shown.
    pub file: Option<Attachment>,
    /// Fields with the same value in every row of a list, given only here.
    pub same: Map<String, Value>,
    /// Number of rows shown and number of rows received, if they differ.
    pub rows: Option<(usize, usize)>,
    /// The texts of which a part is shown.
    pub cut: Vec<Cut>,
    /// Names of the fields that the compact view left out.
    pub dropped: Vec<String>,
    /// The fields that were asked for and are nowhere.
    pub missing: Vec<Missing>,
    pub masked: Masked,
    /// The files whose diffs GitLab did not send whole.
    pub unfinished: Vec<String>,
    pub notes: Vec<String>,
}

/// Maximum number of fields not shown that are named.
const MAX_FIELDS_NAMED: usize = 6;

/// Maximum length in bytes of an answer of nothing but numbers and flags that has no marks around it.
const UNMARKED: usize = 200;

/// Minimum budget in bytes for the values that all rows share.
const LEAST_SHARED: usize = 1_000;

impl Presented {
    /// The names of fields that were left out, and how many more there are.
    pub fn left_out(&self) -> (Vec<&str>, usize) {
        let plain = self.dropped.iter().map(String::as_str).filter(|name| is_plain(name));
        let named: Vec<&str> = plain.take(MAX_FIELDS_NAMED).collect();
        let more = self.dropped.len() - named.len();
        (named, more)
    }
}

/// Presents the content of a response.
pub fn present(content: GivenContent, options: &Options) -> Presented {
    let told = |text: &str| Presented { text: text.to_owned(), ..Presented::default() };
    match content {
        GivenContent::Done => told("Done; GitLab answered with nothing."),
        GivenContent::Empty => told("Empty: GitLab answered without content."),
        GivenContent::Unchanged => Presented {
            data: json!({"changed": false}),
            ..told("Nothing changed: it was so already (GitLab answered 304 Not Modified).")
        },
        GivenContent::Text(text) if options.kind.secret_file && !options.unmasked => secret(&text),
        GivenContent::Text(text) => whole_text(text, options),
        GivenContent::Binary { bytes, content_type, filename, picture } => {
            let shown = binary(bytes.len(), &content_type, filename, options.secrets);
            match picture {
                _ if options.kind.secret_file && !options.unmasked => shown,
                Some(picture) => with_picture(shown, bytes.len(), picture),
                None => Presented { file: Attachment::new(bytes, &content_type), ..shown },
            }
        }
        GivenContent::Json(value) => structured(value, options),
    }
}

/// A value of a header as it may be repeated.
fn header(text: &str, secrets: &Secrets) -> String {
    const MAX_HEADER_CHARACTERS: usize = 200;
    shortened(&defuse(&mask_tokens(&secrets.redact(&line(text)))), MAX_HEADER_CHARACTERS)
}

fn binary(bytes: usize, content_type: &str, filename: Option<String>, secrets: &Secrets) -> Presented {
    let content_type =
        if content_type.is_empty() { "of no type".to_owned() } else { header(content_type, secrets) };
    let filename = filename.as_deref().map(|name| header(name, secrets));
    let data = json!({"binary": true, "bytes": bytes, "content_type": content_type, "filename": filename});
    let name = filename.map(|name| format!(" ({})", json!(name))).unwrap_or_default();
    let text = format!("A binary of {bytes} bytes, {}{name}; not shown.", json!(content_type));
    Presented { data, text, binary: true, ..Presented::default() }
}

/// Presents a file that is a picture: the picture is attached to the text.
fn with_picture(mut binary: Presented, bytes: usize, picture: Picture) -> Presented {
    let size = |(width, height): (u32, u32)| format!("{width}x{height}");
    let name = binary.data.get("filename").filter(|name| !name.is_null());
    let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
    let reduced = match picture.is_reduced() {
        true => format!(", scaled down to {}", size(picture.shown)),
        false => String::new(),
    };
    let text = format!("A picture of {} pixels, {bytes} bytes{name}{reduced}.", size(picture.original));
    if let Value::Object(data) = &mut binary.data {
        data.insert(
            "picture".to_owned(),
            json!({"size": size(picture.original), "shown": size(picture.shown)}),
        );
    }
    Presented { text, binary: picture.is_reduced(), file: Some(Attachment::from(picture)), ..binary }
}

fn secret(text: &str) -> Presented {
    let (shown, masked) = masking::mask_all(&cleaned(text));
    Presented { text: shown.clone(), data: Value::String(shown), masked, ..Presented::default() }
}

fn whole_text(text: String, options: &Options) -> Presented {
    let is_log = options.kind.log || terminal::is_log(&text) || log_stamps::has_stamps(&text);
    let hidden = if is_log { None } else { hidden(sanitize::hidden(&text)) };
    let settled = if is_log { terminal::apply_overwrites(&log_stamps::without_stamps(&text)) } else { text };
    let mut shown = if sanitize::is_clean(&settled) { settled } else { cleaned(&settled) };
    options.secrets.redact_string(&mut shown);
    let (shown, masked) =
        if options.unmasked { (shown, Masked::default()) } else { masking::mask_text(shown) };
    let usual = if options.kind.log { Position::End } else { Position::Beginning };
    let mut presented = stretch(None, &shown, options.place.unwrap_or(usual), options.budget);
    presented.notes.extend(hidden);
    if let Some(text) = markdown::quoted_text(&shown).filter(|_| presented.cut.is_empty()) {
        (presented.text, presented.quoted) = (text, false);
    }
    Presented { masked, ..presented }
}

/// Writing a text back without the characters that cleaning removed would change it.
fn hidden(count: usize) -> Option<String> {
    let characters =
        if count == 1 { "character that cannot be seen was" } else { "characters that cannot be seen were" };
    (count > 0).then(|| format!("{count} {characters} taken out (zero-width, direction, variation, control)"))
}

/// Renders a part of a text, cut between lines if possible.
fn stretch(path: Option<String>, text: &str, place: Position, budget: usize) -> Presented {
    let is_diff = path.as_deref().is_some_and(|path| diffs::is_field(path, text));
    let (window, numbered) = if is_diff {
        let (window, numbered) = diffs::window(text, place, budget, longest_text(budget));
        (window, Some(numbered))
    } else {
        (text::window(text, place, budget), None)
    };
    let shown = text.get(window.bytes.clone()).unwrap_or_default();
    let mut notes = Vec::new();
    if shown.is_empty() && !text.is_empty() {
        notes.push(format!("the text ends at line {}, byte {}", window.total_lines, window.total_bytes));
    }
    Presented {
        data: Value::String(shown.to_owned()),
        text: markdown::fenced(numbered.as_deref().unwrap_or(shown)),
        quoted: true,
        cut: if window.bytes.len() < text.len() { vec![Cut { path, window }] } else { Vec::new() },
        notes,
        ..Presented::default()
    }
}

/// The selected part of a value.
#[derive(Default)]
struct ChosenFields {
    value: Value,
    /// Fields that are left out.
    dropped: Vec<String>,
    /// Fields that were asked for and that no row has.
    missing: Vec<Missing>,
    said: columns::ColumnRows,
}

/// Chooses the fields that were asked for, or those that matter.
fn choose(mut value: Value, options: &Options) -> ChosenFields {
    let mut chosen = ChosenFields::default();
    if !options.fields.is_empty() {
        let asked = row_identity::own_names(&value, options.fields);
        let paths = row_identity::with_names(&value, &asked);
        row_identity::add_places(&mut value, &paths);
        let (selected, nowhere) = fields::select(&value, &paths);
        chosen.missing = nowhere;
        chosen.value = if options.full { selected } else { compact::with_names(selected) };
    } else if options.full {
        chosen.value = value;
    } else {
        let whole = value.as_object().filter(|_| !options.only.is_empty()).cloned();
        (chosen.value, chosen.said) = compact::compact(value, options.kept, &mut chosen.dropped);
        if let Some(whole) = whole {
            chosen.value = compact::narrowed(chosen.value, whole, options.only);
            chosen.dropped.clear();
        }
    }
    chosen
}

fn structured(value: Value, options: &Options) -> Presented {
    let mut value = if options.full { value } else { compact::decoded(value) };
    let came = text::keep_possible(&mut value, options.budget);
    let hidden = hidden(sanitize::hidden_in(&value));
    let mut value = sanitize::cleaned_value(value);
    options.secrets.redact_value(&mut value);
    let masked = match options.unmasked {
        true => Masked::default(),
        false => masking::mask(&mut value, options.kind, options.fields, options.names),
    };
    let is_asked = upstream_truncation::is_asked(options.fields);
    let partial = if is_asked { upstream_truncation::partial(&value) } else { Default::default() };
    let ChosenFields { value: chosen, dropped, missing, mut said } = choose(value, options);
    let mut notes = partial.notes;
    notes.append(&mut said.notes);
    notes.extend(hidden);
    let unfinished = partial.files;
    if let Some((path, text, place)) = only_text(&chosen, options) {
        let mut shown = stretch(Some(path), &text, place, options.budget);
        notes.append(&mut shown.notes);
        return Presented { masked, missing, unfinished, notes, ..shown };
    }
    if options.place.is_some() {
        notes.push("`lines` and `offset` are of a text by itself: name one in `fields`".to_owned());
    }
    let (same, note) = shared(said.same, options.budget);
    notes.extend(note);
    let limited = limited(chosen, options.budget);
    notes.extend(limited.note);
    let (value, text, rows) = rendered(limited.value, options, &same, &mut notes);
    let shown = value.as_array().map(Vec::len);
    let came = came.or(limited.rows.map(|(_, came)| came)).or(rows);
    let may_be_written = text.len() > UNMARKED || has_text(&value) || !same.is_empty();
    let quoted = (shown != Some(0) || came.is_some()) && may_be_written && !text.is_empty();
    let may_be_quoted = quoted && same.is_empty() && has_text(&value);
    let in_quotes =
        may_be_quoted.then(|| markdown::quoted(&unsaid(&value, options.said), options.fields)).flatten();
    let quoted = quoted && in_quotes.is_none();
    let text = in_quotes.unwrap_or(text);
    let mut cut = limited.cut;
    cut.truncate(MAX_CUT);
    Presented {
        text,
        quoted,
        data: value,
        same,
        rows: shown.zip(came),
        cut,
        dropped,
        missing,
        masked,
        unfinished,
        notes,
        ..Presented::default()
    }
}

/// True if a stranger may have written something of a value: a text, or a key that is none of GitLab's.
fn has_text(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Array(items) => items.iter().any(has_text),
        Value::Object(map) => {
            map.iter().any(|(key, value)| !markdown::is_gitlabs_key(key) || has_text(value))
        }
        _ => false,
    }
}

/// The fields of an object that the answer's first sentence does not have; any other value as it is.
fn unsaid<'v>(value: &'v Value, said: &[String]) -> Cow<'v, Value> {
    match value {
        Value::Object(map) if map.keys().any(|key| said.contains(key)) => {
            let mut left = map.clone();
            left.retain(|key, _| !said.contains(key));
            Cow::Owned(Value::Object(left))
        }
        _ => Cow::Borrowed(value),
    }
}

/// Fits a value into the budget. Line numbers make the text of diffs longer than their data: where the text does not
/// fit, every diff gets less.
fn limited(value: Value, budget: usize) -> Limited {
    if !diffs::any(&value) {
        return text::within(value, budget);
    }
    const TRIES: usize = 3;
    let most = longest_text(budget);
    let mut limited = text::within(value.clone(), budget);
    let mut least = budget;
    for _ in 0..TRIES {
        let length = markdown::render(&limited.value).len();
        if length <= most {
            break;
        }
        least = least.saturating_mul(most) / length;
        limited = text::within(value.clone(), least);
    }
    limited
}

/// Maximum length of a value as Markdown: tables and headings take more than JSON where the fields are few and short.
fn longest_text(budget: usize) -> usize {
    budget.saturating_add(budget / 4).saturating_add(LEAST_SHARED)
}

/// Limits the values that all rows share to a quarter of the budget.
fn shared(same: Map<String, Value>, budget: usize) -> (Map<String, Value>, Option<String>) {
    match text::fit(Value::Object(same), (budget / 4).max(LEAST_SHARED)) {
        (Value::Object(same), note) => (same, note),
        (_, note) => (Map::new(), note),
    }
}

/// The value as Markdown within the budget: of a list fewer rows, of anything else the beginning. With the value
/// that is shown, and how many rows came where it has fewer.
fn rendered(
    mut value: Value,
    options: &Options,
    same: &Map<String, Value>,
    notes: &mut Vec<String>,
) -> (Value, String, Option<usize>) {
    let most = longest_text(options.budget);
    let mut came = None;
    let render = |value: Cow<'_, Value>| markdown::render(&fields::headed_by_paths(value, options.fields));
    let mut text = render(unsaid(&value, options.said));
    while text.len() > most {
        let Some(rows) = value.as_array_mut().filter(|rows| rows.len() > 1) else { break };
        came = came.or(Some(rows.len()));
        let fewer = rows.len().saturating_mul(most) / text.len();
        rows.truncate(fewer.clamp(1, rows.len() - 1));
        text = render(Cow::Borrowed(&value));
    }
    if text.len() > most {
        text = lines_within(&text, most).to_owned();
        notes.push("the text is cut; the structured answer has the whole".to_owned());
    }
    if !same.is_empty() {
        text.push_str(&markdown::shared(same));
    }
    (value, text, came)
}

/// The text of the one field that is being read in stretches.
fn only_text(value: &Value, options: &Options) -> Option<(String, String, Position)> {
    if let (Some(place), [], Value::Object(map)) = (options.place, options.fields, value) {
        // An object with one text of several lines, such as a file, has these lines.
        let mut texts = map.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
        let (name, text) = texts.by_ref().find(|(_, text)| text.contains('\n'))?;
        let is_only = !texts.any(|(_, text)| text.contains('\n'));
        return is_only.then(|| (name.clone(), text.to_owned(), place));
    }
    let [path] = options.fields else { return None };
    let mut found = value;
    // The number of an item has picked it already.
    for name in path.split('.').filter(|name| name.parse::<usize>().is_err()) {
        found = found.get(name)?;
    }
    let text = found.as_str()?;
    let is_read = options.place.is_some() || text.len() > options.budget;
    is_read.then(|| (path.clone(), text.to_owned(), options.place.unwrap_or_default()))
}

/// `omitted` as answers carry it: the shown part of each text, and the fields not shown with a hint at how to get them.
pub fn omitted(presented: &Presented) -> Map<String, Value> {
    let mut omitted = Map::new();
    for Cut { path, window } in &presented.cut {
        let path = path.clone().unwrap_or_else(|| "text".to_owned());
        let (first, last) = window.lines;
        omitted.insert(
            path,
            json!({"lines": window.total_lines, "bytes": window.total_bytes, "shown": format!("{first}-{last}")}),
        );
    }
    if !presented.dropped.is_empty() {
        let (named, more) = presented.left_out();
        let mut fields = json!({"names": named});
        if let Some(fields) = fields.as_object_mut().filter(|_| more > 0) {
            fields.insert("more".to_owned(), json!(more));
        }
        omitted.insert("fields".to_owned(), fields);
    }
    omitted
}
