//! Marks before a text that a parameter sets and clears: `draft` by `Draft:` before a title.

use serde_json::{Map, Value, json};

use crate::catalog::{Action, TextMark};
use crate::messages::error::{ErrorKind, ToolError};
use crate::tools::prepare::present_value;
use crate::tools::state::Tools;

/// The parameters with the marked text in place of the parameter for the mark; none if the call has it not.
pub async fn apply(
    tools: &Tools,
    action: &Action,
    params: &Map<String, Value>,
) -> Result<Option<Map<String, Value>>, ToolError> {
    let Some(mark) = &action.text_mark else { return Ok(None) };
    let Some(is_set) = params.get(&mark.param).and_then(Value::as_bool) else { return Ok(None) };
    let mut params = params.clone();
    params.shift_remove(&mark.param);
    let text = match params.get(&mark.text).and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => present_text(tools, action, mark, &params).await?,
    };
    params.insert(mark.text.clone(), json!(marked(mark, &text, is_set)));
    Ok(Some(params))
}

/// The text with the mark once, or without any.
fn marked(mark: &TextMark, text: &str, is_set: bool) -> String {
    let mut rest = text.trim_start();
    let strip = |text: &str| {
        let known = mark
            .known
            .iter()
            .find(|known| text.get(..known.len()).is_some_and(|start| start.to_lowercase() == **known))?;
        Some(known.len())
    };
    let first = strip(rest);
    while let Some(length) = strip(rest) {
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    match (is_set, first) {
        (true, Some(_)) => text.to_owned(),
        (true, None) => format!("{}{rest}", mark.mark),
        (false, _) => rest.to_owned(),
    }
}

/// The present text of the object that a call changes.
async fn present_text(
    tools: &Tools,
    action: &Action,
    mark: &TextMark,
    params: &Map<String, Value>,
) -> Result<String, ToolError> {
    let missing = || {
        let message = format!("{}: `{}` needs `{}`. Nothing was sent", action.id, mark.param, mark.text);
        ToolError::new(ErrorKind::InvalidParams, message)
    };
    let read = mark.read.as_ref().ok_or_else(missing)?;
    let text = present_value::read_or_explain(tools, action, read, params, &mark.text).await?;
    text.as_ref().and_then(Value::as_str).map(str::to_owned).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(text: &str, is_set: bool) -> String {
        let known = ["draft:", "[draft]", "(draft)"].map(str::to_owned).to_vec();
        let [param, field, mark] = ["draft", "title", "Draft: "].map(str::to_owned);
        marked(&TextMark { param, text: field, mark, known, read: None }, text, is_set)
    }

    #[test]
    fn a_mark_is_set_once_and_cleared_in_every_form() {
        for (text, set, cleared) in [
            ("Fix it", "Draft: Fix it", "Fix it"),
            ("Draft: Fix it", "Draft: Fix it", "Fix it"),
            ("[DRAFT] Fix it", "[DRAFT] Fix it", "Fix it"),
            ("draft: (Draft) Fix it", "draft: (Draft) Fix it", "Fix it"),
            ("Drafting rules", "Draft: Drafting rules", "Drafting rules"),
            ("Überdraft", "Draft: Überdraft", "Überdraft"),
        ] {
            assert_eq!(draft(text, true), set);
            assert_eq!(draft(text, false), cleared);
        }
    }
}
