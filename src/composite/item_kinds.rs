//! Kinds of items that composite actions fetch and change: how each is named, and the actions on it.

use serde_json::{Map, Value, json};

use crate::call::{self, Kind, Page};
use crate::catalog::Scope;
use crate::composite::run::CompositeRun;
use crate::text::plain_text;
use crate::tools::{ErrorKind, NextCall, ToolError};

/// A kind of item.
#[derive(Debug, PartialEq, Eq)]
pub struct ItemKind {
    /// The name in `itemType` and in the tags of answers.
    pub kind: &'static str,
    pub read: &'static str,
    pub comments: Option<&'static str>,
    pub diffs: Option<&'static str>,
    pub links: Option<&'static str>,
    pub update: Option<&'static str>,
    /// Fields that identify the item besides `fullPath`, the first given one counts; each with its parameter and a
    /// prefix of the value.
    names: &'static [(&'static str, &'static str, &'static str)],
    /// Separator of path and name in the displayed reference.
    mark: &'static str,
}

const fn item_kind(kind: &'static str, read: &'static str, mark: &'static str) -> ItemKind {
    ItemKind { kind, read, comments: None, diffs: None, links: None, update: None, names: &[], mark }
}

/// Every kind once, in the order of the catalog's choices.
pub const ITEM_KINDS: [ItemKind; 11] = [
    ItemKind {
        comments: Some("issue_note.list"),
        links: Some("issue_link.list"),
        update: Some("issue.update"),
        names: &[("iid", "iid", "")],
        ..item_kind("issue", "issue.get", "#")
    },
    ItemKind {
        comments: Some("merge_request_note.list"),
        diffs: Some("merge_request.list_diffs"),
        links: Some("merge_request.list_related_issues"),
        update: Some("merge_request.update"),
        names: &[("iid", "iid", "")],
        ..item_kind("merge_request", "merge_request.get", "!")
    },
    ItemKind {
        comments: Some("epic_note.list"),
        links: Some("epic_link.list"),
        update: Some("epic.update"),
        names: &[("iid", "iid", "")],
        ..item_kind("epic", "epic.get", "&")
    },
    ItemKind {
        comments: Some("issue_note.list"),
        links: Some("issue_link.list"),
        update: Some("issue.update"),
        names: &[("iid", "iid", "")],
        ..item_kind("work_item", "work_item.get", "#")
    },
    ItemKind { update: Some("project.update"), ..item_kind("project", "project.get", "") },
    ItemKind { update: Some("group.update"), ..item_kind("group", "group.get", "") },
    ItemKind {
        names: &[("id", "pipeline_id", ""), ("iid", "pipeline_id", "")],
        ..item_kind("pipeline", "pipeline.get", "/-/pipelines/")
    },
    ItemKind { names: &[("path", "file_path", "")], ..item_kind("file", "repository_file.get_raw", ":") },
    ItemKind {
        update: Some("milestone.update"),
        names: &[("iid", "milestone_id", "%"), ("id", "milestone_id", ""), ("title", "milestone_id", "")],
        ..item_kind("milestone", "milestone.get", "%")
    },
    ItemKind {
        comments: Some("snippet_note.list"),
        update: Some("snippet.update"),
        names: &[("id", "snippet_id", ""), ("iid", "snippet_id", "")],
        ..item_kind("snippet", "snippet.get", "$")
    },
    ItemKind { names: &[("slug", "slug", "")], ..item_kind("wiki_page", "wiki_page.get", "/-/wikis/") },
];

/// Fields that select lines of a file.
const LINES: [&str; 3] = ["line_start", "line_end", "max_lines"];

/// An item with its kind and parameters resolved.
#[derive(Clone, Debug)]
pub struct ResolvedItem {
    pub thing: &'static ItemKind,
    /// The displayed reference: `acme/widget#12`, or as it was given.
    pub target: String,
    /// The parameters that identify it in actions on it.
    pub params: Map<String, Value>,
    /// The requested lines of a file, by the parameter names of `repository.read_files`.
    pub lines: Map<String, Value>,
    /// The other kind that it may be if a path alone is ambiguous.
    pub or_else: Option<&'static str>,
}

/// A kind with its article: `an epic`.
pub fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {}", kind.replace('_', " "))
}

/// The kind of that name.
pub fn find_kind(kind: &str) -> Option<&'static ItemKind> {
    ITEM_KINDS.iter().find(|thing| thing.kind == kind)
}

impl ResolvedItem {
    /// The item as another kind.
    pub fn instead(&self, kind: &str) -> Option<ResolvedItem> {
        Some(ResolvedItem { thing: find_kind(kind)?, or_else: None, ..self.clone() })
    }
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
    let wrong = |message: String| ToolError::new(ErrorKind::InvalidParams, message);
    let kinds = || ITEM_KINDS.map(|thing| thing.kind).join(", ");
    let kind = text("itemType").unwrap_or_default();
    let thing = find_kind(&kind)
        .ok_or_else(|| wrong(format!("an item has a `target`, or an `itemType`, one of {}", kinds())))?;
    let path = text("fullPath").or_else(|| run.tools.project.clone());
    let mut params = Map::new();
    match &path {
        Some(path) => {
            params.insert("fullPath".to_owned(), json!(path));
        }
        None if thing.kind == "snippet" => {}
        None => return Err(wrong(format!("`fullPath` is missing: where the {} is", thing.kind))),
    }
    let mut target = path.unwrap_or_default();
    if !thing.names.is_empty() {
        let given = thing.names.iter().find_map(|(field, param, mark)| Some((param, mark, text(field)?)));
        let (param, mark, value) = given.ok_or_else(|| {
            let fields: Vec<&str> = thing.names.iter().map(|(field, ..)| *field).collect();
            wrong(format!("`{}` is missing: which {} it is", fields.join("` or `"), thing.kind))
        })?;
        let bare = value.trim_start_matches(['#', '!', '&', '%', '$']).to_owned();
        let value = if thing.kind == "file" { value } else { bare };
        target = format!("{target}{}{value}", thing.mark);
        params.insert((*param).to_owned(), json!(format!("{mark}{value}")));
    }
    if let Some(at) = text("ref") {
        params.insert("ref".to_owned(), json!(at));
    }
    let lines = LINES.iter().filter_map(|name| Some(((*name).to_owned(), item.get(*name)?.clone())));
    let lines: Map<String, Value> = lines.collect();
    if let Some(name) = lines.keys().next().filter(|_| thing.kind != "file") {
        return Err(wrong(format!("`{name}` applies only to files; this is {}", with_article(thing.kind))));
    }
    // In REST a group's work items are epics.
    let or_else = (thing.kind == "work_item").then_some("epic");
    Ok(ResolvedItem { thing, target, params, lines, or_else })
}

/// The item of a URL or reference.
pub fn resolve_target(run: &CompositeRun<'_>, target: &str) -> Result<ResolvedItem, ToolError> {
    let page = call::parse_page(target, &run.tools.base)
        .map_err(|fault| ToolError::new(ErrorKind::InvalidParams, fault.to_string()))?;
    let (kind, or_else) = page_kind(page);
    let thing = kind.and_then(find_kind).ok_or_else(|| {
        let message =
            format!("{} cannot be fetched or changed together with others: {target}", page.kind.noun());
        let domain = page.kind.row().map_or("", |row| row.domain).replace('_', " ");
        let query = json!({"query": format!("get {domain}"), "read_only": true});
        ToolError::new(ErrorKind::InvalidParams, message).fix(NextCall::find(query))
    })?;
    let target = target.trim().to_owned();
    let params = Map::from_iter([(call::TARGET.to_owned(), json!(target))]);
    Ok(ResolvedItem { thing, target, params, lines: Map::new(), or_else })
}

/// The kind of item that a page shows, and the alternative.
fn page_kind(page: Page) -> (Option<&'static str>, Option<&'static str>) {
    let in_group = page.holder == Some(Scope::Group);
    match page.kind {
        Kind::Holder if page.is_bare && (in_group || page.is_short) => (Some("group"), None),
        Kind::Holder if page.is_bare => (Some("project"), Some("group")),
        Kind::Issue => (Some("issue"), None),
        // In REST a project's work items are issues, a group's are epics.
        Kind::WorkItem if in_group => (Some("epic"), None),
        Kind::WorkItem => (Some("issue"), None),
        Kind::MergeRequest => (Some("merge_request"), None),
        Kind::Epic => (Some("epic"), None),
        Kind::Pipeline => (Some("pipeline"), None),
        Kind::File => (Some("file"), None),
        Kind::Milestone => (Some("milestone"), None),
        Kind::Snippet => (Some("snippet"), None),
        Kind::Wiki => (Some("wiki_page"), None),
        _ => (None, None),
    }
}
