//! A request whose action has been resolved.

use crate::catalog::{Action, Catalog};
use crate::messages::error::ToolError;
use crate::messages::request::ExecuteRequest;

/// A request whose action has been resolved.
#[derive(Debug)]
pub struct ResolvedAction {
    pub action: Action,
    /// The request by the action's id, with the parameters that the name held.
    pub request: ExecuteRequest,
    /// Notes on values that were interpreted.
    pub notes: Vec<String>,
}

/// The action of that number, as it is.
pub fn by_number(
    catalog: &Catalog,
    number: usize,
    request: &ExecuteRequest,
    notes: Vec<String>,
) -> Result<ResolvedAction, ToolError> {
    let action = catalog.action(number)?;
    let request = ExecuteRequest { action: action.id.clone(), ..request.clone() };
    Ok(ResolvedAction { action, request, notes })
}
