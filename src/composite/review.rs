//! `merge_request.review`: comments and a verdict in one call. Every position is looked up before anything is
//! posted; comments that exist already are not posted again; comments are drafts until they are published together,
//! if GitLab supports drafts.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::composite::agreement::{self, HeldStep};
use crate::composite::item_results::ItemResults;
use crate::composite::mr_diff::{
    DiffPosition, LinePosition, LineReference, MergeRequestDiff, PositionError, body, replaced,
};
use crate::composite::permalink;
use crate::composite::run::{CompositeRun, KnownStep, failed, params};
use crate::gitlab::Content;
use crate::tools::decide::PendingCall;
use crate::tools::response::Outcome;
use crate::tools::{Answer, ErrorKind, NextCall, ToolError};

/// Maximum number of comments.
const MAX_COMMENTS: usize = 50;
/// Maximum number of pages of existing threads.
const MAX_THREAD_PAGES: usize = 5;
const THREADS_PER_PAGE: usize = 100;

/// The actions by which comments are drafts until they are published. Without one of them, comments are posted one by one:
/// a draft that cannot be published is of no use.
const DRAFT_ACTIONS: [&str; 4] =
    ["draft_note.list", "draft_note.create", "draft_note.publish", "draft_note.publish_all"];

/// The quick action for requesting changes; GitLab's API has no other way.
/// <https://docs.gitlab.com/user/project/quick_actions/>
const REQUEST_CHANGES: &str = "/request_changes";

/// A comment that can be posted.
struct ReviewComment {
    /// The position as text; none for a comment on the whole merge request.
    place: Option<String>,
    body: String,
    position: Option<Value>,
}

/// Result of a comment.
enum CommentResult {
    /// Posted; with the id of the note if GitLab returned it.
    Posted(Option<Value>),
    /// Existed already.
    Known(Value),
    /// A draft that only its author sees.
    Draft(Value),
    Previewed(Answer),
    Failed(ToolError),
}

/// The comments and the verdict.
pub fn known_steps(run: &CompositeRun<'_>) -> Vec<KnownStep> {
    let given = run.list("comments").iter().take(MAX_COMMENTS).map(|comment| comment.get("body"));
    let bodies = given.chain([run.params.get("body")]).flatten().filter_map(Value::as_str).enumerate();
    let comment = |(at, body): (usize, &str)| {
        let step_params = run.of_merge_request(json!({"body": body}));
        KnownStep::new("comment", at + 1, "merge_request_discussion.create", step_params)
    };
    let mut steps: Vec<KnownStep> = bodies.map(comment).collect();
    if let Some((action, details)) = verdict_step(run.text("verdict").unwrap_or_default()) {
        let step = KnownStep::new("call", steps.len() + 1, action, run.of_merge_request(details));
        steps.push(KnownStep { name: "the verdict".to_owned(), ..step });
    }
    steps
}

/// The action that gives a verdict, with its own parameters.
fn verdict_step(verdict: &str) -> Option<(&'static str, Value)> {
    match verdict {
        "approve" => Some(("merge_request.approve", json!({}))),
        "request_changes" => Some(("merge_request_note.create", json!({"body": REQUEST_CHANGES}))),
        _ => None,
    }
}

pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let verdict = run.text("verdict").unwrap_or("comment");
    let mut given: Vec<Map<String, Value>> =
        run.list("comments").iter().filter_map(|comment| comment.as_object().cloned()).collect();
    if let Some(body) = run.text("body").filter(|body| !body.trim().is_empty()) {
        given.push(params(json!({"body": body})));
    }
    if given.len() > MAX_COMMENTS {
        return Err(run.invalid(format!(
            "a review has at most {MAX_COMMENTS} comments, and these are {}",
            given.len()
        )));
    }
    if given.is_empty() && verdict == "comment" {
        return Err(run.invalid("it takes `comments`, a `body`, or another `verdict`"));
    }
    let (comments, head) = locate_comments(run, &given).await?;
    let plan = ReviewPlan::new(run, comments).await.with_verdict(verdict, head);
    let agreed = confirm_steps(run, &plan).await?;
    let done = post_comments(run, &plan, agreed).await;
    let last = submit_verdict(run, verdict, &plan, &done, agreed).await;
    let comments = plan.comments;
    Ok(render_review(run, &comments, done, verdict, last))
}

/// Locates the comments in the diff. The error lists all comments that cannot be posted.
async fn locate_comments(
    run: &CompositeRun<'_>,
    given: &[Map<String, Value>],
) -> Result<(Vec<ReviewComment>, Option<Value>), ToolError> {
    let mut expanded = Vec::new();
    for comment in given {
        expanded.push(permalink::expand(run, comment).await?);
    }
    let given = expanded.as_slice();
    let mut spots = Vec::new();
    for (at, comment) in given.iter().enumerate() {
        let spot = LineReference::from_params(comment)
            .map_err(|fault| run.invalid(format!("comment {}: {fault}", at + 1)))?;
        let text = comment.get("body").and_then(Value::as_str).unwrap_or_default();
        if text.trim().is_empty() && comment.get("suggestion").is_none() {
            return Err(run.invalid(format!("comment {}: its `body` is empty", at + 1)));
        }
        spots.push(spot);
    }
    let wanted: Vec<Option<&str>> = spots.iter().flatten().map(LineReference::file).collect();
    let diff = MergeRequestDiff::fetch(run, &wanted).await?;
    let raw = OnceLock::new();
    let mut comments = Vec::new();
    let mut faults: Vec<(usize, PositionError)> = Vec::new();
    for (at, (comment, spot)) in given.iter().zip(&spots).enumerate() {
        match locate_comment(&diff, spot.as_ref(), &raw).await {
            Ok(located) => {
                let (spot, placed) = located.unzip();
                let text = comment.get("body").and_then(Value::as_str).unwrap_or_default();
                let suggestion = comment.get("suggestion").and_then(Value::as_str);
                let body = body(text, suggestion, placed.as_ref())
                    .map_err(|fault| run.invalid(format!("comment {}: {fault}", at + 1)))?;
                let place = spot.as_ref().map(LinePosition::label);
                comments.push(ReviewComment { place, body, position: placed.map(|placed| placed.position) });
            }
            Err(fault) => faults.push((at, fault)),
        }
    }
    if !faults.is_empty() {
        return Err(misplaced_error(run, faults));
    }
    Ok((comments, diff.refs.get("head_sha").cloned()))
}

async fn locate_comment(
    diff: &MergeRequestDiff<'_>,
    reference: Option<&LineReference>,
    raw: &OnceLock<String>,
) -> Result<Option<(LinePosition, DiffPosition)>, PositionError> {
    let Some(reference) = reference else { return Ok(None) };
    diff.locate(reference, raw).await.map(Some)
}

/// The error with every wrong position, and the review with each comment at the nearest line.
fn misplaced_error(run: &CompositeRun<'_>, faults: Vec<(usize, PositionError)>) -> ToolError {
    let mut comments = run.list("comments").to_vec();
    let mut rows_at_nearest = Vec::new();
    let mut is_mended = true;
    for (at, fault) in faults {
        let mut row = params(json!({"comment": at + 1, "message": fault.message}));
        row.extend(fault.details);
        rows_at_nearest.push(Value::Object(row));
        let given = comments.get_mut(at).filter(|_| fault.instead.is_some());
        match (given, fault.instead) {
            (Some(Value::Object(given)), Some(instead)) => *given = replaced(given, instead),
            _ => is_mended = false,
        }
    }
    let count = rows_at_nearest.len();
    let comments_word = if count == 1 { "comment" } else { "comments" };
    let message =
        format!("{count} {comments_word} cannot be placed on a line of the diff. Nothing was posted");
    let mut error = ToolError::new(ErrorKind::InvalidParams, message);
    error.details.insert("comments".to_owned(), Value::Array(rows_at_nearest));
    if !is_mended {
        return error.fix(NextCall::execute("merge_request.list_diffs", &run.of_merge_request(json!({}))));
    }
    let mut mended = run.params.clone();
    mended.insert("comments".to_owned(), Value::Array(comments));
    error
        .hint("`fix` has each of them at the nearest line that is in the diff, or the first that matches its `line_text`.")
        .fix(NextCall::execute(run.id, &mended))
}

/// The calls of a review, known before the first of them is made.
struct ReviewPlan {
    of: Map<String, Value>,
    comments: Vec<ReviewComment>,
    /// For each comment, the id of the note that already has its text; null for a comment that is given twice.
    known: Vec<Option<Value>>,
    /// True if comments are drafts until they are published together.
    drafts: bool,
    /// True if the author has other drafts: publishing all at once would publish them too.
    has_other_drafts: bool,
    verdict: Option<ReviewStep>,
}

/// A call of a review.
#[derive(Clone)]
struct ReviewStep {
    action: &'static str,
    params: Map<String, Value>,
}

impl ReviewPlan {
    /// Reads the comments that exist already, and the drafts of the author.
    async fn new(run: &CompositeRun<'_>, comments: Vec<ReviewComment>) -> ReviewPlan {
        let of = run.of_merge_request(json!({}));
        let (mut known, mut others) = (Vec::new(), None);
        if !comments.is_empty() {
            let notes = fetch_notes(run).await.unwrap_or_default();
            let drafts = match DRAFT_ACTIONS.iter().all(|action| run.tools.may_run_id(action)) {
                true => run.read_json("draft_note.list", of.clone()).await.ok(),
                false => None,
            };
            others = drafts.as_ref().and_then(Value::as_array).map(Vec::len);
            for (at, comment) in comments.iter().enumerate() {
                let there =
                    notes.iter().find(|note| comment.matches(note)).and_then(|note| note.get("id").cloned());
                let is_twice = comments.iter().take(at).any(|other| other.is_same(comment));
                known.push(there.or_else(|| is_twice.then_some(Value::Null)));
            }
        }
        let has_other_drafts = others.is_some_and(|others| others > 0);
        ReviewPlan { of, comments, known, drafts: others.is_some(), has_other_drafts, verdict: None }
    }

    fn with_verdict(self, verdict: &str, head: Option<Value>) -> ReviewPlan {
        let Some((action, details)) = verdict_step(verdict) else { return self };
        let mut step_params = self.of.clone();
        step_params.extend(params(details));
        // Approves only the reviewed commit, not later pushes.
        let head = head.filter(|head| verdict == "approve" && !head.is_null());
        step_params.extend(head.map(|head| ("sha".to_owned(), head)));
        ReviewPlan { verdict: Some(ReviewStep { action, params: step_params }), ..self }
    }

    /// The call that posts a comment.
    fn post(&self, comment: &ReviewComment) -> ReviewStep {
        let (action, text) = match self.drafts {
            true => ("draft_note.create", "note"),
            false => ("merge_request_discussion.create", "body"),
        };
        ReviewStep { action, params: comment.params(text, &self.of) }
    }

    /// The call that publishes this draft, or all of them.
    fn publish(&self, draft: &Value) -> ReviewStep {
        let mut params = self.of.clone();
        if !self.has_other_drafts {
            return ReviewStep { action: "draft_note.publish_all", params };
        }
        params.insert("draft_note_id".to_owned(), draft.clone());
        ReviewStep { action: "draft_note.publish", params }
    }

    /// Every call that the review makes. The ids of drafts are not known yet, and no rule depends on them.
    fn steps(&self) -> Vec<ReviewStep> {
        let new = self.comments.iter().zip(&self.known).filter(|(_, known)| known.is_none());
        let posts: Vec<ReviewStep> = new.map(|(comment, _)| self.post(comment)).collect();
        let publishes = if !self.drafts || posts.is_empty() {
            0
        } else if self.has_other_drafts {
            posts.len()
        } else {
            1
        };
        let publish = std::iter::repeat_with(|| self.publish(&json!(0))).take(publishes);
        posts.into_iter().chain(publish).chain(self.verdict.clone()).collect()
    }
}

/// Asks about the calls of the review that need confirmation before any is made. Returns true if the user has agreed to
/// them.
///
/// # Errors
/// The question, or a call that is denied or cannot be made.
async fn confirm_steps(run: &CompositeRun<'_>, plan: &ReviewPlan) -> Result<bool, ToolError> {
    let mut held = Vec::new();
    for (at, ReviewStep { action, params }) in plan.steps().into_iter().enumerate() {
        let step = KnownStep::new("call", at + 1, action, params);
        match agreement::hold(run, &step).await? {
            // The question names the comments. The merge request is the same for all: it is read, and consent bound to it,
            // with the first.
            Some(HeldStep::Asked(call)) => {
                let prepared = call.prepared.filter(|_| held.is_empty());
                held.push(HeldStep::Asked(Box::new(PendingCall { prepared, ..*call })));
            }
            other => held.extend(other),
        }
    }
    let agreement = agreement::agree(run, run.params.clone(), held).await?;
    Ok(plan.steps().iter().enumerate().any(|(at, _)| agreement.covers(at + 1)))
}

/// Posts the comments that do not exist yet: as drafts that are published together, or one by one if drafts are not
/// available.
async fn post_comments(run: &CompositeRun<'_>, plan: &ReviewPlan, agreed: bool) -> Vec<CommentResult> {
    let mut done: Vec<CommentResult> = Vec::new();
    for (comment, known) in plan.comments.iter().zip(&plan.known) {
        done.push(match known {
            Some(id) => CommentResult::Known(id.clone()),
            None => post_comment(run, plan.post(comment), agreed).await,
        });
    }
    publish(run, plan, &mut done, agreed).await;
    if plan.drafts && done.iter().any(|done| matches!(done, CommentResult::Posted(_))) {
        match_published(run, &plan.comments, &mut done).await;
    }
    done
}

/// Posts one comment as a thread or a draft.
async fn post_comment(run: &CompositeRun<'_>, step: ReviewStep, agreed: bool) -> CommentResult {
    match run.step_agreed(step.action, step.params, agreed).await {
        Ok(Outcome::Answer(preview)) => CommentResult::Previewed(preview),
        Ok(Outcome::Response(response)) => {
            let reply = match response.reply.content {
                Content::Json(reply) => reply,
                _ => Value::Null,
            };
            let id = |row: Option<&Value>| row.and_then(|row| row.get("id")).cloned();
            match reply.get("notes").and_then(|notes| notes.get(0)) {
                Some(note) => CommentResult::Posted(id(Some(note))),
                None if step.action.starts_with("draft") => {
                    CommentResult::Draft(id(Some(&reply)).unwrap_or_default())
                }
                None => CommentResult::Posted(None),
            }
        }
        Err(error) => CommentResult::Failed(error),
    }
}

/// Publishes the drafts: all at once, or one by one if the author has other drafts.
async fn publish(run: &CompositeRun<'_>, plan: &ReviewPlan, done: &mut [CommentResult], agreed: bool) {
    let result = |outcome: &Result<Outcome, ToolError>| match outcome {
        Ok(_) => CommentResult::Posted(None),
        Err(error) => CommentResult::Failed(unpublished(error)),
    };
    let mut together: Option<Result<Outcome, ToolError>> = None;
    for done in done.iter_mut() {
        let CommentResult::Draft(id) = done else { continue };
        if together.is_none() || plan.has_other_drafts {
            let step = plan.publish(id);
            together = Some(run.step_agreed(step.action, step.params, agreed).await);
        }
        if let Some(outcome) = &together {
            *done = result(outcome);
        }
    }
}

/// The draft is there all the same: to post it again would make it two.
fn unpublished(error: &ToolError) -> ToolError {
    let mut error = error.clone();
    error.message =
        format!("{}. The comment is a draft now: publish it, and do not post it again", error.message);
    error
}

/// Matches published drafts to notes. A lost draft is reported.
async fn match_published(run: &CompositeRun<'_>, comments: &[ReviewComment], done: &mut [CommentResult]) {
    let Some(notes) = fetch_notes(run).await else { return };
    for (comment, done) in comments.iter().zip(done.iter_mut()) {
        let CommentResult::Posted(id) = done else { continue };
        match notes.iter().rev().find(|note| comment.matches(note)) {
            Some(note) => *id = note.get("id").cloned(),
            None if id.is_none() && notes.len() < THREADS_PER_PAGE * MAX_THREAD_PAGES => {
                let message = "GitLab published the draft, but the comment does not exist";
                *done = CommentResult::Failed(ToolError::new(ErrorKind::GitlabError, message));
            }
            None => {}
        }
    }
}

/// Reads the first notes of the threads; none if they cannot be read.
async fn fetch_notes(run: &CompositeRun<'_>) -> Option<Vec<Value>> {
    let mut found = Vec::new();
    for page in 1..=MAX_THREAD_PAGES {
        let step_params = run.of_merge_request(json!({"page": page, "per_page": THREADS_PER_PAGE}));
        let Value::Array(threads) = run.read_json("merge_request_discussion.list", step_params).await.ok()?
        else {
            return None;
        };
        let count = threads.len();
        found.extend(threads.iter().filter_map(|thread| thread.get("notes")?.get(0).cloned()));
        if count < THREADS_PER_PAGE {
            break;
        }
    }
    Some(found)
}

impl ReviewComment {
    /// The parameters of the action that posts it, with the name that its text has there.
    fn params(&self, text: &str, of: &Map<String, Value>) -> Map<String, Value> {
        let mut step_params = of.clone();
        step_params.insert(text.to_owned(), json!(self.body));
        step_params.extend(self.position.clone().map(|position| ("position".to_owned(), position)));
        step_params
    }

    /// True if a note has this text at this position.
    fn matches(&self, note: &Value) -> bool {
        let at = |position: Option<&Value>| {
            let field =
                |name: &str| position.and_then(|position| position.get(name)).cloned().unwrap_or_default();
            [field("new_path"), field("old_line"), field("new_line")]
        };
        let text = note.get("body").and_then(Value::as_str).unwrap_or_default();
        let position = note.get("position").filter(|position| position.is_object());
        text.trim() == self.body.trim() && at(self.position.as_ref()) == at(position)
    }

    fn is_same(&self, other: &ReviewComment) -> bool {
        self.body.trim() == other.body.trim() && self.position == other.position
    }
}

/// Gives the verdict, unless a comment that it rests on is missing.
async fn submit_verdict(
    run: &CompositeRun<'_>,
    verdict: &str,
    plan: &ReviewPlan,
    done: &[CommentResult],
    agreed: bool,
) -> Option<Result<Outcome, ToolError>> {
    let ReviewStep { action, params } = plan.verdict.clone()?;
    if done.iter().any(|done| matches!(done, CommentResult::Failed(_))) {
        let message = format!("the verdict `{verdict}` was not submitted, because a comment was not posted");
        return Some(Err(
            ToolError::new(ErrorKind::Conflict, message).fix(NextCall::execute(action, &params))
        ));
    }
    let outcome = run.step_agreed(action, params, agreed).await;
    Some(outcome.and_then(|outcome| check_verdict(verdict, outcome)))
}

/// A GitLab that does not know the quick action keeps it as a note.
fn check_verdict(verdict: &str, outcome: Outcome) -> Result<Outcome, ToolError> {
    let Outcome::Response(response) = &outcome else { return Ok(outcome) };
    if verdict != "request_changes" || response.reply.status != 201 {
        return Ok(outcome);
    }
    let message = format!("this GitLab does not know {REQUEST_CHANGES} and stored it as a comment");
    Err(ToolError::new(ErrorKind::GitlabError, message)
        .hint("Delete that comment, and request the changes in another one."))
}

fn render_review(
    run: &CompositeRun<'_>,
    comments: &[ReviewComment],
    done: Vec<CommentResult>,
    verdict: &str,
    last: Option<Result<Outcome, ToolError>>,
) -> Answer {
    let mut items = ItemResults::default();
    for (at, (comment, done)) in comments.iter().zip(done).enumerate() {
        let mut says = params(json!({"number": at + 1}));
        says.extend(comment.place.clone().map(|place| ("on".to_owned(), json!(place))));
        let noted = |id: Option<Value>| -> Map<String, Value> {
            id.filter(|id| !id.is_null()).into_iter().map(|id| ("note_id".to_owned(), id)).collect()
        };
        match done {
            CommentResult::Posted(id) => items.put("comment", says, "posted", noted(id), ""),
            CommentResult::Known(id) => items.put("comment", says, "already_there", noted(Some(id)), ""),
            CommentResult::Draft(id) => {
                let details = Map::from_iter([("draft_note_id".to_owned(), id)]);
                items.put("comment", says, "draft", details, "");
            }
            CommentResult::Previewed(answer) => items.add("comment", says, &Ok(answer)),
            CommentResult::Failed(error) => {
                let details = Map::from_iter([("error".to_owned(), failed(&error))]);
                items.put("comment", says, "error", details, &error.text());
            }
        }
    }
    if let Some(last) = last {
        let says = params(json!({"is": verdict}));
        match last {
            Ok(Outcome::Answer(answer)) if answer.is_preview() => items.add("verdict", says, &Ok(answer)),
            Ok(_) => items.put("verdict", says, "given", Map::new(), ""),
            Err(error) => {
                let details = Map::from_iter([("error".to_owned(), failed(&error))]);
                items.put("verdict", says, "error", details, &error.text());
            }
        }
    }
    items.answer(run, &[])
}
