//! What GraphQL answered to a document of the caller's own: its errors told apart as those of an action are, its
//! data as it was asked for, and where its list goes on.

use serde_json::{Map, Value};

use super::graphql::{failed, messages, nothing};
use super::{ErrorKind, ToolError};
use crate::call::Call;
use crate::catalog::Risk;
use crate::gitlab::{Content, Page, Reply};

/// How many lists that go on are named.
const NAMED: usize = 5;

/// The reply as what was asked for, or the error that it is. What came with data all the same is added to `notes`.
pub fn read(reply: Reply, call: &Call, notes: &mut Vec<String>) -> Result<Reply, ToolError> {
    let Content::Json(mut body) = reply.content else { return Ok(reply) };
    let errors = messages(body.get("errors"));
    let changes = call.risk() != Risk::Read;
    let Some(data) = body.get("data").and_then(Value::as_object) else {
        return Err(failed(&errors, &body, call.action(), None, changes));
    };
    let missing: Vec<&String> =
        data.iter().filter(|(_, value)| value.is_null()).map(|(key, _)| key).collect();
    if missing.len() == data.len() {
        match missing.first() {
            _ if !errors.is_empty() => return Err(failed(&errors, &body, call.action(), None, changes)),
            Some(first) if call.risk() == Risk::Read => return Err(nothing(first, call.action())),
            _ => {}
        }
    }
    let is_null = |key: &&String| format!("`{key}` is null: there is none, or none that can be seen");
    notes.extend(missing.iter().take(NAMED).map(is_null));
    notes.extend(errors.iter().map(|error| format!("GitLab says: {error}")));
    if call.risk() != Risk::Read {
        refusals(data, call, notes)?;
    }
    let page = page(data, call, reply.page.clone(), notes);
    let data = body.get_mut("data").map(Value::take).unwrap_or_default();
    Ok(Reply { content: Content::Json(data), page, ..reply })
}

/// Mutations that GitLab refused: an error where none was done, and a note beside what was.
fn refusals(data: &Map<String, Value>, call: &Call, notes: &mut Vec<String>) -> Result<(), ToolError> {
    let payloads = data.iter().filter(|(_, value)| value.is_object());
    let (refused, done): (Vec<_>, Vec<_>) = payloads
        .map(|(key, value)| (key, messages(value.get("errors"))))
        .partition(|(_, said)| !said.is_empty());
    let said = refused.iter().map(|(key, said)| format!("`{key}` was refused: {}", said.join("; ")));
    if done.is_empty() && !refused.is_empty() {
        let message = format!("{}: {}", call.action(), said.collect::<Vec<_>>().join("; "));
        return Err(ToolError::new(ErrorKind::InvalidParams, message).hint("GitLab says why it refused."));
    }
    notes.extend(said);
    Ok(())
}

/// A list of the reply that has more rows than came.
struct Unfinished {
    /// The fields of the reply that lead to it.
    place: String,
    cursor: Option<String>,
}

/// Where the one list that goes on does so, as the variable and its next value; or, in `notes`, how it can.
fn page(data: &Map<String, Value>, call: &Call, page: Page, notes: &mut Vec<String>) -> Page {
    let mut found = Vec::new();
    data.iter().for_each(|(key, value)| unfinished(value, key, &mut found));
    match found.as_slice() {
        [] => page,
        [Unfinished { place, cursor: None }] => {
            notes.push(format!("`{place}` has more rows: ask its `pageInfo` for `endCursor` to go on"));
            page
        }
        [Unfinished { place, cursor: Some(cursor) }] => match call.cursor(place) {
            Some(variable) => Page { next_query: Some(vec![(variable.to_owned(), cursor.clone())]), ..page },
            None => {
                notes.push(format!(
                    "`{place}` has more rows: declare `$after: String`, ask for `{}(after: $after)`, and set \
                     `variables.after` to {cursor:?}",
                    place.rsplit('.').next().unwrap_or(place)
                ));
                page
            }
        },
        several => {
            let named: Vec<String> =
                several.iter().take(NAMED).map(|list| format!("`{}`", list.place)).collect();
            let more = several.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!(
                "{} lists have more rows ({}{more}): ask for one by itself, its `after` a variable with its \
                 `endCursor`",
                several.len(),
                named.join(", ")
            ));
            page
        }
    }
}

fn unfinished(value: &Value, place: &str, found: &mut Vec<Unfinished>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| unfinished(item, place, found)),
        Value::Object(fields) => {
            let info = |name: &str| fields.get("pageInfo").and_then(|info| info.get(name));
            if info("hasNextPage").and_then(Value::as_bool) == Some(true) {
                let cursor = info("endCursor").and_then(Value::as_str).map(str::to_owned);
                found.push(Unfinished { place: place.to_owned(), cursor });
            }
            fields.iter().for_each(|(key, value)| unfinished(value, &format!("{place}.{key}"), found));
        }
        _ => {}
    }
}
