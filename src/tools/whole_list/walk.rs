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
    /// Number of rows of the list, if GitLab counts them.
    pub total: Option<u64>,
    pub end: End,
    /// The first page that was not read.
    pub next: Option<ExecuteRequest>,
    /// Notes on the first page, and those of later pages that are new.
    pub notes: Vec<String>,
}

/// What was read of a list: one page, or those of a walk.
#[derive(Debug)]
pub enum ListRead<T> {
    Rows(Box<T>),
    /// Nothing was read: a preview.
    Answer(Answer),
    /// The answer is no list.
    NotList,
}

/// Walks the pages from the requested one on. An error is one of the first page.
pub async fn walk(
    tools: &Tools,
    first: ResolvedAction,
    sink: &mut dyn PageSink,
    entry: &mut AuditEntry<'_>,
) -> Result<ListRead<Walked>, ToolError> {
    let deadline = Instant::now() + tools.list_time;
    let may_go_direct = paging::may_go_direct(tools);
    let paths = sink.paths();
    let mut walked: Option<Walked> = None;
    let mut page = first;
    // The rows of the page before, if nothing but their number told that there is another.
    let mut before: Option<Vec<Value>> = None;
    loop {
        let (action, request) = (page.action.clone(), page.request.clone());
        // The first page has the time of any request.
        let until = walked.is_some().then_some(deadline);
        let read = read_page(tools, page, &paths, until, entry).await;
        let response = match (read, walked.as_mut()) {
            (Ok(ListRead::Rows(response)), _) => *response,
            (Ok(ListRead::Answer(answer)), None) => return Ok(ListRead::Answer(answer)),
            (Ok(ListRead::NotList), None) => return Ok(ListRead::NotList),
            (Ok(_), Some(walked)) => break walked.stop(End::NoWay, None),
            (Err(End::Failed(error)), None) => return Err(*error),
            (Err(_), None) => break,
            (Err(why), Some(walked)) => break walked.stop(why, Some(request)),
        };
        let rows = response.reply.content.rows();
        // A list without pages is the same on each.
        if before.take().is_some_and(|before| before == rows)
            && let Some(walked) = walked.as_mut()
        {
            break walked.stop(End::Complete, None);
        }
        before = response.reply.page.is_assumed.then(|| rows.to_vec());
        let count = rows.len();
        let direct = may_go_direct.then_some(&response.call);
        let next = paging::next_page(&response.request, &response.action, &response.reply.page, direct);
        let lost = paging::lost_cursor_note(&response.action, &response.reply.page, may_go_direct);
        let notes = response.notes.clone();
        let walked = walked.get_or_insert_with(|| Walked::begin(&response));
        let taken = sink.take(tools, response);
        if taken == Taken::Full {
            break walked.stop(End::Sink, Some(request));
        }
        walked.add(count, notes.into_iter().chain(lost.clone()));
        let is_late = Instant::now() >= deadline;
        let late = is_late.then(|| End::Time { seconds: tools.list_time.as_secs() });
        let limit = if taken == Taken::Stop { Some(End::Sink) } else { walked.limit().or(late) };
        let next = match page_after(&request, next, lost.is_some(), limit) {
            NextPage::Read(next) => next,
            NextPage::None(end, at) => break walked.stop(end, at),
        };
        gitlab::notify(Event::Pages { read: walked.pages, rows: walked.rows });
        page = if next.action == action.id {
            ResolvedAction { action, request: next, notes: Vec::new() }
        } else {
            match action_lookup::resolve(tools, &next) {
                Ok(resolved) => resolved,
                Err(error) => break walked.stop(End::Failed(Box::new(error)), Some(next)),
            }
        };
    }
    walked
        .map(|walked| ListRead::Rows(Box::new(walked)))
        .ok_or_else(|| ToolError::new(ErrorKind::Internal, "a list was read without a page"))
}

/// The page after another one.
enum NextPage {
    Read(ExecuteRequest),
    /// The walk ends here: why, and where it could go on.
    None(End, Option<ExecuteRequest>),
}

/// The page after this one, unless the walk ends here.
fn page_after(
    request: &ExecuteRequest,
    next: Option<ExecuteRequest>,
    is_lost: bool,
    limit: Option<End>,
) -> NextPage {
    match (next, limit) {
        (None, _) => NextPage::None(if is_lost { End::NoWay } else { End::Complete }, None),
        // The rows of this page would be counted twice.
        (Some(next), _) if next.action == request.action && next.params == request.params => {
            NextPage::None(End::NoWay, None)
        }
        (next, Some(limit)) => NextPage::None(limit, next),
        (Some(next), None) => NextPage::Read(next),
    }
}

/// Reads one page, until a moment if there is one; of an object, the list that has the paths. An error is what ends the walk.
async fn read_page(
    tools: &Tools,
    page: ResolvedAction,
    paths: &[String],
    until: Option<Instant>,
    entry: &mut AuditEntry<'_>,
) -> Result<ListRead<ActionResponse>, End> {
    let failed = |error: ToolError| End::Failed(Box::new(error));
    let run = run_action(tools, page, Circumstances::default(), None, entry);
    let outcome = match until {
        None => run.await,
        Some(until) => {
            let late = |_| End::Time { seconds: tools.list_time.as_secs() };
            timeout_at(until, run).await.map_err(late)?
        }
    };
    let mut response = match outcome.map_err(failed)? {
        Outcome::Response(response) => *response,
        Outcome::Answer(answer) => return Ok(ListRead::Answer(answer)),
    };
    let direct = response.action.direct();
    if let (Content::Json(Value::Object(object)), None, None) = (&response.reply.content, direct, until)
        && let Some(rows) = inner_list::rows_with(object, paths)
    {
        response.reply.content = Content::Json(Value::Array(rows));
    }
    if direct == Some(Interface::Graphql) {
        response = document_rows::take_rows(tools, response).map_err(failed)?;
    }
    let Content::Json(Value::Array(rows)) = &response.reply.content else { return Ok(ListRead::NotList) };
    if let Some(received) = response.reply.rows {
        return Err(failed(response.truncated(rows.len(), received)));
    }
    Ok(ListRead::Rows(Box::new(response)))
}

impl Walked {
    /// A walk that has read nothing yet, with its first page.
    fn begin(first: &ActionResponse) -> Walked {
        Walked {
            call: first.call.clone(),
            request: first.request.clone(),
            first_page: first.reply.page.page,
            pages: 0,
            rows: 0,
            total: first.reply.page.total,
            end: End::Complete,
            next: None,
            notes: Vec::new(),
        }
    }

    /// Counts a page that was used.
    fn add(&mut self, rows: usize, notes: impl Iterator<Item = String>) {
        self.pages += 1;
        self.rows += rows;
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// The limit that the walk has reached.
    fn limit(&self) -> Option<End> {
        if self.pages >= MAX_PAGES {
            return Some(End::MostPages);
        }
        (self.rows >= MAX_ROWS).then_some(End::MostRows)
    }

    /// Ends the walk; the request is that of the first page that was not read.
    fn stop(&mut self, end: End, next: Option<ExecuteRequest>) {
        self.end = end;
        self.next = next;
    }
}
