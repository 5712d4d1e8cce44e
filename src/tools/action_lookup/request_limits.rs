//! Size limits of an execute request.

use serde_json::Value;

use crate::call::TARGET;
use crate::text::excerpt;
use crate::tools::errors::{ErrorKind, ToolError};
use crate::tools::types::{ExecuteRequest, FIND, NextCall};

/// Bytes of `action`, which may be a URL, and of `target`.
const ADDRESS: usize = 2_000;

/// Number of `fields`, steps of each (`a.b.c` has three), and its bytes.
const FIELDS: usize = 200;
const STEPS: usize = 20;
const FIELD: usize = 500;

/// Checks the limits of a request.
pub fn check(request: &ExecuteRequest) -> Result<(), ToolError> {
    if request.action.len() > ADDRESS {
        let message = format!("`action` has {} bytes, and {ADDRESS} are the most", request.action.len());
        let query: String = excerpt(&request.action, 80);
        return Err(invalid(message)
            .hint(format!("{FIND} finds an action's id."))
            .fix(NextCall::find(serde_json::json!({"query": query}))));
    }
    let target = request.params.get(TARGET).and_then(Value::as_str).unwrap_or_default();
    if target.len() > ADDRESS {
        let message = format!("`target` has {} bytes, and {ADDRESS} are the most", target.len());
        return Err(invalid(message).hint("A target is a URL or a reference such as group/project#12."));
    }
    fields(request)
}

fn fields(request: &ExecuteRequest) -> Result<(), ToolError> {
    let fields = request.fields.as_deref().unwrap_or_default();
    let refused = |message: String| {
        let without = NextCall::again(&ExecuteRequest { fields: None, ..request.clone() });
        invalid(message).fix(without)
    };
    if fields.len() > FIELDS {
        return Err(refused(format!("`fields` has {} fields, and {FIELDS} are the most", fields.len())));
    }
    for field in fields {
        let steps = field.split('.').count();
        if field.len() > FIELD || steps > STEPS {
            let short: String = excerpt(field, 40);
            let message = format!(
                "`fields` has a path of {steps} steps and {} bytes ({short:?}…); {STEPS} steps and {FIELD} bytes are \
                 the most",
                field.len()
            );
            return Err(refused(message));
        }
    }
    Ok(())
}

fn invalid(message: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidParams, format!("{message}. Nothing was sent"))
}
