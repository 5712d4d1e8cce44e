//! Reads the pages of a list one after the other. Each page is an execute of its own, so policy decides on it and a
//! permit is made for it; the way from page to page is the one that answers give ([`paging::next_page`]).

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::call::Call;
use crate::catalog::Interface;
use crate::gitlab::{self, Content, Event};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{Answer, ExecuteRequest};
use crate::present::inner_list;
use crate::tools::action_lookup;
use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::audit::AuditEntry;
use crate::tools::prepare::Circumstances;
use crate::tools::reply::paging;
use crate::tools::response::{ActionResponse, Outcome};
use crate::tools::run::run_action;
use crate::tools::state::Tools;
use crate::tools::whole_list::document_rows;

/// Maximum number of pages: GitLab permits some endpoints only 60 requests a minute, and others use the token as well.
pub const MAX_PAGES: usize = 50;

/// Maximum number of rows: as many as the pages have at 100 each, GitLab's maximum.
pub const MAX_ROWS: usize = 5_000;

/// Result of handing a page to a [`PageSink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The page was used; the walk continues.
    Next,
    /// The page does not fit: it counts as not read.
    Full,
    /// The page was used, and no further one is needed.
    Stop,
}

/// Consumer of the pages.
pub trait PageSink: Send {
    fn take(&mut self, tools: &Tools, page: ActionResponse) -> Taken;

    /// The fields that it reads of each row, if it reads no more.
    fn paths(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Why a walk ended.
#[derive(Debug)]
pub enum End {
    /// The last page was read.
    Complete,
    /// The sink has no use for further pages.
    Sink,
    MostPages,
    MostRows,
    Time {
        seconds: u64,
    },
    /// A page after the first failed.
    Failed(Box<ToolError>),
    /// Nothing can carry the cursor of the next page.
    NoWay,
}

/// Pages that a walk read.
#[derive(Debug)]
pub struct Walked {
    /// The call of the first page.
    pub call: Call,
    /// The request of the first page.
    pub request: ExecuteRequest,
    /// Number of the first page, where GitLab numbers them.
    pub first_page: Option<u64>,
    pub pages: usize,
    pub rows: usize,
    /// Number of rows outside GITLAB_READABLE_PATHS.
    pub unreadable: usize,
    /// Number of rows of the list, if GitLab counts them.
    pub total: Option<u64>,
    pub end: End,
    /// The first page that was not read.
    pub next: Option<ExecuteRequest>,
    /// Notes on the first page, and those of later pages that are new.
    pub notes: Vec<String>,
}

/// The outcome of a walk.
#[derive(Debug)]
pub enum Outcomes {
    Walked(Box<Walked>),
    /// Nothing was read: a preview.
    Answer(Answer),
    /// The first answer is no list.
    NotList,
}

/// Walks the pages from the requested one on. An error is one of the first page.
pub async fn walk(
    tools: &Tools,
    first: ResolvedAction,
    sink: &mut dyn PageSink,
    entry: &mut AuditEntry<'_>,
) -> Result<Outcomes, ToolError> {
    let deadline = Instant::now() + tools.list_time;
    let time_is_up = || End::Time { seconds: tools.list_time.as_secs() };
    let may_go_direct = paging::may_go_direct(tools);
    let mut walked: Option<Walked> = None;
    let mut page = first;
    // The rows of the page before, if nothing but their number told that there is another.
    let mut before: Option<Value> = None;
    loop {
        let (action, request) = (page.action.clone(), page.request.clone());
        let run = run_action(tools, page, Circumstances::default(), None, entry);
        let outcome = match walked.as_mut() {
            // The first page has the time of any request.
            None => run.await?,
            Some(walked) => match timeout_at(deadline, run).await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(error)) => break end(walked, End::Failed(Box::new(error)), Some(request)),
                Err(_) => break end(walked, time_is_up(), Some(request)),
            },
        };
        let mut response = match (outcome, walked.as_mut()) {
            (Outcome::Response(response), _) => *response,
            (Outcome::Answer(answer), None) => return Ok(Outcomes::Answer(answer)),
            (Outcome::Answer(_), Some(walked)) => break end(walked, End::NoWay, None),
        };
        if let (Content::Json(Value::Object(object)), None) = (&response.reply.content, &walked)
            && response.action.direct().is_none()
            && let Some(rows) = inner_list::rows_with(object, &sink.paths())
        {
            response.reply.content = Content::Json(Value::Array(rows));
        }
        let response = if response.action.direct() == Some(Interface::Graphql) {
            match (document_rows::take_rows(tools, response), walked.as_mut()) {
                (Ok(response), _) => response,
                (Err(error), None) => return Err(error),
                (Err(error), Some(walked)) => break end(walked, End::Failed(Box::new(error)), Some(request)),
            }
        } else {
            response
        };
        let Content::Json(Value::Array(rows)) = &response.reply.content else {
            match walked.as_mut() {
                None => return Ok(Outcomes::NotList),
                Some(walked) => break end(walked, End::NoWay, None),
            }
        };
        let count = rows.len();
        // A list without pages is the same on each.
        if before.take().is_some_and(|before| before == Value::Array(rows.clone()))
            && let Some(walked) = walked.as_mut()
        {
            break end(walked, End::Complete, None);
        }
        if response.reply.page.is_assumed {
            before = Some(Value::Array(rows.clone()));
        }
        if let Some(received) = response.reply.rows {
            let error = response.truncated(count, received);
            match walked.as_mut() {
                None => return Err(error),
                Some(walked) => break end(walked, End::Failed(Box::new(error)), Some(request)),
            }
        }
        let direct = may_go_direct.then_some(&response.call);
        let next = paging::next_page(&response.request, &response.action, &response.reply.page, direct);
        let lost = paging::lost_cursor_note(&response.action, &response.reply.page, may_go_direct);
        let (unreadable, notes) = (response.unreadable, response.notes.clone());
        let walked = walked.get_or_insert_with(|| Walked {
            call: response.call.clone(),
            request: response.request.clone(),
            first_page: response.reply.page.page,
            pages: 0,
            rows: 0,
            unreadable: 0,
            total: response.reply.page.total,
            end: End::Complete,
            next: None,
            notes: Vec::new(),
        });
        let taken = sink.take(tools, response);
        if taken == Taken::Full {
            break end(walked, End::Sink, Some(request));
        }
        walked.pages += 1;
        walked.rows += count;
        walked.unreadable += unreadable;
        for note in notes.into_iter().chain(lost.clone()) {
            if !walked.notes.contains(&note) {
                walked.notes.push(note);
            }
        }
        let Some(next) = next else {
            break end(walked, if lost.is_some() { End::NoWay } else { End::Complete }, None);
        };
        if next.action == request.action && next.params == request.params {
            // The rows of this page would be counted twice.
            break end(walked, End::NoWay, None);
        }
        let stop = match taken {
            Taken::Stop => Some(End::Sink),
            _ if walked.pages >= MAX_PAGES => Some(End::MostPages),
            _ if walked.rows >= MAX_ROWS => Some(End::MostRows),
            _ if Instant::now() >= deadline => Some(time_is_up()),
            _ => None,
        };
        if let Some(stop) = stop {
            break end(walked, stop, Some(next));
        }
        gitlab::notify(Event::Pages { read: walked.pages, rows: walked.rows });
        page = if next.action == action.id {
            ResolvedAction { action, request: next, notes: Vec::new() }
        } else {
            match action_lookup::resolve(tools, &next) {
                Ok(resolved) => resolved,
                Err(error) => break end(walked, End::Failed(Box::new(error)), Some(next)),
            }
        };
    }
    walked
        .map(|walked| Outcomes::Walked(Box::new(walked)))
        .ok_or_else(|| ToolError::new(ErrorKind::Internal, "a list was read without a page"))
}

/// Ends a walk; the request is that of the first page that was not read.
fn end(walked: &mut Walked, end: End, next: Option<ExecuteRequest>) {
    walked.end = end;
    walked.next = next;
}
