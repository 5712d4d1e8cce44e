//! Unwraps replies to a caller's GraphQL document: errors become errors of the call, the data stays as requested,
//! and the next page is noted.

use serde_json::{Map, Value};

use crate::call::Call;
use crate::catalog::Risk;
use crate::gitlab::{Content, Page, Reply};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::graphql_reply::{failed, messages, nothing};
use crate::text::list_first;

/// Maximum number of unfinished lists that are named.
const MAX_LISTS_NAMED: usize = 5;

/// Unwraps the response, or maps its errors. Errors next to data become notes.
pub fn unwrap_reply(reply: Reply, call: &Call, notes: &mut Vec<String>) -> Result<Reply, ToolError> {
    let mut body = super::body(reply.content);
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
    let is_null = |key: &&String| format!("`{key}` is null: it does not exist, or the token may not read it");
    notes.extend(missing.iter().take(MAX_LISTS_NAMED).map(is_null));
    notes.extend(errors.iter().map(|error| format!("GitLab says: {error}")));
    if call.risk() != Risk::Read {
        refusals(data, call, notes)?;
    }
    let page = page(data, call, reply.page.clone(), notes);
    let data = body.get_mut("data").map(Value::take).unwrap_or_default();
    Ok(Reply { content: Content::Json(data), page, ..reply })
}

/// Errors of mutations: an error if none was applied, otherwise a note.
fn refusals(data: &Map<String, Value>, call: &Call, notes: &mut Vec<String>) -> Result<(), ToolError> {
    let payloads = data.iter().filter(|(_, value)| value.is_object());
    let (refused, done): (Vec<_>, Vec<_>) = payloads
        .map(|(key, value)| (key, messages(value.get("errors"))))
        .partition(|(_, reasons)| !reasons.is_empty());
    let reasons = refused.iter().map(|(key, reasons)| format!("`{key}` was refused: {}", reasons.join("; ")));
    if done.is_empty() && !refused.is_empty() {
        let message = format!("{}: {}", call.action(), reasons.collect::<Vec<_>>().join("; "));
        return Err(ToolError::new(ErrorKind::InvalidParams, message).hint("GitLab gave the reason above."));
    }
    notes.extend(reasons);
    Ok(())
}

/// A list of the reply with further rows.
struct Unfinished {
    /// The fields of the reply that lead to it.
    place: String,
    cursor: Option<String>,
}

/// The variable and its value for the next page, if just one list has further rows; otherwise a note on how to
/// continue.
fn page(data: &Map<String, Value>, call: &Call, page: Page, notes: &mut Vec<String>) -> Page {
    let mut found = Vec::new();
    for (key, value) in data {
        unfinished(value, &mut vec![key], &mut found);
    }
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
            let named = list_first(several.iter().map(|list| format!("`{}`", list.place)), MAX_LISTS_NAMED);
            notes.push(format!(
                "{} lists have more rows ({named}): ask for one by itself, its `after` a variable with its \
                 `endCursor`",
                several.len()
            ));
            page
        }
    }
}

/// Collects the lists that go on. Only those that are named get their place: a step may be a key of many megabytes.
fn unfinished<'v>(value: &'v Value, steps: &mut Vec<&'v str>, found: &mut Vec<Unfinished>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| unfinished(item, steps, found)),
        Value::Object(fields) => {
            let info = |name: &str| fields.get("pageInfo").and_then(|info| info.get(name));
            if info("hasNextPage").and_then(Value::as_bool) == Some(true) {
                let cursor = info("endCursor").and_then(Value::as_str).map(str::to_owned);
                let place = if found.len() < MAX_LISTS_NAMED { steps.join(".") } else { String::new() };
                found.push(Unfinished { place, cursor });
            }
            for (key, value) in fields {
                steps.push(key);
                unfinished(value, steps, found);
                steps.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_that_goes_on_is_found_below_a_long_key() {
        let long = "x".repeat(1_000_000);
        let list = json!({"pageInfo": {"hasNextPage": true, "endCursor": "c"}});
        let many: Map<String, Value> = (0..20_000).map(|n| (format!("k{n}"), json!(n))).collect();
        let mut found = Vec::new();
        unfinished(&json!({"a": [{"b": &list}], &long: many}), &mut vec!["top"], &mut found);
        let [Unfinished { place, cursor }] = found.as_slice() else { panic!("{} lists", found.len()) };
        assert_eq!((place.as_str(), cursor.as_deref()), ("top.a.b", Some("c")));
        let mut found = Vec::new();
        unfinished(&json!({&long: vec![list; 100]}), &mut vec!["top"], &mut found);
        assert_eq!(found.len(), 100);
        assert!(found.iter().skip(MAX_LISTS_NAMED).all(|list| list.place.is_empty()));
    }
}
