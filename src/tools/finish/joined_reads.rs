//! Reads that belong to an answer: the jobs that a retried pipeline runs again. Each is a read of this server's own, so
//! policy decides on it. One that fails leaves a note and never turns the answer into an error.

use futures_util::future::join_all;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::catalog::{Join, Param, Place};
use crate::gitlab::{Content, Reply};
use crate::messages::error::ToolError;
use crate::text::pick_fields;
use crate::tools::finish::finishing::{Finishing, PATIENCE};
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::response::ActionResponse;
use crate::tools::state::Tools;
use crate::untrusted::{quote, shortened};

/// Adds the rows of the joined reads to an answer that is an object.
pub async fn add_rows(finishing: &mut Finishing<'_>) -> Result<(), ToolError> {
    if !finishing.is_alone {
        return Ok(());
    }
    let (tools, response) = (finishing.tools, &mut finishing.response);
    let ActionResponse { action, request, reply, notes, .. } = response;
    let params = &request.params;
    for join in &action.joins {
        let Some(param) = &join.of_ref else { continue };
        if let Some(name) = params.get(param).and_then(Value::as_str).filter(|name| !is_sha(name)) {
            let read = timeout(PATIENCE, read_object(tools, join, params)).await;
            notes.extend(read.ok().flatten().map(|object| ref_note(name, &join.field, &object)));
        }
    }
    let Content::Json(Value::Object(object)) = &mut reply.content else { return Ok(()) };
    let wanted: Vec<&Join> =
        action.joins.iter().filter(|join| join.of_ref.is_none() && is_wanted(join, object)).collect();
    let answer = &*object;
    let reads = wanted.iter().map(|join| timeout(PATIENCE, read_shown(tools, join, params, answer)));
    let reads = join_all(reads).await;
    for (join, read) in wanted.iter().zip(reads) {
        match read {
            Ok(Some(Value::Array(rows))) if rows.is_empty() => {}
            Ok(Some(shown)) => drop(object.insert(join.field.clone(), shown)),
            Ok(None) | Err(_) => {
                notes.push(format!("`{}` could not be read by {}", join.field, join.action));
            }
        }
    }
    Ok(())
}

fn is_wanted(join: &Join, object: &Map<String, Value>) -> bool {
    let fits = |(field, values): (&String, &Vec<String>)| {
        let value = object.get(field).and_then(Value::as_str);
        value.is_some_and(|value| values.iter().any(|wanted| wanted == value))
    };
    let has_some = |field: &String| object.get(field).and_then(Value::as_u64).is_some_and(|count| count > 0);
    !object.contains_key(&join.field)
        && join.counted_by.as_ref().is_none_or(has_some)
        && join.when.iter().all(fits)
}

/// Least length of a SHA in hexadecimal digits.
const SHORTEST_SHA: usize = 7;

/// Maximum number of characters of a value in a note.
const MAX_VALUE_CHARACTERS: usize = 100;

fn is_sha(text: &str) -> bool {
    text.len() >= SHORTEST_SHA && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Note on the commit of a branch or tag: `main` is commit a72c9790, "Thank everybody", …
fn ref_note(name: &str, noun: &str, object: &Map<String, Value>) -> String {
    let values: Vec<String> = object
        .values()
        .filter_map(Value::as_str)
        .map(|text| {
            let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-:.+".contains(&byte));
            if is_plain { text.to_owned() } else { quote(&shortened(text, MAX_VALUE_CHARACTERS)) }
        })
        .collect();
    format!("{} is {noun} {}", quote(&shortened(name, MAX_VALUE_CHARACTERS)), values.join(", "))
}

/// The fields of the object that are shown; none if it cannot be read.
async fn read_object(tools: &Tools, join: &Join, params: &Map<String, Value>) -> Option<Map<String, Value>> {
    let reply = read(tools, join, params, &Map::new()).await?;
    let Content::Json(object) = reply.content else { return None };
    shown(join, &object).as_object().filter(|fields| !fields.is_empty()).cloned()
}

/// The rows, or the object, with the fields that are shown; none if they cannot be read.
async fn read_shown(
    tools: &Tools,
    join: &Join,
    params: &Map<String, Value>,
    answer: &Map<String, Value>,
) -> Option<Value> {
    match read(tools, join, params, answer).await?.content {
        Content::Json(Value::Array(rows)) => {
            Some(Value::Array(rows.iter().map(|row| shown(join, row)).collect()))
        }
        Content::Json(object @ Value::Object(_)) => Some(shown(join, &object)),
        _ => None,
    }
}

fn shown(join: &Join, row: &Value) -> Value {
    let field = |path: &String| {
        let value = row.pointer(&format!("/{}", path.replace('.', "/"))).filter(|value| !value.is_null())?;
        Some((path.rsplit('.').next().unwrap_or(path).to_owned(), value.clone()))
    };
    Value::Object(join.shows.iter().filter_map(field).collect())
}

/// The reply to the read, which takes parameters of the call and fields of its answer.
async fn read(
    tools: &Tools,
    join: &Join,
    params: &Map<String, Value>,
    answer: &Map<String, Value>,
) -> Option<Reply> {
    let read = tools.catalog.get(&join.action).ok().flatten()?;
    // A read of other objects shares no more than the place: `milestone_id` is a word for a list of issues.
    let is_shared = |param: &Param| join.takes.is_empty() || param.place == Place::Path;
    let mut taken = pick_fields(params, |name| read.param(name).is_some_and(is_shared));
    taken.extend(join.params.iter().map(|(name, value)| (name.clone(), value.0.clone())));
    for (name, field) in &join.takes {
        taken.insert(name.clone(), answer.get(field)?.clone());
    }
    let (_, reply) = lookups::read_once(tools, &join.action, taken, Purpose::Join).await.ok()?;
    Some(reply)
}
