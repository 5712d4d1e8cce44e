//! A tool for each action. Its arguments are the action's parameters and those of execute. An argument of execute is
//! written with a leading underscore (`_view`) if the action has a parameter of the same name; every tool accepts that
//! spelling.

use serde_json::{Map, Value, json};

use super::arguments::{CheckedArguments, bare_schema, check, takes};
use super::dynamic::{self, EXECUTE};
use super::entry::{Side, SurfaceEntry};
use super::names;
use super::schema::{Branch, Form, Source};
use super::tool_definition::Annotations;
use crate::catalog::{Action, Audience, Catalog, CatalogError, Risk};
use crate::tools::{self, ExecuteRequest, Serves, ToolError, Tools};

/// The tools of the actions that a person could mean and that may run. The others are callable all the same.
pub fn entries(
    tools: &Tools,
    is_wanted: &dyn Fn(&Action) -> bool,
) -> Result<Vec<SurfaceEntry>, CatalogError> {
    let mut found = Vec::new();
    for (number, action) in tools.catalog().actions().enumerate() {
        let action = action?;
        if is_listed(&action) && is_wanted(&action) && tools.may_run(&action) {
            found.push(SurfaceEntry::Action(number));
        }
    }
    Ok(found)
}

/// True if an action has its own place in lists, and not only behind another action.
pub fn is_listed(action: &Action) -> bool {
    action.is_offered() && action.audience == Audience::Person
}

/// The action whose tool has that name.
pub fn number(catalog: &Catalog, tool: &str) -> Option<usize> {
    catalog.ids().position(|id| names::is_name_of(tool, id))
}

/// The source of the tool of an action: one branch.
pub fn source(tools: &Tools, number: usize) -> Result<Source, CatalogError> {
    let action = tools.with_runnable_items(tools.catalog().action(number)?);
    let mut branch = Branch::new(&action, tools.catalog().words()?);
    branch.risk = tools.risk(&action);
    if branch.risk == Risk::Destructive {
        branch.description.push_str(". Needs confirmation.");
    }
    if tools.has_configured_project() {
        branch.required.retain(|name| name != "fullPath");
    }
    // The instructions describe these once for all tools.
    let lists = tools::may_list(&action);
    let own = dynamic::extra_arguments(tools)
        .filter(|argument| lists || argument.serves != Serves::List)
        .map(|argument| (reserved(&action, argument.name), bare_schema(argument)));
    Ok(Source {
        name: names::of_action(&action.id),
        own: own.collect(),
        annotations: Annotations::new([branch.risk].into_iter()),
        branches: vec![branch],
        family_tool: Some(Side::new(true, action.risk).tool(tools.catalog().words()?.family(&action.id))),
        form: Form::Beside,
        ..Source::default()
    })
}

/// Name of an argument of execute next to the action's parameters.
fn reserved(action: &Action, name: &str) -> String {
    if action.param(name).is_some() { format!("_{name}") } else { name.to_owned() }
}

/// Parses a call of an action's tool.
pub fn parse_call(
    tools: &Tools,
    number: usize,
    tool: &str,
    given: Map<String, Value>,
) -> Result<CheckedArguments<ExecuteRequest>, ToolError> {
    let action = tools.catalog().action(number)?;
    let (mut params, mut beside) = (Map::new(), Map::new());
    for (name, value) in given {
        match execute_argument(tools, &action, &name) {
            Some(reserved) => beside.insert(reserved.to_owned(), value),
            None => params.insert(name, value),
        };
    }
    beside.insert("action".to_owned(), json!(action.id));
    beside.insert("params".to_owned(), Value::Object(params));
    check(tools::EXECUTE, &EXECUTE.arguments_for(tools.instances()), beside).map_err(|mut error| {
        let beside: Vec<_> = dynamic::extra_arguments(tools).collect();
        error.hint = Some(format!("Besides {}'s parameters, {}", action.id, takes(tool, &beside)));
        error
    })
}

/// The argument of execute with this name, unless the action has a parameter of that name.
fn execute_argument(tools: &Tools, action: &Action, name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix('_').unwrap_or(name);
    let argument = dynamic::extra_arguments(tools).find(|argument| argument.name == bare)?;
    (bare.len() < name.len() || action.param(name).is_none()).then_some(argument.name)
}

/// The arguments of a call of execute as those of the action's own tool.
pub fn arguments(action: &Action, call: &Map<String, Value>) -> Map<String, Value> {
    let params = call.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
    let beside = call.iter().filter(|(name, _)| !["action", "params"].contains(&name.as_str()));
    let beside = beside.map(|(name, value)| (reserved(action, name), value.clone()));
    params.into_iter().chain(beside).collect()
}
