//! `resource.update`: up to twenty things, each with changes of its own and its own outcome. What a kind of thing does
//! not have is said before anything is changed of it.

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use crate::composite::byte_budget;
use crate::composite::item_kinds::{self, Meant, with_article as a};
use crate::composite::item_results::Items;
use crate::composite::run::Run;
use crate::tools::execute::Outcome;
use crate::tools::{Answer, ErrorKind, ToolError};

/// How many things there may be.
const MOST: usize = 20;

/// What takes something away, where a thing has one of it.
const NONE: &str = "none";

/// A change as a kind of thing has it.
#[derive(Clone, Copy)]
enum As {
    /// The parameter of that name, as it is.
    Is(&'static str),
    /// The parameter of that name; `none` as what clears it.
    OrNone(&'static str, Clear),
    /// `state_event`, by the word that opens and the one that closes.
    State(&'static str, &'static str),
    /// An epic's due date, which has to be said to be its own.
    Fixed,
}

/// What clears a parameter.
#[derive(Clone, Copy)]
enum Clear {
    Zero,
    Empty,
}

/// Changes that several kinds have alike, by what each is called here.
type Changes = &'static [(&'static str, As)];

const TEXTS: Changes = &[("title", As::Is("title")), ("description", As::Is("description"))];
const NAMED: Changes = &[("title", As::Is("name")), ("description", As::Is("description"))];
const REOPENED: Changes = &[("state", As::State("reopen", "close"))];
const ACTIVATED: Changes = &[("state", As::State("activate", "close"))];
const LABELS: Changes = &[
    ("labels", As::Is("labels")),
    ("add_labels", As::Is("add_labels")),
    ("remove_labels", As::Is("remove_labels")),
];
const ASSIGNEES: Changes = &[("assignees", As::Is("assignee_ids"))];
const REVIEWERS: Changes = &[("reviewers", As::Is("reviewer_ids"))];
const MILESTONE: Changes = &[("milestone", As::OrNone("milestone_id", Clear::Zero))];
const DUE_DATE: Changes = &[("due_date", As::OrNone("due_date", Clear::Empty))];
const EPICS_DUE_DATE: Changes = &[("due_date", As::Fixed)];

const ISSUE: &[Changes] = &[TEXTS, REOPENED, LABELS, ASSIGNEES, MILESTONE, DUE_DATE];

/// Which changes each kind has. Of a group's work items, see epics.
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

/// The fields of an item that say which thing it is; all others are changes. A milestone's title is its new one here.
const NAMING: [&str; 5] = ["target", "itemType", "fullPath", "iid", "id"];

/// A thing with the request that changes it.
struct Change {
    meant: Meant,
    params: Map<String, Value>,
}

/// Updates.
pub async fn run(run: &Run<'_>) -> Result<Answer, ToolError> {
    let given = run.list("items");
    if given.is_empty() || given.len() > MOST {
        return Err(run.invalid(format!("`items` is 1 to {MOST} things; {} were given", given.len())));
    }
    let changes: Vec<Result<Change, ToolError>> = given
        .iter()
        .enumerate()
        .map(|(place, item)| run.item_error(place).map_or_else(|| change(run, item), Err))
        .collect();
    once(run, &changes)?;
    let outcomes = join_all(changes.iter().map(|change| one(run, change))).await;
    let answers = byte_budget::presented(run.tools, outcomes);
    let mut items = Items::default();
    for ((change, item), answer) in changes.iter().zip(given).zip(answers) {
        let says = match change {
            Ok(Change { meant, .. }) => Map::from_iter([
                ("kind".to_owned(), json!(meant.thing.kind)),
                ("target".to_owned(), json!(meant.target)),
            ]),
            Err(_) => Map::from_iter([("target".to_owned(), json!(item.to_string()))]),
        };
        items.add("item", says, &answer);
    }
    Ok(items.answer(run, &[]))
}

/// Two changes of one thing side by side would be a matter of chance.
fn once(run: &Run<'_>, changes: &[Result<Change, ToolError>]) -> Result<(), ToolError> {
    let mut seen: Vec<&str> = Vec::new();
    for Change { meant, .. } in changes.iter().flatten() {
        if seen.contains(&meant.target.as_str()) {
            return Err(run.invalid(format!("{} is there twice: say its changes in one item", meant.target)));
        }
        seen.push(&meant.target);
    }
    Ok(())
}

fn change(run: &Run<'_>, item: &Value) -> Result<Change, ToolError> {
    let fields = item.as_object().cloned().unwrap_or_default();
    let (naming, wanted): (Map<_, _>, Map<_, _>) =
        fields.into_iter().partition(|(name, _)| NAMING.contains(&name.as_str()));
    let meant = item_kinds::of_item(run, &Value::Object(naming))?;
    let wrong = |message: String| ToolError::new(ErrorKind::InvalidParams, message);
    let kind = meant.thing.kind;
    let Some((_, taken)) = CHANGES.iter().find(|(known, _)| *known == kind) else {
        let kinds: Vec<&str> = CHANGES.iter().map(|(kind, _)| *kind).collect();
        return Err(wrong(format!("{} is not changed here; these are: {}", a(kind), kinds.join(", "))));
    };
    let names = || taken.iter().copied().flatten().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    if wanted.is_empty() {
        return Err(wrong(format!("nothing is to be changed: {} takes {}", a(kind), names())));
    }
    let mut params = meant.params.clone();
    for (name, value) in &wanted {
        let row = taken.iter().copied().flatten().find(|(known, _)| known == name);
        let (_, form) =
            row.ok_or_else(|| wrong(format!("{} has no `{name}`; it takes {}", a(kind), names())))?;
        params.extend(written(*form, value).map(|(name, value)| (name.to_owned(), value)));
    }
    Ok(Change { meant, params })
}

/// The parameters that a change is.
fn written(form: As, value: &Value) -> impl Iterator<Item = (&'static str, Value)> {
    let is_none = value.as_str().is_some_and(|text| text.is_empty() || text.eq_ignore_ascii_case(NONE));
    let pairs = match form {
        As::Is(param) => vec![(param, value.clone())],
        As::OrNone(param, Clear::Zero) if is_none => vec![(param, json!(0))],
        As::OrNone(param, Clear::Empty) if is_none => vec![(param, json!(""))],
        As::OrNone(param, _) => vec![(param, value.clone())],
        As::State(open, _) if value == "opened" => vec![("state_event", json!(open))],
        As::State(_, close) => vec![("state_event", json!(close))],
        As::Fixed if is_none => vec![("due_date_is_fixed", json!(false))],
        As::Fixed => vec![("due_date_fixed", value.clone()), ("due_date_is_fixed", json!(true))],
    };
    pairs.into_iter()
}

async fn one(run: &Run<'_>, change: &Result<Change, ToolError>) -> Result<Outcome, ToolError> {
    let Change { meant, params } = change.as_ref().map_err(Clone::clone)?;
    let action = meant.thing.update.unwrap_or_default();
    let outcome = run.step(action, params.clone()).await;
    match (&outcome, meant.or_else.and_then(item_kinds::of_kind).and_then(|thing| thing.update)) {
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

    fn one(form: As, value: Value) -> Value {
        Value::Object(written(form, &value).map(|(name, value)| (name.to_owned(), value)).collect())
    }

    #[test]
    fn a_change_is_said_as_the_kind_has_it() {
        let milestone = As::OrNone("milestone_id", Clear::Zero);
        assert_eq!(one(milestone, json!("v1.0")), json!({"milestone_id": "v1.0"}));
        assert_eq!(one(milestone, json!("None")), json!({"milestone_id": 0}));
        assert_eq!(one(As::State("activate", "close"), json!("opened")), json!({"state_event": "activate"}));
        assert_eq!(one(As::State("activate", "close"), json!("closed")), json!({"state_event": "close"}));
        let fixed = json!({"due_date_fixed": "2026-04-01", "due_date_is_fixed": true});
        assert_eq!(one(As::Fixed, json!("2026-04-01")), fixed);
        assert_eq!(one(As::Fixed, json!("none")), json!({"due_date_is_fixed": false}));
    }
}
