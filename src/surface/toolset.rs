//! Toolsets taken up one after the other: the tool that does it, and the tools of each.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::arguments::{Argument, Takes, properties};
use super::schema::{Form, Source};
use super::spec::Annotations;
use super::{Entry, individual, names};
use crate::catalog::{Action, CatalogError, Words};
use crate::search::nearest;
use crate::tools::{self, Answer, ErrorKind, ToolError, Tools};

/// The tool that takes up a toolset.
pub const ACTIVATE: &str = "activate_toolset";

/// What it takes.
pub static ARGUMENTS: &[Argument] =
    &[Argument { name: "toolset_name", what: "Which toolset.", takes: Takes::Text, required: true }];

/// Its request.
#[derive(Clone, Debug, Deserialize)]
pub struct Activation {
    pub toolset_name: String,
}

/// The source of that tool: it says which toolsets there are.
pub fn source(tools: &Tools) -> Result<Source, CatalogError> {
    let words = tools.catalog().words()?;
    let names = offered(tools)?;
    let said = |name: &&str| {
        let what = words.toolsets.get(*name).map_or("", |toolset| toolset.what.as_str());
        format!("{name}: {what}")
    };
    let lines: Vec<String> = names.iter().map(said).collect();
    let mut own = properties(ARGUMENTS);
    if let Some(schema) = own.get_mut("toolset_name").and_then(Value::as_object_mut) {
        schema.insert("enum".to_owned(), json!(names));
        schema.insert("description".to_owned(), json!(lines.join("\n")));
    }
    Ok(Source {
        name: ACTIVATE.to_owned(),
        title: Some("Take up a toolset".to_owned()),
        description:
            "List the tools of one toolset, a tool for each of its actions, in place of those of the one \
                      before. gitlab_find_action and gitlab_execute_action reach every action without."
                .to_owned(),
        own,
        required: vec!["toolset_name"],
        branches: Vec::new(),
        form: Form::Plain,
        output: None,
        annotations: Annotations {
            read_only: true,
            destructive: None,
            idempotent: Some(true),
            open_world: false,
        },
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

/// The tools of a toolset.
pub fn entries(tools: &Tools, toolset: &str) -> Result<Vec<Entry>, CatalogError> {
    let words = tools.catalog().words()?;
    individual::entries(tools, &|action| of(words, action) == Some(toolset))
}

/// Why the tool of an action cannot be called while another toolset is taken up.
pub fn inactive(tools: &Tools, number: usize, active: Option<&str>) -> Option<ToolError> {
    let words = tools.catalog().words().ok()?;
    let action = tools.catalog().action(number).ok()?;
    let toolset = of(words, &action)?;
    if active == Some(toolset) {
        return None;
    }
    let name = names::of_action(&action.id);
    let message = format!("{name} is a tool of the toolset {toolset}, which is not taken up");
    let hint = format!("{} runs {} without it.", tools::EXECUTE, action.id);
    let error = ToolError::new(ErrorKind::UnknownAction, message).hint(hint);
    Some(error.fix(ACTIVATE, json!({"toolset_name": toolset})))
}

/// What is in a toolset: every tool with its action, so that a client which keeps its list can execute it.
pub fn answer(tools: &Tools, name: &str) -> Result<Answer, ToolError> {
    let fault = |error: CatalogError| tools::internal(&error);
    let names = offered(tools).map_err(fault)?;
    if !names.contains(&name) {
        return Err(unknown(&names, name));
    }
    let (mut listed, mut text) = (Vec::new(), format!("The tools of {name} are listed now:\n"));
    for entry in entries(tools, name).map_err(fault)? {
        let Entry::Action(number) = entry else { continue };
        let action = tools.catalog().action(number).map_err(fault)?;
        let tool = names::of_action(&action.id);
        text.push_str(&format!("- {tool} ({}): {}\n", action.id, action.summary));
        listed.push(json!({"tool": tool, "action": action.id, "summary": action.summary}));
    }
    let structured =
        Map::from_iter([("toolset".to_owned(), json!(name)), ("tools".to_owned(), Value::Array(listed))]);
    Ok(Answer { structured, text })
}

/// There is no such toolset.
pub fn unknown(names: &[&str], given: &str) -> ToolError {
    let given: String = given.chars().take(80).collect();
    let message = format!("there is no toolset `{given}`");
    let error = ToolError::new(ErrorKind::InvalidParams, message);
    let error = error.hint(format!("There are {}.", names.join(", ")));
    match nearest(&given, names.iter().copied()).or(names.first().copied()) {
        Some(name) => error.fix(ACTIVATE, json!({"toolset_name": name})),
        None => error,
    }
}
