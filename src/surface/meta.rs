//! A tool for each family of domains: `action` selects one of its actions, `params` has its parameters.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::arguments::{CheckedArguments, bare_schema, check, schema};
use super::dynamic::{self, EXECUTE};
use super::entry::{Side, SurfaceEntry};
use super::schema::{Branch, Form, ParamSchema, Source};
use crate::catalog::{self, Action, CatalogError, Risk, ShortName};
use crate::search::nearest;
use crate::tools::{self, Argument, ErrorKind, ExecuteRequest, NextCall, ToolError, Tools, gives_consent};

/// The tools that have an action which may run. An action behind another one is callable, too.
pub fn entries(tools: &Tools, split: bool) -> Result<Vec<SurfaceEntry>, CatalogError> {
    let words = tools.catalog().words()?;
    let sides: &[Side] = if split { &Side::SPLIT } else { &[Side::All] };
    let mut found: BTreeMap<(&str, usize), Vec<usize>> = BTreeMap::new();
    for (number, action) in tools.catalog().actions().enumerate() {
        let action = action?;
        if !action.is_offered() || !tools.may_run(&action) {
            continue;
        }
        if let Some(side) = sides.iter().position(|side| side.has(tools.risk(&action))) {
            found.entry((words.family(&action.id), side)).or_default().push(number);
        }
    }
    let entry = |((family, side), numbers): ((&str, usize), Vec<usize>)| {
        let side = sides.get(side).copied().unwrap_or(Side::All);
        SurfaceEntry::Family { family: family.to_owned(), side, numbers }
    };
    Ok(found.into_iter().map(entry).collect())
}

/// The source of a tool: every action of the family on that side, without those that the policy denies.
pub fn source(
    tools: &Tools,
    (family, side): (&str, Side),
    numbers: &[usize],
    params: ParamSchema,
) -> Result<Source, CatalogError> {
    let words = tools.catalog().words()?;
    let title = words.families.get(family).map_or(family, String::as_str);
    let branches = numbers.iter().map(|number| {
        let action = tools.with_runnable_items(tools.catalog().action(*number)?);
        Ok(Branch { risk: tools.risk(&action), ..Branch::new(&action, words) })
    });
    let mut source = Source {
        name: side.tool(family),
        title: Some(title.to_owned()),
        own: envelope_params(tools, params),
        branches: branches.collect::<Result<_, CatalogError>>()?,
        form: Form::Within(params),
        ..Source::default()
    };
    source.prune(|branch| side.has(branch.risk));
    source.description = description(title, source.branches.iter().map(|branch| branch.risk));
    source.shorten();
    Ok(source)
}

/// The arguments next to `params`. The instructions describe them, in fewer words.
fn envelope_params(tools: &Tools, params: ParamSchema) -> Map<String, Value> {
    let write = |argument: &Argument| match params {
        ParamSchema::Full => schema(argument),
        ParamSchema::Opaque | ParamSchema::Compact => bare_schema(argument),
    };
    dynamic::extra_arguments(tools).map(|argument| (argument.name.to_owned(), write(argument))).collect()
}

/// Description of the remaining actions.
fn description(title: &str, risks: impl Iterator<Item = Risk>) -> String {
    let (mut reads, mut changes) = (false, false);
    for risk in risks {
        reads |= risk == Risk::Read;
        changes |= risk != Risk::Read;
    }
    match (reads, changes) {
        (true, true) => format!("{title} of GitLab: looks at them and changes them, by `action`."),
        (_, false) => format!("{title} of GitLab: looks at them, by `action`; changes nothing."),
        (false, true) => format!("{title} of GitLab: changes them, by `action`."),
    }
}

/// The family and the side that a tool of that name is of, in the singular or the plural.
pub fn find_tool(tools: &Tools, tool: &str, split: bool) -> Option<(String, Side)> {
    let sides: &[Side] = if split { &Side::SPLIT } else { &[Side::All] };
    let families = &tools.catalog().words().ok()?.families;
    sides.iter().find_map(|side| {
        let noun = tool.strip_prefix(side.prefix())?;
        let is_it = |family: &&String| catalog::singular(family) == catalog::singular(noun);
        families.keys().find(is_it).map(|family| (family.clone(), *side))
    })
}

/// The tool that has an action.
pub fn tool_of(tools: &Tools, action: &Action, split: bool) -> Option<String> {
    let family = tools.catalog().words().ok()?.family(&action.id);
    (!family.is_empty()).then(|| Side::new(split, tools.risk(action)).tool(family))
}

/// Parses a call of the family's tool.
pub fn parse_call(
    tools: &Tools,
    (family, side): (&str, Side),
    given: Map<String, Value>,
) -> Result<CheckedArguments<ExecuteRequest>, ToolError> {
    let tool = side.tool(family);
    let mut checked = check::<ExecuteRequest>(&tool, &EXECUTE.arguments_for(tools.instances()), given)?;
    let Meant { action, params, notes } = resolve_action(tools, (family, side), &tool, &checked.request)?;
    let risk = tools.risk(&action);
    if !side.has(risk) {
        let other = Side::new(true, risk).tool(family);
        let message =
            format!("{} is an action of {other}; {tool} has none that {}", action.id, describe_risk(risk));
        let again = call_of_action(&checked.request, &action.id);
        return Err(ToolError::new(ErrorKind::UnknownAction, message).fix(NextCall::new(&other, again)));
    }
    checked.notes.extend(notes);
    checked.request.action = action.id;
    checked.request.params = params;
    Ok(checked)
}

fn describe_risk(risk: Risk) -> &'static str {
    if risk == Risk::Read { "only reads" } else { "changes anything" }
}

/// The same call of another action. Consent stays behind: it was given to another call.
fn call_of_action(request: &ExecuteRequest, action: &str) -> Value {
    let request = ExecuteRequest { action: action.to_owned(), ..request.clone() };
    let mut whole = json!(request);
    if let Some(fields) = whole.as_object_mut() {
        fields.retain(|name, value| !value.is_null() && !gives_consent(name));
    }
    whole
}

/// An action of the family, with parameters that its name contained and notes on its interpretation.
struct Meant {
    action: Action,
    params: Map<String, Value>,
    notes: Vec<String>,
}

/// The action of the family that is named: by its id, by a verb of the family's main domain, by a verb or words of one
/// that only one action has, by an alias, or by another word for the verb.
fn resolve_action(
    tools: &Tools,
    (family, side): (&str, Side),
    tool: &str,
    request: &ExecuteRequest,
) -> Result<Meant, ToolError> {
    let (catalog, words) = (tools.catalog(), tools.catalog().words()?);
    let given = request.action.trim();
    let understood = |action: &Action| format!("understood `{given}` as the action `{}`", action.id);
    let short = catalog.short_name(words, family, given);
    if let Some(ShortName::Exact(number)) = short {
        let action = catalog.action(number)?;
        return Ok(Meant { action, params: request.params.clone(), notes: Vec::new() });
    }
    let short: String = given.chars().take(80).collect();
    let message = format!("{tool} has no action `{short}`");
    let error = ToolError::new(ErrorKind::UnknownAction, message);
    if let Some(other) = find_in_other_family(tools, given).and_then(|action| {
        let tool = tool_of(tools, &action, side != Side::All)?;
        Some((tool, action))
    }) {
        let (other, action) = other;
        return Err(error
            .hint(format!("{other} has it."))
            .fix(NextCall::new(&other, call_of_action(request, &action.id))));
    }
    let likely: Vec<Action> = catalog.short_name_actions(words, family, given);
    let likely: Vec<Action> = likely.into_iter().filter(|action| side.has(tools.risk(action))).collect();
    if let [action] = likely.as_slice()
        && action.risk == Risk::Read
    {
        let notes = vec![understood(action)];
        return Ok(Meant { action: action.clone(), params: request.params.clone(), notes });
    }
    let of_family = |id: &str| words.family(id) == family;
    if let Some(main) = words.main_domain(family).filter(|_| likely.is_empty() && !given.contains('.'))
        && let Some((id, params)) = tools.resolve_name(&format!("{main}.{given}"), &request.params)
        && of_family(&id)
        && let Some(action) = catalog.get(&id)?
    {
        if action.risk == Risk::Read {
            let notes = vec![understood(&action)];
            return Ok(Meant { action, params, notes });
        }
        let again = call_of_action(&ExecuteRequest { params, ..request.clone() }, &action.id);
        return Err(suggest(tools, error, &action, again));
    }
    let nearest = likely.into_iter().next().or_else(|| find_nearest_action(tools, family, given));
    Err(match nearest {
        Some(action) => {
            let again = call_of_action(request, &action.id);
            suggest(tools, error, &action, again)
        }
        None => error.fix(NextCall::find(json!({"query": given.replace(['_', '.'], " ")}))),
    })
}

/// The action of another family that has this id or alias.
fn find_in_other_family(tools: &Tools, given: &str) -> Option<Action> {
    let catalog = tools.catalog();
    let by_alias = || catalog.by_alias(given).first().copied();
    catalog.action(catalog.number(given).or_else(by_alias)?).ok()
}

/// The action of the family that is spelt most like the name: as an id, or as a verb of its main domain.
fn find_nearest_action(tools: &Tools, family: &str, given: &str) -> Option<Action> {
    let catalog = tools.catalog();
    let words = catalog.words().ok()?;
    let id = match words.main_domain(family).filter(|_| !given.contains('.')) {
        Some(main) => {
            let verbs =
                catalog.ids().filter_map(|id| id.split_once('.')).filter(|(domain, _)| *domain == main);
            format!("{main}.{}", nearest(given, verbs.map(|(_, verb)| verb))?)
        }
        None => nearest(given, catalog.ids().filter(|id| words.family(id) == family))?.to_owned(),
    };
    catalog.get(&id).ok().flatten()
}

/// The error with a call of the most similar action, by the tool that has it.
fn suggest(tools: &Tools, error: ToolError, action: &Action, again: Value) -> ToolError {
    let error = error.hint(format!("Did you mean `{}`? {}.", action.id, action.summary));
    let is_asked_about = tools.confirms() || matches!(action.risk, Risk::Read | Risk::Write);
    match is_asked_about {
        true => error.fix(NextCall::new(tools::EXECUTE, again)),
        false => error.fix(NextCall::find(json!({"query": action.id, "limit": 1, "detail": "schema"}))),
    }
}
