//! Rewrites the calls in an answer (`fix`, the next page, the whole of a text, the example of a find), in its structure
//! and in its text. Data from GitLab is not changed.

use serde_json::{Map, Value, json};

use crate::messages::error::ToolError;
use crate::messages::request::{Answer, EXECUTE, FIND, NextCall};
use crate::present::MARK;

/// The tool and the arguments in place of those of a call of find or execute; none if it stays.
type Own<'a> = &'a dyn Fn(&str, &Map<String, Value>) -> Option<(String, Map<String, Value>)>;

/// The tool that an action is called by.
type ToolFor<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The beginnings of a call in a text: with its tool, and in a note, of an action alone.
const CALL_STARTS: [&str; 2] = ["{\"tool\":", "{\"action\":"];

/// Fields of an answer with data from GitLab.
const DATA: [&str; 2] = ["data", "would_hit"];

/// The outcome with the other calls.
pub fn rewrite_calls(outcome: Result<Answer, ToolError>, own: Own<'_>) -> Result<Answer, ToolError> {
    // Changed calls, to repeat the change in the text.
    let mut changes = Vec::new();
    match outcome {
        Ok(mut answer) => {
            calls(&mut answer.structured, own, &mut changes);
            repeat_in_text(&mut answer, &changes);
            Ok(answer)
        }
        Err(mut error) => {
            if let Some(fix) = error.fix.as_mut().filter(|fix| is_ours(&fix.tool))
                && let Some((tool, arguments)) =
                    fix.arguments.as_object().and_then(|arguments| own(&fix.tool, arguments))
            {
                *fix = NextCall::new(&tool, Value::Object(arguments));
            }
            calls(&mut error.details, own, &mut changes);
            Err(error)
        }
    }
}

/// The results of a find with the tool of each action, and with a call of that tool as the example.
pub fn name_tools(answer: &mut Answer, own: Own<'_>, tool_for: ToolFor<'_>) {
    let mut changes = Vec::new();
    rewrite_results(&mut answer.structured, own, tool_for, &mut changes);
    repeat_in_text(answer, &changes);
}

/// The text of an answer with each of its calls, and each example of a find, in other words: as a command, for a person.
/// `word_rest` words what is not from GitLab.
pub fn word_calls(
    text: &str,
    structured: &Map<String, Value>,
    word: &dyn Fn(&str, &Map<String, Value>) -> String,
    word_rest: &dyn Fn(String) -> String,
) -> String {
    let results = structured.get("results").and_then(Value::as_array);
    let examples = results.into_iter().flatten().filter_map(|result| result.get("example"));
    let examples: Vec<(String, String)> = examples
        .filter_map(|example| Some((example.to_string(), word(EXECUTE, example.as_object()?))))
        .collect();
    outside_marks(text, |part| {
        let part = examples.iter().fold(part.to_owned(), |text, (old, new)| text.replace(old, new));
        word_rest(word_written_calls(&part, word))
    })
}

/// The text with each call that is written in it in other words.
fn word_written_calls(text: &str, word: &dyn Fn(&str, &Map<String, Value>) -> String) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, from)) = first_call(rest).and_then(|at| rest.split_at_checked(at)) {
        let mut values = serde_json::Deserializer::from_str(from).into_iter::<Map<String, Value>>();
        let call = values.next().and_then(Result::ok);
        let worded = call.as_ref().and_then(|call| match call.get("tool") {
            Some(tool) => {
                let tool = tool.as_str().filter(|tool| is_ours(tool))?;
                Some(word(tool, call.get("arguments")?.as_object()?))
            }
            // A candidate of an error has other fields.
            None => call.keys().eq(["action", "params"]).then(|| word(EXECUTE, call)),
        });
        let length = if worded.is_some() { values.byte_offset() } else { "{".len() };
        let (call, after) = from.split_at_checked(length).unwrap_or((from, ""));
        out.push_str(before);
        out.push_str(worded.as_deref().unwrap_or(call));
        // The full stop of a note would be a part of the command.
        let unstopped =
            after.strip_prefix('.').filter(|rest| worded.is_some() && !rest.starts_with(|c| c != '\n'));
        rest = unstopped.unwrap_or(after);
    }
    out + rest
}

/// The position of the first call in a text.
fn first_call(text: &str) -> Option<usize> {
    CALL_STARTS.iter().filter_map(|start| text.find(start)).min()
}

/// Adds an argument to the example of each result of a find.
pub fn extend_examples(answer: &mut Answer, name: &str, value: &Value) {
    let mut changes = Vec::new();
    let results = answer.structured.get_mut("results").and_then(Value::as_array_mut);
    for example in results.into_iter().flatten().filter_map(|result| result.get_mut("example")) {
        let old = example.to_string();
        if let Some(arguments) = example.as_object_mut() {
            arguments.insert(name.to_owned(), value.clone());
        }
        changes.push((format!("Example: `{old}`"), format!("Example: `{example}`")));
    }
    repeat_in_text(answer, &changes);
}

fn repeat_in_text(answer: &mut Answer, changes: &[(String, String)]) {
    if !changes.is_empty() {
        answer.text = outside_marks(&answer.text, |part| {
            changes.iter().fold(part.to_owned(), |text, (old, new)| text.replace(old, new))
        });
    }
}

fn is_ours(tool: &str) -> bool {
    [FIND, EXECUTE].contains(&tool)
}

/// Rewrites the call in one field of a structure.
pub fn rewrite_call_in(fields: &mut Map<String, Value>, name: &str, own: Own<'_>) {
    if let Some(Value::Object(fields)) = fields.get_mut(name) {
        call(fields, own, &mut Vec::new());
    }
}

/// Changes the text outside of the tags around GitLab's text, and leaves the text within them. No text within them can
/// close them.
fn outside_marks(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, mark)) = first_mark(rest) {
        let end = format!("</{mark}>");
        let (before, from) = rest.split_at(at);
        let length = from.find(&end).map_or(from.len(), |at| at + end.len());
        let (content, after) = from.split_at(length);
        out.push_str(&change(before));
        out.push_str(content);
        rest = after;
    }
    out.push_str(&change(rest));
    out
}

/// The first line that opens such a tag: its position, and the tag's name.
fn first_mark(text: &str) -> Option<(usize, &str)> {
    let open = format!("<{MARK}");
    text.match_indices(&open).find_map(|(at, _)| {
        let starts_line = text.get(..at)?.is_empty() || text.get(..at)?.ends_with('\n');
        let name = text.get(at + 1..)?.split_once(['>', '\n'])?.0;
        (starts_line && name.trim_end_matches('-') == MARK).then_some((at, name))
    })
}

/// Every call below, wherever it is.
fn calls(fields: &mut Map<String, Value>, own: Own<'_>, changes: &mut Vec<(String, String)>) {
    for (_, value) in fields.iter_mut().filter(|(name, _)| !DATA.contains(&name.as_str())) {
        rewrite_nested(value, own, changes);
    }
}

fn rewrite_nested(value: &mut Value, own: Own<'_>, changes: &mut Vec<(String, String)>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite_nested(item, own, changes)),
        Value::Object(fields) => match call(fields, own, changes) {
            true => {}
            false => calls(fields, own, changes),
        },
        _ => {}
    }
}

/// Rewrites `{"tool": …, "arguments": …}` of find or execute. Returns true if it was one.
fn call(fields: &mut Map<String, Value>, own: Own<'_>, changes: &mut Vec<(String, String)>) -> bool {
    let Some(tool) = fields.get("tool").and_then(Value::as_str).filter(|tool| is_ours(tool)) else {
        return false;
    };
    let arguments = fields.get("arguments").and_then(Value::as_object);
    let Some((tool, arguments)) = arguments.and_then(|arguments| own(tool, arguments)) else {
        return true;
    };
    let old = json!(fields).to_string();
    fields.insert("tool".to_owned(), json!(tool));
    fields.insert("arguments".to_owned(), Value::Object(arguments));
    changes.push((old, json!(fields).to_string()));
    true
}

/// Adds the tool to each found action, and rewrites the call of the example.
fn rewrite_results(
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
            if let Some((tool, arguments)) = example.as_object().and_then(|arguments| own(EXECUTE, arguments))
            {
                *example = json!({"tool": tool, "arguments": arguments});
                changes.push((format!("Example: `{old}`"), format!("Example: `{example}`")));
            }
        }
        result.insert("tool".to_owned(), json!(tool));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gitlab_sent_is_not_changed() {
        let text = "old\n<call n=\"1\">\n<gitlab-->\nold\n</gitlab>\n</gitlab-->\nNext: old\n</call>\n<gitlab>\nold\n</gitlab>\nold <gitlab>";
        let changed = outside_marks(text, |part| part.replace("old", "new"));
        assert_eq!(
            changed,
            "new\n<call n=\"1\">\n<gitlab-->\nold\n</gitlab>\n</gitlab-->\nNext: new\n</call>\n<gitlab>\nold\n</gitlab>\nnew <gitlab>"
        );
    }
}
