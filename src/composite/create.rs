//! `resource.create`: creates up to twenty items of any types in order, each with its own outcome. A field that a type
//! does not support is an error of that item, which is then not created.

use serde_json::{Map, Value, json};

use crate::catalog::{self, Action, ItemPlace, KindRow, NewItemKind};
use crate::composite::agreement;
use crate::composite::item_kinds::invalid_item;
use crate::composite::item_results::{item_attributes, render_items};
use crate::composite::run::{CompositeRun, KnownStep};
use crate::text::excerpt;
use crate::tools::response::Outcome;
use crate::tools::{Answer, ErrorKind, ToolError, workspace};

/// Maximum number of items of a call.
const MAX_ITEMS: usize = 20;

/// An item with the request that creates it.
struct NewItem {
    kind: &'static KindRow,
    /// The kind as a new item.
    create: &'static NewItemKind,
    target: String,
    params: Map<String, Value>,
}

/// The items that are valid.
pub fn known_steps(run: &CompositeRun<'_>) -> Vec<KnownStep> {
    let items = run.list("items").iter().take(MAX_ITEMS).enumerate();
    let step = |(place, item): (usize, &Value)| {
        let NewItem { create, params, .. } = new(run, item).ok()?;
        Some(KnownStep::new("item", place + 1, &create.action, params))
    };
    items.filter_map(step).collect()
}

/// Creates the items in order, so that their numbers follow it.
pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let given = run.bounded_list("items", MAX_ITEMS, "items")?;
    if let Some((at, item)) =
        given.iter().enumerate().find(|(at, item)| given.iter().take(*at).any(|other| other == *item))
    {
        let short: String = excerpt(&item.to_string(), 120);
        return Err(run.invalid(format!("item {} is a duplicate: {short}", at + 1)));
    }
    let agreement = agreement::agree_to_items(run, known_steps(run)).await?;
    let (mut attributes, mut outcomes) = (Vec::new(), Vec::new());
    for (place, item) in given.iter().enumerate() {
        // In order, so that iids follow the order of the items.
        match run.item_error(place).map_or_else(|| new(run, item), Err) {
            Ok(new) => {
                attributes.push(item_attributes(Some(new.kind), &new.target));
                outcomes.push(create(run, &new, agreement.covers(place + 1)).await);
            }
            Err(error) => {
                attributes.push(item_attributes(None, &item.to_string()));
                outcomes.push(Err(error));
            }
        }
    }
    Ok(render_items(run, attributes, outcomes))
}

async fn create(run: &CompositeRun<'_>, new: &NewItem, is_agreed: bool) -> Result<Outcome, ToolError> {
    let outcome = run.step_agreed(&new.create.action, new.params.clone(), is_agreed).await;
    let in_group = new.create.in_group.as_deref().and_then(find_kind);
    match (&outcome, in_group) {
        (Err(error), Some((_, create))) if error.kind == ErrorKind::NotFound => {
            let renamed = new.params.iter().filter_map(|(name, value)| {
                let (field, _) = new.create.fields.iter().find(|(_, param)| param == name)?;
                let (_, param) = create.fields.iter().find(|(known, _)| known == field)?;
                Some((param.clone(), value.clone()))
            });
            let mut params: Map<String, Value> = renamed.collect();
            params.extend(new.params.get("fullPath").map(|path| ("fullPath".to_owned(), path.clone())));
            let other = run.step(&create.action, params).await;
            if other.is_ok() { other } else { outcome }
        }
        _ => outcome,
    }
}

/// The kinds that can be created.
fn new_kinds() -> impl Iterator<Item = (&'static KindRow, &'static NewItemKind)> {
    catalog::kinds().kinds.iter().filter_map(|kind| Some((kind, kind.create.as_ref()?)))
}

fn find_kind(name: &str) -> Option<(&'static KindRow, &'static NewItemKind)> {
    new_kinds().find(|(kind, _)| kind.name == name)
}

/// The request that creates an item.
fn new(run: &CompositeRun<'_>, item: &Value) -> Result<NewItem, ToolError> {
    let mut fields = item.as_object().cloned().unwrap_or_default();
    let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
    let name = text(fields.shift_remove(catalog::ITEM_TYPE)).unwrap_or_default();
    let (kind, create) = find_kind(&name).ok_or_else(|| {
        let names: Vec<&str> = new_kinds().map(|(kind, _)| kind.name.as_str()).collect();
        invalid_item(format!("`itemType` is one of {}; {name:?} was given", names.join(", ")))
    })?;
    let path = text(fields.shift_remove("fullPath"));
    let mut params = Map::new();
    for (field, value) in fields {
        let known = create.fields.iter().find(|(known, _)| *known == field);
        let (_, param) = known.ok_or_else(|| {
            let mut names: Vec<&str> = create.fields.iter().map(|(name, _)| name.as_str()).collect();
            names.dedup();
            invalid_item(format!("{} has no `{field}`; it takes {}", kind.noun, names.join(", ")))
        })?;
        params.insert(param.clone(), value);
    }
    let target = place_params(run, create.place, path, (kind, &mut params))?;
    complete(run, (kind, create), &params)?;
    Ok(NewItem { kind, create, target, params })
}

/// Fills in the item's namespace and returns the displayed path.
fn place_params(
    run: &CompositeRun<'_>,
    place: ItemPlace,
    path: Option<String>,
    (kind, params): (&KindRow, &mut Map<String, Value>),
) -> Result<String, ToolError> {
    let path = match place {
        ItemPlace::Holder => path.or_else(|| workspace::default_project(run.tools).map(|(path, _)| path)),
        _ => path,
    };
    let path = path.map(|path| path.trim_matches('/').to_owned()).filter(|path| !path.is_empty());
    match (place, path) {
        (ItemPlace::Holder | ItemPlace::Optional, Some(path)) => {
            params.insert("fullPath".to_owned(), json!(path));
            Ok(path)
        }
        (ItemPlace::Optional, None) => Ok(String::new()),
        (ItemPlace::Holder, None) => Err(invalid_item(format!(
            "`fullPath` is missing: the project or group of the {}",
            noun(&kind.name)
        ))),
        (ItemPlace::Project | ItemPlace::Group, None) => {
            Err(invalid_item(format!("`fullPath` is missing: the path of the new {}", noun(&kind.name))))
        }
        (ItemPlace::Project | ItemPlace::Group, Some(path)) => {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
            params.insert("path".to_owned(), json!(name));
            params.entry("name").or_insert_with(|| json!(name));
            if !parent.is_empty() {
                let param = if place == ItemPlace::Group { "parent_id" } else { "namespace_id" };
                params.insert(param.to_owned(), json!(parent));
            }
            Ok(path)
        }
    }
}

/// Checks that the item has the parameters that its action requires; errors name the item's fields.
fn complete(
    run: &CompositeRun<'_>,
    (kind, create): (&KindRow, &NewItemKind),
    params: &Map<String, Value>,
) -> Result<(), ToolError> {
    let action: Option<Action> = run.tools.catalog().get(&create.action).ok().flatten();
    let required = action.iter().flat_map(|action| &action.params).filter(|param| param.required);
    let missing = required.filter(|param| !params.contains_key(&param.name));
    let fields: Vec<String> = missing
        .filter_map(|param| create.fields.iter().find(|(_, known)| *known == param.name))
        .map(|(field, _)| format!("`{field}`"))
        .collect();
    match fields.is_empty() {
        true => Ok(()),
        false => Err(invalid_item(format!("{} needs {}", kind.noun, fields.join(", ")))),
    }
}

fn noun(name: &str) -> String {
    name.replace('_', " ")
}
