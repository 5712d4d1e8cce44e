//! `merge_request.comment_on_line`: a thread on lines of a merge request's diff, by file and number or by the text of a line.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::composite::mr_diff::{
    DiffPosition, LinePosition, LineReference, MergeRequestDiff, body, indented,
};
use crate::composite::permalink;
use crate::composite::run::{CompositeRun, KnownStep};
use crate::gitlab::Content;
use crate::present;
use crate::tools::response::{ActionResponse, Outcome};
use crate::tools::{Answer, ErrorKind, NextCall, ToolError};
use crate::untrusted::mask_tokens;

/// The comment.
pub fn known_steps(run: &CompositeRun<'_>) -> Vec<KnownStep> {
    let (action, text) = posting(run);
    let step_params = run.of_merge_request(json!({text: run.text("body")}));
    vec![KnownStep::new("comment", 1, action, step_params)]
}

/// The action that posts the comment, and its parameter with the text.
fn posting(run: &CompositeRun<'_>) -> (&'static str, &'static str) {
    match is_draft(run) {
        true => ("draft_note.create", "note"),
        false => ("merge_request_discussion.create", "body"),
    }
}

/// True if only the author sees the comment until the review is submitted.
fn is_draft(run: &CompositeRun<'_>) -> bool {
    run.flag("draft", false)
}

pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let given = permalink::expand(run, &run.params).await?;
    let reference = LineReference::from_params(&given).map_err(|fault| run.invalid(fault))?;
    let reference = reference.ok_or_else(|| run.invalid("it takes `file` with `line`, or `line_text`"))?;
    let (spot, placed) = located(run, &reference).await?;
    match posted(run, &spot, &placed).await {
        // The diff may have changed since it was read. The refusal changed nothing, so the line is located again.
        Err(error) if is_of_line(&error) => {
            let (spot, again) = located(run, &reference).await?;
            if again.position == placed.position {
                return Err(refused(run, &spot, error));
            }
            posted(run, &spot, &again).await.map_err(|error| refused(run, &spot, error))
        }
        outcome => outcome,
    }
}

async fn located(
    run: &CompositeRun<'_>,
    reference: &LineReference,
) -> Result<(LinePosition, DiffPosition), ToolError> {
    let diff = MergeRequestDiff::fetch(run, &[reference.file()]).await?;
    let located = diff.locate(reference, &OnceLock::new()).await;
    located.map_err(|fault| fault.error(run, &run.params))
}

async fn posted(
    run: &CompositeRun<'_>,
    spot: &LinePosition,
    placed: &DiffPosition,
) -> Result<Answer, ToolError> {
    let text = body(run.text("body").unwrap_or_default(), run.text("suggestion"), Some(placed));
    let text = text.map_err(|fault| run.invalid(fault))?;
    let (action, name) = posting(run);
    let step_params = run.of_merge_request(json!({name: text, "position": placed.position}));
    match run.step(action, step_params).await? {
        Outcome::Response(response) => Ok(answer(run, spot, placed, *response)),
        Outcome::Answer(preview) => Ok(preview),
    }
}

fn answer(
    run: &CompositeRun<'_>,
    spot: &LinePosition,
    placed: &DiffPosition,
    response: ActionResponse,
) -> Answer {
    let thread = match response.reply.content {
        Content::Json(thread) => thread,
        _ => Value::Null,
    };
    let is_draft = is_draft(run);
    let note = if is_draft { Some(&thread) } else { thread.get("notes").and_then(|notes| notes.get(0)) };
    let number = |name: &str| placed.position.get(name).cloned().unwrap_or_default();
    let suggestion = run.text("suggestion").map(|text| indented(text, placed));
    let mut data = json!({
        "discussion_id": thread.get("id").filter(|_| !is_draft),
        if is_draft { "draft_note_id" } else { "note_id" }: note.and_then(|note| note.get("id")),
        "file": placed.position.get("new_path"),
        "old_line": number("old_line"),
        "new_line": number("new_line"),
        "line": mask_tokens(&placed.line),
    });
    let kind = if is_draft { "draft note" } else { "note" };
    let id = note.and_then(|note| note.get("id")).map(|id| format!(" as {kind} {id}")).unwrap_or_default();
    let line = mask_tokens(&present::cleaned(&placed.line)).into_owned();
    let outcome = if is_draft { "Drafted" } else { "Posted" };
    let mut text = format!("{outcome} on {}{id}.\n{}", spot.label(), present::marked(&line));
    if is_draft {
        text.push_str("Only you see it until draft_note.publish_all submits the review.\n");
    }
    if let (Some(suggestion), Value::Object(data)) = (suggestion, &mut data) {
        text.push_str(&format!("Suggested in its place:\n{}\n", present::fenced(&suggestion)));
        data.insert("suggestion".to_owned(), json!(suggestion));
    }
    run.answer(present::cleaned_value(data), text, Map::new(), &[])
}

/// True if GitLab rejected the line.
pub fn is_of_line(error: &ToolError) -> bool {
    error.message.contains("line_code") || error.message.contains("valid line code")
}

/// GitLab knows another diff than it sends: the comment is offered without its line.
fn refused(run: &CompositeRun<'_>, spot: &LinePosition, error: ToolError) -> ToolError {
    if !is_of_line(&error) {
        return error;
    }
    let whole = format!("`{}`: {}", spot.label(), run.text("body").unwrap_or_default());
    let step_params = run.of_merge_request(json!({"body": whole}));
    let message = format!(
        "GitLab rejects a comment on {}, although the line is in its diff. Nothing was posted",
        spot.label()
    );
    ToolError::new(ErrorKind::Conflict, message)
        .hint("GitLab may still be preparing its diff: try again, or use `fix` to comment on the whole merge request.")
        .fix(NextCall::execute("merge_request_discussion.create", &step_params))
}
