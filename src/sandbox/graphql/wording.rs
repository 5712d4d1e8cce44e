//! Errors in GitLab's words.

use apollo_compiler::diagnostic::Diagnostic;
use apollo_compiler::response::ExecutionResponse;
use apollo_compiler::validation::{DiagnosticData, WithErrors};
use apollo_compiler::{ExecutableDocument, Schema};
use serde_json::{Map, Value, json};

/// Start of the library's message, GitLab's message, and GitLab's code; `{0}` is the first quoted word.
const MESSAGES: &[(&str, &str, &str)] = &[
    ("Cannot query field ", "Field '{0}' doesn't exist on type '{1}'", "undefinedField"),
    ("Unknown argument ", "Field '{2}' doesn't accept argument '{0}'", "argumentNotAccepted"),
    ("Unknown type ", "{0} isn't a defined input type (on variable)", "variableRequiresValidType"),
    ("Unknown fragment ", "Fragment {0} was used, but not defined", "useAndDefineFragment"),
    ("Unknown directive ", "Directive {0} is not defined", "undefinedDirective"),
    ("Value ", "Argument has an invalid value ({0}). Expected type '{1}'.", "argumentLiteralsIncompatible"),
];

/// The same, for messages recognized by their end.
const ENDINGS: &[(&str, &str, &str)] = &[
    (" is not defined.", "Variable {0} is used but not declared", "variableNotDefined"),
    (" is never used.", "Variable {0} is declared but not used", "variableNotUsed"),
    (
        " is required, but it was not provided.",
        "Field '{0}' is missing required arguments: {1}",
        "missingRequiredArguments",
    ),
    (
        " { ... }\"?",
        "Field must have selections (field '{0}' returns {1} but has no selections. Did you mean '{0} { ... }'?)",
        "selectionMismatch",
    ),
    (
        " was not provided.",
        "Argument '{1}' on InputObject '{0}' is required. Expected type {2}",
        "missingRequiredInputObjectAttribute",
    ),
];

/// The code for an object of which nothing is asked.
const NOTHING_ASKED: &str = "selectionMismatch";
/// The code for a field that is not there.
const NO_FIELD: &str = "undefinedField";

/// Errors of an invalid document, in GitLab's words.
pub fn refused(schema: &Schema, faults: &WithErrors<ExecutableDocument>) -> Vec<Value> {
    let mut said: Vec<(Option<&str>, Value)> =
        faults.errors.iter().map(|fault| refusal(schema, &fault, &faults.partial)).collect();
    // The library also counts a missing field as unselected, so the object around it looks empty: keep the first error
    // only.
    if said.iter().any(|(code, _)| *code == Some(NO_FIELD)) {
        said.retain(|(code, _)| *code != Some(NOTHING_ASKED));
    }
    said.into_iter().map(|(_, error)| error).collect()
}

/// One error, and GitLab's code for it.
fn refusal(
    schema: &Schema,
    fault: &Diagnostic<'_, DiagnosticData>,
    document: &ExecutableDocument,
) -> (Option<&'static str>, Value) {
    let error = fault.to_json();
    let plain = fault.error.unstable_compat_message().unwrap_or(error.message);
    let (message, code) = unknown_condition(&plain, document).unwrap_or_else(|| reworded(schema, &plain));
    let mut said = json!({"message": message, "locations": error.locations});
    if let (Some(code), Value::Object(members)) = (code, &mut said) {
        members.insert("extensions".to_owned(), json!({ "code": code }));
    }
    (code, said)
}

/// The refusal of an unknown type in the condition of a fragment. The library has the same words for one of a variable.
fn unknown_condition(message: &str, document: &ExecutableDocument) -> Option<(String, Option<&'static str>)> {
    let name = message.strip_prefix("Unknown type ")?.split('"').nth(1)?;
    let mut variables = document.operations.iter().flat_map(|operation| &operation.variables);
    let is_of_variable = variables.any(|variable| variable.ty.inner_named_type() == name);
    let text = format!("No such type {name}, so it can't be a fragment condition");
    (!is_of_variable).then_some((text, Some("cannotSpreadFragment")))
}

/// A message of the library in GitLab's words, with GitLab's code.
fn reworded(schema: &Schema, message: &str) -> (String, Option<&'static str>) {
    let begun = MESSAGES.iter().find(|(start, ..)| message.starts_with(start));
    let known = begun.or_else(|| ENDINGS.iter().find(|(end, ..)| message.ends_with(end)));
    let Some((_, wording, code)) = known else { return (message.to_owned(), None) };
    let quoted = message.split('"').skip(1).step_by(2);
    let mut words: Vec<&str> = quoted.flat_map(|word| word.split('.')).collect();
    // The library names the type around the field, GitLab the field's own.
    if let (&NOTHING_ASKED, [field, around, ..]) = (code, words.as_mut_slice())
        && let Ok(found) = schema.type_field(around, field)
    {
        *around = found.ty.inner_named_type().as_str();
    }
    let fill = |text: String, (at, word): (usize, &&str)| text.replace(&format!("{{{at}}}"), word);
    (words.iter().enumerate().fold((*wording).to_owned(), fill), Some(code))
}

/// The answer to a document, with the errors of its fields.
pub fn answered(response: &ExecutionResponse) -> Value {
    let mut answer = Map::new();
    answer.insert("data".to_owned(), json!(response.data));
    if !response.errors.is_empty() {
        let mut errors = json!(response.errors);
        errors.as_array_mut().into_iter().flatten().for_each(reword_field);
        answer.insert("errors".to_owned(), errors);
    }
    Value::Object(answer)
}

/// Prefix that the library puts before a resolver's own message.
const PREFIX: &str = "resolver error: ";

fn reword_field(error: &mut Value) {
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let field = error.pointer("/path").and_then(Value::as_array).and_then(|path| path.last()?.as_str());
    let message = match message.strip_prefix(PREFIX) {
        Some(own) => own.to_owned(),
        None if message.starts_with("non-null type ") => {
            format!("Cannot return null for non-nullable field {}", field.unwrap_or_default())
        }
        None => return,
    };
    if let Value::Object(members) = error {
        members.insert("message".to_owned(), Value::from(message));
    }
}
