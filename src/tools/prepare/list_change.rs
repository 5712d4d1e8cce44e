//! Changes of a list in part, where GitLab takes the whole only: `add_reviewers` and `remove_reviewers`.

use serde_json::{Map, Value};

use super::present_value;
use crate::catalog::{Action, ListChange};
use crate::messages::error::{ErrorKind, ToolError};
use crate::text::plain_text;
use crate::tools::state::Tools;
use crate::untrusted::quote;

/// Fields by which a caller names what is in a list.
const NAMES: [&str; 3] = ["username", "name", "title"];

/// The parameters with whole lists in place of the parameters that change them, and notes; none if the call has none of
/// them.
pub async fn apply(
    tools: &Tools,
    action: &Action,
    params: &Map<String, Value>,
) -> Result<Option<(Map<String, Value>, Vec<String>)>, ToolError> {
    let (mut changed, mut notes) = (params.clone(), Vec::new());
    for change in &action.list_changes {
        let mut take = |name: &String| match changed.shift_remove(name) {
            Some(Value::Array(values)) => values,
            _ => Vec::new(),
        };
        let (added, removed) = (take(&change.add), take(&change.remove));
        let Some(given) = [(&change.add, &added), (&change.remove, &removed)]
            .into_iter()
            .find_map(|(name, values)| (!values.is_empty()).then_some(name))
        else {
            continue;
        };
        if changed.contains_key(&change.whole) {
            let message = format!("{}: `{given}` and `{}` exclude each other", action.id, change.whole);
            return Err(ToolError::new(ErrorKind::InvalidParams, message));
        }
        let present =
            present_value::read_or_explain(tools, action, &change.read, params, &change.field).await?;
        let present = present.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        changed.insert(change.whole.clone(), whole(change, present, added, &removed, &mut notes).into());
    }
    Ok((changed != *params).then_some((changed, notes)))
}

/// The list without what is removed and with what is added, each as the parameter takes it.
fn whole(
    change: &ListChange,
    present: &[Value],
    added: Vec<Value>,
    removed: &[Value],
    notes: &mut Vec<String>,
) -> Vec<Value> {
    for name in removed.iter().filter(|name| !present.iter().any(|item| is_named(item, name))) {
        let name = quote(&plain_text(name));
        notes.push(format!("`{}`: {name} was not there: nothing to remove", change.remove));
    }
    let kept = present.iter().filter(|item| !removed.iter().any(|name| is_named(item, name)));
    let kept = kept.map(|item| item.get("id").unwrap_or(item).clone());
    let new = added.into_iter().filter(|name| !present.iter().any(|item| is_named(item, name)));
    kept.chain(new).collect()
}

/// True if a caller may mean the item by the name: a text, an id, a username with or without `@`, a name.
fn is_named(item: &Value, name: &Value) -> bool {
    let text = plain_text(name);
    let text = text.trim_start_matches('@');
    let is = |value: &Value| plain_text(value).eq_ignore_ascii_case(text);
    is(item) || item.get("id").is_some_and(is) || NAMES.iter().filter_map(|field| item.get(field)).any(is)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(present: &Value, added: &Value, removed: &Value) -> (Value, usize) {
        let change = ListChange {
            whole: "reviewer_ids".to_owned(),
            add: "add_reviewers".to_owned(),
            remove: "remove_reviewers".to_owned(),
            field: "reviewers".to_owned(),
            read: "merge_request.get".to_owned(),
        };
        let list = |value: &Value| value.as_array().unwrap().clone();
        let mut notes = Vec::new();
        let whole = whole(&change, &list(present), list(added), &list(removed), &mut notes);
        (json!(whole), notes.len())
    }

    #[test]
    fn what_is_there_stays_unless_it_is_taken_away() {
        let people =
            json!([{"id": 3, "username": "alice", "name": "Alice Ambler"}, {"id": 4, "username": "bob"}]);
        assert_eq!(changed(&people, &json!(["carol", "@Bob"]), &json!([])), (json!([3, 4, "carol"]), 0));
        for alice in ["alice", "@alice", "Alice Ambler", "3"] {
            assert_eq!(changed(&people, &json!([]), &json!([alice])), (json!([4]), 0), "{alice}");
        }
        assert_eq!(changed(&people, &json!([]), &json!([4, "carol"])), (json!([3]), 1));
        assert_eq!(changed(&json!(["a", "b"]), &json!(["c", "a"]), &json!(["b"])), (json!(["a", "c"]), 0));
    }
}
