//! Whole lists: `all` reads every page, `count_by`, `sum` and `top` answer with counts and sums over the rows in place of
//! the rows.

mod document_rows;
mod options;
mod render;
mod walk;

use serde_json::{Map, Value, json};

use crate::call;
use crate::catalog::{Action, Interface};
use crate::gitlab::Content;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{Answer, ExecuteRequest, NextCall, View};
use crate::present;
use crate::present::aggregate::{Aggregation, Aggregator, FieldProblem};
use crate::text::list_first;
use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::audit::AuditEntry;
use crate::tools::compute::compute;
use crate::tools::error_mapping;
use crate::tools::reply::{self, paging};
use crate::tools::response::ActionResponse;
use crate::tools::state::Tools;
pub use options::{ListOptions, may_list, options};
use options::{first_option, with_options, without_options};
use walk::{ListRead, PageSink, Taken, Walked};

/// Number of rows of a page: GitLab's maximum (<https://docs.gitlab.com/api/rest/#pagination>).
const PER_PAGE: u64 = 100;

/// Number of pages after which a field that no row has is an error: rows of one list rarely differ more.
const PATIENCE: usize = 3;

/// Maximum number of fields that an error names.
const MAX_NAMED: usize = 60;

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
    let mut request = without_options(&request);
    let sent = options::sent_filters(tools, &action, &request);
    request.params = with_page_size(tools, &action, &request);
    request.params.extend(sent);
    let first = ResolvedAction { action, request, notes };
    let answer = match aggregation {
        None => read_rows(tools, first, &asked, entry).await,
        Some(aggregation) => count_rows(tools, first, aggregation, &asked, entry).await,
    };
    answer?.ok_or_else(|| {
        let option = first_option(&asked).unwrap_or("all");
        let list = if option == "all" { "a list" } else { "one list that has the field" };
        let message = format!("`{option}` is for lists; {id} does not return {list}");
        ToolError::new(ErrorKind::InvalidParams, message).fix(NextCall::for_request(&without_options(&asked)))
    })
}

/// The rows of a list. None if the action returns no list.
async fn read_rows(
    tools: &Tools,
    first: ResolvedAction,
    asked: &ExecuteRequest,
    entry: &mut AuditEntry<'_>,
) -> Result<Option<Answer>, ToolError> {
    let mut rows = ListRows { left: tools.max_bytes, pages: Vec::new(), is_cut: false };
    let outcome = walk::walk(tools, first, &mut rows, entry).await;
    match outcome.map_err(|error| with_options(error, asked))? {
        ListRead::Rows(walked) => {
            render::render_rows(tools, (rows.pages, rows.is_cut), *walked, asked).map(Some)
        }
        ListRead::Answer(answer) => Ok(Some(answer)),
        ListRead::NotList => Ok(None),
    }
}

/// Counts and sums over the rows of a list. None if the action returns no list.
async fn count_rows(
    tools: &Tools,
    mut first: ResolvedAction,
    aggregation: Aggregation,
    asked: &ExecuteRequest,
    entry: &mut AuditEntry<'_>,
) -> Result<Option<Answer>, ToolError> {
    let fields: Vec<String> =
        [&aggregation.count_by, &aggregation.sum].into_iter().flatten().cloned().collect();
    check_fields(tools, &first.action, &fields, asked)?;
    first.request.fields = Some(fields.clone());
    let mut counts = RowCounts {
        aggregator: Aggregator::new(aggregation.clone()),
        paths: fields,
        pages: 0,
        is_full: asked.view == Some(View::Full),
    };
    let outcome = walk::walk(tools, first, &mut counts, entry).await;
    match outcome.map_err(|error| with_options(error, asked))? {
        ListRead::Rows(walked) => match counts.aggregator.problem() {
            Some(problem) => Err(field_error(problem, &walked, asked)),
            None => Ok(Some(render::render_counts(tools, counts.aggregator, &aggregation, *walked, asked))),
        },
        ListRead::Answer(answer) => Ok(Some(answer)),
        ListRead::NotList => Ok(None),
    }
}

/// Sets GitLab's largest page size, unless the parameters have one.
fn with_page_size(tools: &Tools, action: &Action, request: &ExecuteRequest) -> Map<String, Value> {
    let size = [("per_page".to_owned(), json!(PER_PAGE))];
    if action.direct() == Some(Interface::Graphql) {
        // The document says how many rows a page has.
        return request.params.clone();
    }
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

/// The rows of a list, as many whole pages as fit the answer.
struct ListRows {
    /// Bytes that are left for further pages.
    left: usize,
    pages: Vec<ActionResponse>,
    /// True if the first page does not fit whole.
    is_cut: bool,
}

impl PageSink for ListRows {
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
struct RowCounts {
    aggregator: Aggregator,
    /// The fields that are counted and added up.
    paths: Vec<String>,
    pages: usize,
    /// True to count secrets by their values.
    is_full: bool,
}

impl PageSink for RowCounts {
    fn take(&mut self, tools: &Tools, page: ActionResponse) -> Taken {
        let ActionResponse { reply, call, .. } = page;
        let Content::Json(rows) = reply.content else { return Taken::Stop };
        let view = self.is_full.then_some(View::Full);
        let aggregator = &mut self.aggregator;
        compute(reply.bytes, || aggregator.add(&reply::render::masked(tools, &call, rows, (&[], view))));
        self.pages += 1;
        let is_hopeless = self.pages >= PATIENCE && self.aggregator.problem().is_some();
        if is_hopeless { Taken::Stop } else { Taken::Next }
    }

    fn paths(&self) -> Vec<String> {
        self.paths.clone()
    }
}

/// Checks the fields that a GraphQL action selects before anything is sent.
fn check_fields(
    tools: &Tools,
    action: &Action,
    fields: &[String],
    asked: &ExecuteRequest,
) -> Result<(), ToolError> {
    if !tools.policy.selects() || action.direct().is_some() {
        return Ok(());
    }
    let Err(problem) = call::select_fields(action.clone(), fields, tools.catalog.types()) else {
        return Ok(());
    };
    let request = ExecuteRequest { fields: Some(fields.to_vec()), ..asked.clone() };
    let mut error = error_mapping::fields(&problem, &request);
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
    let fix = if wrong.is_some() { mended } else { without_options(asked) };
    Err(error.fix(NextCall::for_request(&fix)))
}

/// Error of a field that no row has, or that has no numbers. Lists the existing fields, the nearest first.
fn field_error(problem: FieldProblem, walked: &Walked, asked: &ExecuteRequest) -> ToolError {
    let rows =
        if walked.rows == 1 { "the only row".to_owned() } else { format!("any of {} rows", walked.rows) };
    let invalid = |message: String| ToolError::new(ErrorKind::InvalidParams, message);
    let (option, missing) = match problem {
        FieldProblem::NotNumbers(path) => {
            return invalid(format!("`sum`: `{path}` holds no number in {rows}"))
                .hint("Accepted are fields with numbers, such as weight or user_notes_count.")
                .fix(NextCall::for_request(&without_options(asked)));
        }
        FieldProblem::Missing(option, missing) => (option, missing),
    };
    let plain: Vec<&str> =
        missing.known.iter().map(String::as_str).filter(|name| present::is_plain(name)).collect();
    let nearest = crate::search::nearest(&missing.step, plain.iter().copied());
    let others = plain.iter().copied().filter(|name| Some(*name) != nearest);
    let named: Vec<&str> = nearest.into_iter().chain(others).collect();
    let error = invalid(format!("`{option}`: no field `{}` in {rows}", missing.path));
    let error = error.hint(match named.as_slice() {
        [] => format!("`{}` must be a field of an object.", missing.step),
        names => format!("There are {}.", list_first(names.iter().copied(), MAX_NAMED)),
    });
    let Some(nearest) = nearest else { return error.fix(NextCall::for_request(&without_options(asked))) };
    let mended = missing.path.replacen(missing.step.as_str(), nearest, 1);
    let mut request = asked.clone();
    let path = if option == "sum" { &mut request.sum } else { &mut request.count_by };
    *path = Some(mended);
    error.fix(NextCall::for_request(&request))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Map, json};
    use url::Url;
    use wiremock::matchers::{path_regex, query_param, query_param_is_missing};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    use crate::call::QuickActions;
    use crate::messages::request::ExecuteRequest;
    use crate::tools::{Audit, Capabilities, ToolSettings, Tools};

    /// Tools on a mock server.
    fn tools(base: &str) -> Tools {
        let settings = ToolSettings {
            gitlab: crate::gitlab::ClientSettings::new(Url::parse(base).unwrap()),
            policy: crate::policy::PolicySettings::default(),
            quick_actions: QuickActions::Check,
            project: None,
            ssh_host: None,
            audit_file: None,
            audit_user: false,
            max_bytes: 16_000,
            audit: Audit::Off,
            files_dir: None,
            capabilities: Capabilities::default(),
            local_hints: false,
            read_tool: false,
            confirm_key: None,
        };
        Tools::new(settings).unwrap()
    }

    /// The second page is answered long after the time of the walk, so the outcome does not depend on the machine.
    #[tokio::test]
    async fn a_walk_whose_time_is_up_counts_what_it_read_and_says_how_to_go_on() {
        const NEVER: Duration = Duration::from_secs(3_600);
        let server = MockServer::start().await;
        let first = ResponseTemplate::new(200)
            .set_body_json(json!([{"iid": 1, "state": "opened"}, {"iid": 2, "state": "closed"}]))
            .insert_header("x-page", "1")
            .insert_header("x-next-page", "2");
        let issues = || Mock::given(path_regex("/api/v4/projects/.*/issues"));
        issues().and(query_param_is_missing("page")).respond_with(first).mount(&server).await;
        issues()
            .and(query_param("page", "2"))
            .respond_with(ResponseTemplate::new(200).set_delay(NEVER))
            .mount(&server)
            .await;
        let mut tools = tools(&server.uri());
        // Long enough for the first page on a busy machine.
        tools.list_time = Duration::from_secs(2);
        let params = json!({"fullPath": "acme/widget", "within": "project"});
        let params: Map<_, _> = params.as_object().unwrap().clone();
        let request = ExecuteRequest {
            action: "issue.list".to_owned(),
            params,
            count_by: Some("state".to_owned()),
            ..ExecuteRequest::default()
        };
        let answer = tools.execute(&request).await.unwrap();
        let page = &answer.structured["page"];
        assert_eq!(
            (&page["pages_read"], &page["rows"], &page["complete"]),
            (&json!(1), &json!(2), &json!(false))
        );
        assert_eq!(
            answer.structured["data"],
            json!([{"value": "closed", "count": 1}, {"value": "opened", "count": 1}])
        );
        assert_eq!(page["next"]["arguments"]["params"]["page"], 2, "{page}");
        assert!(answer.text.contains("one call reads for at most"), "{}", answer.text);
    }
}
