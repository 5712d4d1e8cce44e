//! Renders the answer of execute: the reply, its pagination, and the omitted parts with a hint at how to get them.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::catalog::{Action, Interface, Risk};
use crate::gitlab::{self, Reply, Unread};
use crate::messages::change::{self, Change};
use crate::messages::continuation;
use crate::messages::header;
use crate::messages::log_selection;
use crate::messages::request::{Answer, ExecuteRequest, NextCall, View};
use crate::present::beginning::{Beginnings, Length};
use crate::present::{
    self, ContentKind, GivenContent, Kept, Masked, Missing, Options, Picture, PictureError, Presented,
};
use crate::text::{Position, list_first, size_within};
use crate::tools::file_transfer;
use crate::tools::reply::state_notes::{self, ExplainedState};
use crate::tools::reply::{paging, uploads};
use crate::tools::state::Tools;

/// Maximum number of unknown fields that are named.
const MAX_MISSING: usize = 10;

/// A reply with the picture that it is.
pub struct DecodedReply {
    pub reply: Reply,
    pub picture: Option<Result<Picture, PictureError>>,
}

/// The reply to a call, presented; its data has at most so many bytes.
pub fn render_answer(
    tools: &Tools,
    budget: usize,
    (request, fields, edited): (&ExecuteRequest, &[String], &[String]),
    action: &Action,
    call: &Call,
    decoded: DecodedReply,
    mut notes: Vec<String>,
) -> Answer {
    let reply = &decoded.reply;
    let is_document = action.direct() == Some(Interface::Graphql);
    let page = reply.page.clone();
    let is_list = matches!(&reply.content, gitlab::Content::Json(Value::Array(_)));
    let words = tools.catalog.words().ok();
    let mut change = words.and_then(|words| change::describe(words, action, call, &request.params, reply));
    if let Some(change) = &mut change {
        change.leave_out(edited);
    }
    let answer = match &reply.content {
        gitlab::Content::Json(answer) => Some(answer),
        _ => None,
    };
    let explain = |answer| state_notes::explain(tools, action, &request.params, answer, page.total);
    let mut states = answer.map(explain).unwrap_or_default();
    states.retain(|state| state.is_of(fields));
    let length = Length(answer.and_then(|answer| size_within(answer, Length::MAX_MEASURED_BYTES)));
    let narrowing = change.as_ref().map(NarrowedFields::from_change).unwrap_or_default();
    let shown =
        present_fields(tools, budget, (request, fields, narrowing), (action, call), decoded, &mut notes);
    notes.extend(change.iter().flat_map(|change| change.notes.iter().cloned()));
    notes.extend(shown.notes.iter().cloned());
    notes.extend(shown.missing.iter().take(MAX_MISSING).map(missing_field_note));
    notes.extend(secret_notes(&shown.masked, is_document, call.risk() == Risk::Read));
    // Before notes are cut.
    for note in &mut notes {
        tools.client.secrets().redact_string(note);
    }
    // The call for the rest is the same once more, and a change is made once.
    let page = if (is_list || is_document) && call.risk() == Risk::Read {
        let direct = paging::may_go_direct(tools).then_some(call);
        notes.extend(paging::uncounted_note(&page));
        notes.extend(paging::lost_cursor_note(action, &page, direct.is_some()));
        paging::page_info(request, action, &page, shown.rows, direct)
    } else {
        None
    };
    let whole =
        is_whole_elsewhere(&shown, call).then(|| file_transfer::save_call(tools.files.as_ref(), request));
    // A write is no request to look at pictures.
    let pictures = match call.risk() {
        Risk::Read => uploads::picture_calls(tools, request, call, &shown.data),
        _ => Vec::new(),
    };
    let answer = assemble(tools, request, call, (shown, length), (page, whole), (change, &states), &notes);
    uploads::with_pictures(answer, &pictures)
}

/// Presents the content of a reply; its data has at most so many bytes.
pub fn present_reply(
    tools: &Tools,
    budget: usize,
    (request, fields): (&ExecuteRequest, &[String]),
    action: (&Action, &Call),
    decoded: DecodedReply,
    notes: &mut Vec<String>,
) -> Presented {
    present_fields(tools, budget, (request, fields, NarrowedFields::default()), action, decoded, notes)
}

/// Fields of an answer that the first sentence makes unnecessary.
#[derive(Clone, Copy, Default)]
struct NarrowedFields<'a> {
    /// Fields that the compact view has, apart from those that identify the object; all if empty.
    only: &'a [String],
    /// Fields that the text does not repeat.
    said: &'a [String],
}

impl<'a> NarrowedFields<'a> {
    fn from_change(change: &'a Change) -> NarrowedFields<'a> {
        NarrowedFields { only: &change.fields, said: &change.said }
    }
}

/// [`present_reply`], narrowed.
fn present_fields(
    tools: &Tools,
    budget: usize,
    (request, fields, narrowing): (&ExecuteRequest, &[String], NarrowedFields<'_>),
    (action, call): (&Action, &Call),
    decoded: DecodedReply,
    notes: &mut Vec<String>,
) -> Presented {
    let is_document = action.direct() == Some(Interface::Graphql);
    let is_full = request.view == Some(View::Full);
    // A flag that is off says something to who has set it.
    let given: Vec<String> =
        if call.risk() == Risk::Read { Vec::new() } else { request.params.keys().cloned().collect() };
    let options = Options {
        kind: kind(tools, action, call),
        fields,
        // A GraphQL document already selects the fields.
        full: is_full || is_document,
        unmasked: is_full,
        budget,
        place: window_start(action, request),
        secrets: tools.client.secrets(),
        kept: Kept { shows: &action.shows, given: &given },
        only: narrowing.only,
        // Fields that were asked for, or the whole, are shown as they are.
        said: if is_full || !fields.is_empty() { &[] } else { narrowing.said },
        names: Some(call.field_names()),
    };
    let received = decoded.reply.rows;
    let mut shown = present::present(content(decoded, call.risk() == Risk::Read, notes), &options);
    if call.is_graphql() {
        // A selection of GraphQL names fields and no items.
        let has_item = |path: &String| path.split('.').any(|step| step.parse::<usize>().is_ok());
        shown.cut.retain(|cut| !cut.path.as_ref().is_some_and(has_item));
    }
    // Rows that were counted and not kept came as well.
    shown.rows =
        received.zip(shown.data.as_array()).map(|(received, rows)| (rows.len(), received)).or(shown.rows);
    shown
}

/// Start of the window, by the request or by the log selection.
fn window_start(action: &Action, request: &ExecuteRequest) -> Option<Position> {
    let is_log = ContentKind::of([action], false).log;
    let of_log = || is_log.then(|| log_selection::window_start(&request.params)).flatten();
    continuation::window_start(request).ok().flatten().or_else(of_log)
}

/// True if the whole could be saved: a binary, or a text that is shown in part.
fn is_whole_elsewhere(shown: &Presented, call: &Call) -> bool {
    let is_part = shown.binary || shown.cut.iter().any(|cut| cut.path.is_none());
    is_part && call.risk() == Risk::Read && !call.is_graphql()
}

/// The data of a reply as a later call may refer to it: every field, with secrets masked unless the call asked for
/// them.
pub fn referable(
    tools: &Tools,
    call: &Call,
    data: &Value,
    (fields, view): (&[String], Option<View>),
) -> Value {
    masked(tools, call, data.clone(), (fields, view))
}

/// The data of a reply with its secrets masked, as [`referable`].
pub fn masked(
    tools: &Tools,
    call: &Call,
    mut data: Value,
    (fields, view): (&[String], Option<View>),
) -> Value {
    tools.client.secrets().redact_value(&mut data);
    if view != Some(View::Full) {
        let action = tools.catalog.get(call.action()).ok().flatten();
        let kind = action.map(|action| kind(tools, &action, call)).unwrap_or_default();
        present::mask(&mut data, kind, fields, Some(call.field_names()));
    }
    data
}

/// Content hints from the action, or from the operations of a raw request.
fn kind(tools: &Tools, action: &Action, call: &Call) -> ContentKind {
    let touched = call.touches().iter().flat_map(|touched| &touched.ids).filter(|id| **id != action.id);
    let touched: Vec<Action> = touched.filter_map(|id| tools.catalog.get(id).ok().flatten()).collect();
    ContentKind::of(touched.iter().chain([action]), call.risk() != Risk::Read)
}

/// Note on an unknown field, with the nearest name and the existing fields.
fn missing_field_note(missing: &Missing) -> String {
    const SHOWN: usize = 40;
    let Missing { path, step, known } = missing;
    let plain: Vec<&str> = known.iter().map(String::as_str).filter(|name| present::is_plain(name)).collect();
    let nearest = crate::search::nearest(step, plain.iter().copied());
    let meant = nearest.map(|name| format!("; did you mean `{}`?", path.replacen(step.as_str(), name, 1)));
    let there = match plain.as_slice() {
        [] => format!("; `{step}` must be a field of an object"),
        names => format!("; it has {}", list_first(names.iter().copied(), SHOWN)),
    };
    format!("no field {path}{}{there}", meant.unwrap_or_default())
}

/// Notes on masked and newly created secrets.
fn secret_notes(masked: &Masked, is_document: bool, is_read: bool) -> Vec<String> {
    let names = |paths: &[String]| {
        let named: Vec<String> = paths
            .iter()
            .filter(|path| present::is_plain(path))
            .take(5)
            .map(|path| format!("`{path}`"))
            .collect();
        if named.is_empty() { "a secret".to_owned() } else { named.join(", ") }
    };
    let mut notes = Vec::new();
    let is_text = masked.hidden.iter().all(|path| !present::is_plain(path));
    if !masked.made.is_empty() {
        notes.push(format!("{} shown only this once", names(&masked.made)));
    }
    // To see what a write has set, no one should repeat it.
    if is_read && !masked.hidden.is_empty() {
        let how = if is_document || is_text { "view: \"full\"" } else { "fields" };
        notes.push(format!("`{how}` shows {}", names(&masked.hidden)));
    }
    notes
}

/// Converts the content of a reply.
fn content(decoded: DecodedReply, is_read: bool, notes: &mut Vec<String>) -> GivenContent {
    let DecodedReply { reply, picture } = decoded;
    match reply.content {
        gitlab::Content::Empty if !reply.headers.is_empty() => GivenContent::Json(json!(reply.headers)),
        gitlab::Content::Empty if reply.status == 304 => GivenContent::Unchanged,
        gitlab::Content::Empty if is_read => GivenContent::Empty,
        gitlab::Content::Empty => GivenContent::Done,
        gitlab::Content::Json(value) => GivenContent::Json(value),
        gitlab::Content::Text(text) => GivenContent::Text(text),
        gitlab::Content::Binary { bytes, content_type, filename } => {
            match present::text_of(&bytes, &content_type) {
                Some((text, strays)) => {
                    notes.extend(strays);
                    GivenContent::Text(text)
                }
                None => {
                    let picture = picture.transpose().unwrap_or_else(|refused| {
                        notes.push(refused.to_string());
                        None
                    });
                    GivenContent::Binary { bytes, content_type, filename, picture }
                }
            }
        }
        gitlab::Content::Unread(why) => {
            notes.push(match why {
                Unread::TooLarge { limit, .. } => {
                    format!("done; the answer is over {limit} bytes and was not read")
                }
                Unread::TooMany { limit } => {
                    format!("done; the answer has more than {limit} values and is not shown")
                }
                Unread::Malformed => {
                    "done, by GitLab's status; the rest of the answer is cut off or garbled and is not shown"
                        .to_owned()
                }
                Unread::Lost => "done; the connection was lost before the answer was read".to_owned(),
            });
            GivenContent::Done
        }
    }
}

fn assemble(
    tools: &Tools,
    request: &ExecuteRequest,
    call: &Call,
    (shown, length): (Presented, Length),
    (page, whole): (Option<Value>, Option<Value>),
    (change, states): (Option<Change>, &[ExplainedState]),
    notes: &[String],
) -> Answer {
    let mut structured = header::head(call);
    let body =
        if shown.quoted { present::marked(&shown.text) } else { format!("{}\n", shown.text.trim_end()) };
    let line = (length.0.is_some() && may_be_one_line(&shown)).then(|| present::one_line(&shown.data));
    let beginnings = match change {
        Some(mut change) => {
            for sentence in [&mut change.sentence, &mut change.brief] {
                tools.client.secrets().redact_string(sentence);
            }
            structured.insert("changed".to_owned(), change.structured());
            // Nothing else is known of a change without a body.
            let says_nothing = matches!(shown.data, Value::Null | Value::Bool(true));
            let is_alone = change.is_whole || says_nothing || shown.text.is_empty();
            change.beginnings(if is_alone { "" } else { &body }, line)
        }
        None => Beginnings::of_read(body, line),
    };
    let mut text = String::new();
    let omitted = add_omissions(&mut text, request, call.risk(), &shown, whole);
    if !shown.same.is_empty() {
        structured.insert("in_every_row".to_owned(), Value::Object(shown.same));
    }
    structured.insert("data".to_owned(), shown.data);
    if let Some(page) = page {
        text.push_str(&page_line(&page));
        structured.insert("page".to_owned(), page);
    }
    if !omitted.is_empty() {
        structured.insert("omitted".to_owned(), Value::Object(omitted));
    }
    state_notes::add_states(&mut structured, &mut text, states);
    header::add_resolved(&mut text, call.resolved());
    header::add_notes(&mut structured, &mut text, notes);
    let beginning = beginnings.choose(length, text.len());
    if let Some(Value::Object(changed)) = structured.get_mut("changed") {
        changed.insert("says".to_owned(), json!(beginning.outcome));
    }
    text.insert_str(0, &beginning.text);
    Answer { structured, text, file: shown.file }
}

/// Writes a line for each thing that is left out, with the call that has it. Returns them in the structured form.
fn add_omissions(
    text: &mut String,
    request: &ExecuteRequest,
    risk: Risk,
    shown: &Presented,
    whole: Option<Value>,
) -> Map<String, Value> {
    let mut omitted = present::omitted(shown);
    for cut in &shown.cut {
        // A change is made once: it is no way to the rest of a text.
        let calls = if risk == Risk::Read { continuation::continuations(request, cut) } else { Vec::new() };
        continuation::add_cut(text, cut, &calls);
        if let Some(said) = omitted.get_mut(continuation::text_name(cut)).and_then(Value::as_object_mut) {
            said.extend(calls);
        }
    }
    if let Some(whole) = whole {
        let _ = match whole.as_str() {
            Some(how) => writeln!(text, "Whole: {how}."),
            None => writeln!(text, "Whole: {whole}"),
        };
        let said = omitted.entry("text").or_insert_with(|| json!({}));
        if let Some(said) = said.as_object_mut() {
            said.insert("whole".to_owned(), whole);
        }
    }
    if let Some(whole) = whole_diff_call(request, &shown.unfinished) {
        let _ = writeln!(text, "Whole: {whole}");
        omitted.insert("diffs".to_owned(), json!({"files": shown.unfinished.len(), "whole": whole}));
    }
    if !shown.dropped.is_empty() {
        let (named, more) = shown.left_out();
        let more = if more > 0 { format!(", +{more}") } else { String::new() };
        let _ = writeln!(text, "Not shown: {}{more}.", named.join(", "));
    }
    omitted
}

/// True if the data of an answer are all of its text, and could be written as JSON in one line.
fn may_be_one_line(shown: &Presented) -> bool {
    shown.same.is_empty()
        && shown.cut.is_empty()
        && shown.rows.is_none()
        && shown.file.is_none()
        && !shown.binary
        && (shown.data.as_object().is_some_and(|fields| !fields.is_empty())
            || shown.data.as_array().is_some_and(|rows| !rows.is_empty()))
}

/// The call that shows the diff, or the first file, that GitLab did not send whole.
fn whole_diff_call(request: &ExecuteRequest, unfinished: &[String]) -> Option<Value> {
    let file = unfinished.first()?;
    let param = |name: &str| request.params.get(name).cloned();
    let (action, params) = if request.action.starts_with("merge_request") {
        ("merge_request.get_raw_diffs", json!({"fullPath": param("fullPath")?, "iid": param("iid")?}))
    } else {
        let at = param("sha").or_else(|| param("to"))?;
        ("repository_file.get_raw", json!({"fullPath": param("fullPath")?, "file_path": file, "ref": at}))
    };
    Some(json!(NextCall::execute(action, &params)))
}

fn page_line(page: &Value) -> String {
    let number = |name: &str| page.get(name).and_then(Value::as_u64);
    let mut line = String::new();
    if let (Some(shown), Some(received)) = (number("shown"), number("came")) {
        let _ = write!(line, "Shown: the first {shown} of {received} on this page. ");
    }
    let is_all = number("page") == Some(1) && number("total_pages") == Some(1);
    if let Some(total) = number("total").filter(|_| is_all) {
        // An empty list says so itself.
        if total > 0 {
            let _ = write!(line, "{total} in all. ");
        }
    } else if let Some(at) = number("page") {
        let _ = write!(line, "Page {at}");
        let _ = number("total_pages").map_or(Ok(()), |pages| write!(line, " of {pages}"));
        let _ = number("total").map_or(Ok(()), |total| write!(line, ", {total} in all"));
        line.push_str(". ");
    }
    match page.get("next").filter(|next| !next.is_null()) {
        Some(next) => format!("{line}Next: {next}\n"),
        None if line.is_empty() => line,
        None => format!("{}\n", line.trim_end()),
    }
}
