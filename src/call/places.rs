//! Where a call works: the projects and groups that its parameters name, so that a policy can speak of paths.

use serde_json::{Map, Value};

use super::question::{GLOBAL, is_digits};
use crate::catalog::{Action, Names, Param, Place as Part};

/// A project or group that a parameter names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The parameter, with those around it: `links.project_id`.
    pub param: String,
    /// Its full path. None where an id was given, or where what is touched cannot be told: nobody here knows where
    /// that is.
    pub path: Option<String>,
}

impl Place {
    /// What only GitLab could tell the place of.
    pub fn unknown(param: &str) -> Place {
        Place { param: param.to_owned(), path: None }
    }

    fn read(param: String, value: &Value) -> Place {
        let path = value.as_str().map(str::trim).filter(|text| !is_id(text));
        Place { param, path: path.map(|path| path.trim_matches('/').to_owned()) }
    }
}

/// The places that the parameters of an action name, in the order of the parameters.
pub fn of(action: &Action, params: &Map<String, Value>) -> Vec<Place> {
    // Where `fullPath` is not sent, an id beside it may be of anything.
    let is_sent = action.param("fullPath").is_some_and(|param| param.place != Part::Selector);
    let mut found = Vec::new();
    collect(&action.params, params, "", is_sent, &mut found);
    found
}

/// The same of parameters that no action describes, by their names alone.
pub fn of_fields(fields: &Map<String, Value>) -> Vec<Place> {
    let mut found = Vec::new();
    collect(&[], fields, "", true, &mut found);
    found
}

/// Whether an action has a parameter that says where it works.
pub fn can_be_placed(action: &Action) -> bool {
    action.params.iter().any(|param| names_place(Some(param), &param.name))
}

fn collect(
    params: &[Param],
    values: &Map<String, Value>,
    within: &str,
    is_sent: bool,
    found: &mut Vec<Place>,
) {
    for (name, value) in values {
        let param = params.iter().find(|param| param.name == *name);
        let path = if within.is_empty() { name.clone() } else { format!("{within}.{name}") };
        let fields = param.map(|param| param.fields.as_slice()).unwrap_or_default();
        let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for item in items {
            match item {
                Value::Object(inner) => collect(fields, inner, &path, is_sent, found),
                Value::String(_) | Value::Number(_) => {
                    found.extend(
                        place(param, name, item, is_sent).map(|place| Place { param: path.clone(), ..place }),
                    );
                }
                _ => {}
            }
        }
    }
}

fn place(param: Option<&Param>, name: &str, value: &Value, is_sent: bool) -> Option<Place> {
    if names_place(param, name) {
        return Some(Place::read(name.to_owned(), value));
    }
    let names = param?.names?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.find(['#', '!', '&']) {
        // `group/project#12` is where its path says; `#12` is where the call is.
        Some(0) => None,
        Some(at) if names.is_tracked() => Some(Place::read(name.to_owned(), &Value::from(text.get(..at)?))),
        _ if is_id(text.trim()) && (!is_sent || names.is_tracked()) => Some(Place::unknown(name)),
        _ => None,
    }
}

fn is_id(text: &str) -> bool {
    is_digits(text) || text.starts_with(GLOBAL)
}

/// What holds everything else at GitLab.
const HOLDERS: [&str; 6] = ["project", "projects", "group", "groups", "namespace", "namespaces"];
/// What a holder is named by.
const BY: [&str; 4] = ["id", "ids", "path", "paths"];
/// What stands before a holder that a thing is put into or taken out of.
const TOWARDS: [&str; 6] = ["add", "remove", "associated", "target", "destination", "parent"];

/// Whether a parameter names a project or group: by what the catalog knows of it, or by its name. One too many is
/// refused with its name; one too few would be a way out.
fn names_place(param: Option<&Param>, name: &str) -> bool {
    if param
        .and_then(|param| param.names)
        .is_some_and(|names| matches!(names, Names::Project | Names::Group | Names::Namespace))
    {
        return true;
    }
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [one] => HOLDERS.contains(one),
        [.., "full", "path"] | ["parent", "id"] => true,
        [before @ .., last] if BY.contains(last) => before.iter().any(|word| HOLDERS.contains(word)),
        [.., before, last] => TOWARDS.contains(before) && HOLDERS.contains(last),
        [] => false,
    }
}

/// The words of a name in snake_case or camelCase.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut fresh = true;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            fresh = true;
            continue;
        }
        if fresh || c.is_uppercase() {
            words.push(String::new());
        }
        fresh = false;
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalog::Catalog;

    fn places(action: &str, params: Value) -> Vec<(String, Option<String>)> {
        let action = Catalog::embedded().unwrap().get(action).unwrap().unwrap();
        let found = of(&action, params.as_object().unwrap());
        found.into_iter().map(|place| (place.param, place.path)).collect()
    }

    fn at(param: &str, path: &str) -> (String, Option<String>) {
        (param.to_owned(), Some(path.to_owned()))
    }

    #[test]
    fn everything_that_names_a_project_or_group_is_a_place() {
        assert_eq!(
            places("issue.move", json!({"fullPath": "/acme/widget/", "iid": 3, "to_project_id": "other/x"})),
            [at("fullPath", "acme/widget"), at("to_project_id", "other/x")]
        );
        assert_eq!(
            places("project.create", json!({"name": "x", "namespace_id": 7})),
            [("namespace_id".to_owned(), None)]
        );
        assert_eq!(places("user.block", json!({"user_id": "alice"})), []);
    }

    #[test]
    fn names_tell_where_the_catalog_does_not() {
        for name in
            ["project_id", "targetProjectPath", "group_ids", "sourceFullPath", "addProjects", "namespace"]
        {
            assert!(names_place(None, name), "{name}");
        }
        for name in ["project_name", "kubernetes_namespace", "group_access", "path", "id", "iid", "ref"] {
            assert!(!names_place(None, name), "{name}");
        }
    }
}
