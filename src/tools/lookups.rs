//! Look-ups that a call depends on (name to id, kind of a path), sent before it: concurrently, and cached for the
//! session.

mod similar_names;
mod titles;

use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{BoxFuture, try_join_all};
use serde_json::{Map, Value, json};

use self::similar_names::{MAX_TITLE_CHARS, OtherNames};
use self::titles::{SEARCH, SEARCH_IN, TitleSearch, title_words, untitled};
use crate::call::{
    self, Call, Candidate, Checked, Invalid, Lookup, LookupAnswer, LookupCache, LookupRequest, LookupResult,
    ResolvedParams, Step,
};
use crate::catalog::{Action, Names, Place, Risk, Scope};
use crate::gitlab::{Content, GitlabError, Reply};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{CheckedCall, NextCall};
use crate::policy::Rule;
use crate::search::{is_negation, nearest};
use crate::text::is_digits;
use crate::tools::action_lookup::suggestions;
use crate::tools::error_mapping;
use crate::tools::own_reads;
use crate::tools::own_reads::gate::{OwnReadError, Purpose, ReadError};
use crate::tools::state::Tools;
use crate::tools::state::token_info::TokenStanding;
use crate::untrusted::{quote, shortened};

/// Maximum number of rounds of look-ups: an answer opens few further questions.
const MAX_ROUNDS: usize = 4;
/// Maximum number of pages that are searched for a name.
const MAX_PAGES: u64 = 5;

/// Failure of a look-up that a call needs.
#[derive(Debug)]
pub struct LookupFailure {
    pub error: ToolError,
    /// The path of a project or group that GitLab does not know, if that is why.
    pub unknown_path: Option<UnknownPath>,
    /// The parameters, if one is missing.
    pub invalid: Option<Box<Invalid>>,
}

/// A path that GitLab does not know, with the call that needs it.
#[derive(Debug)]
pub struct UnknownPath {
    pub path: String,
    /// Project or group, if the request says which of them it is of.
    pub holder: Option<Scope>,
    pub action: Action,
    pub params: Map<String, Value>,
}

impl From<ToolError> for LookupFailure {
    fn from(error: ToolError) -> LookupFailure {
        LookupFailure { error, unknown_path: None, invalid: None }
    }
}

/// The call, once the names it depends on have been looked up.
pub async fn resolve_call(tools: &Tools, checked: &Checked) -> Result<Call, LookupFailure> {
    let requests = AtomicUsize::new(0);
    let call = ready(tools, checked, &requests).await;
    forget_passing_names(tools, checked);
    Ok(call?.with_lookups(requests.load(Ordering::Relaxed)))
}

/// The parameters alone, once their names have been looked up, and the number of requests that did.
pub async fn params(tools: &Tools, checked: &Checked) -> Result<(ResolvedParams, usize), LookupFailure> {
    let requests = AtomicUsize::new(0);
    let step = step_after_lookups(tools, checked, &requests, Checked::params_step).await;
    forget_passing_names(tools, checked);
    match step? {
        Step::Params(params) => Ok((params, requests.load(Ordering::Relaxed))),
        _ => Err(internal(checked, "has no parameters of its own")),
    }
}

/// Forgets the numbers of titles, which change, and of jobs and pipelines, which run again.
fn forget_passing_names(tools: &Tools, checked: &Checked) {
    let mut known = lock_cache(tools);
    for question in checked.questions(&known).iter().filter(|question| question.is_passing()) {
        known.forget(question);
    }
}

async fn ready(tools: &Tools, checked: &Checked, requests: &AtomicUsize) -> Result<Call, LookupFailure> {
    match step_after_lookups(tools, checked, requests, Checked::step).await? {
        Step::Ready(call) => Ok(call),
        _ => Err(internal(checked, "is a composite action, not a single request")),
    }
}

fn internal(checked: &Checked, fault: &str) -> LookupFailure {
    ToolError::new(ErrorKind::Internal, format!("{} {fault}", checked.action().id)).into()
}

/// The step that follows the look-ups: never one that asks.
fn step_after_lookups<'a>(
    tools: &'a Tools,
    checked: &'a Checked,
    requests: &'a AtomicUsize,
    next: fn(&Checked, &LookupCache) -> Result<Step, Invalid>,
) -> BoxFuture<'a, Result<Step, LookupFailure>> {
    // A look-up may depend on another, whence the box.
    Box::pin(async move {
        for _ in 0..=MAX_ROUNDS {
            let step = next(checked, &lock_cache(tools));
            let failure = |invalid: Invalid| LookupFailure {
                invalid: Some(Box::new(invalid.clone())),
                ..error_mapping::invalid(tools, &invalid, checked.action()).into()
            };
            match step.map_err(failure)? {
                Step::Ask(questions) => {
                    let open = resolve_batch(tools, questions, requests).await;
                    let asked =
                        open.iter().map(|question| resolve_lookup(tools, checked, question, requests));
                    try_join_all(asked).await?;
                }
                step => return Ok(step),
            }
        }
        Err(internal(checked, "asks more than can be looked up"))
    })
}

/// The error of a read ([`read_once`]) as that of the call.
pub fn explain(tools: &Tools, read: &str, error: ReadError) -> ToolError {
    match error {
        ReadError::NotSent(error) => error,
        ReadError::Gitlab(error) => match tools.catalog.get(read).ok().flatten() {
            Some(read) => error_mapping::from_gitlab(&error, &read, tools.token_standing()),
            None => ToolError::new(ErrorKind::GitlabError, format!("{read} cannot be read")),
        },
    }
}

/// A read of this program's own with its reply; its names are looked up like any other's.
pub async fn read_once(
    tools: &Tools,
    action: &str,
    params: Map<String, Value>,
    purpose: Purpose,
) -> Result<(Call, Reply), ReadError> {
    let action = tools.catalog.get(action).map_err(ToolError::from)?;
    let Some(action) = action.filter(|action| action.risk == Risk::Read) else {
        return Err(ToolError::new(ErrorKind::UnknownAction, "there is no such read").into());
    };
    let context = tools.context().map_err(ToolError::from)?;
    let checked = call::check(action.clone(), params, &context)
        .map_err(|invalid| error_mapping::invalid(tools, &invalid, &action))?;
    let call = resolve_call(tools, &checked).await.map_err(|failure| failure.error)?;
    match own_reads::send(tools, call.clone(), purpose).await {
        Ok(mut reply) => {
            if let (Some(readable), Content::Json(Value::Array(rows))) =
                (tools.policy.readable(), &mut reply.content)
                && let Some(field) = readable.row_field(call.effects())
            {
                readable.keep_rows(rows, field);
            }
            Ok((call, reply))
        }
        Err(OwnReadError::Gitlab(error)) => Err(error.into()),
        Err(error) => Err(error.explain(tools, &action).into()),
    }
}

/// The JSON of a read of this program's own; none if the read fails, or its reply has none.
pub async fn read_json(
    tools: &Tools,
    action: &str,
    params: Map<String, Value>,
    purpose: Purpose,
) -> Option<Value> {
    let (_, reply) = read_once(tools, action, params, purpose).await.ok()?;
    match reply.content {
        Content::Json(value) => Some(value),
        _ => None,
    }
}

/// Forgets the look-ups that the call depended on, because GitLab reports a missing object.
pub fn forget(tools: &Tools, checked: &Checked) {
    let mut known = lock_cache(tools);
    for question in checked.questions(&known) {
        known.forget(&question);
    }
}

fn lock_cache(tools: &Tools) -> std::sync::MutexGuard<'_, LookupCache> {
    tools.lookup_cache.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Resolves the questions that one GraphQL query can answer, and returns the others.
async fn resolve_batch(tools: &Tools, questions: Vec<Lookup>, requests: &AtomicUsize) -> Vec<Lookup> {
    let Some(batch) = call::batch(&questions) else { return questions };
    // If GraphQL fails, is switched off or denied, each question is a request of its own.
    let sent = own_reads::send(tools, batch.call().clone(), Purpose::LookUp).await;
    if !matches!(sent, Err(OwnReadError::Denied { .. })) {
        requests.fetch_add(1, Ordering::Relaxed);
    }
    if let Ok(Reply { content: Content::Json(reply), .. }) = sent {
        for (question, answer) in batch.answers(&reply) {
            lock_cache(tools).learn(question, answer);
        }
    }
    let known = lock_cache(tools);
    questions.into_iter().filter(|question| !known.answers(question)).collect()
}

/// The parameter with the pipeline of a job that is given by name.
const PIPELINE: &str = "pipeline_id";

/// Asks GitLab, and caches the answer.
async fn resolve_lookup(
    tools: &Tools,
    checked: &Checked,
    question: &Lookup,
    requests: &AtomicUsize,
) -> Result<(), LookupFailure> {
    let mut hidden = None;
    let mut denied = None;
    let mut gave_up = None;
    let readings = question.reads();
    for reading in &readings {
        match find_in_pages(tools, checked, question, reading, requests).await {
            Ok((LookupResult::Found(answer), _)) => {
                lock_cache(tools).learn(question.clone(), answer);
                return Ok(());
            }
            Ok((LookupResult::Several(candidates), _))
                if question.is_of_runs() && checked.action().risk == Risk::Read =>
            {
                let newest = candidates.iter().map(|candidate| candidate.id).max();
                lock_cache(tools).learn(question.clone(), LookupAnswer::Id(newest.unwrap_or_default()));
                return Ok(());
            }
            Ok((LookupResult::Several(candidates), _)) => {
                let error = ambiguous(tools, checked, question, candidates);
                return Err(error.fix(NextCall::execute(reading.action, &reading.params)).into());
            }
            Ok((LookupResult::Nothing, rows)) => gave_up = gave_up.or(rows),
            Err(LookupReadError::Hidden(_)) if question.is_refused_if_missing() => {}
            Err(LookupReadError::Hidden(error)) => hidden = hidden.or(error),
            Err(LookupReadError::Failed(failure)) => return Err(*failure),
            Err(LookupReadError::Denied { action, rule }) => {
                let sent = requests.load(Ordering::Relaxed);
                denied = denied.or_else(|| Some(denied_look_up(question, &action, &rule, sent)));
            }
        }
    }
    match denied {
        Some(denied) => Err(denied.into()),
        None => resolve_unnamed(tools, checked, question, requests, (hidden, gave_up)).await,
    }
}

/// The error of a name that several objects have.
fn ambiguous(tools: &Tools, checked: &Checked, question: &Lookup, candidates: Vec<Candidate>) -> ToolError {
    let invalid = checked.ambiguous(question, &lock_cache(tools), candidates);
    let error = ToolError::new(ErrorKind::InvalidParams, invalid.to_string());
    match question.is_of_runs() && checked.action().param(PIPELINE).is_some() {
        true => error.hint(format!("Give its pipeline too, as `{PIPELINE}`: an id, a branch or `!12`.")),
        false => error,
    }
}

/// Resolves a name that no object has: by the words of a title, or by the full name of a member. Otherwise the error, with
/// what is near. `hidden` is the error of a reading that may not be seen, `gave_up` the number of rows after which one ended.
async fn resolve_unnamed(
    tools: &Tools,
    checked: &Checked,
    question: &Lookup,
    requests: &AtomicUsize,
    (hidden, gave_up): (Option<ToolError>, Option<usize>),
) -> Result<(), LookupFailure> {
    let readings = question.reads();
    let param = checked.asking_param(question, &lock_cache(tools));
    if let (None, Some(title), Some(reading)) = (&hidden, question.title(), readings.last()) {
        let search = search_titles(tools, (question, title, reading), requests).await;
        match search.candidates.as_slice() {
            [only] if !search.has_more && search.is_by_words && checked.action().risk == Risk::Read => {
                lock_cache(tools).learn(question.clone(), LookupAnswer::Id(only.id));
                return Ok(());
            }
            _ => return Err(untitled(checked, question, param.as_deref(), search).into()),
        }
    }
    if hidden.is_none()
        && let Some(id) = find_member_by_name(tools, checked, question, requests).await
    {
        lock_cache(tools).learn(question.clone(), LookupAnswer::Id(id));
        return Ok(());
    }
    let error = match hidden {
        Some(error) => error,
        None => {
            let seen = not_found_hint(gave_up, tools.is_anonymous());
            let error = not_found(question, param.as_deref(), readings.first(), gave_up, &seen);
            let asked = AskedName { checked, question, param: param.as_deref() };
            with_near_name(tools, asked, error, requests).await
        }
    };
    Err(LookupFailure { unknown_path: unknown_path(checked, question, &error), error, invalid: None })
}

/// A name that was looked up for a parameter of a call.
struct AskedName<'a> {
    checked: &'a Checked,
    question: &'a Lookup,
    param: Option<&'a str>,
}

/// Adds the nearest name to the error, else the few that there are, else the call that lists them.
async fn with_near_name(
    tools: &Tools,
    asked: AskedName<'_>,
    error: ToolError,
    requests: &AtomicUsize,
) -> ToolError {
    let question = asked.question;
    // A similar name would lose the others.
    let is_several = |name: &str| name.split_once(',').is_some_and(|(_, other)| !other.starts_with(' '));
    if question.username().is_some_and(is_several) {
        return error.hint("These are several names: give one in each call.");
    }
    let others = match fetch_others(tools, question, requests).await {
        Some(others) if others.near.is_some() => Some(others),
        others => fetch_members(tools, &asked, requests).await.or(others),
    };
    let existing = others.as_ref().and_then(OtherNames::list);
    if let Some(near) = others.and_then(|others| others.near) {
        return misspelled(error, &asked, &near);
    }
    let error = match existing {
        Some(existing) => error.hint(existing),
        None => error,
    };
    match sibling_list(tools, question, question.reads().first()) {
        Some(list) if error.fix.is_none() => error.fix(list),
        _ => error,
    }
}

/// The path that is unknown, for a search of near ones.
fn unknown_path(checked: &Checked, question: &Lookup, error: &ToolError) -> Option<UnknownPath> {
    match question {
        Lookup::KindOf { full_path } if error.kind == ErrorKind::NotFound => Some(UnknownPath {
            path: full_path.clone(),
            holder: None,
            action: checked.action().clone(),
            params: checked.params().clone(),
        }),
        _ => None,
    }
}

/// The names of the list in which a look-up found nothing.
async fn fetch_others(tools: &Tools, question: &Lookup, requests: &AtomicUsize) -> Option<OtherNames> {
    let (name, list) = question.similar_names()?;
    let action = tools.catalog.get(list.action).ok()??;
    // The error that is mended matters more than why this read failed.
    let (answer, more) = fetch_page(tools, &action, &list.params, requests).await.ok()?;
    let rows = question.candidates(&list, &answer);
    if !list.params.contains_key(SEARCH) {
        return Some(OtherNames::new(name, rows, matches!(more, RemainingRows::Nothing)));
    }
    // A search has found what it could: the only row is meant, and none says nothing on what there is.
    let is_meant = |only: &&Candidate| !is_negation(name, &only.name);
    let near = if let [only] = rows.as_slice() { Some(only).filter(is_meant).cloned() } else { None };
    let near = near.or(OtherNames::new(name, rows, false).near);
    Some(OtherNames { near, ..OtherNames::new(name, Vec::new(), false) })
}

/// The only member of the call's project or group with a display name. Everybody chooses their own: over all users, a
/// stranger could have the name of a colleague.
async fn find_member_by_name(
    tools: &Tools,
    checked: &Checked,
    question: &Lookup,
    requests: &AtomicUsize,
) -> Option<u64> {
    let name = question.display_name()?.to_lowercase();
    let (rows, is_whole) = fetch_member_rows(tools, checked, requests).await?;
    let is_named = |row: &&Value| {
        row.get("name").and_then(Value::as_str).is_some_and(|other| other.to_lowercase() == name)
    };
    let mut named = rows.iter().filter(is_named);
    match (named.next(), named.next()) {
        (Some(only), None) if is_whole => only.get("id")?.as_u64(),
        _ => None,
    }
}

/// The rows of the members of the call's project or group, and whether these are all.
async fn fetch_member_rows(
    tools: &Tools,
    checked: &Checked,
    requests: &AtomicUsize,
) -> Option<(Vec<Value>, bool)> {
    let path = checked.params().get("fullPath")?;
    let action = tools.catalog.get(&tools.catalog.words().ok()?.changes.members.all).ok()??;
    let params = Map::from_iter([("fullPath".to_owned(), path.clone()), ("per_page".to_owned(), json!(100))]);
    let (answer, more) = fetch_page(tools, &action, &params, requests).await.ok()?;
    let Value::Array(rows) = answer else { return None };
    Some((rows, matches!(more, RemainingRows::Nothing)))
}

/// The members of the project or group of a call, where a user is not found.
async fn fetch_members(tools: &Tools, asked: &AskedName<'_>, requests: &AtomicUsize) -> Option<OtherNames> {
    let name = asked.question.username()?;
    let (rows, is_whole) = fetch_member_rows(tools, asked.checked, requests).await?;
    let member = |row: &Value| {
        let name = row.get("username")?.as_str()?.to_owned();
        Some(Candidate { name, id: row.get("id")?.as_u64()? })
    };
    let rows: Vec<Candidate> = rows.iter().filter_map(member).collect();
    let is_whole = is_whole && !rows.is_empty();
    Some(OtherNames { heading: "Members", ..OtherNames::new(name, rows, is_whole) })
}

/// The error with a similar name, and the call with it if the parameter has nothing else.
fn misspelled(error: ToolError, asked: &AskedName<'_>, near: &Candidate) -> ToolError {
    let AskedName { checked, question, param } = asked;
    let name = question.given_name().unwrap_or_default();
    let error = error.hint(format!("Did you mean {}?", quote(&shortened(&near.name, MAX_TITLE_CHARS))));
    let mut params = checked.params().clone();
    let given = param.and_then(|param| params.get_mut(param));
    let is_replaced = match given {
        Some(value @ Value::String(_)) => {
            *value = json!(near.name);
            true
        }
        Some(Value::Array(items)) => {
            let is_meant =
                |item: &&mut Value| item.as_str().is_some_and(|item| item.trim_start_matches('@') == name);
            match items.iter_mut().find(is_meant) {
                Some(item) => {
                    *item = json!(near.name);
                    true
                }
                None => false,
            }
        }
        _ => false,
    };
    // Neither a deletion nor access is offered for another name, and no change of another person.
    let action = checked.action();
    let is_person = param
        .and_then(|param| action.param(param))
        .is_some_and(|param| param.place == Place::Path && param.names == Some(Names::User));
    let is_offered = is_replaced
        && match action.risk {
            Risk::Read => true,
            Risk::Write => !is_person,
            Risk::Grant | Risk::Destructive => false,
        };
    if is_offered { error.fix(NextCall::execute(&checked.action().id, &params)) } else { error }
}

/// Searches a list for the words of a title that none of its rows has. A search that fails finds nothing.
async fn search_titles(
    tools: &Tools,
    (question, title, reading): (&Lookup, &str, &LookupRequest),
    requests: &AtomicUsize,
) -> TitleSearch {
    let words = title_words(tools, reading.action, title);
    let mut read = reading.clone();
    if words.is_empty() {
        read.params.shift_remove(SEARCH);
    } else {
        read.params.insert(SEARCH.to_owned(), json!(words));
    }
    let mut search = TitleSearch { read, words, candidates: Vec::new(), has_more: false, is_by_words: true };
    let Some(action) = tools.catalog.get(reading.action).ok().flatten() else { return search };
    if !search.words.is_empty()
        && let Ok((answer, more)) = fetch_page(tools, &action, &search.read.params, requests).await
    {
        search.candidates = question.candidates(&search.read, &answer);
        search.has_more = !matches!(more, RemainingRows::Nothing);
    }
    if search.candidates.is_empty() {
        // A misspelled word finds nothing: the titles of the latest are compared.
        let mut latest = search.read.clone();
        latest.params.shift_remove(SEARCH);
        latest.params.shift_remove(SEARCH_IN);
        if let Ok((answer, _)) = fetch_page(tools, &action, &latest.params, requests).await {
            let rows = question.candidates(&latest, &answer);
            let nearest = nearest(title, rows.iter().map(|row| row.name.as_str())).map(str::to_owned);
            search.candidates = rows.into_iter().filter(|row| Some(&row.name) == nearest.as_ref()).collect();
            search.is_by_words = false;
        }
    }
    search
}

/// A look-up that a rule denies.
fn denied_look_up(question: &Lookup, action: &str, rule: &Rule, sent: usize) -> ToolError {
    // Under a rule on paths, the paths behind ids were looked up before.
    let sent =
        if rule.is_about_paths() { "The call was not sent".to_owned() } else { error_mapping::sent(sent) };
    let message = format!("{} needs {action}, which is denied: {rule}. {sent}", question.wanted());
    ToolError::new(ErrorKind::Denied, message)
}

enum LookupReadError {
    /// A rule denies the read; it was not sent.
    Denied {
        action: String,
        rule: Rule,
    },
    /// GitLab does not show it here; another read may. With the error worth telling where none does.
    Hidden(Option<ToolError>),
    Failed(Box<LookupFailure>),
}

impl LookupReadError {
    fn failed(error: impl Into<ToolError>) -> LookupReadError {
        let error: ToolError = error.into();
        LookupReadError::Failed(Box::new(error.into()))
    }
}

/// Searches the pages of a read. If nothing is found and there are more rows, returns the number of rows searched.
async fn find_in_pages(
    tools: &Tools,
    checked: &Checked,
    question: &Lookup,
    reading: &LookupRequest,
    requests: &AtomicUsize,
) -> Result<(LookupResult, Option<usize>), LookupReadError> {
    let Some(action) = tools.catalog.get(reading.action).map_err(LookupReadError::failed)? else {
        return Ok((LookupResult::Nothing, None));
    };
    let mut params = reading.params.clone();
    let mut rows = 0;
    for page in 2..=MAX_PAGES + 1 {
        let (answer, more) = fetch_page(tools, &action, &params, requests).await?;
        rows += answer.as_array().map_or(0, Vec::len);
        if tools.policy.has_path_rules()
            && checked.action().risk != Risk::Read
            && let Some(moved) = moved_error(&params, &answer)
        {
            return Err(LookupReadError::failed(moved));
        }
        let finding = question.finding(reading, &answer);
        match (finding, more) {
            (LookupResult::Nothing, RemainingRows::Page) => {}
            (LookupResult::Nothing, RemainingRows::Unreachable) => {
                return Ok((LookupResult::Nothing, Some(rows)));
            }
            (finding, _) => return Ok((finding, None)),
        }
        params.insert("page".to_owned(), json!(page));
    }
    Ok((LookupResult::Nothing, Some(rows)))
}

/// The error of a project or group that is elsewhere now: GitLab redirects the read, and policy has decided on the place that
/// the call names.
fn moved_error(params: &Map<String, Value>, answer: &Value) -> Option<ToolError> {
    let given = params.get("fullPath")?.as_str()?.trim_matches('/');
    let now = ["path_with_namespace", "full_path"].into_iter().find_map(|name| answer.get(name)?.as_str())?;
    let is_another = !is_digits(given) && !given.eq_ignore_ascii_case(now);
    is_another.then(|| {
        let message = format!("{} has moved: it is {} now", quote(given), quote(now));
        ToolError::new(ErrorKind::NotFound, message)
            .hint("Nothing was changed; only reads follow a redirect.")
    })
}

/// Rows after a page.
enum RemainingRows {
    Nothing,
    /// Another page, which can be asked for by its number.
    Page,
    /// Further rows, which this read cannot ask for.
    Unreachable,
}

/// Fetches one page of a read. Returns also whether there are more rows.
async fn fetch_page(
    tools: &Tools,
    action: &Action,
    params: &Map<String, Value>,
    requests: &AtomicUsize,
) -> Result<(Value, RemainingRows), LookupReadError> {
    let context = tools.context().map_err(LookupReadError::failed)?;
    let checked = call::check(action.clone(), params.clone(), &context)
        .map_err(|invalid| LookupReadError::failed(error_mapping::invalid(tools, &invalid, action)))?;
    let call = ready(tools, &checked, requests)
        .await
        .map_err(|failure| LookupReadError::Failed(Box::new(failure)))?;
    let read =
        own_reads::send_and_unwrap(tools, CheckedCall { call: &call, checked: &checked }, Purpose::LookUp)
            .await;
    if !matches!(read, Err(OwnReadError::Denied { .. })) {
        requests.fetch_add(1, Ordering::Relaxed);
    }
    let reply = read.map_err(|error| match error {
        OwnReadError::Denied { action, rule } => LookupReadError::Denied { action, rule },
        OwnReadError::Gitlab(error) => read_error(&error, action, tools.token_standing()),
        OwnReadError::Graphql(error) => hidden_error(error),
    })?;
    let has_more = reply.page.next_page.is_some() || reply.page.next_query.is_some();
    let more = match (has_more, action.param("page")) {
        (false, _) => RemainingRows::Nothing,
        (true, Some(_)) => RemainingRows::Page,
        (true, None) => RemainingRows::Unreachable,
    };
    if let (Some(came), Content::Json(Value::Array(rows))) = (reply.rows, &reply.content) {
        return Err(LookupReadError::failed(error_mapping::truncated(action, rows.len(), came)));
    }
    match reply.content {
        Content::Json(value) => Ok((value, more)),
        _ => Ok((Value::Null, RemainingRows::Nothing)),
    }
}

/// Maps an error of GraphQL; an object that is not found may be found by another read.
fn hidden_error(error: ToolError) -> LookupReadError {
    if error.kind == ErrorKind::NotFound {
        LookupReadError::Hidden(None)
    } else {
        LookupReadError::failed(error)
    }
}

fn read_error(error: &GitlabError, action: &Action, token: TokenStanding) -> LookupReadError {
    match error {
        // A page is not GitLab's answer: it says nothing on the object.
        GitlabError::NotFound { answer } if answer.is_page => {
            LookupReadError::Hidden(Some(error_mapping::from_gitlab(error, action, token)))
        }
        GitlabError::NotFound { .. } => LookupReadError::Hidden(None),
        GitlabError::Forbidden { .. } => {
            LookupReadError::Hidden(Some(error_mapping::from_gitlab(error, action, token)))
        }
        _ => LookupReadError::failed(error_mapping::from_gitlab(error, action, token)),
    }
}

/// Hint on why an existing object may not have been found.
fn not_found_hint(gave_up: Option<usize>, anonymous: bool) -> String {
    match (gave_up, anonymous) {
        (Some(rows), _) => format!(
            "The list is longer: only its first {rows} rows were searched. Give the id, or a name that a search \
             of the list finds."
        ),
        (None, true) => {
            "No token is set (GITLAB_TOKEN, or `gitlab-mcp auth login`): only public objects are visible."
                .to_owned()
        }
        (None, false) => {
            "Check the spelling; GitLab also hides objects that the token may not read.".to_owned()
        }
    }
}

/// The list of the domain of a read, in the place that was searched.
fn sibling_list(tools: &Tools, question: &Lookup, read: Option<&LookupRequest>) -> Option<NextCall> {
    let Lookup::IdOf { within, .. } = question else { return None };
    let domain = read?.action.split('.').next()?;
    let list = tools.catalog.get(&format!("{domain}.list")).ok().flatten()?;
    let params = Map::from_iter([("fullPath".to_owned(), json!(within.get("fullPath")?))]);
    suggestions::offer(tools, &list, &params)
}

/// Error of a name that was not found: the name, the place that was searched, and the read that lists existing objects.
fn not_found(
    question: &Lookup,
    param: Option<&str>,
    read: Option<&LookupRequest>,
    gave_up: Option<usize>,
    seen: &str,
) -> ToolError {
    let missed = match gave_up {
        Some(rows) => format!("{} among the first {rows} rows", question.missed()),
        None => question.missed(),
    };
    let message = param.map_or_else(|| missed.clone(), |param| format!("`{param}`: {missed}"));
    let Some(read) = read.filter(|read| !read.compared().is_empty()) else {
        return ToolError::new(ErrorKind::NotFound, message).hint(seen);
    };
    let hint = format!("Looked in {} by {}. {seen}", read.action, read.compared().join(" and "));
    // The filter by the name would find nothing again.
    let list = question.similar_names().map_or_else(|| read.params.clone(), |(_, list)| list.params);
    ToolError::new(ErrorKind::NotFound, message).hint(hint).fix(NextCall::execute(read.action, &list))
}
