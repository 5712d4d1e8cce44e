//! Changes of a list in part, where GitLab takes the whole only: `add_reviewers` and `remove_reviewers`.

use serde_json::{Map, Value};

use super::present_value;
use crate::call::Checked;
use crate::catalog::{Action, ListChange, Names};
use crate::messages::error::{ErrorKind, ToolError};
use crate::text::plain_text;
use crate::tools::error_mapping;
use crate::tools::state::Tools;
use crate::untrusted::quote;

/// The parameters with whole lists in place of the parameters that change them, and notes; none if the call has none of
/// them.
pub async fn apply(
    tools: &Tools,
    action: &Action,
    params: &Map<String, Value>,
) -> Result<Option<(Map<String, Value>, Vec<String>)>, ToolError> {
    let (mut changed, mut notes) = (params.clone(), Vec::new());
    for change in &action.list_changes {
        let Some(given) = given(change, params) else { continue };
        let is_of_people = action.param(&change.whole).is_some_and(|param| param.names == Some(Names::User));
        let (added, removed) = (take(&mut changed, &change.add), take(&mut changed, &change.remove));
        let wholes = [&change.whole].into_iter().chain(&change.also);
        if let Some(whole) = wholes.into_iter().find(|name| changed.contains_key(*name)) {
            return Err(invalid(format!("{}: `{given}` and `{whole}` exclude each other", action.id)));
        }
        if let Some(both) =
            added.iter().find(|name| removed.iter().any(|other| folded(other) == folded(name)))
        {
            let both = quote(&plain_text(both));
            return Err(invalid(format!(
                "{}: {both} is in `{}` and in `{}`",
                action.id, change.add, change.remove
            )));
        }
        let me = match added.iter().chain(&removed).any(is_me) && is_of_people {
            true => Some(own_username(tools, action).await?),
            false => None,
        };
        let named = |values: Vec<Value>| -> Vec<Value> {
            let own = |value: Value| if is_me(&value) { me.clone().unwrap_or(value) } else { value };
            values.into_iter().map(own).collect()
        };
        let present =
            present_value::read_or_explain(tools, action, &change.read, params, &change.field).await?;
        // An unknown list is not replaced: whoever is in it would be taken off.
        let Some(Value::Array(present)) = present else {
            let message =
                format!("{}: {} has no `{}`, which `{given}` needs", action.id, change.read, change.field);
            return Err(invalid(format!("{message}. Nothing was sent")));
        };
        let (added, removed) = (named(added), named(removed));
        if let Some(name) = removed.iter().find(|name| in_list(&present, name).len() > 1) {
            let name = quote(&plain_text(name));
            return Err(invalid(format!("{}: `{}`: several are called {name}", action.id, change.remove)));
        }
        changed.insert(change.whole.clone(), whole(change, &present, added, &removed, &mut notes).into());
    }
    Ok((changed != *params).then_some((changed, notes)))
}

/// The denial of the read that a change in part needs, before anything of the call is sent.
pub fn refuse_unreadable(tools: &Tools, checked: &Checked) -> Result<(), ToolError> {
    let changes = checked.action().list_changes.iter();
    let needed = changes.filter(|change| given(change, checked.params()).is_some());
    for read in needed.filter_map(|change| tools.catalog.get(&change.read).ok().flatten()) {
        if let Some(rule) = tools.withholds(&read) {
            return Err(error_mapping::denied(tools, &read.id, None, &rule, 0));
        }
    }
    Ok(())
}

/// The first parameter of a change that a call has.
pub fn given<'c>(change: &'c ListChange, params: &Map<String, Value>) -> Option<&'c str> {
    [&change.add, &change.remove].into_iter().find(|name| params.contains_key(*name)).map(String::as_str)
}

fn invalid(message: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidParams, message)
}

/// The values of a parameter, without blanks and each once.
fn take(params: &mut Map<String, Value>, name: &str) -> Vec<Value> {
    let Some(Value::Array(values)) = params.shift_remove(name) else { return Vec::new() };
    let mut once: Vec<Value> = Vec::new();
    for value in values {
        let text = plain_text(&value);
        if !text.trim().is_empty() && !once.iter().any(|known| folded(known) == folded(&value)) {
            once.push(value);
        }
    }
    once
}

/// A name as it is compared within a list: `@Bob` is `@bob` and `bob`.
fn folded(value: &Value) -> String {
    plain_text(value).trim().trim_start_matches('@').to_owned()
}

fn is_me(value: &Value) -> bool {
    folded(value).eq_ignore_ascii_case("me")
}

/// The username of the token's user.
async fn own_username(tools: &Tools, action: &Action) -> Result<Value, ToolError> {
    let user =
        present_value::read_or_explain(tools, action, "current_user.get", &Map::new(), "username").await?;
    user.ok_or_else(|| invalid("`me`: GitLab named no user".to_owned()))
}

/// The list without what is removed and with what is added, each as the parameter takes it.
fn whole(
    change: &ListChange,
    present: &[Value],
    added: Vec<Value>,
    removed: &[Value],
    notes: &mut Vec<String>,
) -> Vec<Value> {
    for name in removed.iter().filter(|name| in_list(present, name).is_empty()) {
        let name = quote(&plain_text(name));
        notes.push(format!("`{}`: {name} was not there: nothing to remove", change.remove));
    }
    let gone: Vec<&Value> = removed.iter().flat_map(|name| in_list(present, name)).collect();
    let kept = present.iter().filter(|item| !gone.contains(item));
    let kept = kept.map(|item| item.get("id").unwrap_or(item).clone());
    let new = added.into_iter().filter(|name| in_list(present, name).is_empty());
    kept.chain(new).collect()
}

/// The items that a caller may mean by the name: the very text, or an object by its id, its username or, in any case, its
/// name. What is unique goes first.
fn in_list<'p>(present: &'p [Value], name: &Value) -> Vec<&'p Value> {
    let text = folded(name);
    let by = |item: &Value, fields: &[&str]| {
        let is = |value: &Value| plain_text(value).eq_ignore_ascii_case(&text);
        match item.is_object() {
            false => plain_text(item) == plain_text(name).trim(),
            true => fields.iter().filter_map(|field| item.get(field)).any(is),
        }
    };
    let found = |fields: &[&str]| present.iter().filter(|item| by(item, fields)).collect::<Vec<_>>();
    let unique = found(&["id", "username"]);
    if unique.is_empty() { found(&["name", "title"]) } else { unique }
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
            also: Vec::new(),
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
        // A username is one person's, a name may be that of several.
        let twins =
            json!([{"id": 3, "username": "bob", "name": "Bob"}, {"id": 4, "username": "b2", "name": "Bob"}]);
        assert_eq!(changed(&twins, &json!([]), &json!(["bob"])), (json!([4]), 0));
        assert_eq!(in_list(twins.as_array().unwrap(), &json!("B2")).len(), 1);
        let named =
            json!([{"id": 3, "username": "x", "name": "Bob"}, {"id": 4, "username": "y", "name": "Bob"}]);
        assert_eq!(in_list(named.as_array().unwrap(), &json!("Bob")).len(), 2);
        assert_eq!(changed(&json!(["a", "b"]), &json!(["c", "a"]), &json!(["b"])), (json!(["a", "c"]), 0));
    }
}
