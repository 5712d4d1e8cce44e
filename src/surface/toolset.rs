//! The toolset surface: the tool that activates a toolset, and the tools of each.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::arguments::properties;
use super::entry::SurfaceEntry;
use super::schema::Source;
use super::tool_definition::Annotations;
use super::{individual, names};
use crate::catalog::{Action, CatalogError, Words};
use crate::search::nearest;
use crate::tools::{self, Answer, Argument, ErrorKind, NextCall, Serves, Takes, ToolError, Tools};

/// The tool that activates a toolset.
pub const ACTIVATE: &str = "activate_toolset";

/// Name for no toolset, the state at the start.
pub const DEFAULT: &str = "default";

/// Other names of it.
const NO_TOOLSET: [&str; 4] = [DEFAULT, "none", "off", ""];

/// URI of the list of toolsets, which marks the active one.
pub const TOOLSETS: &str = "gitlab://toolsets";

/// Arguments of the tool.
pub static ARGUMENTS: &[Argument] = &[Argument {
    name: "toolset_name",
    what: "The toolset; default for none.",
    takes: Takes::Text,
    required: true,
    serves: Serves::Call,
    option: None,
}];

/// Its request.
#[derive(Clone, Debug, Deserialize)]
pub struct Activation {
    pub toolset_name: String,
}

/// Source of that tool, with the list of toolsets.
pub fn source(tools: &Tools) -> Result<Source, CatalogError> {
    let words = tools.catalog().words()?;
    let names = offered(tools)?;
    let line = |name: &&str| {
        let what = words.toolsets.get(*name).map_or("", |toolset| toolset.what.as_str());
        format!("{name}: {what}")
    };
    let mut lines: Vec<String> = names.iter().map(line).collect();
    lines.push(format!("{DEFAULT}: none of them"));
    let mut own = properties(&ARGUMENTS.iter().collect::<Vec<_>>());
    if let Some(schema) = own.get_mut("toolset_name").and_then(Value::as_object_mut) {
        let choices: Vec<&str> = names.iter().copied().chain([DEFAULT]).collect();
        schema.insert("enum".to_owned(), json!(choices));
        schema.insert("description".to_owned(), json!(lines.join("\n")));
    }
    Ok(Source {
        name: ACTIVATE.to_owned(),
        title: Some("Activate a toolset".to_owned()),
        description:
            "List the everyday tools of one toolset, a tool for each action, in place of those of the one \
                      before. gitlab_find_action and gitlab_execute_action reach every action without."
                .to_owned(),
        own,
        required: vec!["toolset_name"],
        annotations: Annotations::READS,
        ..Source::default()
    })
}

/// The toolsets with a tool that may be listed.
fn offered(tools: &Tools) -> Result<Vec<&str>, CatalogError> {
    let words = tools.catalog().words()?;
    let mut names: Vec<&str> = Vec::new();
    for action in tools.catalog().actions() {
        let action = action?;
        let name = of(words, &action).filter(|name| !names.contains(name));
        if let (Some(name), true) = (name, individual::is_listed(&action) && tools.may_run(&action)) {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

fn of<'w>(words: &'w Words, action: &Action) -> Option<&'w str> {
    words.toolset(words.family(&action.id))
}

/// The actions of a toolset.
pub fn entries(tools: &Tools, toolset: &str) -> Result<Vec<SurfaceEntry>, CatalogError> {
    let words = tools.catalog().words()?;
    individual::entries(tools, &|action| of(words, action) == Some(toolset))
}

/// Why the tool of an action cannot be called while another toolset is active.
pub fn inactive(tools: &Tools, number: usize, active: Option<&str>) -> Option<ToolError> {
    let words = tools.catalog().words().ok()?;
    let action = tools.catalog().action(number).ok()?;
    let toolset = of(words, &action)?;
    if active == Some(toolset) {
        return None;
    }
    let name = names::of_action(&action.id);
    let message = format!("{name} is a tool of the toolset {toolset}, which is not active");
    let hint = format!("{} runs {} without it.", tools::EXECUTE, action.id);
    let error = ToolError::new(ErrorKind::UnknownAction, message).hint(hint);
    Some(error.fix(NextCall::new(ACTIVATE, json!({"toolset_name": toolset}))))
}

/// Resolves a toolset's name or an alias; none for one of the names of no toolset.
///
/// # Errors
/// No toolset has the name; with the nearest one, or an alternative to one that is not here.
pub fn resolve_toolset(tools: &Tools, given: &str) -> Result<Option<String>, ToolError> {
    let name = given.trim().to_lowercase();
    if NO_TOOLSET.contains(&name.as_str()) {
        return Ok(None);
    }
    let words = tools.catalog().words()?;
    let names = offered(tools)?;
    match words.toolset_named(&name).filter(|(name, _)| names.contains(name)) {
        Some((name, _)) => Ok(Some(name.to_owned())),
        None => Err(unknown(tools, words, &names, given)),
    }
}

/// The answer to an activation: the listed tools with their actions, so that a client which keeps its list can execute it.
pub fn answer(
    tools: &Tools,
    previous: Option<&str>,
    current: Option<&str>,
    entries: Vec<SurfaceEntry>,
) -> Result<Answer, ToolError> {
    let (from, to) = (previous.unwrap_or(DEFAULT), current.unwrap_or(DEFAULT));
    let count = entries.len();
    let all = match current {
        Some(name) => self::entries(tools, name)?.len(),
        None => 0,
    };
    let mut text = match from == to {
        true => format!("The toolset is {to}, as before: {count} tools.\n"),
        false => format!("Toolset switched from {from} to {to}: {count} tools.\n"),
    };
    let mut listed = Vec::new();
    for entry in entries {
        let SurfaceEntry::Action(number) = entry else { continue };
        let action = tools.catalog().action(number)?;
        let tool = names::of_action(&action.id);
        text.push_str(&format!("- {tool} ({}): {}\n", action.id, action.summary));
        listed.push(json!({"tool": tool, "action": action.id, "summary": action.summary}));
    }
    if all > count {
        let more = format!(
            "{} more actions of {to} are found with {} and run with {}.",
            all - count,
            tools::FIND,
            tools::EXECUTE
        );
        text.push_str(&more);
        text.push('\n');
    }
    if current.is_none() {
        let names = offered(tools)?;
        text.push_str(&format!("{ACTIVATE} takes one of {}.\n", names.join(", ")));
    }
    let structured = json!({
        "previous": from,
        "current": to,
        "changed": from != to,
        "count": count,
        "actions": all,
        "tools": listed,
    });
    Ok(Answer::new(structured.as_object().cloned().unwrap_or_default(), text))
}

/// The toolsets, and which one is active.
pub fn listing(tools: &Tools, active: Option<&str>) -> Result<Value, CatalogError> {
    let words = tools.catalog().words()?;
    let one = |name: &str| {
        let what = words.toolsets.get(name).map_or("", |toolset| toolset.what.as_str());
        Ok(json!({
            "name": name,
            "what": what,
            "actions": entries(tools, name)?.len(),
            "active": active == Some(name),
        }))
    };
    let toolsets: Vec<Value> = offered(tools)?.into_iter().map(one).collect::<Result<_, CatalogError>>()?;
    Ok(json!({"active": active.unwrap_or(DEFAULT), "toolsets": toolsets}))
}

/// Arguments of a corrected call: the toolset that was given under another name, if any.
pub fn arguments(tools: &Tools, given: &Map<String, Value>) -> Map<String, Value> {
    let texts = given.values().flat_map(|value| match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().into_iter().collect::<Vec<_>>(),
    });
    let mut chosen = texts.filter_map(|text| match resolve_toolset(tools, text) {
        Ok(name) => name,
        Err(error) => Some(error.fix?.arguments.get("toolset_name")?.as_str()?.to_owned()),
    });
    let name = chosen.next().unwrap_or_else(|| DEFAULT.to_owned());
    Map::from_iter([("toolset_name".to_owned(), json!(name))])
}

/// Error of an unknown toolset, with the reason if known, and the nearest.
fn unknown(tools: &Tools, words: &Words, names: &[&str], given: &str) -> ToolError {
    let short: String = given.chars().take(80).collect();
    let key = short.trim().to_lowercase().replace('-', "_");
    let error = ToolError::new(ErrorKind::InvalidParams, format!("there is no toolset `{short}`"));
    if let Some(absent) = words.absent_toolsets.get(&key) {
        let instead = absent.instead.as_deref().unwrap_or(DEFAULT);
        return error.hint(absent.why.clone()).fix(NextCall::new(ACTIVATE, json!({"toolset_name": instead})));
    }
    let aliases = words.toolsets.values().flat_map(|toolset| toolset.aliases.iter().map(String::as_str));
    let spelt = nearest(&key, names.iter().copied().chain(aliases));
    let spelt = spelt.and_then(|name| words.toolset_named(name)).map(|(name, _)| name.to_owned());
    // By the words of the name: the toolset of the first action that is found for it.
    let by_meaning = || {
        let found = tools.likely(&key.replace('_', " ")).into_iter();
        found.filter_map(|id| words.toolset(words.family(&id)).map(str::to_owned)).next()
    };
    let name = spelt.or_else(by_meaning).filter(|name| names.contains(&name.as_str()));
    error
        .hint(format!("There are {}; {DEFAULT} is none of them.", names.join(", ")))
        .fix(NextCall::new(ACTIVATE, json!({"toolset_name": name.as_deref().unwrap_or(DEFAULT)})))
}
