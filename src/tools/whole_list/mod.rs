//! Whole lists: `all` reads every page, `count_by`, `sum` and `top` answer with counts and sums over the rows in place of
//! the rows.

mod aggregate;
mod walk;

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::call;
use crate::catalog::{Action, GraphqlKind, Interface, Method, Operation, Risk};
use crate::gitlab::{Content, Page};
use crate::present::{self, Kind, Options};
use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::action_lookup::suggestions;
use crate::tools::audit::AuditEntry;
use crate::tools::errors::{ErrorKind, ToolError, mapping};
use crate::tools::execute::compute::compute;
use crate::tools::execute::{self, ActionResponse};
use crate::tools::reply::{header, paging, render};
use crate::tools::state::Tools;
use crate::tools::types::{Answer, EXECUTE, ExecuteRequest, NextCall, View};
use aggregate::{Aggregation, Aggregator, FieldProblem};
use walk::{End, MOST_PAGES, MOST_ROWS, Outcomes, PageSink, TIME, Taken, Walked};

/// Number of rows of a page: GitLab's maximum (<https://docs.gitlab.com/api/rest/#pagination>).
const PER_PAGE: u64 = 100;

/// Number of pages after which a field that no row has is an error: rows of one list rarely differ more.
const PATIENCE: usize = 3;

/// Maximum number of fields that an error names.
const MOST_NAMED: usize = 60;

/// Names of the options on whole lists.
pub const OPTIONS: [&str; 4] = ["all", "count_by", "sum", "top"];

/// Options of a request that read a whole list, checked.
#[derive(Clone, Debug)]
pub struct ListOptions {
    /// None if the answer has the rows.
    aggregation: Option<Aggregation>,
    /// The request as it was made.
    asked: ExecuteRequest,
}

/// The options on whole lists of a request; none if it has none. An error if they do not fit each other or the action.
pub fn options(tools: &Tools, resolved_action: &ResolvedAction) -> Result<Option<ListOptions>, ToolError> {
    let mut asked = resolved_action.request.clone();
    if asked.all.is_none() && asked.save_to.is_none() && filters_rows(tools, resolved_action) {
        // Most pages of a filtered list have few rows.
        asked.all = Some(true);
    }
    let request = &asked;
    let ExecuteRequest { count_by, sum, top, .. } = request;
    let Some(option) = first_option(request) else { return Ok(None) };
    let invalid = |message: String, mended: ExecuteRequest| {
        let message = format!("{message}. Nothing was sent");
        Err(ToolError::new(ErrorKind::InvalidParams, message).fix(NextCall::for_request(&mended)))
    };
    if request.save_to.is_some() || request.offset.is_some() || request.lines.is_some() {
        let mended = ExecuteRequest { save_to: None, offset: None, lines: None, ..request.clone() };
        return invalid(format!("`{option}` excludes `save_to`, `offset` and `lines`"), mended);
    }
    if top.is_some() && count_by.is_none() {
        let mended = ExecuteRequest { top: None, ..request.clone() };
        return invalid("`top` keeps the largest groups of `count_by`, which is missing".to_owned(), mended);
    }
    if *top == Some(0) {
        let mended = ExecuteRequest { top: None, ..request.clone() };
        return invalid("`top`: expected a whole number from 1, got 0".to_owned(), mended);
    }
    for (name, path) in [("count_by", count_by), ("sum", sum)] {
        if path
            .as_ref()
            .is_some_and(|path| path.split('.').all(|step| step.trim_matches(['[', ']', ' ']).is_empty()))
        {
            return invalid(
                format!("`{name}`: expected a field such as author.username, got an empty text"),
                without(request),
            );
        }
    }
    if !is_list(&resolved_action.action, request) {
        return Err(not_list(tools, &resolved_action.action, request, option));
    }
    let aggregation = (count_by.is_some() || sum.is_some()).then(|| Aggregation {
        count_by: count_by.clone(),
        sum: sum.clone(),
        top: top.map(|top| usize::try_from(top).unwrap_or(usize::MAX)),
    });
    Ok(Some(ListOptions { aggregation, asked: request.clone() }))
}

/// True if the request has a filter of rows that this server applies.
fn filters_rows(tools: &Tools, resolved_action: &ResolvedAction) -> bool {
    let ResolvedAction { action, request, .. } = resolved_action;
    let Some(filter) = &action.row_filter else { return false };
    let is_on = |value: &Value| value == &json!(true) || value == &json!("true");
    let is_filter = |name: &String| tools.find_param(&action.id, name).as_deref() == Some(&filter.param);
    request.params.iter().any(|(name, value)| is_filter(name) && is_on(value))
}

/// The option by which a request is about a whole list.
fn first_option(request: &ExecuteRequest) -> Option<&'static str> {
    let given = [
        ("count_by", request.count_by.is_some()),
        ("sum", request.sum.is_some()),
        ("top", request.top.is_some()),
        ("all", request.all == Some(true)),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
}

/// The request for one answer.
fn without(request: &ExecuteRequest) -> ExecuteRequest {
    ExecuteRequest { all: None, count_by: None, sum: None, top: None, ..request.clone() }
}

/// True if the request only reads and is answered with a list, as far as is known.
fn is_list(action: &Action, request: &ExecuteRequest) -> bool {
    let method = request.params.get("method").and_then(Value::as_str);
    let is_get = method.is_none_or(|method| method.eq_ignore_ascii_case("GET"));
    may_list(action) && (action.direct().is_none() || is_get)
}

/// True if the action may only read and answer with a list.
pub fn may_list(action: &Action) -> bool {
    match action.direct() {
        Some(interface) => interface == Interface::Rest,
        None => action.risk == Risk::Read && action.choices().any(|operation| lists(action, operation)),
    }
}

fn lists(action: &Action, operation: &Operation) -> bool {
    match &operation.graphql {
        Some(graphql) => graphql.kind == GraphqlKind::Query && graphql.selection.starts_with("nodes{"),
        None => {
            let verb = action.verb();
            let is_named_so = ["list", "search"].iter().any(|name| verb.starts_with(name));
            operation.method == Method::Get && (action.param("per_page").is_some() || is_named_so)
        }
    }
}

/// The error of an action that is no list: the call of the list of its domain, or without the options.
fn not_list(tools: &Tools, action: &Action, request: &ExecuteRequest, option: &str) -> ToolError {
    let why = match action.risk {
        Risk::Read => "does not answer with a list",
        _ => "does not only read",
    };
    let message = format!("`{option}` is for actions that list; {} {why}. Nothing was sent", action.id);
    let error = ToolError::new(ErrorKind::InvalidParams, message)
        .hint("Accepted are read actions whose answer is a list, such as issue.list or commit.list.");
    let list = tools.catalog.get(&format!("{}.list", action.domain())).ok().flatten();
    let list = list.filter(|list| list.id != action.id && tools.may_run(list) && is_list(list, request));
    if let Some(list) = list {
        let taken = request.params.iter().filter(|(name, _)| list.param(name).is_some());
        let params = taken.map(|(name, value)| (name.clone(), value.clone())).collect();
        if suggestions::is_callable(tools, &list, &params) {
            return error.fix(NextCall::for_request(&ExecuteRequest {
                action: list.id,
                params,
                ..request.clone()
            }));
        }
    }
    match action.risk {
        Risk::Read => error.fix(NextCall::for_request(&without(request))),
        _ => {
            let query = format!("list {}", action.domain().replace('_', " "));
            error.fix(NextCall::find(json!({"query": query, "read_only": true})))
        }
    }
}

/// Reads the pages of a list, and answers with its rows, or with counts and sums over them.
pub async fn execute(
    tools: &Tools,
    resolved_action: ResolvedAction,
    options: ListOptions,
    entry: &mut AuditEntry<'_>,
) -> Result<Answer, ToolError> {
    let ListOptions { aggregation, asked } = options;
    let ResolvedAction { action, request, notes } = resolved_action;
    let id = action.id.clone();
    let mut request = without(&request);
    request.params = with_page_size(tools, &action, &request);
    let restore = |error: ToolError| with_options(error, &asked);
    let outcome = match aggregation {
        None => {
            let first = ResolvedAction { action, request, notes };
            let mut rows = Rows { left: tools.max_bytes, pages: Vec::new(), is_cut: false };
            match walk::walk(tools, first, &mut rows, entry).await.map_err(restore)? {
                Outcomes::Walked(walked) => return rows_answer(tools, rows, *walked, &asked),
                other => other,
            }
        }
        Some(aggregation) => {
            let fields: Vec<String> =
                [&aggregation.count_by, &aggregation.sum].into_iter().flatten().cloned().collect();
            check_fields(tools, &action, &fields, &asked)?;
            request.fields = Some(fields);
            let first = ResolvedAction { action, request, notes };
            let mut counts = Counts {
                aggregator: Aggregator::new(aggregation.clone()),
                pages: 0,
                is_full: asked.view == Some(View::Full),
            };
            match walk::walk(tools, first, &mut counts, entry).await.map_err(restore)? {
                Outcomes::Walked(walked) => {
                    if let Some(problem) = counts.aggregator.problem() {
                        return Err(field_error(problem, &walked, &asked));
                    }
                    return Ok(counts_answer(tools, counts.aggregator, &aggregation, *walked, &asked));
                }
                other => other,
            }
        }
    };
    match outcome {
        Outcomes::Answer(answer) => Ok(answer),
        _ => {
            let option = first_option(&asked).unwrap_or("all");
            let message = format!("`{option}` is for lists; {id} does not return a list");
            Err(ToolError::new(ErrorKind::InvalidParams, message)
                .fix(NextCall::for_request(&without(&asked))))
        }
    }
}

/// The parameters with GitLab's largest page, unless they have a page size.
fn with_page_size(tools: &Tools, action: &Action, request: &ExecuteRequest) -> Map<String, Value> {
    let size = [("per_page".to_owned(), json!(PER_PAGE))];
    if action.direct().is_some() {
        let text = |name: &str| request.params.get(name).map(Value::to_string).unwrap_or_default();
        let has_size = ["path", "query"].iter().any(|name| text(name).contains("per_page"));
        let has_other = request.params.get("query").is_some_and(|query| !query.is_object());
        let is_given = has_size || has_other;
        return if is_given { request.params.clone() } else { paging::with_params(request, action, size) };
    }
    let is_size = |name: &String| tools.find_param(&action.id, name).as_deref() == Some("per_page");
    if action.param("per_page").is_none() || request.params.keys().any(is_size) {
        return request.params.clone();
    }
    paging::with_params(request, action, size)
}

/// The error, whose corrected call has the options of the request.
fn with_options(mut error: ToolError, asked: &ExecuteRequest) -> ToolError {
    let options = json!({
        "fields": asked.fields, "all": asked.all, "count_by": asked.count_by, "sum": asked.sum, "top": asked.top,
    });
    let fix = error.fix.as_mut().filter(|fix| fix.tool == EXECUTE);
    if let (Some(fix), Value::Object(options)) = (fix, options)
        && let Value::Object(arguments) = &mut fix.arguments
        && arguments.get("action").and_then(Value::as_str) == Some(asked.action.as_str())
    {
        arguments.shift_remove("fields");
        arguments.extend(options.into_iter().filter(|(_, value)| !value.is_null()));
    }
    error
}

/// The rows of a list, as many whole pages as fit the answer.
struct Rows {
    /// Bytes that are left for further pages.
    left: usize,
    pages: Vec<ActionResponse>,
    /// True if the first page does not fit whole.
    is_cut: bool,
}

impl PageSink for Rows {
    fn take(&mut self, tools: &Tools, page: ActionResponse) -> Taken {
        match page.shown_bytes(tools, self.left) {
            Some(bytes) => {
                self.left -= bytes;
                self.pages.push(page);
                Taken::Next
            }
            // The first page is cut to the rows that fit.
            None if self.pages.is_empty() => {
                self.pages.push(page);
                self.is_cut = true;
                Taken::Stop
            }
            None => Taken::Full,
        }
    }
}

/// The counts of a list.
struct Counts {
    aggregator: Aggregator,
    pages: usize,
    /// True to count secrets by their values.
    is_full: bool,
}

impl PageSink for Counts {
    fn take(&mut self, tools: &Tools, page: ActionResponse) -> Taken {
        let ActionResponse { reply, call, .. } = page;
        let Content::Json(rows) = reply.content else { return Taken::Stop };
        let view = self.is_full.then_some(View::Full);
        let aggregator = &mut self.aggregator;
        compute(reply.bytes, || aggregator.add(&render::masked(tools, &call, rows, (&[], view))));
        self.pages += 1;
        let is_hopeless = self.pages >= PATIENCE && self.aggregator.problem().is_some();
        if is_hopeless { Taken::Stop } else { Taken::Next }
    }
}

/// The answer with the rows of the pages. Pages that do not fit together are left out whole, so that the next call begins
/// where the rows end.
fn rows_answer(
    tools: &Tools,
    Rows { mut pages, mut is_cut, .. }: Rows,
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
        let rows = pages.iter().flat_map(rows_of).cloned().collect();
        response.reply.content = Content::Json(Value::Array(rows));
        response.reply.bytes = pages.iter().map(|page| page.reply.bytes).sum();
        response.reply.page = Page::default();
        response.unreadable = walked.unreadable;
        let mut answer = response.answer(tools, tools.max_bytes);
        if answer.structured.get("page").is_none_or(|page| page.get("shown").is_none()) {
            add_walk(&mut answer, &walked, asked);
            return Ok(answer);
        }
        if is_alone {
            is_cut = true;
        } else if let Some(last) = pages.pop() {
            walked.pages -= 1;
            walked.rows -= rows_of(&last).len();
            walked.unreadable -= last.unreadable;
            walked.end = End::Sink;
            walked.next = Some(last.request);
        }
    }
}

fn rows_of(page: &ActionResponse) -> &[Value] {
    match &page.reply.content {
        Content::Json(Value::Array(rows)) => rows,
        _ => &[],
    }
}

/// The answer with counts and sums.
fn counts_answer(
    tools: &Tools,
    aggregator: Aggregator,
    aggregation: &Aggregation,
    walked: Walked,
    asked: &ExecuteRequest,
) -> Answer {
    let mut notes = walked.notes.clone();
    notes.extend(execute::unreadable_note(walked.unreadable));
    if asked.fields.is_some() {
        notes.push("`fields` is for rows, and was not used".to_owned());
    }
    let aggregate = aggregator.finish();
    notes.extend(aggregate.notes);
    let options =
        Options { full: true, ..Options::new(Kind::default(), tools.max_bytes, tools.client.secrets()) };
    let shown = present::present(present::Content::Json(aggregate.data), &options);
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
            let _ = write!(text, "; the others: {}", plain_fields(&others));
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
    header::add_resolved(&mut text, &walked.call);
    header::add_notes(&mut structured, &mut text, &notes);
    let mut answer = Answer::new(structured, text);
    add_walk(&mut answer, &walked, asked);
    answer
}

/// `groups 4, count 12`
fn plain_fields(fields: &Value) -> String {
    let fields = fields.as_object().into_iter().flatten();
    fields.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

/// Adds how much of the list was read, and the call for the rest of it.
fn add_walk(answer: &mut Answer, walked: &Walked, asked: &ExecuteRequest) {
    let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let is_complete = matches!(walked.end, End::Complete);
    let rows = match walked.total.filter(|_| !is_complete) {
        Some(total) => format!("{} of {total} rows", walked.rows),
        None => counted(walked.rows, "row"),
    };
    let later = walked.first_page.filter(|first| *first > 1);
    let from = later.map(|first| format!(" from page {first} on")).unwrap_or_default();
    let read = format!("{rows} on {}{from}", counted(walked.pages, "page"));
    let why = match &walked.end {
        End::Complete => "to the end of the list".to_owned(),
        End::Sink => "as many whole pages as fit the answer".to_owned(),
        End::MostPages => format!("one call reads at most {MOST_PAGES} pages"),
        End::MostRows => format!("one call reads at most {MOST_ROWS} rows"),
        End::Time => format!("one call reads for at most {} seconds", TIME.as_secs()),
        End::Failed(error) => format!("the next page failed ({})", error.kind.name()),
        End::NoWay => "GitLab names no page after it that can be requested".to_owned(),
    };
    let mut page = Map::from_iter([
        ("pages_read".to_owned(), json!(walked.pages)),
        ("rows".to_owned(), json!(walked.rows)),
        ("complete".to_owned(), json!(is_complete)),
        ("end".to_owned(), json!(why)),
    ]);
    if let Some(first) = later {
        page.insert("first_page".to_owned(), json!(first));
    }
    if let Some(total) = walked.total {
        page.insert("total".to_owned(), json!(total));
    }
    let _ = writeln!(answer.text, "Read: {read}, {why}.");
    if let End::Failed(error) = &walked.end {
        page.insert("failed".to_owned(), json!({"kind": error.kind, "message": error.message}));
        let _ = writeln!(answer.text, "Failed: {}", error.message);
    }
    let next = walked.next.as_ref().map(|next| {
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
    });
    if let Some(next) = &next {
        let _ = writeln!(answer.text, "Next: {next}");
    }
    page.insert("next".to_owned(), json!(next));
    answer.structured.insert("page".to_owned(), Value::Object(page));
}

/// Checks the fields that a GraphQL action selects before anything is sent.
fn check_fields(
    tools: &Tools,
    action: &Action,
    fields: &[String],
    asked: &ExecuteRequest,
) -> Result<(), ToolError> {
    if !tools.policy.selects() || tools.policy.fences_reads() {
        return Ok(());
    }
    let Err(problem) = call::select_fields(action.clone(), fields, tools.catalog.types()) else {
        return Ok(());
    };
    let request = ExecuteRequest { fields: Some(fields.to_vec()), ..asked.clone() };
    let mut error = mapping::fields(&problem, &request);
    let corrected = error.fix.as_ref().and_then(|fix| fix.arguments.get("fields")?.as_array().cloned());
    let corrected = corrected.unwrap_or_default();
    let mut corrected = corrected.iter().map(|path| path.as_str().map(str::to_owned));
    let mut mended = asked.clone();
    let mut wrong = None;
    for (name, path) in [("count_by", &mut mended.count_by), ("sum", &mut mended.sum)] {
        if let (Some(known), Some(Some(new))) = (path.as_mut(), corrected.next())
            && *known != new
        {
            *known = new;
            wrong.get_or_insert(name);
        }
    }
    let named = wrong.unwrap_or(if asked.count_by.is_some() { "count_by" } else { "sum" });
    error.message =
        format!("{}. Nothing was sent", error.message.replacen("`fields`", &format!("`{named}`"), 1));
    let fix = if wrong.is_some() { mended } else { without(asked) };
    Err(error.fix(NextCall::for_request(&fix)))
}

/// The error of a field that no row has, or that holds no numbers: the fields that there are, the nearest first.
fn field_error(problem: FieldProblem, walked: &Walked, asked: &ExecuteRequest) -> ToolError {
    let rows =
        if walked.rows == 1 { "the only row".to_owned() } else { format!("any of {} rows", walked.rows) };
    let invalid = |message: String| ToolError::new(ErrorKind::InvalidParams, message);
    let (option, missing) = match problem {
        FieldProblem::NotNumbers(path) => {
            return invalid(format!("`sum`: `{path}` holds no number in {rows}"))
                .hint("Accepted are fields with numbers, such as weight or user_notes_count.")
                .fix(NextCall::for_request(&without(asked)));
        }
        FieldProblem::Missing(option, missing) => (option, missing),
    };
    let plain: Vec<&str> =
        missing.known.iter().map(String::as_str).filter(|name| present::is_plain(name)).collect();
    let nearest = crate::search::nearest(&missing.step, plain.iter().copied());
    let others = plain.iter().copied().filter(|name| Some(*name) != nearest);
    let named: Vec<&str> = nearest.into_iter().chain(others).take(MOST_NAMED).collect();
    let more = plain.len().saturating_sub(named.len());
    let error = invalid(format!("`{option}`: no field `{}` in {rows}", missing.path));
    let error = match (named.is_empty(), more) {
        (true, _) => error.hint(format!("`{}` must be a field of an object.", missing.step)),
        (false, 0) => error.hint(format!("There are {}.", named.join(", "))),
        (false, more) => error.hint(format!("There are {} and {more} more.", named.join(", "))),
    };
    let Some(nearest) = nearest else { return error.fix(NextCall::for_request(&without(asked))) };
    let mended = missing.path.replacen(missing.step.as_str(), nearest, 1);
    let mut request = asked.clone();
    let path = if option == "sum" { &mut request.sum } else { &mut request.count_by };
    *path = Some(mended);
    error.fix(NextCall::for_request(&request))
}
