//! Kinds of items that composite actions fetch and change: how each is named, and the actions on it.

use serde_json::{Map, Value, json};

use crate::call::{self, WebPage};
use crate::catalog::{self, ItemKind, KindRow, ObjectKind, Scope};
use crate::composite::run::CompositeRun;
use crate::text::plain_text;
use crate::tools::{ErrorKind, NextCall, ToolError, workspace};

/// Fields that select lines of a file.
const LINES: [&str; 3] = ["line_start", "line_end", "max_lines"];

/// An item with its kind and parameters resolved.
#[derive(Clone, Debug)]
pub struct ResolvedItem {
    pub kind: &'static KindRow,
    /// The kind as an item.
    pub item: &'static ItemKind,
    /// The displayed reference: `acme/widget#12`, or as it was given.
    pub target: String,
    /// The parameters that identify it in actions on it.
    pub params: Map<String, Value>,
    /// The requested lines of a file, by the parameter names of `repository.read_files`.
    pub lines: Map<String, Value>,
    /// The other kind that it may be if a path alone is ambiguous.
    pub or_else: Option<&'static str>,
}

/// The kinds that are items.
fn item_kinds() -> impl Iterator<Item = (&'static KindRow, &'static ItemKind)> {
    catalog::kinds().kinds.iter().filter_map(|kind| Some((kind, kind.item.as_ref()?)))
}

/// The kind of that name, as an item.
pub fn find_kind(name: &str) -> Option<(&'static KindRow, &'static ItemKind)> {
    item_kinds().find(|(kind, _)| kind.name == name)
}

impl ResolvedItem {
    /// The item as another kind.
    pub fn instead(&self, kind: &str) -> Option<ResolvedItem> {
        let (kind, item) = find_kind(kind)?;
        Some(ResolvedItem { kind, item, or_else: None, ..self.clone() })
    }
}

/// The error of an item that a call has wrong.
pub fn invalid_item(message: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidParams, message)
}

/// Resolves an item by its target, or by its type and identifying fields.
pub fn resolve_item(run: &CompositeRun<'_>, item: &Value) -> Result<ResolvedItem, ToolError> {
    let text = |name: &str| {
        let value = item.get(name).filter(|value| !value.is_null())?;
        Some(plain_text(value))
    };
    if let Some(target) = text("target") {
        return resolve_target(run, &target);
    }
    // A path alone is a project or group.
    if let (Some(path), true) = (text("fullPath"), item.as_object().is_some_and(|fields| fields.len() == 1)) {
        return resolve_target(run, &path);
    }
    let kinds = || item_kinds().map(|(kind, _)| kind.name.as_str()).collect::<Vec<_>>().join(", ");
    let (kind, of_kind) = find_kind(&text(catalog::ITEM_TYPE).unwrap_or_default()).ok_or_else(|| {
        invalid_item(format!("an item has a `target`, or an `itemType`, one of {}", kinds()))
    })?;
    let is_place = !of_kind.names.iter().any(|name| name.field == "fullPath");
    let default = || workspace::default_project(run.tools).map(|(path, _)| path);
    let path = text("fullPath").or_else(default).filter(|_| is_place);
    let mut params = Map::new();
    match &path {
        Some(path) => {
            params.insert("fullPath".to_owned(), json!(path));
        }
        None if of_kind.placeless => {}
        None => return Err(invalid_item(format!("`fullPath` is missing: where the {} is", kind.name))),
    }
    let mut target = path.unwrap_or_default();
    let mut named = None;
    if !of_kind.names.is_empty() {
        let given = of_kind.names.iter().find_map(|name| Some((name, text(&name.field)?)));
        let (name, value) = given.ok_or_else(|| {
            let fields: Vec<&str> = of_kind.names.iter().map(|name| name.field.as_str()).collect();
            invalid_item(format!("`{}` is missing: which {} it is", fields.join("` or `"), kind.name))
        })?;
        named = Some(name.field.as_str());
        let bare = || value.trim_start_matches(['#', '!', '&', '%', '$']).to_owned();
        let value = if name.is_path { value } else { bare() };
        // `%` is the mark of a milestone and the prefix of its number.
        let prefix = name.prefix.trim_start_matches(of_kind.mark.as_str());
        target = format!("{target}{}{prefix}{value}", of_kind.mark);
        params.insert(name.param.clone(), json!(format!("{}{value}", name.prefix)));
    }
    if let Some(at) = text("ref").filter(|_| named != Some("ref")) {
        params.insert("ref".to_owned(), json!(at));
    }
    let lines = LINES.iter().filter_map(|name| Some(((*name).to_owned(), item.get(*name)?.clone())));
    let lines: Map<String, Value> = lines.collect();
    if let Some(name) = lines.keys().next().filter(|_| kind.object != Some(ObjectKind::File)) {
        return Err(invalid_item(format!("`{name}` applies only to files; this is {}", kind.noun)));
    }
    let or_else = of_kind.or_else.as_deref();
    Ok(ResolvedItem { kind, item: of_kind, target, params, lines, or_else })
}

/// The item of a URL or reference.
pub fn resolve_target(run: &CompositeRun<'_>, target: &str) -> Result<ResolvedItem, ToolError> {
    let page = call::parse_page(target, &run.tools.base).map_err(|fault| invalid_item(fault.to_string()))?;
    let (name, or_else) = page_kind(page);
    let (kind, item) = name.and_then(find_kind).ok_or_else(|| {
        let message = format!(
            "{} cannot be fetched or changed together with others: {target}",
            call::object_noun(page.kind)
        );
        let domain = catalog::kind_of_object(page.kind).map_or("", |row| &row.domain).replace('_', " ");
        let query = json!({"query": format!("get {domain}"), "read_only": true});
        invalid_item(message).fix(NextCall::find(query))
    })?;
    let target = target.trim().to_owned();
    let params = Map::from_iter([(call::TARGET.to_owned(), json!(target))]);
    Ok(ResolvedItem { kind, item, target, params, lines: Map::new(), or_else })
}

/// The kind of item that a page shows, and the alternative.
fn page_kind(page: WebPage) -> (Option<&'static str>, Option<&'static str>) {
    let in_group = page.holder == Some(Scope::Group);
    match page.kind {
        ObjectKind::Holder if page.is_bare && (in_group || page.is_short) => (Some("group"), None),
        ObjectKind::Holder if page.is_bare => (Some("project"), Some("group")),
        // In REST a project's work items are issues, a group's are epics.
        ObjectKind::WorkItem if in_group => (Some("epic"), None),
        ObjectKind::WorkItem => (Some("issue"), None),
        kind => (catalog::kind_of_object(kind).map(|row| row.name.as_str()), None),
    }
}
