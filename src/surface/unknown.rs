//! Calls of tools that a surface does not list: finds the nearest listed tool and the equivalent call of it.

use std::cmp::Reverse;

use serde_json::{Map, Value, json};

use super::dynamic::{self, EXECUTE, FIND};
use super::settings::SurfaceKind;
use super::state::Surface;
use super::toolset::ACTIVATE;
use super::{individual, meta, names, toolset};
use crate::catalog::{self, Action, ShortName};
use crate::search::nearest;
use crate::tools::{ErrorKind, NextCall, ToolError, Tools, gives_consent};

/// The most tools that are listed in the error; of a longer list, those most like the name.
const LISTED: usize = 100;
const MAX_ALIKE: usize = 10;

/// The longest call that the message repeats, in bytes.
const LONGEST_CALL: usize = 600;

/// Arguments by which other servers' tools name an action.
const ACTION_ARGUMENTS: [&str; 3] = ["action", "operation", "method"];

/// Words of a tool's name that name its server, not its function.
const SERVER_WORDS: [&str; 3] = ["mcp", "gitlab", "gl"];

/// Parts of arguments' names that name a place of GitLab's, so that a call is not for the client's own tool.
const PLACE_WORDS: [&str; 5] = ["project", "fullpath", "group", "namespace", "target"];

/// Names under which the pair is called by those who have seen other servers.
const FIND_NAMES: [&str; 7] =
    ["find", "find_action", "find_actions", "find_tool", "find_tools", "search_actions", "search_tools"];
const EXECUTE_NAMES: [&str; 7] = [
    "execute",
    "execute_action",
    "execute_actions",
    "execute_tool",
    "run_action",
    "call_action",
    "call_tool",
];

/// A call of a listed tool.
type UnknownCall = (String, Map<String, Value>);

impl Surface {
    /// The error of a tool that is not listed: `details` has `tools` (the listed ones) and `nearest`, `fix` the call.
    pub fn unknown_tool(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        offers: &dyn Fn(&str) -> bool,
    ) -> ToolError {
        // A catalog that cannot be read has stopped the server at its start.
        let entries = self.entries().unwrap_or_default();
        let listed: Vec<String> =
            entries.iter().map(|entry| self.name(entry)).filter(|tool| offers(tool)).collect();
        let short: String = name.chars().take(80).collect();
        let mut message = format!("unknown tool: {short}");
        if name == ACTIVATE {
            message
                .push_str(&format!(". TOOL_SURFACE=toolset has it; this server has {}", self.kind().name()));
        }
        let own = self.client_tool(name, arguments);
        if let Some(why) = &own {
            message.push_str(&format!(". {why}"));
        }
        let call = if own.is_none() { self.call_instead(&short, arguments, &listed) } else { None };
        if let Some((tool, arguments)) = &call {
            let arguments = Value::Object(arguments.clone()).to_string();
            let with =
                if arguments.len() <= LONGEST_CALL { format!(" with {arguments}") } else { String::new() };
            message.push_str(&format!(". Call {tool}{with}"));
            message.push_str(&self.other_meanings(&short, &arguments));
        }
        let mut error = ToolError::new(ErrorKind::UnknownAction, message);
        error.details.insert("tools".to_owned(), json!(shortened(&short, listed)));
        if let Some((tool, arguments)) = call {
            error.details.insert("nearest".to_owned(), json!(tool));
            error = error.fix(NextCall::new(&tool, Value::Object(arguments)));
        }
        match self.tools.as_deref() {
            Some(tools) => tools.bounded(error),
            None => error,
        }
    }

    /// The other actions that a name is an alias of, beside the one that is called.
    fn other_meanings(&self, name: &str, called: &str) -> String {
        let Some(tools) = self.tools.as_deref() else { return String::new() };
        let bare = name.strip_prefix("gitlab_").unwrap_or(name);
        let meant = tools.catalog().by_alias(bare);
        let ids = meant.iter().filter_map(|number| tools.catalog().id(*number));
        let others: Vec<&str> = ids.filter(|id| !called.contains(id)).collect();
        if others.is_empty() { String::new() } else { format!(", or with {}", others.join(" or ")) }
    }

    /// Advice on a tool of the client itself; none if an argument names a place of GitLab.
    fn client_tool(&self, name: &str, arguments: &Map<String, Value>) -> Option<String> {
        let words = self.tools.as_deref()?.catalog().words().ok()?;
        let names_place = arguments.keys().any(|name| {
            let name = name.to_lowercase();
            PLACE_WORDS.iter().any(|word| name.contains(word))
        });
        words.client_tools(name).filter(|_| !names_place).map(|tools| tools.why.clone())
    }

    fn call_instead(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        listed: &[String],
    ) -> Option<UnknownCall> {
        let is_listed = |tool: &str| listed.iter().any(|known| known == tool);
        let unchanged = |tool: &str| is_listed(tool).then(|| (tool.to_owned(), without_consent(arguments)));
        let bare = name.strip_prefix("gitlab_").unwrap_or(name);
        if FIND_NAMES.contains(&bare) {
            return unchanged(FIND.name);
        }
        if EXECUTE_NAMES.contains(&bare) && is_listed(EXECUTE.name) {
            return unchanged(EXECUTE.name);
        }
        let Some(tools) = self.tools.as_deref() else {
            return self.find_nearest_tool(name, arguments, listed);
        };
        if name == ACTIVATE {
            return is_listed(FIND.name).then(|| in_place_of_toolset(tools, arguments));
        }
        let renamed = || {
            let noun = catalog::singular(catalog::bare(name));
            let mut same = listed.iter().filter(|tool| catalog::singular(catalog::bare(tool)) == noun);
            let first = same.next()?;
            same.next().is_none().then(|| (first.clone(), without_consent(arguments)))
        };
        // A tool of another server whose name is an alias of one action is that action, as execute has it.
        let names_action = ACTION_ARGUMENTS.iter().any(|argument| arguments.contains_key(*argument));
        let is_alias = !names_action && !tools.catalog().by_alias(bare).is_empty();
        let aliased = || is_alias.then(|| self.of_action(tools, name, arguments, listed)).flatten();
        aliased()
            .or_else(|| self.of_family(tools, name, arguments, listed))
            .or_else(renamed)
            .or_else(|| self.of_action(tools, name, arguments, listed))
            .or_else(|| self.find_nearest_tool(name, arguments, listed))
            .or_else(|| is_listed(FIND.name).then(|| query(&in_words(name))))
    }

    /// The listed tool that is spelt most like the name.
    fn find_nearest_tool(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        listed: &[String],
    ) -> Option<UnknownCall> {
        let tool = nearest(name, listed.iter().map(String::as_str))?;
        Some((tool.to_owned(), without_consent(arguments)))
    }

    /// The tool of a family or domain, as other servers have them: `manage_milestone {"action": "create"}`.
    pub(super) fn of_family(
        &self,
        tools: &Tools,
        name: &str,
        arguments: &Map<String, Value>,
        listed: &[String],
    ) -> Option<UnknownCall> {
        let (catalog, words) = (tools.catalog(), tools.catalog().words().ok()?);
        let (family, domain) = match words.family_named(name) {
            Some(family) => (family, words.main_domain(family)),
            None => {
                let domain = words.domain_named(name)?;
                (words.family(domain), Some(domain))
            }
        };
        let named = ACTION_ARGUMENTS.iter().find_map(|argument| Some((*argument, arguments.get(*argument)?)));
        let mut arguments = arguments.clone();
        if let Some((argument, _)) = named {
            arguments.shift_remove(argument);
        }
        let given = named.and_then(|(_, given)| given.as_str());
        // Without a verb: the get or list of the named object.
        let names_one =
            ["iid", "id", "issue_iid", "merge_request_iid", "pipeline_id", "job_id", "milestone_id"];
        let is_one = |given: &Map<String, Value>| names_one.iter().any(|name| given.contains_key(*name));
        let params = arguments.get("params").and_then(Value::as_object);
        let given = given.unwrap_or(if is_one(params.unwrap_or(&arguments)) { "get" } else { "list" });
        let taking = |numbers: Vec<usize>| {
            let takes = |number: &&usize| takes_all(tools, **number, params.unwrap_or(&arguments));
            numbers.iter().find(takes).or(numbers.first()).copied()
        };
        let number =
            domain.and_then(|domain| catalog.number(&format!("{domain}.{given}"))).or_else(|| match catalog
                .short_name(words, family, given)?
            {
                ShortName::Exact(number) => Some(number),
                ShortName::Partial(numbers) => taking(numbers),
            });
        match number.or_else(|| catalog.number(given)) {
            Some(number) => self.own_call(tools, &catalog.action(number).ok()?, &arguments, listed),
            None => {
                let (params, mut beside) = parts(tools, &arguments, None);
                let noun = catalog::singular(catalog::bare(name));
                let (action, params) = [format!("{given}_{noun}"), format!("{}.{given}", domain?)]
                    .iter()
                    .find_map(|name| tools.resolve_name(name, &params))?;
                beside.insert("params".to_owned(), Value::Object(params));
                self.own_call(tools, &catalog.get(&action).ok()??, &beside, listed)
            }
        }
    }

    /// The tool of an action, by any name that calls understand: `get_merge_request`, `fetch_gitlab_resource`.
    fn of_action(
        &self,
        tools: &Tools,
        name: &str,
        arguments: &Map<String, Value>,
        listed: &[String],
    ) -> Option<UnknownCall> {
        let catalog = tools.catalog();
        if let Some(number) = individual::number(catalog, name) {
            return self.own_call(tools, &catalog.action(number).ok()?, arguments, listed);
        }
        let (params, beside) = parts(tools, arguments, None);
        let words: Vec<&str> =
            name.split(['_', '-', '.']).filter(|word| !SERVER_WORDS.contains(word)).collect();
        let meant =
            tools.resolve_name(name, &params).or_else(|| tools.resolve_name(&words.join("_"), &params));
        let (action, params) = meant?;
        let mut arguments = beside;
        arguments.insert("params".to_owned(), Value::Object(params));
        self.own_call(tools, &catalog.get(&action).ok()??, &arguments, listed)
    }

    /// The call of an action by the tool of this surface that has it. One that may not run is looked for, as a find
    /// says which rule keeps it out.
    fn own_call(
        &self,
        tools: &Tools,
        action: &Action,
        arguments: &Map<String, Value>,
        listed: &[String],
    ) -> Option<UnknownCall> {
        let is_listed = |tool: &String| listed.contains(tool);
        if !tools.may_run(action) {
            return is_listed(&FIND.name.to_owned()).then(|| query(&action.id));
        }
        let (params, mut call) = parts(tools, arguments, Some(action));
        call.insert("action".to_owned(), json!(action.id));
        call.insert("params".to_owned(), Value::Object(params));
        call.sort_keys();
        let tool = match self.kind() {
            SurfaceKind::Meta => meta::tool_of(tools, action, self.settings.split),
            SurfaceKind::Individual | SurfaceKind::Toolset => Some(names::of_action(&action.id)),
            SurfaceKind::Dynamic => None,
        };
        match tool.filter(is_listed) {
            Some(tool) if self.kind() == SurfaceKind::Meta => Some((tool, call)),
            Some(tool) => Some((tool, individual::arguments(action, &call))),
            None => is_listed(&EXECUTE.name.to_owned()).then(|| (EXECUTE.name.to_owned(), call)),
        }
    }

    /// A note on a find or an action that is really the name of a tool that only another surface has.
    pub(super) fn note_on(&self, words: &str) -> Option<String> {
        let is_elsewhere = words.trim() == ACTIVATE && self.kind() != SurfaceKind::Toolset;
        is_elsewhere.then(|| {
            format!(
                "{ACTIVATE} is a tool, listed with TOOL_SURFACE=toolset; this server has {}.",
                self.kind().name()
            )
        })
    }

    /// Why such a name cannot be executed as an action.
    pub(super) fn tool_as_action(&self, action: &str, params: &Map<String, Value>) -> Option<ToolError> {
        if action.trim() != ACTIVATE {
            return self
                .client_tool_as_action(action.trim(), params)
                .or_else(|| self.family_tool_as_action(action.trim(), params));
        }
        let error = ToolError::new(ErrorKind::UnknownAction, format!("{ACTIVATE} is a tool, not an action"));
        Some(match self.kind() {
            SurfaceKind::Toolset => {
                let arguments = Value::Object(toolset::arguments(self.tools.as_deref()?, params));
                error.fix(NextCall::new(ACTIVATE, arguments))
            }
            kind => {
                let hint = format!("TOOL_SURFACE=toolset has it; this server has {}.", kind.name());
                let (tool, arguments) = in_place_of_toolset(self.tools.as_deref()?, params);
                error.hint(hint).fix(NextCall::new(&tool, Value::Object(arguments)))
            }
        })
    }
}

impl Surface {
    /// The error of a tool of the client itself: `read_file {"path": "README.md"}` names no project. With a default project
    /// it is the file of that project.
    fn client_tool_as_action(&self, name: &str, params: &Map<String, Value>) -> Option<ToolError> {
        let has_project = self.tools.as_deref()?.has_default_project();
        let why = self.client_tool(name, params).filter(|_| !has_project)?;
        let (tool, arguments) = query(&in_words(name));
        let error = ToolError::new(
            ErrorKind::UnknownAction,
            format!("`{}` without a project: {why}", name.chars().take(80).collect::<String>()),
        );
        Some(error.fix(NextCall::new(&tool, Value::Object(arguments))))
    }

    /// The error of a name that other servers give to a tool of several actions, with the action among its parameters:
    /// `manage_todos {"action": "mark_done"}`.
    fn family_tool_as_action(&self, name: &str, params: &Map<String, Value>) -> Option<ToolError> {
        let tools = self.tools.as_deref()?;
        let (catalog, words) = (tools.catalog(), tools.catalog().words().ok()?);
        let is_action = catalog.number(name).is_some() || !catalog.by_alias(name).is_empty();
        let has_action =
            ACTION_ARGUMENTS.iter().any(|argument| params.get(*argument).is_some_and(Value::is_string));
        let is_tool = words.family_named(name).is_some() || words.domain_named(name).is_some();
        if is_action || !has_action || !is_tool {
            return None;
        }
        let listed: Vec<String> = self.entries().ok()?.iter().map(|entry| self.name(entry)).collect();
        let (tool, arguments) =
            self.call_instead(name, params, &listed).filter(|(tool, _)| tool.as_str() != FIND.name)?;
        let name: String = name.chars().take(80).collect();
        let message = format!(
            "there is no action `{name}`: it is a tool of other servers, with the action in its parameters"
        );
        Some(
            ToolError::new(ErrorKind::UnknownAction, message)
                .fix(NextCall::new(&tool, Value::Object(arguments))),
        )
    }
}

/// True if an action has a parameter of each given name.
fn takes_all(tools: &Tools, number: usize, params: &Map<String, Value>) -> bool {
    let Some(id) = tools.catalog().id(number) else { return false };
    params.keys().all(|name| tools.find_param(id, name).is_some())
}

/// A find of what a toolset has.
fn in_place_of_toolset(tools: &Tools, arguments: &Map<String, Value>) -> UnknownCall {
    let toolset = arguments.get("toolset_name").and_then(Value::as_str).unwrap_or_default();
    let known = tools.catalog().words().ok().and_then(|words| words.toolset_named(toolset));
    query(known.map_or("list projects", |(_, toolset)| toolset.what.as_str()))
}

/// A find of that query.
fn query(words: &str) -> UnknownCall {
    (FIND.name.to_owned(), Map::from_iter([("query".to_owned(), json!(words))]))
}

fn in_words(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.filter(|word| !SERVER_WORDS.contains(word)).collect();
    if words.is_empty() { "list projects".to_owned() } else { words.join(" ") }
}

fn without_consent(arguments: &Map<String, Value>) -> Map<String, Value> {
    let kept = arguments.iter().filter(|(name, _)| !gives_consent(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The parameters among the arguments of a call, and the arguments next to `params`, without consent. An argument of
/// execute counts as a parameter if the action has one of that name.
fn parts(
    tools: &Tools,
    arguments: &Map<String, Value>,
    action: Option<&Action>,
) -> (Map<String, Value>, Map<String, Value>) {
    let (mut params, mut beside) = (Map::new(), Map::new());
    for (name, value) in without_consent(arguments) {
        let is_param = action.is_some_and(|action| action.param(&name).is_some());
        match value {
            Value::Object(given) if name == "params" && !is_param => params.extend(without_consent(&given)),
            value if !is_param && dynamic::extra_arguments(tools).any(|argument| argument.name == name) => {
                beside.insert(name, value);
            }
            value => {
                params.insert(name, value);
            }
        }
    }
    (params, beside)
}

/// The listed tools; of many, the pair and those that share most words with the name.
fn shortened(name: &str, listed: Vec<String>) -> Vec<String> {
    if listed.len() <= LISTED {
        return listed;
    }
    let words: Vec<String> = in_words(name).split(' ').map(catalog::singular).collect();
    let shared =
        |tool: &String| tool.split('_').filter(|word| words.contains(&catalog::singular(word))).count();
    let is_own = |tool: &String| [ACTIVATE, FIND.name, EXECUTE.name].contains(&tool.as_str());
    let (mut own, mut rest): (Vec<String>, Vec<String>) = listed.into_iter().partition(is_own);
    rest.sort_by_key(|tool| (Reverse(shared(tool)), tool.len()));
    rest.truncate(MAX_ALIKE);
    own.extend(rest);
    own
}
