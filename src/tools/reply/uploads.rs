//! The pictures that texts of an answer show: uploads of the project or group, each with the call that fetches it.

use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::{Value, json};

use crate::call::Call;
use crate::messages::request::{Answer, ExecuteRequest, NextCall};
use crate::tools::action_lookup::suggestions;
use crate::tools::state::Tools;

/// Maximum number of pictures that are named.
const MAX_PICTURES_NAMED: usize = 3;

/// An image in Markdown whose address is an upload: `![shot](/uploads/<secret>/shot.png)`, also as an absolute URL.
static IMAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"!\[[^\]]*\]\([^()\s]*/uploads/([0-9a-f]{32})/([A-Za-z0-9][A-Za-z0-9._-]{0,99})\)").ok()
});

/// The calls that fetch the pictures in the shown texts, if the policy permits them.
pub fn picture_calls(tools: &Tools, request: &ExecuteRequest, call: &Call, shown: &Value) -> Vec<NextCall> {
    let Some(path) = request.params.get("fullPath") else { return Vec::new() };
    let id = match call.path() {
        path if path.contains("/projects/") => "project_upload.download",
        path if path.contains("/groups/") => "group_upload.download",
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    collect(shown, &mut found);
    if found.is_empty() {
        return Vec::new();
    }
    let Ok(Some(action)) = tools.catalog.get(id) else { return Vec::new() };
    let calls = found
        .into_iter()
        .map(|(secret, filename)| json!({"fullPath": path, "secret": secret, "filename": filename}));
    calls
        .filter(|params| {
            params.as_object().is_some_and(|params| suggestions::is_callable(tools, &action, params))
        })
        .map(|params| NextCall::execute(id, &params))
        .collect()
}

/// The answer with the calls that fetch its pictures.
pub fn with_pictures(mut answer: Answer, calls: &[NextCall]) -> Answer {
    for call in calls {
        answer.text.push_str(&format!("Picture: {}\n", json!(call)));
    }
    if !calls.is_empty() {
        answer.structured.insert("pictures".to_owned(), json!(calls));
    }
    answer
}

fn collect(value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) if text.contains("/uploads/") => {
            for image in IMAGE.iter().flat_map(|pattern| pattern.captures_iter(text)) {
                let part = |at: usize| image.get(at).map(|part| part.as_str().to_owned()).unwrap_or_default();
                let named = (part(1), part(2));
                if found.len() < MAX_PICTURES_NAMED && !found.contains(&named) {
                    found.push(named);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_that_are_uploads_are_found_once_and_a_few_only() {
        let secret = |digit: char| digit.to_string().repeat(32);
        let image = |digit: char, name: &str| format!("![a](/uploads/{}/{name})", secret(digit));
        let link = format!("[log](/uploads/{}/log.txt)", secret('d'));
        let elsewhere = "![x](https://example.org/x.png) ![y](/uploads/abc/y.png)";
        let absolute = format!("![z](https://gitlab.example/-/project/1/uploads/{}/z.png)", secret('b'));
        let odd = format!("![o](/uploads/{}/..%2f..%2fo.png)", secret('e'));
        let text = [image('a', "one.png"), image('a', "one.png"), link, elsewhere.to_owned(), absolute, odd];
        let mut found = Vec::new();
        let notes = json!([{"body": image('c', "three.gif")}, {"body": image('f', "four.png")}]);
        collect(&json!({"description": text.join(" "), "notes": notes}), &mut found);
        let names: Vec<&str> = found.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["one.png", "z.png", "three.gif"]);
        assert_eq!(found[1].0, secret('b'));
    }
}
