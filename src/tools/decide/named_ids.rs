//! Names of users, groups and projects that a question has by their ids alone: a person agrees to a user, not to a number.

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use crate::call::{self, Checked};
use crate::catalog::{self, Action, Names};
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;
use crate::untrusted::quote;

/// Maximum number of ids that are looked up for a question.
const MAX_IDS: usize = 4;

/// `The user 3 is "alice".` for the users, groups and projects that the parameters name by id. `action` is the one that a raw
/// request amounts to. What cannot be read stays a number.
pub async fn facts(tools: &Tools, checked: &Checked, action: &Action) -> Vec<String> {
    let params = checked.params();
    let body = params.get("body").and_then(Value::as_object).filter(|_| checked.action().direct().is_some());
    let ids = call::named_ids(action, body.unwrap_or(params)).into_iter().take(MAX_IDS);
    join_all(ids.map(|(names, id)| fact(tools, names, id))).await.into_iter().flatten().collect()
}

async fn fact(tools: &Tools, names: Names, id: String) -> Option<String> {
    let resolver = catalog::resolver(names)?;
    let shown = resolver.shown.as_ref()?;
    let params = Map::from_iter([(shown.param.clone(), json!(id))]);
    let row = lookups::read_json(tools, &shown.action, params, Purpose::LookUp).await?;
    let name = row.get(&shown.field)?.as_str()?;
    Some(format!("The {} {id} is {}.", resolver.noun, quote(name)))
}
