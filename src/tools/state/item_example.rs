//! The example of a composite action, without items of types that may not run.

use serde_json::{Map, Value, json};

use crate::catalog::{self, Action, Json, KindRow};

/// Leaves in the example the items and targets whose types are among the choices of `itemType`, or one of the first of them.
pub fn keep_runnable(action: &mut Action) {
    let mut fields = action.params.iter().flat_map(|param| &param.fields);
    let Some(types) =
        fields.find(|field| field.name == catalog::ITEM_TYPE).map(|field| field.choices.clone())
    else {
        return;
    };
    let may_run = |row: &Value| kind(row).is_none_or(|kind| types.contains(&kind.name));
    let mut is_empty = false;
    for name in ["items", "targets"] {
        let Some(Json(Value::Array(rows))) = action.example.get_mut(name) else { continue };
        rows.retain(may_run);
        is_empty |= rows.is_empty();
    }
    let Some(first) = types.first().filter(|_| is_empty) else { return };
    let is_tracked = catalog::kind_named(first).is_some_and(|kind| kind.sigil.is_some());
    let iid = (is_tracked && action.verb() != "create").then(|| ("iid", json!(1)));
    let title = (action.verb() != "fetch").then(|| ("title", json!("Oil the gears")));
    let place = [(catalog::ITEM_TYPE, json!(first)), ("fullPath", json!("acme/widget"))];
    let fields = place.into_iter().chain(iid).chain(title);
    let item: Map<String, Value> = fields.map(|(name, value)| (name.to_owned(), value)).collect();
    action.example.remove("targets");
    action.example.insert("items".to_owned(), Json(json!([item])));
}

/// The kind of an item or a target, as far as it says one: by its type, or by the mark of its reference.
fn kind(row: &Value) -> Option<&'static KindRow> {
    if let Some(named) = row.get(catalog::ITEM_TYPE).and_then(Value::as_str) {
        return catalog::kind_named(named);
    }
    let text = row.get("target").unwrap_or(row).as_str()?;
    catalog::kinds().kinds.iter().find(|kind| kind.sigil.is_some_and(|mark| text.contains(mark)))
}
