//! Size limits of an execute request.

use serde_json::Value;

use super::error::{ErrorKind, ToolError};
use super::request::{ExecuteRequest, FIND, NextCall};
use crate::call::TARGET;
use crate::text::excerpt;

/// Bytes of `action`, which may be a URL, and of `target`.
const ADDRESS: usize = 2_000;

/// Number of `fields`, steps of each (`a.b.c` has three), and its bytes.
const FIELDS: usize = 200;
const STEPS: usize = 20;
const FIELD: usize = 500;

/// Checks the limits of a request.
pub fn check(request: &ExecuteRequest) -> Result<(), ToolError> {
    if request.action.len() > ADDRESS {
        let message = format!("`action` has {} bytes; the limit is {ADDRESS}", request.action.len());
        let query: String = excerpt(&request.action, 80);
        return Err(invalid(message)
            .hint(format!("{FIND} finds an action's id."))
            .fix(NextCall::find(serde_json::json!({"query": query}))));
    }
    let target = request.params.get(TARGET).and_then(Value::as_str).unwrap_or_default();
    if target.len() > ADDRESS {
        let message = format!("`target` has {} bytes; the limit is {ADDRESS}", target.len());
        return Err(invalid(message).hint("A target is a URL or a reference such as group/project#12."));
    }
    fields(request)
}

fn fields(request: &ExecuteRequest) -> Result<(), ToolError> {
    let fields = request.fields.as_deref().unwrap_or_default();
    let refused = |name: &str, message: String| {
        let mut without = request.clone();
        match name {
            "fields" => without.fields = None,
            "sum" => without.sum = None,
            _ => (without.count_by, without.top) = (None, None),
        }
        invalid(message).fix(NextCall::for_request(&without))
    };
    if fields.len() > FIELDS {
        return Err(refused(
            "fields",
            format!("`fields` has {} fields; the limit is {FIELDS}", fields.len()),
        ));
    }
    let named = fields.iter().map(|field| ("fields", field));
    let counted = request.count_by.iter().map(|field| ("count_by", field));
    let summed = request.sum.iter().map(|field| ("sum", field));
    for (name, field) in named.chain(counted).chain(summed) {
        let steps = field.split('.').count();
        if field.len() > FIELD || steps > STEPS {
            let short: String = excerpt(field, 40);
            let message = format!(
                "`{name}` has a path of {steps} steps and {} bytes ({short:?}…); {STEPS} steps and {FIELD} bytes are \
                 the most",
                field.len()
            );
            return Err(refused(name, message));
        }
    }
    Ok(())
}

fn invalid(message: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidParams, format!("{message}. Nothing was sent"))
}
