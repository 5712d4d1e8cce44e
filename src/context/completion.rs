//! Completions of prompt arguments and URI template variables (MCP `completion/complete`), from ordinary reads of
//! GitLab. A read that fails or times out gives no completions.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::catalog::{self, CompletionRow};
use crate::context::resources::uri_templates::kind_at;
use crate::gitlab::Content;
use crate::guides::{ArgType, Prompt};
use crate::present;
use crate::text::excerpt;
use crate::tools::action_uri::{ACTION, ACTIONS_PART};
use crate::tools::{EXECUTE, ErrorKind, ToolError, Tools};

/// Maximum number of values, from the protocol.
const MAX_VALUES: usize = 100;

/// Timeout of a completion.
const PATIENCE: Duration = Duration::from_secs(3);

/// Maximum size of a value in bytes.
const MAX_TYPED_BYTES: usize = 255;

/// The object of a completion.
#[derive(Clone, Copy, Debug)]
pub enum CompletionTarget<'a> {
    /// An argument of a prompt, by name.
    Prompt(&'a str),
    /// A variable of a URI template.
    Template(&'a str),
}

/// Values, most likely first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub values: Vec<String>,
    /// Total number of values, if known.
    pub total: Option<usize>,
    pub has_more: bool,
}

/// Sources of completions.
#[derive(Clone, Copy, Debug)]
enum CompletionSource {
    Action,
    Domain,
    /// A list of GitLab's; none if there are no completions.
    Listed(Option<&'static CompletionRow>),
}

impl Tools {
    /// Completes an argument from the typed text and the other arguments.
    ///
    /// `invalid_params` if there is no such prompt, template or argument.
    pub async fn complete(
        &self,
        completed: CompletionTarget<'_>,
        argument: &str,
        typed: &str,
        given: &HashMap<String, String>,
    ) -> Result<Completion, ToolError> {
        let source = source(completed, argument)?;
        let typed = typed.trim();
        if typed.len() > MAX_TYPED_BYTES || present::line(typed) != typed {
            return Ok(Completion::default());
        }
        match source {
            CompletionSource::Listed(None) => Ok(Completion::default()),
            CompletionSource::Action => Ok(self.actions_like(typed)),
            CompletionSource::Domain => Ok(self.domains_like(typed)),
            CompletionSource::Listed(Some(asked)) => {
                let asked = tokio::time::timeout(PATIENCE, self.ask_for(asked, typed, given)).await;
                Ok(asked.ok().flatten().unwrap_or_default())
            }
        }
    }

    fn actions_like(&self, typed: &str) -> Completion {
        let may_run = |id: &&str| {
            let action = self.catalog.get(id).ok().flatten();
            action.is_some_and(|action| self.withholds(&action).is_none())
        };
        let ids = self.catalog.ids().filter(|id| is_like(id, typed)).filter(may_run);
        all(ids.map(str::to_owned).collect(), typed)
    }

    fn domains_like(&self, typed: &str) -> Completion {
        let domains = self.catalog.words().map(|words| words.domains.keys().cloned().collect());
        all(domains.unwrap_or_default(), typed)
    }

    /// Fetches the values from GitLab. `None` if that fails.
    async fn ask_for(
        &self,
        asked: &CompletionRow,
        typed: &str,
        given: &HashMap<String, String>,
    ) -> Option<Completion> {
        // A list that is not offered is not read another way. Places are needed to name anything.
        let list = self.catalog.get(&asked.action).ok().flatten()?;
        if !self.offers(EXECUTE) || (!asked.is_place && self.withholds(&list).is_some()) {
            return None;
        }
        let of = |pairs: &[(String, String)]| -> Map<String, Value> {
            pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
        };
        let mut params = of(&asked.params);
        if asked.inside {
            let path = given.get("fullPath").or(self.project.as_ref()).filter(|path| !path.is_empty())?;
            params.insert("fullPath".to_owned(), json!(path));
        }
        // The search is by the last segment of a path; GitLab also matches names of parent groups.
        let word = typed.trim_end_matches('/').rsplit('/').next().unwrap_or(typed);
        let word = if asked.inside { typed } else { word.trim_start_matches('@') };
        if let (Some(search), false) = (&asked.search, word.is_empty()) {
            params.insert(search.clone(), json!(word));
        }
        if word.is_empty() && !self.is_anonymous() {
            params.extend(of(&asked.untyped));
        }
        let reply = self.read_unrendered(&asked.action, params).await.ok()?;
        let Content::Json(Value::Array(rows)) = reply.content else { return None };
        let is_shown = |value: &String| self.client.secrets().redact(value) == value.as_str();
        let values: Vec<String> =
            rows.iter().filter_map(|row| text(row.get(&asked.field)?)).filter(is_shown).collect();
        let found = values.len();
        let mut completion = all(values, typed.trim_start_matches('@'));
        let is_whole = reply.page.next_page.is_none() && reply.rows.is_none();
        // GitLab's total is for the search text, which may be only a part of the typed text.
        if !is_whole {
            let total = reply.page.total.and_then(|total| usize::try_from(total).ok());
            completion.total = total.filter(|_| completion.values.len() == found.min(MAX_VALUES));
            completion.has_more = true;
        }
        Some(completion)
    }
}

/// The source of an argument.
fn source(completed: CompletionTarget<'_>, argument: &str) -> Result<CompletionSource, ToolError> {
    let short = |text: &str| excerpt(&present::line(text), 80);
    let (found, noun, name) = match completed {
        CompletionTarget::Prompt(name) => {
            let prompt =
                Prompt::find(name).ok_or_else(|| nothing(format!("there is no prompt `{}`", short(name))))?;
            let found = prompt.argument(argument).map(|argument| argument_source(argument.takes));
            (found.map(CompletionSource::Listed), "prompt", name)
        }
        CompletionTarget::Template(ACTION) => {
            ((argument == "id").then_some(CompletionSource::Action), "template", ACTION)
        }
        CompletionTarget::Template(ACTIONS_PART) => {
            let found = match argument {
                "domain" => Some(CompletionSource::Domain),
                "page" => Some(CompletionSource::Listed(None)),
                _ => None,
            };
            (found, "template", ACTIONS_PART)
        }
        CompletionTarget::Template(name) => {
            let kind =
                kind_at(name).ok_or_else(|| nothing(format!("there is no template {}", short(name))))?;
            (kind.completion(argument).map(CompletionSource::Listed), "template", name)
        }
    };
    found.ok_or_else(|| nothing(format!("the {noun} {name} has no argument `{}`", short(argument))))
}

fn nothing(message: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidParams, message)
}

fn argument_source(takes: ArgType) -> Option<&'static CompletionRow> {
    catalog::completion(match takes {
        ArgType::Project => "project",
        ArgType::MergeRequest => "merge_request",
        ArgType::Pipeline => "pipeline",
        ArgType::Branch => "branch",
        ArgType::Tag => "tag",
        ArgType::Label => "label",
        ArgType::Milestone => "milestone",
        ArgType::User => "user",
        ArgType::Days | ArgType::Text => return None,
    })
}

/// A name, or a number as text. `None` for a name with invisible characters.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            (present::line(text) == *text && text.len() <= MAX_TYPED_BYTES).then(|| text.clone())
        }
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn is_like(value: &str, typed: &str) -> bool {
    value.to_lowercase().contains(&typed.to_lowercase())
}

/// The values that contain the typed text; those that begin with it first.
fn all(values: Vec<String>, typed: &str) -> Completion {
    let start = typed.to_lowercase();
    let begins = |value: &String| value.to_lowercase().starts_with(&start);
    let like = values.into_iter().filter(|value| is_like(value, typed));
    let (mut values, mut others): (Vec<String>, Vec<String>) = like.partition(begins);
    values.append(&mut others);
    let total = values.len();
    values.truncate(MAX_VALUES);
    Completion { has_more: total > values.len(), total: Some(total), values }
}

#[cfg(test)]
mod tests;
