//! The question before something is destroyed: what would be hit, looked up and named, and the word that agrees to
//! just that.

use std::hash::{BuildHasher, Hash, RandomState};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::{EXECUTE, ErrorKind, ExecuteRequest, ToolError, Tools, graphql, refusal, resolve};
use crate::call::{self, Body, Call, Checked};
use crate::catalog::{Action, Interface};
use crate::gitlab::{Content, GitlabError};
use crate::policy::{Confirm, Consent, Decision, Rule};
use crate::untrusted::{defuse, mask_tokens, one_line, shortened};

/// The words that agree to calls: of this process, so that none from elsewhere is taken.
#[derive(Debug, Default)]
pub struct Words(RandomState);

impl Words {
    /// The word for a call on a thing in a state. Ten hexadecimal digits: enough that none is guessed.
    fn word(&self, call: &Call, hit: &Map<String, Value>) -> String {
        let body = match call.body() {
            Body::Json(body) => body.to_string(),
            other => format!("{other:?}"),
        };
        let all = (
            call.action(),
            call.method().name(),
            call.path(),
            call.query(),
            body,
            Value::Object(hit.clone()).to_string(),
        );
        self.of(all)
    }

    fn of(&self, what: impl Hash) -> String {
        format!("{:010x}", self.0.hash_one(what) & 0xff_ffff_ffff)
    }
}

/// One of several calls that are asked about in one question.
pub struct Asked {
    /// Its number among them, from 1.
    pub number: usize,
    pub action: String,
    /// As they were given.
    pub params: Map<String, Value>,
    /// The call, where it can be known beforehand.
    pub known: Option<(Call, Checked)>,
    /// The rule by which it is asked about.
    pub rule: Rule,
}

/// The one question about several calls of a plan; none where what the request says agrees to them all. The word of
/// it is bound to every call of the plan and to the things that are hit as they are.
pub async fn together(
    tools: &Tools,
    plan: &str,
    request: &ExecuteRequest,
    params: &Map<String, Value>,
    asked: &[Asked],
) -> Option<ToolError> {
    let by_word = tools.policy.confirm() == Confirm::Plan;
    if request.confirm == Some(true) && !by_word {
        return None;
    }
    let mut rows = Vec::new();
    for ask in asked {
        rows.push(Value::Object(row(tools, ask).await));
    }
    let rows = Value::Array(rows);
    let word = tools.words.of((plan, json!(params).to_string(), rows.to_string()));
    let said = request.plan.as_deref().map(str::trim);
    if request.confirm == Some(true) && said == Some(word.as_str()) {
        return None;
    }
    let named: Vec<String> = asked.iter().map(|ask| format!("{} ({})", ask.number, ask.action)).collect();
    let rules: Vec<String> = asked.iter().map(|ask| ask.rule.to_string()).collect();
    let same = rules.first().filter(|first| rules.iter().all(|rule| rule == *first));
    let why = same.cloned().unwrap_or_else(|| rules.join("; "));
    let message = format!("{plan} is to be confirmed for {}: {why}. Nothing was changed", named.join(", "));
    let mut fix = json!({"action": plan, "params": params, "confirm": true});
    let mut hint = "Run it again with `confirm: true` once the user wants all of these.";
    if by_word {
        hint = "Run it again as `next` has it once the user wants all of these: its `plan` is good for these calls alone, as long as what they hit stays as it is.";
        if let Some(fix) = fix.as_object_mut() {
            fix.insert("plan".to_owned(), json!(word));
        }
    }
    let mut error = ToolError::new(ErrorKind::NeedsConfirmation, message).hint(hint).fix(EXECUTE, fix);
    error.details.insert("would_hit".to_owned(), rows);
    Some(error)
}

/// What one of several calls would do, as far as it is known.
async fn row(tools: &Tools, ask: &Asked) -> Map<String, Value> {
    let mut row =
        Map::from_iter([("call".to_owned(), json!(ask.number)), ("action".to_owned(), json!(ask.action))]);
    let Some((call, checked)) = &ask.known else {
        row.insert("params".to_owned(), json!(json!(ask.params).to_string()));
        return row;
    };
    row.insert("request".to_owned(), json!(format!("{} {}", call.method().name(), call.path())));
    match hit(tools, call, checked).await {
        Ok(hit) => {
            row.extend(hit.rows);
            row.extend(hit.unseen.map(|why| ("not_looked_up".to_owned(), json!(why))));
        }
        Err(error) => {
            row.insert("not_looked_up".to_owned(), json!(error.message));
        }
    }
    row
}

/// What the policy says of the call, with what its caller has agreed to: by this request, or `agreed` to already by
/// the question of the plan that the call is a step of.
pub async fn decide(
    tools: &Tools,
    request: &ExecuteRequest,
    (call, checked): (&Call, &Checked),
    agreed: bool,
) -> Result<Decision, ToolError> {
    let confirm = agreed || request.confirm == Some(true);
    let consent = Consent { confirm, dry_run: request.dry_run == Some(true) };
    if agreed || tools.policy.confirm() != Confirm::Plan {
        return Ok(tools.policy.decide(call, consent));
    }
    let asks = tools.policy.decide(call, Consent { confirm: false, ..consent });
    let (Decision::Confirm(_), Some(word), true) = (&asks, &request.plan, consent.confirm) else {
        return Ok(asks);
    };
    let hit = hit(tools, call, checked).await?;
    let agreed = tools.words.word(call, &hit.rows) == word.trim();
    Ok(if agreed { tools.policy.decide(call, consent) } else { asks })
}

/// What is asked before the call is sent: what it would hit, and the call that agrees.
pub async fn question(
    tools: &Tools,
    call: &Call,
    checked: &Checked,
    rule: &Rule,
) -> Result<ToolError, ToolError> {
    let hit = hit(tools, call, checked).await?;
    let what = refusal::decider(call).unwrap_or_else(|| call.action().to_owned());
    let message = format!(
        "{what} is to be confirmed: {rule}. It would send {} {}. Nothing was changed",
        call.method().name(),
        call.path()
    );
    let mut fix = json!({"action": call.action(), "params": checked.params(), "confirm": true});
    let mut hint =
        "Run it again with `confirm: true` once the user wants it; `dry_run: true` shows the request.";
    if tools.policy.confirm() == Confirm::Plan {
        hint = "Run it again as `next` has it once the user wants it: its `plan` is good for this call alone, as long as what it hits stays as it is.";
        if let Some(fix) = fix.as_object_mut() {
            fix.insert("plan".to_owned(), json!(tools.words.word(call, &hit.rows)));
        }
    }
    let mut error = ToolError::new(ErrorKind::NeedsConfirmation, message).hint(hint).fix(EXECUTE, fix);
    if !hit.rows.is_empty() {
        error.details.insert("would_hit".to_owned(), Value::Object(hit.rows));
    }
    error.details.extend(hit.unseen.map(|why| ("not_looked_up".to_owned(), json!(why))));
    Ok(error)
}

/// What a call would hit, as far as GitLab says.
#[derive(Debug, Default)]
struct Hit {
    rows: Map<String, Value>,
    /// Why nothing can be said of it.
    unseen: Option<String>,
}

/// Looks at the thing itself, or at the project or group that it is in. What is not there cannot be destroyed, which
/// is said at once; any other failure only leaves the question without the answer.
async fn hit(tools: &Tools, call: &Call, checked: &Checked) -> Result<Hit, ToolError> {
    let mut hit = Hit::default();
    for (id, params) in reads(checked) {
        match read(tools, &id, params).await {
            Ok(Some(rows)) => return Ok(Hit { rows, unseen: None }),
            Ok(None) => {}
            Err(error) if error.kind == ErrorKind::NotFound && is_of(&id, call) => return Err(error),
            Err(error) => hit.unseen = Some(error.message),
        }
    }
    Ok(hit)
}

/// Whether a read is of the very thing that the call is about.
fn is_of(read: &str, call: &Call) -> bool {
    let domain = |id: &str| id.split_once('.').map(|(domain, _)| domain.to_owned());
    domain(read) == domain(call.action())
}

/// The reads that may show it, the nearest first: the same thing by the same parameters, the path of a direct call,
/// the project or group.
fn reads(checked: &Checked) -> Vec<(String, Map<String, Value>)> {
    let action = checked.action();
    let mut reads = Vec::new();
    if action.direct() == Some(Interface::Rest) {
        let path = checked.params().get("path").cloned().unwrap_or_default();
        reads.push(("api.rest".to_owned(), Map::from_iter([("path".to_owned(), path)])));
        return reads;
    }
    reads.push((format!("{}.get", action.domain()), checked.params().clone()));
    if let Some(path) = checked.params().get("fullPath") {
        let of = Map::from_iter([("fullPath".to_owned(), path.clone())]);
        reads.extend(["project.get", "group.get"].map(|id| (id.to_owned(), of.clone())));
    }
    reads
}

/// What a read says of the thing; nothing where there is no such read, or where it wants more than is known.
fn read<'t>(
    tools: &'t Tools,
    id: &'t str,
    params: Map<String, Value>,
) -> BoxFuture<'t, Result<Option<Map<String, Value>>, ToolError>> {
    Box::pin(async move {
        let Some(action) = tools.catalog.get(id).map_err(|error| refusal::internal(&error))? else {
            return Ok(None);
        };
        let taken = params.into_iter().filter(|(name, _)| action.param(name).is_some()).collect();
        let context = tools.context().map_err(|error| refusal::internal(&error))?;
        let Ok(checked) = call::check(action.clone(), taken, &context) else { return Ok(None) };
        let Ok(look) = resolve::call(tools, &checked).await else { return Ok(None) };
        if !matches!(tools.policy.decide(&look, Consent::default()), Decision::Allow) {
            return Ok(None);
        }
        let reply = match tools.client.send(&look).await {
            Err(GitlabError::NotFound { .. }) if action.direct().is_some() => return Ok(None),
            sent => sent.map_err(|error| refusal::from_gitlab(&error, &action, tools.anonymous))?,
        };
        let reply = match graphql::of(&action, &look) {
            Some(asked) => graphql::read(reply, &action, asked, &mut Vec::new())?,
            None => reply,
        };
        Ok(match reply.content {
            Content::Json(Value::Object(thing)) => Some(telling(&action, &thing)),
            _ => None,
        })
    })
}

/// What tells a person which thing it is and what goes with it, in GitLab's two spellings.
const TELLING: [&str; 26] = [
    "path_with_namespace",
    "full_path",
    "reference",
    "iid",
    "title",
    "name",
    "key",
    "tag_name",
    "username",
    "state",
    "status",
    "visibility",
    "archived",
    "default",
    "protected",
    "merged",
    "environment_scope",
    "open_issues_count",
    "user_notes_count",
    "forks_count",
    "star_count",
    "projects",
    "last_activity_at",
    "updated_at",
    "created_at",
    "web_url",
];

/// A text of GitLab's in one line that holds no mark and no token.
fn foreign(text: &str) -> String {
    const LONGEST: usize = 300;
    shortened(&defuse(&mask_tokens(&one_line(text))), LONGEST)
}

/// The telling fields of a thing, lists as how many there are.
fn telling(action: &Action, thing: &Map<String, Value>) -> Map<String, Value> {
    let folded = |name: &str| name.replace('_', "").to_lowercase();
    let mut told = Map::from_iter([("kind".to_owned(), json!(action.domain()))]);
    for name in TELLING {
        let Some((_, value)) = thing.iter().find(|(given, _)| folded(given) == folded(name)) else {
            continue;
        };
        let said = match value {
            Value::Null | Value::Object(_) => continue,
            Value::Array(items) => json!(items.len()),
            Value::String(text) => json!(foreign(text)),
            scalar => scalar.clone(),
        };
        told.insert(name.to_owned(), said);
    }
    told
}
