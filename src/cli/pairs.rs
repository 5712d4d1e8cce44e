//! Parameters of an action as words of a command line: `labels=bug`, and with `-f` from a file: `description=@text.md`.
//! Values are texts; the action says what each is.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::error::Failure;
use crate::catalog::{Action, Base};

/// Adds the pairs to the parameters of an action. A key that is given twice is a list. A shell has texts alone: one of a
/// number or a truth value becomes that.
pub fn add_pairs(
    params: &mut Map<String, Value>,
    pairs: &[String],
    fields: &[String],
    action: Option<&Action>,
) -> Result<(), Failure> {
    let mut given: Map<String, Value> = Map::new();
    for pair in pairs {
        let (key, value) = split(pair)?;
        add(&mut given, key, value.to_owned());
    }
    for field in fields {
        let (key, value) = split(field)?;
        let value = match value.strip_prefix('@') {
            Some(path) => {
                let file = PathBuf::from(path);
                fs::read_to_string(path).map_err(|source| Failure::PairFile {
                    name: key.to_owned(),
                    file,
                    source,
                })?
            }
            None => value.to_owned(),
        };
        add(&mut given, key, value);
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
    Ok(())
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

fn add(given: &mut Map<String, Value>, key: &str, value: String) {
    let value = match given.get_mut(key) {
        Some(Value::Array(values)) => return values.push(json!(value)),
        Some(first) => json!([first.take(), value]),
        None => json!(value),
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
