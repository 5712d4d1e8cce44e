//! The commit that a call names: by its title in place of its hash, and one that there is before a branch is made for its
//! revert.

use serde_json::{Map, Value, json};

use crate::call::{self, TARGET};
use crate::catalog::{self, Action, Place, Words};
use crate::gitlab::Content;
use crate::messages::error::{ErrorKind, ToolError};
use crate::tools::companions::GivenCompanion;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::{NextCall, Tools, lookups};
use crate::untrusted::{quote, shortened};

/// Maximum number of commits that an error lists.
const MAX_LISTED: usize = 5;

/// Maximum number of characters of a title in an error.
const MAX_TITLE: usize = 80;

/// Replaces the title of a commit by its hash, and returns a note. No hash, branch or tag has a blank.
pub async fn resolve(
    tools: &Tools,
    action: &Action,
    params: &mut Map<String, Value>,
    words: &Words,
) -> Result<Option<String>, ToolError> {
    let Some((given, title)) = given_commit(action, params, words) else { return Ok(None) };
    if !title.contains(char::is_whitespace) || title.contains("://") {
        return Ok(None);
    }
    let mut asked = project_params(params);
    asked.insert("per_page".to_owned(), json!(100));
    let within = catalog::kinds().commits.within.iter().find(|(id, _)| *id == action.id);
    match within.and_then(|(_, names)| names.iter().find_map(|name| params.get(name))) {
        Some(branch) => asked.insert("ref_name".to_owned(), branch.clone()),
        None => asked.insert("all".to_owned(), json!(true)),
    };
    let rows = match read_json(tools, "commit.list", asked.clone()).await? {
        Value::Array(rows) => rows,
        _ => Vec::new(),
    };
    let text =
        |row: &Value, field: &str| row.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_it = |row: &&Value| text(row, "title").trim().eq_ignore_ascii_case(title.trim());
    let found: Vec<&Value> = rows.iter().filter(is_it).collect();
    match found.as_slice() {
        [only] => {
            let (sha, short) = (text(only, "id"), text(only, "short_id"));
            params.insert(given, json!(sha));
            Ok(Some(format!("the commit {} is {short}", quote(&shortened(&title, MAX_TITLE)))))
        }
        several => {
            let what = quote(&shortened(&title, MAX_TITLE));
            let message = match several.len() {
                0 => format!(
                    "{}: none of the last {} commits has the title {what}. Nothing was sent",
                    action.id,
                    rows.len()
                ),
                count => format!("{}: {count} commits have the title {what}. Nothing was sent", action.id),
            };
            let kind = if several.is_empty() { ErrorKind::NotFound } else { ErrorKind::InvalidParams };
            let listed: Vec<String> =
                several.iter().take(MAX_LISTED).map(|row| text(row, "short_id")).collect();
            let error = ToolError::new(kind, message).fix(NextCall::execute("commit.list", &asked));
            Err(if listed.is_empty() {
                error
            } else {
                error.hint(format!("They are {}.", listed.join(", ")))
            })
        }
    }
}

/// Refuses a call whose commit does not exist before a companion makes something for it.
pub async fn require(
    tools: &Tools,
    action: &Action,
    params: &Map<String, Value>,
    companions: &[GivenCompanion],
    words: &Words,
) -> Result<(), ToolError> {
    if !companions.iter().any(|(companion, _)| companion.first) {
        return Ok(());
    }
    let Some((_, commit)) = given_commit(action, params, words) else { return Ok(()) };
    let mut asked = project_params(params);
    asked.insert(catalog::kinds().commits.param.clone(), json!(commit));
    match read_json(tools, "commit.get", asked).await {
        Err(error) if error.kind == ErrorKind::NotFound => {
            let message = format!("{}: {}. Nothing was sent", action.id, error.message);
            Err(ToolError { message, ..error })
        }
        // Whatever else is wrong, the call itself says.
        _ => Ok(()),
    }
}

/// The name under which the call has its commit, and the commit.
fn given_commit(action: &Action, params: &Map<String, Value>, words: &Words) -> Option<(String, String)> {
    let commits = &catalog::kinds().commits;
    let takes_one = action.param(&commits.param).is_some_and(|param| param.place == Place::Path)
        && commits.domains.iter().any(|domain| domain == action.domain());
    let is_it = |given: &str| {
        takes_one && call::param_named(action, given, words).is_some_and(|param| param.name == commits.param)
    };
    let mut found = params.iter().filter(|(given, _)| is_it(given));
    found.find_map(|(given, value)| Some((given.clone(), value.as_str()?.to_owned())))
}

/// The parameters with the project of the call.
fn project_params(params: &Map<String, Value>) -> Map<String, Value> {
    let names = ["fullPath", TARGET];
    names.iter().filter_map(|name| Some(((*name).to_owned(), params.get(*name)?.clone()))).collect()
}

/// The JSON that a read of this server's own answers.
async fn read_json(tools: &Tools, action: &str, params: Map<String, Value>) -> Result<Value, ToolError> {
    let read = lookups::read_once(tools, action, params, Purpose::LookUp).await;
    let (_, reply) = read.map_err(|error| lookups::explain(tools, action, error))?;
    Ok(if let Content::Json(value) = reply.content { value } else { Value::Null })
}
