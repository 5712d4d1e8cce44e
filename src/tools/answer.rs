//! What execute answers: the reply presented, with where it stands, what is not shown and how to get it.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Answer, EXECUTE, ExecuteRequest, Tools, View, paging, resolve};
use crate::call::Call;
use crate::catalog::{Action, Interface};
use crate::gitlab::{self, Reply, Unread};
use crate::present::{self, Content, Options, Presented};

/// The reply to a call, presented.
pub fn answer(
    tools: &Tools,
    (request, fields): (&ExecuteRequest, &[String]),
    action: &Action,
    call: &Call,
    reply: Reply,
    mut notes: Vec<String>,
) -> Answer {
    let is_document = action.direct() == Some(Interface::Graphql);
    let options = Options {
        fields,
        // A document has already said what is wanted of everything.
        full: request.view == Some(View::Full) || is_document,
        budget: tools.max_bytes,
        offset: usize::try_from(request.offset.unwrap_or(0)).unwrap_or(usize::MAX),
    };
    let page = reply.page.clone();
    let is_list = matches!(&reply.content, gitlab::Content::Json(Value::Array(_)));
    let shown = present::present(content(reply, &mut notes), &options);
    notes.extend(shown.notes.iter().cloned());
    let page = if is_list || is_document { paging::page(request, action, &page, shown.rows) } else { None };
    assemble(request, call, shown, page, &notes)
}

/// What came, apart from the client that brought it.
fn content(reply: Reply, notes: &mut Vec<String>) -> Content {
    match reply.content {
        gitlab::Content::Empty if !reply.headers.is_empty() => Content::Json(json!(reply.headers)),
        gitlab::Content::Empty => Content::Empty,
        gitlab::Content::Json(value) => Content::Json(value),
        gitlab::Content::Text(text) => Content::Text(text),
        gitlab::Content::Binary { bytes, content_type, filename } => {
            Content::Binary { bytes: bytes.len(), content_type, filename }
        }
        gitlab::Content::Unread(why) => {
            notes.push(match why {
                Unread::TooLarge { limit, .. } => {
                    format!("done; the answer is over {limit} bytes and was not read")
                }
                Unread::Lost => "done; the connection broke before the answer was read".to_owned(),
            });
            Content::Empty
        }
    }
}

fn assemble(
    request: &ExecuteRequest,
    call: &Call,
    shown: Presented,
    page: Option<Value>,
    notes: &[String],
) -> Answer {
    let mut structured = head(call);
    let mut text = shown.text.clone();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut omitted = present::omitted(&shown);
    for cut in &shown.cut {
        let next = continuation(request, cut);
        let name = cut.path.clone().unwrap_or_else(|| "text".to_owned());
        let _ = writeln!(text, "{name} has {} bytes; it continues with: {next}", cut.total_bytes);
        if let Some(said) = omitted.get_mut(&name).and_then(Value::as_object_mut) {
            said.insert("next".to_owned(), next);
        }
    }
    if !shown.dropped.is_empty() {
        let (named, more) = shown.left_out();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(
            text,
            "Not shown: {}{more}. `fields` picks any, `view: \"full\"` shows all.",
            named.join(", ")
        );
    }
    structured.insert("data".to_owned(), shown.data);
    if let Some(page) = page {
        text.push_str(&page_line(&page));
        structured.insert("page".to_owned(), page);
    }
    if !omitted.is_empty() {
        structured.insert("omitted".to_owned(), Value::Object(omitted));
    }
    add_resolved(&mut text, call);
    add_notes(&mut structured, &mut text, notes);
    Answer { structured, text }
}

/// The call that goes on where a text was cut.
fn continuation(request: &ExecuteRequest, cut: &present::Cut) -> Value {
    let mut arguments = Map::from_iter([
        ("action".to_owned(), json!(request.action)),
        ("params".to_owned(), Value::Object(request.params.clone())),
        ("offset".to_owned(), json!(cut.next_offset)),
    ]);
    if let Some(path) = &cut.path {
        arguments.insert("fields".to_owned(), json!([path]));
    }
    json!({"tool": EXECUTE, "arguments": arguments})
}

fn page_line(page: &Value) -> String {
    let number = |name: &str| page.get(name).and_then(Value::as_u64);
    let mut line = String::new();
    if let (Some(shown), Some(came)) = (number("shown"), number("came")) {
        let _ = write!(line, "Shown: the first {shown} of {came} on this page. ");
    }
    if let Some(at) = number("page") {
        let _ = write!(line, "Page {at}");
        let _ = number("total_pages").map_or(Ok(()), |pages| write!(line, " of {pages}"));
        let _ = number("total").map_or(Ok(()), |total| write!(line, ", {total} in all"));
        line.push_str(". ");
    }
    match page.get("next").filter(|next| !next.is_null()) {
        Some(next) => format!("{line}Next: {next}\n"),
        None => format!("{}\n", line.trim_end()),
    }
}

/// What every answer of execute begins with: which action it was, by which operation, with which ids.
pub fn head(call: &Call) -> Map<String, Value> {
    let mut head = Map::from_iter([
        ("action".to_owned(), json!(call.action())),
        ("operation".to_owned(), json!(call.operation())),
    ]);
    let resolved = resolve::told(call);
    if !resolved.is_empty() {
        head.insert("resolved".to_owned(), Value::Object(resolved));
        head.insert("lookups".to_owned(), json!(call.lookups()));
    }
    head
}

/// The names of a call with their ids, to read.
pub fn add_resolved(text: &mut String, call: &Call) {
    for (param, said) in resolve::told(call) {
        let _ = writeln!(text, "Resolved: {param}: {}.", said.as_str().unwrap_or_default());
    }
}

/// The notes in both forms.
pub fn add_notes(structured: &mut Map<String, Value>, text: &mut String, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    structured.insert("notes".to_owned(), json!(notes));
    for note in notes {
        let _ = writeln!(text, "Note: {note}.");
    }
}
