//! Parameters of an action as words of a command line: `labels=bug`, and with `-f` from a file: `description=@text.md`,
//! `file=@picture.png`. Values are texts; the action says what each is.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::error::Failure;
use super::shell_line::FilePair;
use crate::catalog::{Action, Base, Param};

/// The path that means standard input.
const STDIN: &str = "-";

/// Parameters of a content and of how it is written, which commits of files have.
const CONTENT: &str = "content";
const ENCODING: &str = "encoding";
const BASE64: &str = "base64";

/// Adds the pairs to the parameters of an action, and returns those from files. A key that is given twice is a list. A
/// shell has texts alone: one of a number or a truth value becomes that.
pub fn add_pairs(
    params: &mut Map<String, Value>,
    pairs: &[String],
    fields: &[String],
    action: Option<&Action>,
) -> Result<Vec<FilePair>, Failure> {
    let (mut given, mut files) = (Map::new(), Vec::new());
    let takes_file = |name: &str| param(action, name).is_some_and(|param| param.kind.base == Base::File);
    let words = pairs.iter().map(|pair| (pair, false)).chain(fields.iter().map(|field| (field, true)));
    for (word, is_field) in words {
        let (name, value) = split(word)?;
        let path = value.strip_prefix('@').filter(|_| is_field || takes_file(name));
        let Some(path) = path else {
            add(&mut given, name, json!(value));
            continue;
        };
        let value = load_value(name, path, action)?;
        if value.is_base64 {
            given.insert(ENCODING.to_owned(), json!(BASE64));
        }
        let value = value.value;
        if path != STDIN {
            files.push(FilePair { name: name.to_owned(), value: value.clone(), word: word.clone() });
        }
        add(&mut given, name, value);
    }
    for param in action.map(|action| action.params.as_slice()).unwrap_or_default() {
        if let (Base::Integer | Base::Number | Base::Boolean, Some(value)) =
            (param.kind.base, given.get_mut(&param.name))
            && let Some(typed) = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok())
            && (typed.is_number() || typed.is_boolean())
        {
            *value = typed;
        }
    }
    if let Some(key) = given.keys().find(|key| params.contains_key(*key)) {
        return Err(Failure::Pair(format!("{key} is in --params as well")));
    }
    params.extend(given);
    Ok(files)
}

fn param<'a>(action: Option<&'a Action>, name: &str) -> Option<&'a Param> {
    action?.params.iter().find(|param| param.name == name)
}

/// A value from a file.
struct FileValue {
    value: Value,
    /// True for a content in Base64, which `encoding` is to say.
    is_base64: bool,
}

/// Loads the value of a parameter from a file. One that is a file takes any bytes with their name, the content of a
/// commit any bytes, another a text.
fn load_value(name: &str, path: &str, action: Option<&Action>) -> Result<FileValue, Failure> {
    let failed = |source| Failure::PairFile { name: name.to_owned(), file: path.into(), source };
    let bytes = load(path).map_err(failed)?;
    if param(action, name).is_some_and(|param| param.kind.base == Base::File) {
        let mut file = Map::from_iter([("content_base64".to_owned(), json!(STANDARD.encode(bytes)))]);
        let filename = Path::new(path).file_name().filter(|_| path != STDIN);
        file.extend(filename.map(|name| ("filename".to_owned(), json!(name.to_string_lossy()))));
        return Ok(FileValue { value: Value::Object(file), is_base64: false });
    }
    let encodings = param(action, ENCODING).map(|param| param.choices.as_slice()).unwrap_or_default();
    let is_encodable = name == CONTENT && encodings.iter().any(|choice| choice == BASE64);
    match String::from_utf8(bytes) {
        Ok(text) => Ok(FileValue { value: json!(text), is_base64: false }),
        Err(error) if is_encodable => {
            Ok(FileValue { value: json!(STANDARD.encode(error.as_bytes())), is_base64: true })
        }
        Err(_) => Err(Failure::PairText { name: name.to_owned(), file: path.into() }),
    }
}

fn load(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match path {
        STDIN => io::stdin().read_to_end(&mut bytes).map(|_| bytes),
        path => fs::read(path),
    }
}

fn split(pair: &str) -> Result<(&str, &str), Failure> {
    pair.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
        let name = match pair.contains(['#', '!', '&', '%']) || pair.contains("://") {
            true => Some("target"),
            false => pair.contains('/').then_some("fullPath"),
        };
        let hint = name.map(|name| format!("; {name}={pair} names it")).unwrap_or_default();
        Failure::Pair(format!("expected KEY=VALUE, got {pair:?}{hint}"))
    })
}

fn add(given: &mut Map<String, Value>, key: &str, value: Value) {
    let value = match given.get_mut(key) {
        Some(Value::Array(values)) => return values.push(value),
        Some(first) => json!([first.take(), value]),
        None => value,
    };
    given.insert(key.to_owned(), value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn added(params: &Value, pairs: &[&str]) -> Result<Value, String> {
        let mut params = params.as_object().cloned().unwrap_or_default();
        let action = Catalog::embedded().unwrap().get("issue.list").unwrap().unwrap();
        let pairs: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
        add_pairs(&mut params, &pairs, &[], Some(&action)).map_err(|error| error.to_string())?;
        Ok(Value::Object(params))
    }

    /// `per_page=3` was answered with a note that it came as text.
    #[test]
    fn a_number_and_a_truth_value_are_no_texts() {
        let given = ["per_page=3", "confidential=true", "search=3", "page=three"];
        let all = added(&json!({}), &given);
        assert_eq!(all, Ok(json!({"per_page": 3, "confidential": true, "search": "3", "page": "three"})));
    }

    #[test]
    fn pairs_are_texts_and_a_repeated_key_is_a_list() {
        let all = added(&json!({"iid": 1}), &["title=a=b", "labels=bug", "labels=docs", "labels=x"]);
        assert_eq!(all, Ok(json!({"iid": 1, "title": "a=b", "labels": ["bug", "docs", "x"]})));
        assert_eq!(added(&json!({}), &["description="]), Ok(json!({"description": ""})));
        // A username is no file.
        assert_eq!(added(&json!({}), &["assignee=@alice"]), Ok(json!({"assignee": "@alice"})));
        for wrong in ["title", "=x", ""] {
            assert!(added(&json!({}), &[wrong]).unwrap_err().contains("KEY=VALUE"), "{wrong}");
        }
        for (bare, hint) in
            [("acme/widget#1", "target=acme/widget#1"), ("acme/widget", "fullPath=acme/widget")]
        {
            assert!(added(&json!({}), &[bare]).unwrap_err().contains(hint), "{bare}");
        }
        assert!(added(&json!({"title": "a"}), &["title=b"]).unwrap_err().contains("--params as well"));
    }
}
