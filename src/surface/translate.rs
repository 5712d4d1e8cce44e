//! The calls in an answer (`fix`, the next page, the whole of a text, the example of a find) as calls of a surface's
//! own tools, in its structure and in its text. What GitLab sent is left as it is.

use serde_json::{Map, Value, json};

use crate::tools::{Answer, EXECUTE, ToolError};

/// The tool and the arguments in place of those of execute.
type Own<'a> = &'a dyn Fn(&Map<String, Value>) -> Option<(String, Map<String, Value>)>;

/// The tool that an action is called by.
type ToolFor<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What is GitLab's in an answer.
const DATA: [&str; 2] = ["data", "would_hit"];

/// The outcome in a surface's own words.
pub fn outcome(
    outcome: Result<Answer, ToolError>,
    own: Own<'_>,
    tool_for: ToolFor<'_>,
) -> Result<Answer, ToolError> {
    // A change in the structure, and in the text where it stands there.
    let mut changes = Vec::new();
    match outcome {
        Ok(mut answer) => {
            calls(&mut answer.structured, own, &mut changes);
            found(&mut answer.structured, own, tool_for, &mut changes);
            for (old, new) in changes {
                answer.text = answer.text.replace(&old, &new);
            }
            Ok(answer)
        }
        Err(mut error) => {
            if let Some(Value::Object(fix)) = &mut error.fix {
                call(fix, own, &mut changes);
            }
            calls(&mut error.details, own, &mut changes);
            Err(error)
        }
    }
}

/// Every call below, wherever it is.
fn calls(fields: &mut Map<String, Value>, own: Own<'_>, changes: &mut Vec<(String, String)>) {
    for (_, value) in fields.iter_mut().filter(|(name, _)| !DATA.contains(&name.as_str())) {
        below(value, own, changes);
    }
}

fn below(value: &mut Value, own: Own<'_>, changes: &mut Vec<(String, String)>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| below(item, own, changes)),
        Value::Object(fields) => match call(fields, own, changes) {
            true => {}
            false => calls(fields, own, changes),
        },
        _ => {}
    }
}

/// `{"tool": …, "arguments": …}` of execute; whether it was one.
fn call(fields: &mut Map<String, Value>, own: Own<'_>, changes: &mut Vec<(String, String)>) -> bool {
    if fields.get("tool").and_then(Value::as_str) != Some(EXECUTE) {
        return false;
    }
    let Some((tool, arguments)) = fields.get("arguments").and_then(Value::as_object).and_then(own) else {
        return true;
    };
    let old = json!(fields).to_string();
    fields.insert("tool".to_owned(), json!(tool));
    fields.insert("arguments".to_owned(), Value::Object(arguments));
    changes.push((old, json!(fields).to_string()));
    true
}

/// Of each action that was found, the tool; of the example, the call.
fn found(
    structured: &mut Map<String, Value>,
    own: Own<'_>,
    tool_for: ToolFor<'_>,
    changes: &mut Vec<(String, String)>,
) {
    let results = structured.get_mut("results").and_then(Value::as_array_mut);
    for result in results.into_iter().flatten().filter_map(Value::as_object_mut) {
        let Some(id) = result.get("action").and_then(Value::as_str).map(str::to_owned) else { continue };
        let Some(tool) = tool_for(&id) else { continue };
        changes.push((format!("**{id}** ("), format!("**{id}** by {tool} (")));
        if let Some(example) = result.get_mut("example") {
            let old = example.to_string();
            if let Some((tool, arguments)) = example.as_object().and_then(own) {
                *example = json!({"tool": tool, "arguments": arguments});
                changes.push((format!("Example: `{old}`"), format!("Example: `{example}`")));
            }
        }
        result.insert("tool".to_owned(), json!(tool));
    }
}
