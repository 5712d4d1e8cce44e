//! `resource.update`: up to twenty items, each with its own changes and its own outcome. A change that a kind of
//! item does not support is reported before the item is changed.

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use crate::composite::agreement;
use crate::composite::byte_budget;
use crate::composite::item_kinds::{self, ResolvedItem, with_article as a};
use crate::composite::item_results::ItemResults;
use crate::composite::run::{CompositeRun, KnownStep};
use crate::tools::response::Outcome;
use crate::tools::{Answer, ErrorKind, ToolError};

/// Maximum number of items.
const MOST: usize = 20;

/// The value that clears a field.
const NONE: &str = "none";

/// Form of a change in a kind of item.
#[derive(Clone, Copy)]
enum ChangeForm {
    /// The parameter with the same name, unchanged.
    Is(&'static str),
    /// The parameter with the same name; `none` becomes the value that clears it.
    OrNone(&'static str, ClearedValue),
    /// `state_event`, with the events that open and close the item.
    State(&'static str, &'static str),
    /// An epic's due date, which needs a flag to be fixed.
    Fixed,
}

/// Values that clear a parameter.
#[derive(Clone, Copy)]
enum ClearedValue {
    Zero,
    Empty,
}

/// Changes shared by several kinds, by field name.
type Changes = &'static [(&'static str, ChangeForm)];

const TEXTS: Changes = &[("title", ChangeForm::Is("title")), ("description", ChangeForm::Is("description"))];
const NAMED: Changes = &[("title", ChangeForm::Is("name")), ("description", ChangeForm::Is("description"))];
const REOPENED: Changes = &[("state", ChangeForm::State("reopen", "close"))];
const ACTIVATED: Changes = &[("state", ChangeForm::State("activate", "close"))];
const LABELS: Changes = &[
    ("labels", ChangeForm::Is("labels")),
    ("add_labels", ChangeForm::Is("add_labels")),
    ("remove_labels", ChangeForm::Is("remove_labels")),
];
const ASSIGNEES: Changes = &[("assignees", ChangeForm::Is("assignee_ids"))];
const REVIEWERS: Changes = &[("reviewers", ChangeForm::Is("reviewer_ids"))];
const MILESTONE: Changes = &[("milestone", ChangeForm::OrNone("milestone_id", ClearedValue::Zero))];
const DUE_DATE: Changes = &[("due_date", ChangeForm::OrNone("due_date", ClearedValue::Empty))];
const EPICS_DUE_DATE: Changes = &[("due_date", ChangeForm::Fixed)];

const ISSUE: &[Changes] = &[TEXTS, REOPENED, LABELS, ASSIGNEES, MILESTONE, DUE_DATE];

/// Changes that each kind supports. A group's work items are updated as epics.
const CHANGES: [(&str, &[Changes]); 8] = [
    ("issue", ISSUE),
    ("work_item", ISSUE),
    ("merge_request", &[TEXTS, REOPENED, LABELS, ASSIGNEES, REVIEWERS, MILESTONE]),
    ("epic", &[TEXTS, REOPENED, LABELS, EPICS_DUE_DATE]),
    ("milestone", &[TEXTS, ACTIVATED, DUE_DATE]),
    ("project", &[NAMED]),
    ("group", &[NAMED]),
    ("snippet", &[TEXTS]),
];

/// Fields that identify an item; all others are changes. A milestone's title is its new title here.
const NAMING: [&str; 5] = ["target", "itemType", "fullPath", "iid", "id"];

/// An item with the request that changes it.
struct ItemChange {
    resolved: ResolvedItem,
    params: Map<String, Value>,
}

/// The items that are valid.
pub fn known_steps(run: &CompositeRun<'_>) -> Vec<KnownStep> {
    let items = run.list("items").iter().take(MOST).enumerate();
    let step = |(place, item): (usize, &Value)| {
        let ItemChange { resolved, params } = parse_change(run, item).ok()?;
        Some(KnownStep::new("item", place + 1, resolved.thing.update?, params))
    };
    items.filter_map(step).collect()
}

/// Updates.
pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let given = run.list("items");
    if given.is_empty() || given.len() > MOST {
        return Err(run.invalid(format!("`items` is 1 to {MOST} things; {} were given", given.len())));
    }
    let changes: Vec<Result<ItemChange, ToolError>> = given
        .iter()
        .enumerate()
        .map(|(place, item)| run.item_error(place).map_or_else(|| parse_change(run, item), Err))
        .collect();
    reject_duplicates(run, &changes)?;
    let agreement = agreement::agree_to_items(run, known_steps(run)).await?;
    let update = |(at, change)| update_item(run, change, agreement.covers(at + 1));
    let outcomes = join_all(changes.iter().enumerate().map(update)).await;
    let answers = byte_budget::render_within_budget(run.tools, outcomes);
    let mut items = ItemResults::default();
    for ((change, item), answer) in changes.iter().zip(given).zip(answers) {
        let says = match change {
            Ok(ItemChange { resolved, .. }) => Map::from_iter([
                ("kind".to_owned(), json!(resolved.thing.kind)),
                ("target".to_owned(), json!(resolved.target)),
            ]),
            Err(_) => Map::from_iter([("target".to_owned(), json!(item.to_string()))]),
        };
        items.add("item", says, &answer);
    }
    Ok(items.answer(run, &[]))
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
    let wrong = |message: String| ToolError::new(ErrorKind::InvalidParams, message);
    let kind = resolved.thing.kind;
    let Some((_, taken)) = CHANGES.iter().find(|(known, _)| *known == kind) else {
        let kinds: Vec<&str> = CHANGES.iter().map(|(kind, _)| *kind).collect();
        return Err(wrong(format!("{} cannot be changed here; accepted are: {}", a(kind), kinds.join(", "))));
    };
    let names = || taken.iter().copied().flatten().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    if wanted.is_empty() {
        return Err(wrong(format!("no change is given; {} takes {}", a(kind), names())));
    }
    let mut params = resolved.params.clone();
    for (name, value) in &wanted {
        let row = taken.iter().copied().flatten().find(|(known, _)| known == name);
        let (_, form) =
            row.ok_or_else(|| wrong(format!("{} has no `{name}`; it takes {}", a(kind), names())))?;
        params.extend(change_params(*form, value).map(|(name, value)| (name.to_owned(), value)));
    }
    Ok(ItemChange { resolved, params })
}

/// Converts a change to parameters.
fn change_params(form: ChangeForm, value: &Value) -> impl Iterator<Item = (&'static str, Value)> {
    let is_none = value.as_str().is_some_and(|text| text.is_empty() || text.eq_ignore_ascii_case(NONE));
    let pairs = match form {
        ChangeForm::Is(param) => vec![(param, value.clone())],
        ChangeForm::OrNone(param, ClearedValue::Zero) if is_none => vec![(param, json!(0))],
        ChangeForm::OrNone(param, ClearedValue::Empty) if is_none => vec![(param, json!(""))],
        ChangeForm::OrNone(param, _) => vec![(param, value.clone())],
        ChangeForm::State(open, _) if value == "opened" => vec![("state_event", json!(open))],
        ChangeForm::State(_, close) => vec![("state_event", json!(close))],
        ChangeForm::Fixed if is_none => vec![("due_date_is_fixed", json!(false))],
        ChangeForm::Fixed => vec![("due_date_fixed", value.clone()), ("due_date_is_fixed", json!(true))],
    };
    pairs.into_iter()
}

async fn update_item(
    run: &CompositeRun<'_>,
    change: &Result<ItemChange, ToolError>,
    is_agreed: bool,
) -> Result<Outcome, ToolError> {
    let ItemChange { resolved, params } = change.as_ref().map_err(Clone::clone)?;
    let action = resolved.thing.update.unwrap_or_default();
    let outcome = run.step_agreed(action, params.clone(), is_agreed).await;
    match (&outcome, resolved.or_else.and_then(item_kinds::find_kind).and_then(|thing| thing.update)) {
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

    fn update_item(form: ChangeForm, value: Value) -> Value {
        Value::Object(change_params(form, &value).map(|(name, value)| (name.to_owned(), value)).collect())
    }

    #[test]
    fn a_change_is_converted_for_its_kind() {
        let milestone = ChangeForm::OrNone("milestone_id", ClearedValue::Zero);
        assert_eq!(update_item(milestone, json!("v1.0")), json!({"milestone_id": "v1.0"}));
        assert_eq!(update_item(milestone, json!("None")), json!({"milestone_id": 0}));
        assert_eq!(
            update_item(ChangeForm::State("activate", "close"), json!("opened")),
            json!({"state_event": "activate"})
        );
        assert_eq!(
            update_item(ChangeForm::State("activate", "close"), json!("closed")),
            json!({"state_event": "close"})
        );
        let fixed = json!({"due_date_fixed": "2026-04-01", "due_date_is_fixed": true});
        assert_eq!(update_item(ChangeForm::Fixed, json!("2026-04-01")), fixed);
        assert_eq!(update_item(ChangeForm::Fixed, json!("none")), json!({"due_date_is_fixed": false}));
    }
}
