//! Calls of a surface's tools as requests to find, execute or activate.

use serde_json::{Map, Value};

use super::arguments::{CheckedArguments, check};
use super::dynamic::{EXECUTE, FIND, READ};
use super::settings::SurfaceKind;
use super::state::Surface;
use super::toolset::{ACTIVATE, Activation};
use super::{individual, meta, toolset};
use crate::tools::{
    EXECUTE_ARGUMENTS, ExecuteRequest, FIND_ARGUMENTS, FindRequest, NextCall, ToolError, Tools,
};

/// The request of a tool call.
#[derive(Debug)]
pub enum ToolRequest {
    Find(CheckedArguments<FindRequest>),
    Execute(Box<CheckedArguments<ExecuteRequest>>),
    /// An execute that may only read.
    Read(Box<CheckedArguments<ExecuteRequest>>),
    Activate(CheckedArguments<Activation>),
}

/// The request of these arguments of `gitlab_find_action`.
pub fn parse_find(given: Map<String, Value>) -> Result<FindRequest, ToolError> {
    let table: Vec<_> = FIND_ARGUMENTS.iter().collect();
    check(FIND.name, &table, given).map(|checked| checked.request)
}

/// The request of these arguments of `gitlab_execute_action`.
pub fn parse_execute(given: Map<String, Value>) -> Result<ExecuteRequest, ToolError> {
    let table: Vec<_> = EXECUTE_ARGUMENTS.iter().collect();
    check(EXECUTE.name, &table, given).map(|checked| checked.request)
}

fn execute(checked: CheckedArguments<ExecuteRequest>) -> ToolRequest {
    ToolRequest::Execute(Box::new(checked))
}

fn parse_activation(tools: &Tools, arguments: Map<String, Value>) -> Result<ToolRequest, ToolError> {
    let given = arguments.clone();
    let checked = check(ACTIVATE, &toolset::ARGUMENTS.iter().collect::<Vec<_>>(), arguments);
    checked
        .map(ToolRequest::Activate)
        .map_err(|error| error.fix(NextCall::new(ACTIVATE, Value::Object(toolset::arguments(tools, &given)))))
}

impl Surface {
    /// Parses a call of the tool of that name into a request; none if there is no such tool. The pair is callable on
    /// every surface, if the policy allows it.
    pub fn parse_call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Option<Result<ToolRequest, ToolError>> {
        if tool == FIND.name {
            let checked = check::<FindRequest>(tool, &FIND.arguments_for(self.instances()), arguments).map(
                |mut checked| {
                    checked.notes.extend(self.note_on(&checked.request.query));
                    checked
                },
            );
            return Some(checked.map(ToolRequest::Find));
        }
        if tool == EXECUTE.name {
            let checked = check::<ExecuteRequest>(tool, &EXECUTE.arguments_for(self.instances()), arguments);
            return Some(checked.and_then(|checked| {
                match self.tool_as_action(&checked.request.action, &checked.request.params) {
                    Some(error) => Err(error),
                    None => Ok(execute(checked)),
                }
            }));
        }
        if tool == READ.name && self.settings.has_read_tool() {
            let checked = check::<ExecuteRequest>(tool, &READ.arguments_for(self.instances()), arguments);
            return Some(checked.map(|checked| ToolRequest::Read(Box::new(checked))));
        }
        let tools = self.tools.as_deref()?;
        match self.settings.kind {
            SurfaceKind::Dynamic => None,
            SurfaceKind::Meta => self.parse_meta(tools, tool, arguments),
            SurfaceKind::Individual => {
                let number = individual::number(tools.catalog(), tool)?;
                Some(individual::parse_call(tools, number, tool, arguments).map(execute))
            }
            SurfaceKind::Toolset if tool == ACTIVATE => Some(parse_activation(tools, arguments)),
            SurfaceKind::Toolset => {
                let number = individual::number(tools.catalog(), tool)?;
                let inactive = toolset::inactive(tools, number, self.active().as_deref());
                let read = || individual::parse_call(tools, number, tool, arguments).map(execute);
                Some(inactive.map_or_else(read, Err))
            }
        }
    }

    /// A call of the tool of a family. The error of one without an action has the tool with that action.
    fn parse_meta(
        &self,
        tools: &Tools,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Option<Result<ToolRequest, ToolError>> {
        let (family, side) = meta::find_tool(tools, tool, self.settings.split)?;
        let named = side.tool(&family);
        let without_action = !arguments.contains_key("action");
        let listed = std::slice::from_ref(&named);
        let fix = without_action.then(|| self.of_family(tools, &named, &arguments, listed)).flatten();
        let checked = meta::parse_call(tools, (&family, side), arguments);
        Some(match (checked, fix) {
            (Ok(mut checked), _) => {
                if named != tool {
                    checked.notes.push(format!("understood the tool `{tool}` as `{named}`"));
                }
                Ok(execute(checked))
            }
            (Err(error), Some((tool, arguments))) => {
                Err(error.fix(NextCall::new(&tool, Value::Object(arguments))))
            }
            (Err(error), None) => Err(error),
        })
    }
}
