//! A tool for each family of domains: `action` says which of its actions, `params` what that takes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Entry;
use super::arguments::{Argument, Checked, check};
use super::pair::{self, EXECUTE};
use super::schema::{Branch, Form, ParamSchema, Source};
use super::spec::Annotations;
use crate::catalog::{Action, CatalogError, Risk};
use crate::search::nearest;
use crate::tools::{ErrorKind, ExecuteRequest, ToolError, Tools};

/// Which of a family's actions a tool has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    All,
    /// Those that read.
    Browse,
    /// Those that change something.
    Manage,
}

impl Side {
    const SPLIT: [Side; 2] = [Side::Browse, Side::Manage];

    fn prefix(self) -> &'static str {
        match self {
            Side::All => "gitlab_",
            Side::Browse => "browse_",
            Side::Manage => "manage_",
        }
    }

    /// The tool of a family.
    pub fn tool(self, family: &str) -> String {
        format!("{}{family}", self.prefix())
    }

    fn has(self, risk: Risk) -> bool {
        match self {
            Side::All => true,
            Side::Browse => risk == Risk::Read,
            Side::Manage => risk != Risk::Read,
        }
    }

    fn of(split: bool, risk: Risk) -> Side {
        match (split, risk) {
            (false, _) => Side::All,
            (true, Risk::Read) => Side::Browse,
            (true, _) => Side::Manage,
        }
    }
}

/// The tool of a family's actions.
pub fn family_tool(family: &str, risk: Risk) -> String {
    Side::of(false, risk).tool(family)
}

/// The tool of a family's actions that have this risk, where those that read have another than those that change.
pub fn split_tool(family: &str, risk: Risk) -> String {
    Side::of(true, risk).tool(family)
}

/// The tools that have an action which may run. What stands behind another action is in none, though callable.
pub fn entries(tools: &Tools, split: bool) -> Result<Vec<Entry>, CatalogError> {
    let words = tools.catalog().words()?;
    let sides: &[Side] = if split { &Side::SPLIT } else { &[Side::All] };
    let mut found: BTreeMap<(&str, usize), Vec<usize>> = BTreeMap::new();
    for (number, action) in tools.catalog().actions().enumerate() {
        let action = action?;
        if action.twin.is_some() || !tools.may_run(&action) {
            continue;
        }
        if let Some(side) = sides.iter().position(|side| side.has(tools.risk(&action))) {
            found.entry((words.family(&action.id), side)).or_default().push(number);
        }
    }
    let entry = |((family, side), numbers): ((&str, usize), Vec<usize>)| {
        let side = sides.get(side).copied().unwrap_or(Side::All);
        Entry::Family { family: family.to_owned(), side, numbers }
    };
    Ok(found.into_iter().map(entry).collect())
}

/// The source of a tool: every action of the family on that side, without those that the policy withholds.
pub fn source(
    tools: &Tools,
    (family, side): (&str, Side),
    numbers: &[usize],
    params: ParamSchema,
) -> Result<Source, CatalogError> {
    let words = tools.catalog().words()?;
    let title = words.families.get(family).map_or(family, String::as_str);
    let branches = numbers.iter().map(|number| {
        let action = tools.catalog().action(*number)?;
        Ok(Branch { risk: tools.risk(&action), ..Branch::of(&action, words) })
    });
    let mut source = Source {
        name: side.tool(family),
        title: Some(title.to_owned()),
        description: description(title, side),
        own: beside(params),
        required: Vec::new(),
        branches: branches.collect::<Result<_, CatalogError>>()?,
        form: Form::Within(params),
        output: None,
        annotations: Annotations::default(),
    };
    source.prune(|branch| side.has(branch.risk));
    source.shorten();
    Ok(source)
}

/// The arguments beside `params`. The instructions say what they mean, in fewer words.
fn beside(params: ParamSchema) -> Map<String, Value> {
    let schema = |argument: &Argument| match params {
        ParamSchema::Full => argument.schema(),
        ParamSchema::Opaque | ParamSchema::Compact => argument.bare_schema(),
    };
    pair::beside().map(|argument| (argument.name.to_owned(), schema(argument))).collect()
}

fn description(title: &str, side: Side) -> String {
    match side {
        Side::All => format!("{title} of GitLab: looks at them and changes them, by `action`."),
        Side::Browse => format!("{title} of GitLab: looks at them, by `action`; changes nothing."),
        Side::Manage => format!("{title} of GitLab: changes them, by `action`."),
    }
}

/// The family and the side that a tool of that name is of.
pub fn named(tools: &Tools, tool: &str, split: bool) -> Option<(String, Side)> {
    let sides: &[Side] = if split { &Side::SPLIT } else { &[Side::All] };
    let families = &tools.catalog().words().ok()?.families;
    sides.iter().find_map(|side| {
        let family = tool.strip_prefix(side.prefix())?;
        families.contains_key(family).then(|| (family.to_owned(), *side))
    })
}

/// The tool that has an action.
pub fn tool_of(tools: &Tools, action: &Action, split: bool) -> Option<String> {
    let family = tools.catalog().words().ok()?.family(&action.id);
    (!family.is_empty()).then(|| Side::of(split, tools.risk(action)).tool(family))
}

/// What a call of the family's tool asks for.
pub fn read(
    tools: &Tools,
    (family, side): (&str, Side),
    given: Map<String, Value>,
) -> Result<Checked<ExecuteRequest>, ToolError> {
    let tool = side.tool(family);
    let mut checked = check::<ExecuteRequest>(&tool, EXECUTE.arguments, given)?;
    let request = &mut checked.request;
    let action = meant(tools, family, &request.action)
        .ok_or_else(|| no_such_action(tools, (family, side), &tool, request))?;
    let risk = tools.risk(&action);
    if !side.has(risk) {
        let other = Side::of(true, risk).tool(family);
        let message = format!("{} is an action of {other}; {tool} has none that {}", action.id, doing(risk));
        let arguments = json!({"action": action.id, "params": request.params});
        return Err(ToolError::new(ErrorKind::UnknownAction, message).fix(&other, arguments));
    }
    request.action = action.id;
    Ok(checked)
}

fn doing(risk: Risk) -> &'static str {
    if risk == Risk::Read { "only reads" } else { "changes anything" }
}

/// The action of the family that is named: by its id, by the end of it where only one has that, by an alias.
fn meant(tools: &Tools, family: &str, given: &str) -> Option<Action> {
    let (catalog, words) = (tools.catalog(), tools.catalog().words().ok()?);
    let is_own = |number: &usize| catalog.id(*number).is_some_and(|id| words.family(id) == family);
    let given = given.trim();
    let ending = |number: &usize| {
        let verb = catalog.id(*number).and_then(|id| id.split_once('.')).map(|(_, verb)| verb);
        verb == Some(given)
    };
    let only = |numbers: Vec<usize>| if let [one] = numbers.as_slice() { Some(*one) } else { None };
    let number = catalog
        .number(given)
        .filter(is_own)
        .or_else(|| only((0..catalog.len()).filter(ending).filter(is_own).collect()))
        .or_else(|| only(catalog.by_alias(given).into_iter().filter(is_own).collect()))?;
    catalog.action(number).ok()
}

/// The action of another family is shown with its tool; else the nearest of this one.
fn no_such_action(
    tools: &Tools,
    (family, side): (&str, Side),
    tool: &str,
    request: &ExecuteRequest,
) -> ToolError {
    let given: String = request.action.chars().take(80).collect();
    let catalog = tools.catalog();
    let message = format!("{tool} has no action `{given}`");
    let error = ToolError::new(ErrorKind::UnknownAction, message);
    let elsewhere = catalog.get(&given).ok().flatten();
    if let Some(other) = elsewhere.and_then(|action| tool_of(tools, &action, side != Side::All)) {
        let arguments = json!({"action": given, "params": request.params});
        return error.hint(format!("{other} has it.")).fix(&other, arguments);
    }
    let words = catalog.words().ok();
    let own = catalog.ids().filter(|id| words.is_some_and(|words| words.family(id) == family));
    match nearest(&given, own) {
        Some(id) => error
            .hint(format!("`{id}` may be meant."))
            .fix(crate::tools::FIND, json!({"query": id, "limit": 1, "detail": "schema"})),
        None => error.fix(crate::tools::FIND, json!({"query": given.replace(['_', '.'], " ")})),
    }
}
