//! Actions whose object GitLab accepts only by global id: `fullPath` and `iid` are accepted in its place, and its
//! reference gives the project or group in which names are looked up.

use serde_json::{Map, Value, json};

use crate::catalog::{self, Action, NameForm, Param, Place};
use crate::text::{is_digits, plain_text};

/// Returns the parameter for the object of an action, if `fullPath` and `iid` are only alternatives to it.
pub fn addressed(action: &Action) -> Option<&Param> {
    let path = action.param("fullPath")?;
    let holds = |param: &&Param| param.required && !param.kind.many && !marks(param).is_empty();
    action.params.iter().find(holds).filter(|_| path.place == Place::Selector)
}

/// Reference marks (`#`, `!`, `&`) of the objects that the parameter accepts.
pub fn marks(param: &Param) -> &'static [char] {
    let resolver = param.names.filter(|names| names.is_tracked()).and_then(catalog::resolver);
    match resolver.map(|resolver| &resolver.form) {
        Some(NameForm::Number(marks) | NameForm::NumberOrTitle(marks)) => marks,
        _ => &[],
    }
}

/// Fills the reference from `fullPath` and `iid`, or `fullPath` from the reference.
pub fn complete(action: &Action, params: &mut Map<String, Value>) {
    let Some(param) = addressed(action) else { return };
    let text = |name: &str| params.get(name).map(plain_text);
    match (text(&param.name), text("fullPath"), text("iid")) {
        (None, Some(path), Some(iid)) => {
            let mark = marks(param).first().copied().unwrap_or('#');
            params.insert(param.name.clone(), json!(format!("{}{mark}{iid}", path.trim_matches('/'))));
        }
        (Some(reference), None, _) => {
            let path = numbered(&reference, marks(param)).map(|(path, ..)| path);
            if let Some(path) = path.filter(|path| !path.is_empty()) {
                params.insert("fullPath".to_owned(), json!(path));
            }
        }
        _ => {}
    }
}

/// Splits a reference into path, mark and number; the path may be empty.
pub fn numbered<'a>(text: &'a str, marks: &[char]) -> Option<(&'a str, char, &'a str)> {
    let (at, mark) = text.char_indices().rev().find(|(_, c)| marks.contains(c))?;
    let number = text.get(at + mark.len_utf8()..).filter(|number| is_digits(number))?;
    Some((text.get(..at)?.trim_matches('/'), mark, number))
}
