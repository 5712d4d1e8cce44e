//! Answers with the rows of a whole list, or with counts and sums over them.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::walk::{End, MAX_PAGES, MAX_ROWS, Walked};
use crate::gitlab::{Content, Page};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::header;
use crate::messages::request::{Answer, ExecuteRequest, NextCall};
use crate::present::aggregate::{Aggregation, Aggregator};
use crate::present::{self, ContentKind, Options};
use crate::tools::reply::state_notes::{self, ExplainedState};
use crate::tools::response::ActionResponse;
use crate::tools::state::Tools;

/// Renders the rows of the pages; `is_cut` if the first page alone does not fit. Pages that do not fit are left out whole,
/// so that the next call begins after the last row.
pub(super) fn render_rows(
    tools: &Tools,
    (mut pages, mut is_cut): (Vec<ActionResponse>, bool),
    mut walked: Walked,
    asked: &ExecuteRequest,
) -> Result<Answer, ToolError> {
    loop {
        let Some(first) = pages.first() else {
            return Err(ToolError::new(ErrorKind::Internal, "a list was read without a page"));
        };
        let request = ExecuteRequest { all: Some(true), ..first.request.clone() };
        let mut response = ActionResponse { request, notes: walked.notes.clone(), ..first.clone() };
        let is_alone = pages.len() == 1;
        if is_alone && (is_cut || walked.rows == 0) {
            return Ok(response.answer(tools, tools.max_bytes));
        }
        let rows = pages.iter().flat_map(|page| page.reply.content.rows()).cloned().collect();
        response.reply.content = Content::Json(Value::Array(rows));
        response.reply.bytes = pages.iter().map(|page| page.reply.bytes).sum();
        response.reply.page = Page::default();
        let mut answer = response.answer(tools, tools.max_bytes);
        if answer.structured.get("page").is_none_or(|page| page.get("shown").is_none()) {
            add_walk(tools, &mut answer, &walked, asked);
            return Ok(answer);
        }
        if is_alone {
            is_cut = true;
        } else if let Some(last) = pages.pop() {
            walked.pages -= 1;
            walked.rows -= last.reply.content.rows().len();
            walked.end = End::Sink;
            walked.next = Some(last.request);
        }
    }
}

/// Renders counts and sums.
pub(super) fn render_counts(
    tools: &Tools,
    aggregator: Aggregator,
    aggregation: &Aggregation,
    walked: Walked,
    asked: &ExecuteRequest,
) -> Answer {
    let mut notes = walked.notes.clone();
    if asked.fields.is_some() {
        notes.push("`fields` applies to rows and was ignored".to_owned());
    }
    let aggregate = aggregator.finish();
    notes.extend(aggregate.notes);
    let options = Options {
        full: true,
        ..Options::new(ContentKind::default(), tools.max_bytes, tools.client.secrets())
    };
    let shown = present::present(present::GivenContent::Json(aggregate.data), &options);
    notes.extend(shown.notes);
    let mut structured = header::head(&walked.call);
    let mut text =
        if shown.quoted { present::marked(&shown.text) } else { format!("{}\n", shown.text.trim_end()) };
    let shown_groups = shown.data.as_array().map_or(0, Vec::len);
    structured.insert("data".to_owned(), shown.data);
    if let (Some(path), Some(total)) = (&aggregation.count_by, aggregate.groups) {
        let mut groups = Map::from_iter([
            ("by".to_owned(), json!(present::line(path))),
            ("total".to_owned(), json!(total)),
            ("shown".to_owned(), json!(shown_groups)),
        ]);
        let _ = write!(text, "Groups by {}: {total}", present::line(path));
        if shown_groups < total {
            let _ = write!(text, ", shown: {shown_groups}");
        }
        if let Some(others) = aggregate.others {
            let _ = write!(text, "; the others: {}", render_fields(&others));
            groups.insert("others".to_owned(), others);
        }
        text.push_str(".\n");
        structured.insert("groups".to_owned(), Value::Object(groups));
        if shown.rows.is_some() {
            notes.push("not all groups fit the answer; `top` keeps the largest".to_owned());
        }
    }
    if let Some(path) = &aggregation.sum {
        let _ = writeln!(text, "Sum of: {}.", present::line(path));
        structured.insert("sum_of".to_owned(), json!(present::line(path)));
    }
    header::add_resolved(&mut text, walked.call.resolved());
    header::add_notes(&mut structured, &mut text, &notes);
    let mut answer = Answer::new(structured, text);
    add_walk(tools, &mut answer, &walked, asked);
    answer
}

/// Renders fields as `groups 4, count 12`.
fn render_fields(fields: &Value) -> String {
    let fields = fields.as_object().into_iter().flatten();
    fields.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

/// The limit of GitLab's at which a list seems to end, by its number of rows.
fn limits(tools: &Tools, walked: &Walked) -> Vec<ExplainedState> {
    let Ok(Some(action)) = tools.catalog.get(walked.call.action()) else { return Vec::new() };
    let total = walked.total.or(u64::try_from(walked.rows).ok());
    state_notes::explain(tools, &action, &walked.request.params, &json!([]), total)
}

/// Adds the extent of the read to an answer, and the call for the rest.
fn add_walk(tools: &Tools, answer: &mut Answer, walked: &Walked, asked: &ExecuteRequest) {
    let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let is_complete = matches!(walked.end, End::Complete);
    let rows = match walked.total.filter(|_| !is_complete) {
        Some(total) => format!("{} of {total} rows", walked.rows),
        None => counted(walked.rows, "row"),
    };
    let later = walked.first_page.filter(|first| *first > 1);
    let from = later.map(|first| format!(" from page {first} on")).unwrap_or_default();
    let read = format!("{rows} on {}{from}", counted(walked.pages, "page"));
    let limits = if is_complete { limits(tools, walked) } else { Vec::new() };
    let why = reason(&walked.end, !limits.is_empty());
    let mut page = Map::from_iter([
        ("pages_read".to_owned(), json!(walked.pages)),
        ("rows".to_owned(), json!(walked.rows)),
        ("complete".to_owned(), json!(is_complete && limits.is_empty())),
        ("end".to_owned(), json!(why)),
    ]);
    if let Some(first) = later {
        page.insert("first_page".to_owned(), json!(first));
    }
    if let Some(total) = walked.total {
        page.insert("total".to_owned(), json!(total));
    }
    let _ = writeln!(answer.text, "Read: {read}, {why}.");
    if !limits.is_empty() {
        state_notes::add_states(&mut answer.structured, &mut answer.text, &limits);
    }
    if let End::Failed(error) = &walked.end {
        page.insert("failed".to_owned(), json!({"kind": error.kind, "message": error.message}));
        let _ = writeln!(answer.text, "Failed: {}", error.message);
    }
    let next = walked.next.as_ref().map(|next| rest_call(next, asked));
    if let Some(next) = &next {
        let _ = writeln!(answer.text, "Next: {next}");
    }
    page.insert("next".to_owned(), json!(next));
    answer.structured.insert("page".to_owned(), Value::Object(page));
}

/// The words for the end of a read; `is_limited` if GitLab lists fewer rows than there are.
fn reason(end: &End, is_limited: bool) -> String {
    match end {
        End::Complete if is_limited => "all that GitLab lists".to_owned(),
        End::Complete => "to the end of the list".to_owned(),
        End::Sink => "as many whole pages as fit the answer".to_owned(),
        End::MostPages => format!("one call reads at most {MAX_PAGES} pages"),
        End::MostRows => format!("one call reads at most {MAX_ROWS} rows"),
        End::Time { seconds } => format!("one call reads for at most {seconds} seconds"),
        End::Failed(error) => format!("the next page failed ({})", error.kind.name()),
        End::NoWay => "GitLab names no page after it that can be requested".to_owned(),
    }
}

/// The call for the rest of a list, with the options of the first.
fn rest_call(next: &ExecuteRequest, asked: &ExecuteRequest) -> NextCall {
    let ExecuteRequest { action, params, .. } = next.clone();
    let ExecuteRequest { fields, view, all, count_by, sum, top, .. } = asked.clone();
    NextCall::for_request(&ExecuteRequest {
        action,
        params,
        fields,
        view,
        all,
        count_by,
        sum,
        top,
        ..Default::default()
    })
}
