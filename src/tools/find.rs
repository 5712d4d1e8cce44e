//! `gitlab_find_action`: ranks the actions for a request in words, and shows their parameters.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::catalog::{Action, BY_NAME, FOLD, Risk, Words, example, input_schema, required, signature};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::local_files;
use crate::messages::request::{Answer, Detail, FindRequest, NextCall};
use crate::search::{Confidence, Hit, Query, Ranking};
use crate::text::{excerpt, list_first, object_fields};
use crate::tools::state::Tools;
use crate::tools::{action_uri, instance_version, workspace};

const DEFAULT_LIMIT: u32 = 5;
const MAX_LIMIT: u32 = 50;

/// Maximum size of a query in bytes; the rest is ignored.
const MAX_QUERY_BYTES: usize = 1_000;

/// Bytes of a signature: the first result's if it is sure and otherwise, and each other's. More only by required parameters.
const SURE_SIGNATURE: usize = 2_400;
const FIRST_SIGNATURE: usize = 400;
const OTHER_SIGNATURE: usize = 320;

/// Maximum number of operations of a result in the text.
const MAX_OPERATIONS: usize = 4;

/// Maximum number of denied actions that are named.
const MAX_WITHHELD_NAMED: usize = 3;

/// Ranks the actions for a query, and renders them with what each takes.
pub fn find(tools: &Tools, request: &FindRequest) -> Result<Answer, ToolError> {
    let query = request.query.trim();
    let query = query.get(..query.floor_char_boundary(MAX_QUERY_BYTES)).unwrap_or(query);
    if query.is_empty() {
        return Err(empty_query());
    }
    let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let message = format!("`limit` is from 1 to {MAX_LIMIT}; {limit} was given");
        let fixed = json!({"query": query, "limit": limit.clamp(1, MAX_LIMIT)});
        return Err(ToolError::new(ErrorKind::InvalidParams, message).fix(NextCall::find(fixed)));
    }
    if let Some(domain) = request.domain.as_deref() {
        known_domain(tools, query, domain)?;
    }
    let only_reads = request.read_only == Some(true);
    let allow = |action: &Action| {
        tools.withholds(action).is_none() && (!only_reads || tools.policy.risk(action) == Risk::Read)
    };
    let ranking = tools.ranker()?.rank(
        &tools.catalog,
        &Query {
            words: query,
            limit: limit as usize,
            domain: request.domain.as_deref(),
            allow: &allow,
            explain: request.explain == Some(true),
        },
    )?;
    answer(tools, query, &ranking, request)
}

fn empty_query() -> ToolError {
    ToolError::new(ErrorKind::InvalidParams, "`query` is empty")
        .hint("Say what you want to do, in a few words; or give an action id, a REST path or a GitLab URL.")
        .fix(NextCall::find(json!({"query": "list open merge requests of a project"})))
}

fn known_domain(tools: &Tools, query: &str, domain: &str) -> Result<(), ToolError> {
    let domains = &tools.catalog.words()?.domains;
    if domains.contains_key(domain) {
        return Ok(());
    }
    let nearest = crate::search::nearest(domain, domains.keys().map(String::as_str));
    let mut fixed = json!({"query": query});
    if let (Some(nearest), Some(fixed)) = (nearest, fixed.as_object_mut()) {
        fixed.insert("domain".to_owned(), json!(nearest));
    }
    let shown: String = excerpt(domain, 80);
    let message = format!("there is no domain `{shown}`");
    Err(ToolError::new(ErrorKind::InvalidParams, message)
        .hint("A domain is the part of an action's id before the dot, such as `merge_request`.")
        .fix(NextCall::find(fixed)))
}

fn answer(tools: &Tools, query: &str, ranking: &Ranking, request: &FindRequest) -> Result<Answer, ToolError> {
    let detail = request.detail.unwrap_or_default();
    let language = &tools.catalog.words()?.language;
    let is_local = tools.local_hints && local_files::is_local(language, query);
    let is_git = tools.local_hints && local_files::is_git_command(language, query);
    // A request for a local file is not answered by GitLab's actions, however well its words match.
    let sure = match ranking.confidence {
        Confidence::High if is_local => Confidence::Low,
        sure => sure,
    };
    let mut schemas = Schemas::new(tools, detail)?;
    let mut text = String::new();
    // A sure find has one result whole, and the others by name.
    let is_sure = sure == Confidence::High && detail == Detail::Auto;
    let results = add_results(tools, query, ranking, is_sure, &mut schemas, &mut text)?;
    let mut structured = Map::new();
    structured.insert("query".to_owned(), json!(query));
    structured.insert("confidence".to_owned(), json!(confidence(sure)));
    structured.insert("total".to_owned(), json!(ranking.total));
    structured.insert("results".to_owned(), Value::Array(results));
    if !ranking.suggestions.is_empty() {
        structured.insert("suggestions".to_owned(), json!(ranking.suggestions));
        let _ = writeln!(text, "Suggestions: {}", ranking.suggestions.join(", "));
    }
    if !ranking.steps.is_empty() {
        structured.insert("steps".to_owned(), json!(ranking.steps));
    }
    let mut heading = heading(sure, ranking, request.domain.as_deref());
    let mut notes = notes(tools, ranking);
    notes.extend(schemas.note());
    let first = ranking.hits.first().map(|hit| &hit.action);
    let is_remote = first.is_some_and(|action| action.id != query && workspace::is_remote(tools, action));
    if is_remote && !is_local {
        notes.push(local_files::REMOTE_RESULTS.to_owned());
    }
    notes.iter().for_each(|note| heading.push_str(&format!("{note}\n")));
    let elsewhere = [(is_local, local_files::NOT_READ_HERE), (is_git, local_files::GIT_NOT_RUN_HERE)];
    if let Some((_, note)) = elsewhere.into_iter().find(|(is_meant, _)| *is_meant) {
        heading.insert_str(0, &format!("{note}\n"));
        notes.insert(0, note.to_owned());
    }
    if !notes.is_empty() {
        structured.insert("notes".to_owned(), json!(notes));
    }
    let is_folded =
        text.contains(" more)`") || text.contains(BY_NAME) || (ranking.hits.len() > 1 && !is_sure);
    if is_folded && detail != Detail::Schema {
        let _ = writeln!(text, "All parameters: `detail: \"schema\"`, or {}", action_uri::ACTION);
    }
    Ok(Answer::new(structured, heading + &text))
}

/// Writes the results into the text, and returns them in the structured form.
fn add_results(
    tools: &Tools,
    query: &str,
    ranking: &Ranking,
    is_sure: bool,
    schemas: &mut Schemas<'_>,
    text: &mut String,
) -> Result<Vec<Value>, ToolError> {
    let (mut results, mut others) = (Vec::new(), Vec::new());
    for (place, hit) in ranking.hits.iter().enumerate() {
        if is_sure && place > 0 {
            let risk = warned_risk(tools, &hit.action);
            others.push(
                risk.map_or_else(|| hit.action.id.clone(), |risk| format!("{} ({risk})", hit.action.id)),
            );
            results.push(match risk {
                Some(risk) => json!({"action": hit.action.id, "risk": risk}),
                None => json!({"action": hit.action.id}),
            });
            continue;
        }
        let length = match place {
            0 if is_sure => SURE_SIGNATURE,
            0 => FIRST_SIGNATURE,
            _ => OTHER_SIGNATURE,
        };
        let signature = signature(&tools.offered(hit.action.clone()), length, query);
        let result = FoundAction::new(tools, hit, signature, place == 0, schemas)?;
        result.write(place + 1, text);
        results.push(Value::Object(result.structured));
    }
    if !others.is_empty() {
        let _ = writeln!(text, "Others: {}", others.join(", "));
    }
    Ok(results)
}

/// The risk of an action that is named alone, if it destroys or hands out access.
fn warned_risk(tools: &Tools, action: &Action) -> Option<&'static str> {
    let risk = tools.policy.risk(action);
    matches!(risk, Risk::Grant | Risk::Destructive).then(|| risk.name())
}

/// The lines before the results.
fn heading(sure: Confidence, ranking: &Ranking, domain: Option<&str>) -> String {
    let mut heading = match sure {
        Confidence::High => String::new(),
        Confidence::Low => "Not sure which action fits; the most likely first.\n".to_owned(),
        Confidence::None => no_results(ranking, domain),
    };
    if !ranking.steps.is_empty() {
        let _ =
            writeln!(heading, "It takes several actions, in this order: {}.", ranking.steps.join(", then "));
    }
    heading
}

/// The heading of an answer without results.
fn no_results(ranking: &Ranking, domain: Option<&str>) -> String {
    match domain {
        _ if !ranking.withheld.is_empty() => "Every action for this request is denied here.\n".to_owned(),
        Some(domain) => format!("No action of the domain `{domain}` fits this request.\n"),
        None => "No GitLab action fits this request.\n".to_owned(),
    }
}

/// Notes on actions that are not offered, with the rule.
fn notes(tools: &Tools, ranking: &Ranking) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(setting) = tools.policy.read_only_setting() {
        notes.push(format!("Only reads are offered ({setting})."));
    }
    if let Ok(words) = tools.catalog.words() {
        let found = ranking.hits.iter().map(|hit| hit.action.id.as_str());
        notes.extend(
            tools.wording.get().into_iter().flat_map(|wording| wording.family_notes(words, found.clone())),
        );
    }
    // Each rule with the actions that it denies, in the order of the ranking.
    let mut by_rule: Vec<(String, Vec<&str>)> = Vec::new();
    for id in &ranking.withheld {
        let why = reason(tools, id);
        match by_rule.iter_mut().find(|(known, _)| *known == why) {
            Some((_, ids)) => ids.push(id),
            None => by_rule.push((why, vec![id])),
        }
    }
    for (why, ids) in &by_rule {
        notes.push(format!("Left out: {}; {why}.", list_first(ids.iter().copied(), MAX_WITHHELD_NAMED)));
    }
    notes
}

/// The reason why an action is not offered: the policy's rule, or `read_only`.
fn reason(tools: &Tools, id: &str) -> String {
    let rule = tools.catalog.get(id).ok().flatten().and_then(|action| tools.withholds(&action));
    rule.map_or_else(|| "it changes something".to_owned(), |rule| rule.to_string())
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "high",
        Confidence::Low => "low",
        Confidence::None => "none",
    }
}

/// A result, in structured form and as text.
struct FoundAction {
    structured: Map<String, Value>,
    action: Action,
    risk: &'static str,
    /// True if it reads or changes GitLab's copy of a file that a workspace may have too.
    is_remote: bool,
    signature: String,
    example: Option<Value>,
    /// Ids of the related actions that may run.
    related: Vec<String>,
    /// The action that is usually wanted, if it may run.
    usually: Option<String>,
    /// The action to use in place of a deprecated one, if it may run.
    replaced_by: Option<String>,
    schema: Option<Value>,
    explain: Vec<String>,
    /// Note that the instance is too old for it, if its version is known.
    lacking: Option<String>,
}

impl FoundAction {
    fn new(
        tools: &Tools,
        hit: &Hit,
        signature: String,
        first: bool,
        schemas: &mut Schemas<'_>,
    ) -> Result<FoundAction, ToolError> {
        let words = tools.catalog.words()?;
        let action = tools.offered(hit.action.clone());
        let schema = schemas.schema(&action, first);
        let is_detailed = first || schemas.detail == Detail::Schema;
        let mut found = FoundAction {
            structured: Map::new(),
            example: is_detailed.then(|| json!({"action": action.id, "params": example(&action, words)})),
            related: if is_detailed { may_run(tools, &action.related) } else { Vec::new() },
            usually: may_run(tools, action.usually.as_slice()).pop(),
            replaced_by: may_run(tools, action.replaced_by.as_slice()).pop(),
            signature,
            schema,
            explain: hit.explain.clone(),
            lacking: instance_version::lacking(tools, &action),
            risk: tools.policy.risk(&action).name(),
            is_remote: workspace::is_remote(tools, &action),
            action,
        };
        found.fill(hit.score);
        Ok(found)
    }

    /// Sets the structured form, without the fields that have nothing to say.
    fn fill(&mut self, score: f32) {
        let action = &self.action;
        let mut fields = object_fields(json!({
            "action": action.id,
            "domain": action.domain(),
            "summary": action.summary,
            "risk": self.risk,
            "operations": operations(action),
            "signature": self.signature,
            "required": required(action),
            "schema_uri": action_uri::action_uri(&action.id),
            "remote": self.is_remote.then_some(true),
            "experiment": experiment(action),
            "since": instance_version::since(action),
            "until": instance_version::until(action),
            "deprecated": action.deprecated.then_some(true),
            "usually": self.usually,
            "replaced_by": self.replaced_by,
            "score": (f64::from(score) * 1000.0).round() / 1000.0,
            "input_schema": self.schema,
            "example": self.example,
            "related": (!self.related.is_empty()).then_some(&self.related),
            "explain": (!self.explain.is_empty()).then_some(&self.explain),
        }));
        fields.retain(|_, value| !value.is_null());
        self.structured = fields;
    }

    fn write(&self, place: usize, text: &mut String) {
        let action = &self.action;
        let experiment = experiment(action).map(|version| format!(" (GitLab's experiment since {version})"));
        let experiment = experiment.unwrap_or_default();
        let lacking = self.lacking.as_deref().unwrap_or_default();
        let usually = self.usually.as_ref().map(|other| format!("; usually `{other}`")).unwrap_or_default();
        let deprecated = match &self.replaced_by {
            Some(other) => format!(", deprecated: use `{other}`"),
            None if action.deprecated => ", deprecated".to_owned(),
            None => String::new(),
        };
        let remote = if self.is_remote { ", remote" } else { "" };
        let _ = writeln!(
            text,
            "{place}. **{}** ({}{remote}{deprecated}) {}{usually}{experiment}{lacking}",
            action.id, self.risk, action.summary
        );
        // The id is in the line above, and the last line of the answer explains how to show all parameters.
        let takes = self.signature.strip_prefix(&action.id).unwrap_or(&self.signature);
        let _ = writeln!(text, "   `{}`", takes.replace(FOLD, " more"));
        // Calls are by id: the operations of the others are in the structure.
        if self.example.is_some() {
            let mut operations = operations(action);
            if let Some(more) = operations.len().checked_sub(MAX_OPERATIONS).filter(|more| *more > 1) {
                operations.truncate(MAX_OPERATIONS);
                operations.push(format!("{more} more"));
            }
            let _ = writeln!(text, "   {}", operations.join(" · "));
        }
        if let Some(example) = &self.example {
            let _ = writeln!(text, "   Example: `{example}`");
        }
        if !self.related.is_empty() {
            let _ = writeln!(text, "   Related: {}", self.related.join(", "));
        }
        if let Some(schema) = &self.schema {
            let _ = writeln!(text, "   Schema: `{schema}`");
        }
        for line in &self.explain {
            let _ = writeln!(text, "   - {line}");
        }
    }
}

/// Filters the actions that may run here.
fn may_run(tools: &Tools, ids: &[String]) -> Vec<String> {
    ids.iter().filter(|id| tools.may_run_id(id)).cloned().collect()
}

/// The input schemas of the results, within the size limit of an answer.
struct Schemas<'a> {
    words: &'a Words,
    detail: Detail,
    limit: usize,
    /// Bytes of the schemas so far.
    used: usize,
    /// Ids of the results whose schemas did not fit.
    left_out: Vec<String>,
}

impl<'a> Schemas<'a> {
    fn new(tools: &'a Tools, detail: Detail) -> Result<Schemas<'a>, ToolError> {
        let words = tools.catalog.words()?;
        let (used, left_out) = (0, Vec::new());
        Ok(Schemas { words, detail, limit: tools.max_bytes, used, left_out })
    }

    /// The schema of a result, if the answer has it. The first is in every answer with `detail: "schema"`.
    fn schema(&mut self, action: &Action, first: bool) -> Option<Value> {
        match self.detail {
            Detail::Schema => {
                let schema = input_schema(action, self.words);
                let bytes = schema.to_string().len();
                if !first && self.used + bytes > self.limit {
                    self.left_out.push(action.id.clone());
                    return None;
                }
                self.used += bytes;
                Some(schema)
            }
            Detail::Auto | Detail::Signature => None,
        }
    }

    /// The schemas that did not fit, and how to get them.
    fn note(&self) -> Option<String> {
        let first = self.left_out.first()?;
        Some(format!(
            "Schemas left out to keep the answer within {} bytes (GITLAB_MAX_BYTES): {}. Find one id with detail \"schema\", or read {}.",
            self.limit,
            self.left_out.join(", "),
            action_uri::action_uri(first)
        ))
    }
}

/// The version of GitLab that brought the action as an experiment, where all of it still is one.
fn experiment(action: &Action) -> Option<&str> {
    let mut versions = action.choices().map(|operation| operation.graphql.as_ref()?.experiment.as_deref());
    let first = versions.next()??;
    versions.all(|version| version.is_some()).then_some(first)
}

/// The operations of an action as GitLab's documentation writes them; for a composite action, the actions that it
/// consists of.
fn operations(action: &Action) -> Vec<String> {
    match &action.plan {
        Some(_) if action.is_open() => vec!["any actions".to_owned()],
        Some(plan) => plan.needs.iter().chain(&plan.picks).cloned().collect(),
        None => action.choices().map(ToString::to_string).collect(),
    }
}
