//! `resource.update`: up to twenty items, each with its own changes and its own outcome. A change that a kind of
//! item does not support is reported before the item is changed.

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use crate::catalog::{self, ChangeForm};
use crate::composite::agreement;
use crate::composite::item_kinds::{self, ResolvedItem, invalid_item};
use crate::composite::item_results::{item_attributes, render_items};
use crate::composite::run::{CompositeRun, KnownStep};
use crate::tools::response::Outcome;
use crate::tools::{Answer, ErrorKind, ToolError};

/// Maximum number of items.
const MAX_ITEMS: usize = 20;

/// The parameter that opens and closes.
const STATE_EVENT: &str = "state_event";

/// The value that clears a field.
const NONE: &str = "none";

/// Fields that identify an item; all others are changes. A milestone's title is its new title here.
const NAMING: [&str; 5] = ["target", "itemType", "fullPath", "iid", "id"];

/// An item with the request that changes it.
struct ItemChange {
    resolved: ResolvedItem,
    params: Map<String, Value>,
}

/// The items that are valid.
pub fn known_steps(run: &CompositeRun<'_>) -> Vec<KnownStep> {
    let items = run.list("items").iter().take(MAX_ITEMS).enumerate();
    let step = |(place, item): (usize, &Value)| {
        let ItemChange { resolved, params } = parse_change(run, item).ok()?;
        Some(KnownStep::new("item", place + 1, resolved.item.update.as_deref()?, params))
    };
    items.filter_map(step).collect()
}

/// Changes the items concurrently.
pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let given = run.bounded_list("items", MAX_ITEMS, "things")?;
    let changes: Vec<Result<ItemChange, ToolError>> = given
        .iter()
        .enumerate()
        .map(|(place, item)| run.item_error(place).map_or_else(|| parse_change(run, item), Err))
        .collect();
    reject_duplicates(run, &changes)?;
    let agreement = agreement::agree_to_items(run, known_steps(run)).await?;
    let update = |(at, change)| update_item(run, change, agreement.covers(at + 1));
    let outcomes = join_all(changes.iter().enumerate().map(update)).await;
    let attributes = changes.iter().zip(given).map(|(change, item)| match change {
        Ok(ItemChange { resolved, .. }) => item_attributes(Some(resolved.kind), &resolved.target),
        Err(_) => item_attributes(None, &item.to_string()),
    });
    Ok(render_items(run, attributes.collect(), outcomes))
}

/// Concurrent changes of one item would have an undefined order.
fn reject_duplicates(
    run: &CompositeRun<'_>,
    changes: &[Result<ItemChange, ToolError>],
) -> Result<(), ToolError> {
    let mut seen: Vec<&str> = Vec::new();
    for ItemChange { resolved, .. } in changes.iter().flatten() {
        if seen.contains(&resolved.target.as_str()) {
            return Err(
                run.invalid(format!("{} is listed twice: combine its changes in one item", resolved.target))
            );
        }
        seen.push(&resolved.target);
    }
    Ok(())
}

fn parse_change(run: &CompositeRun<'_>, item: &Value) -> Result<ItemChange, ToolError> {
    let fields = item.as_object().cloned().unwrap_or_default();
    let (naming, wanted): (Map<_, _>, Map<_, _>) =
        fields.into_iter().partition(|(name, _)| NAMING.contains(&name.as_str()));
    let resolved = item_kinds::resolve_item(run, &Value::Object(naming))?;
    let kind = resolved.kind;
    if kind.changes.is_empty() {
        let changed = catalog::kinds().kinds.iter().filter(|kind| !kind.changes.is_empty());
        let names: Vec<&str> = changed.map(|kind| kind.name.as_str()).collect();
        return Err(invalid_item(format!(
            "{} cannot be changed here; accepted are: {}",
            kind.noun,
            names.join(", ")
        )));
    }
    let names = || kind.changes.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    if wanted.is_empty() {
        return Err(invalid_item(format!("no change is given; {} takes {}", kind.noun, names())));
    }
    let mut params = resolved.params.clone();
    for (name, value) in &wanted {
        let change = kind.changes.iter().find(|(known, _)| known == name);
        let (_, form) = change
            .ok_or_else(|| invalid_item(format!("{} has no `{name}`; it takes {}", kind.noun, names())))?;
        params.extend(change_params(form, value).map(|(name, value)| (name.to_owned(), value)));
    }
    Ok(ItemChange { resolved, params })
}

/// Converts a change to parameters.
fn change_params<'f>(form: &'f ChangeForm, value: &Value) -> impl Iterator<Item = (&'f str, Value)> {
    let is_none = value.as_str().is_some_and(|text| text.is_empty() || text.eq_ignore_ascii_case(NONE));
    let pairs = match form {
        ChangeForm::OrZero(param) if is_none => vec![(param, json!(0))],
        ChangeForm::OrEmpty(param) if is_none => vec![(param, json!(""))],
        ChangeForm::Is(param) | ChangeForm::OrZero(param) | ChangeForm::OrEmpty(param) => {
            vec![(param, value.clone())]
        }
        ChangeForm::State(open, close) => {
            let event = if value == "opened" { open } else { close };
            return vec![(STATE_EVENT, json!(event))].into_iter();
        }
        ChangeForm::Fixed(_, is_set) if is_none => vec![(is_set, json!(false))],
        ChangeForm::Fixed(param, is_set) => vec![(param, value.clone()), (is_set, json!(true))],
    };
    pairs.into_iter().map(|(name, value)| (name.as_str(), value)).collect::<Vec<_>>().into_iter()
}

async fn update_item(
    run: &CompositeRun<'_>,
    change: &Result<ItemChange, ToolError>,
    is_agreed: bool,
) -> Result<Outcome, ToolError> {
    let ItemChange { resolved, params } = change.as_ref().map_err(Clone::clone)?;
    let action = resolved.item.update.as_deref().unwrap_or_default();
    let outcome = run.step_agreed(action, params.clone(), is_agreed).await;
    match (
        &outcome,
        resolved.or_else.and_then(item_kinds::find_kind).and_then(|(_, item)| item.update.as_deref()),
    ) {
        (Err(error), Some(instead)) if error.kind == ErrorKind::NotFound => {
            let other = run.step(instead, params.clone()).await;
            if other.is_ok() { other } else { outcome }
        }
        _ => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(form: &ChangeForm, value: Value) -> Value {
        Value::Object(change_params(form, &value).map(|(name, value)| (name.to_owned(), value)).collect())
    }

    #[test]
    fn a_change_is_converted_for_its_kind() {
        let milestone = ChangeForm::OrZero("milestone_id".to_owned());
        assert_eq!(changed(&milestone, json!("v1.0")), json!({"milestone_id": "v1.0"}));
        assert_eq!(changed(&milestone, json!("None")), json!({"milestone_id": 0}));
        let state = ChangeForm::State("activate".to_owned(), "close".to_owned());
        assert_eq!(changed(&state, json!("opened")), json!({"state_event": "activate"}));
        assert_eq!(changed(&state, json!("closed")), json!({"state_event": "close"}));
        let fixed = ChangeForm::Fixed("due_date_fixed".to_owned(), "due_date_is_fixed".to_owned());
        let set = json!({"due_date_fixed": "2026-04-01", "due_date_is_fixed": true});
        assert_eq!(changed(&fixed, json!("2026-04-01")), set);
        assert_eq!(changed(&fixed, json!("none")), json!({"due_date_is_fixed": false}));
    }
}
