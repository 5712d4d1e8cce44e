//! `resource.create`: creates up to twenty items of any types in order, each with its own outcome. A field that a type
//! does not support is an error of that item, which is then not created.

use serde_json::{Map, Value, json};

use crate::catalog::Action;
use crate::composite::agreement;
use crate::composite::byte_budget;
use crate::composite::item_kinds::with_article;
use crate::composite::item_results::ItemResults;
use crate::composite::run::{CompositeRun, KnownStep};
use crate::text::excerpt;
use crate::tools::response::Outcome;
use crate::tools::{Answer, ErrorKind, ToolError, workspace};

/// Maximum number of items of a call.
const MOST: usize = 20;

/// A type of item: the action that creates one, and its fields with the parameters of that action.
struct NewItemType {
    name: &'static str,
    action: &'static str,
    /// The corresponding type in a group, if different.
    in_group: Option<&'static str>,
    place: ItemPlace,
    fields: &'static [(&'static str, &'static str)],
}

/// Meaning of an item's `fullPath`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemPlace {
    /// The project or group that contains the item.
    Holder,
    /// Optional; without it, the item belongs to the user.
    Optional,
    /// The path of the new project, which ends with its own name.
    Project,
    /// The path of the new group.
    Group,
}

const ISSUE: &[(&str, &str)] = &[
    ("title", "title"),
    ("description", "description"),
    ("labels", "labels"),
    ("assignees", "assignee_ids"),
    ("milestone", "milestone_id"),
    ("due_date", "due_date"),
    ("confidential", "confidential"),
];

const fn item_type(
    name: &'static str,
    action: &'static str,
    fields: &'static [(&'static str, &'static str)],
) -> NewItemType {
    NewItemType { name, action, in_group: None, place: ItemPlace::Holder, fields }
}

/// Every type, in the order of the catalog's choices.
const TYPES: [NewItemType; 12] = [
    item_type("issue", "issue.create", ISSUE),
    item_type(
        "merge_request",
        "merge_request.create",
        &[
            ("title", "title"),
            ("description", "description"),
            ("source_branch", "source_branch"),
            ("target_branch", "target_branch"),
            ("labels", "labels"),
            ("assignees", "assignee_ids"),
            ("reviewers", "reviewer_ids"),
            ("milestone", "milestone_id"),
        ],
    ),
    item_type(
        "epic",
        "epic.create",
        &[
            ("title", "title"),
            ("description", "description"),
            ("labels", "labels"),
            ("start_date", "start_date_fixed"),
            ("due_date", "due_date_fixed"),
            ("confidential", "confidential"),
            ("color", "color"),
        ],
    ),
    // In REST a project's work items are issues, a group's are epics.
    NewItemType { in_group: Some("epic"), ..item_type("work_item", "issue.create", ISSUE) },
    NewItemType {
        place: ItemPlace::Project,
        ..item_type(
            "project",
            "project.create",
            &[("title", "name"), ("description", "description"), ("visibility", "visibility")],
        )
    },
    NewItemType {
        place: ItemPlace::Group,
        ..item_type(
            "group",
            "group.create",
            &[("title", "name"), ("description", "description"), ("visibility", "visibility")],
        )
    },
    item_type(
        "milestone",
        "milestone.create",
        &[
            ("title", "title"),
            ("description", "description"),
            ("start_date", "start_date"),
            ("due_date", "due_date"),
        ],
    ),
    item_type(
        "label",
        "label.create",
        &[("title", "name"), ("description", "description"), ("color", "color")],
    ),
    item_type("branch", "branch.create", &[("branch", "branch"), ("title", "branch"), ("ref", "ref")]),
    item_type(
        "file",
        "repository_file.create",
        &[
            ("path", "file_path"),
            ("branch", "branch"),
            ("content", "content"),
            ("commit_message", "commit_message"),
        ],
    ),
    NewItemType {
        place: ItemPlace::Optional,
        ..item_type(
            "snippet",
            "snippet.create",
            &[
                ("title", "title"),
                ("description", "description"),
                ("visibility", "visibility"),
                ("path", "file_name"),
                ("content", "content"),
            ],
        )
    },
    item_type("wiki_page", "wiki_page.create", &[("title", "title"), ("content", "content")]),
];

/// An item with the request that creates it.
struct NewItem {
    kind: &'static NewItemType,
    target: String,
    params: Map<String, Value>,
}

/// The items that are valid.
pub fn known_steps(run: &CompositeRun<'_>) -> Vec<KnownStep> {
    let items = run.list("items").iter().take(MOST).enumerate();
    let step = |(place, item): (usize, &Value)| {
        let NewItem { kind, params, .. } = new(run, item).ok()?;
        Some(KnownStep::new("item", place + 1, kind.action, params))
    };
    items.filter_map(step).collect()
}

/// Creates.
pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let given = run.list("items");
    if given.is_empty() || given.len() > MOST {
        return Err(run.invalid(format!("`items` is 1 to {MOST} items; {} were given", given.len())));
    }
    if let Some((at, item)) =
        given.iter().enumerate().find(|(at, item)| given.iter().take(*at).any(|other| other == *item))
    {
        let short: String = excerpt(&item.to_string(), 120);
        return Err(run.invalid(format!("item {} is a duplicate: {short}", at + 1)));
    }
    let agreement = agreement::agree_to_items(run, known_steps(run)).await?;
    let mut outcomes = Vec::new();
    let mut says = Vec::new();
    for (place, item) in given.iter().enumerate() {
        let new = run.item_error(place).map_or_else(|| new(run, item), Err);
        says.push(match &new {
            Ok(NewItem { kind, target, .. }) => {
                Map::from_iter([("kind".to_owned(), json!(kind.name)), ("target".to_owned(), json!(target))])
            }
            Err(_) => Map::from_iter([("target".to_owned(), json!(item.to_string()))]),
        });
        // In order, so that iids follow the order of the items.
        outcomes.push(match new {
            Ok(new) => create(run, &new, agreement.covers(place + 1)).await,
            Err(error) => Err(error),
        });
    }
    let mut items = ItemResults::default();
    for (says, answer) in says.into_iter().zip(byte_budget::render_within_budget(run.tools, outcomes)) {
        items.add("item", says, &answer);
    }
    Ok(items.answer(run, &[]))
}

async fn create(run: &CompositeRun<'_>, new: &NewItem, is_agreed: bool) -> Result<Outcome, ToolError> {
    let outcome = run.step_agreed(new.kind.action, new.params.clone(), is_agreed).await;
    let in_group = new.kind.in_group.and_then(of_name);
    match (&outcome, in_group) {
        (Err(error), Some(kind)) if error.kind == ErrorKind::NotFound => {
            let renamed = new.params.iter().filter_map(|(name, value)| {
                let (field, _) = new.kind.fields.iter().find(|(_, param)| param == name)?;
                let (_, param) = kind.fields.iter().find(|(known, _)| known == field)?;
                Some(((*param).to_owned(), value.clone()))
            });
            let mut params: Map<String, Value> = renamed.collect();
            params.extend(new.params.get("fullPath").map(|path| ("fullPath".to_owned(), path.clone())));
            let other = run.step(kind.action, params).await;
            if other.is_ok() { other } else { outcome }
        }
        _ => outcome,
    }
}

fn of_name(name: &str) -> Option<&'static NewItemType> {
    TYPES.iter().find(|kind| kind.name == name)
}

fn wrong(message: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidParams, message)
}

/// The request that creates an item.
fn new(run: &CompositeRun<'_>, item: &Value) -> Result<NewItem, ToolError> {
    let mut fields = item.as_object().cloned().unwrap_or_default();
    let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
    let name = text(fields.shift_remove("itemType")).unwrap_or_default();
    let kind = of_name(&name).ok_or_else(|| {
        let names: Vec<&str> = TYPES.iter().map(|kind| kind.name).collect();
        wrong(format!("`itemType` is one of {}; {name:?} was given", names.join(", ")))
    })?;
    let path = text(fields.shift_remove("fullPath"));
    let mut params = Map::new();
    for (field, value) in fields {
        let known = kind.fields.iter().find(|(known, _)| *known == field);
        let (_, param) = known.ok_or_else(|| {
            let mut names: Vec<&str> = kind.fields.iter().map(|(name, _)| *name).collect();
            names.dedup();
            wrong(format!("{} has no `{field}`; it takes {}", with_article(kind.name), names.join(", ")))
        })?;
        params.insert((*param).to_owned(), value);
    }
    let target = place_params(run, kind, path, &mut params)?;
    if params.contains_key("due_date_fixed") {
        params.insert("due_date_is_fixed".to_owned(), json!(true));
    }
    if params.contains_key("start_date_fixed") {
        params.insert("start_date_is_fixed".to_owned(), json!(true));
    }
    complete(run, kind, &params)?;
    Ok(NewItem { kind, target, params })
}

/// Fills in the item's namespace and returns the displayed path.
fn place_params(
    run: &CompositeRun<'_>,
    kind: &NewItemType,
    path: Option<String>,
    params: &mut Map<String, Value>,
) -> Result<String, ToolError> {
    let path = match kind.place {
        ItemPlace::Holder => path.or_else(|| workspace::default_project(run.tools).map(|(path, _)| path)),
        _ => path,
    };
    let path = path.map(|path| path.trim_matches('/').to_owned()).filter(|path| !path.is_empty());
    match (kind.place, path) {
        (ItemPlace::Holder | ItemPlace::Optional, Some(path)) => {
            params.insert("fullPath".to_owned(), json!(path));
            Ok(path)
        }
        (ItemPlace::Optional, None) => Ok(String::new()),
        (ItemPlace::Holder, None) => {
            Err(wrong(format!("`fullPath` is missing: the project or group of the {}", noun(kind.name))))
        }
        (ItemPlace::Project | ItemPlace::Group, None) => {
            Err(wrong(format!("`fullPath` is missing: the path of the new {}", noun(kind.name))))
        }
        (ItemPlace::Project | ItemPlace::Group, Some(path)) => {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
            params.insert("path".to_owned(), json!(name));
            params.entry("name").or_insert_with(|| json!(name));
            if !parent.is_empty() {
                let param = if kind.place == ItemPlace::Group { "parent_id" } else { "namespace_id" };
                params.insert(param.to_owned(), json!(parent));
            }
            Ok(path)
        }
    }
}

/// Checks that the item has the parameters that its action requires; errors name the item's fields.
fn complete(
    run: &CompositeRun<'_>,
    kind: &NewItemType,
    params: &Map<String, Value>,
) -> Result<(), ToolError> {
    let action: Option<Action> = run.tools.catalog().get(kind.action).ok().flatten();
    let required = action.iter().flat_map(|action| &action.params).filter(|param| param.required);
    let missing = required.filter(|param| !params.contains_key(&param.name));
    let fields: Vec<String> = missing
        .filter_map(|param| kind.fields.iter().find(|(_, known)| *known == param.name))
        .map(|(field, _)| format!("`{field}`"))
        .collect();
    match fields.is_empty() {
        true => Ok(()),
        false => Err(wrong(format!("{} needs {}", with_article(kind.name), fields.join(", ")))),
    }
}

fn noun(name: &str) -> String {
    name.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn the_types_match_the_catalog() {
        let catalog = Catalog::embedded().unwrap();
        let plan = catalog.get("resource.create").unwrap().unwrap();
        let items = plan.param("items").unwrap();
        let choices = &items.fields.iter().find(|field| field.name == "itemType").unwrap().choices;
        assert_eq!(*choices, TYPES.map(|kind| kind.name));
        let picks = &plan.plan.as_ref().unwrap().picks;
        for kind in &TYPES {
            assert!(picks.iter().any(|id| id == kind.action), "{}", kind.action);
            let action = catalog.get(kind.action).unwrap().unwrap();
            for (field, param) in kind.fields {
                assert!(items.fields.iter().any(|known| known.name == *field), "{field}");
                assert!(action.param(param).is_some(), "{} {param}", kind.action);
            }
        }
    }
}
