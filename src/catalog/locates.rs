//! Names of parameters that hold a project, group or namespace. Used by the generator and for fields
//! that no action describes.

use gitlab_mcp_embed::catalog::model::Locates;

/// Words for projects, groups and namespaces in parameter names.
const HOLDERS: [(&str, Locates); 6] = [
    ("project", Locates::Project),
    ("projects", Locates::Project),
    ("group", Locates::Group),
    ("groups", Locates::Group),
    ("namespace", Locates::Namespace),
    ("namespaces", Locates::Namespace),
];

/// The last word of a name that holds a reference to a holder: `project_id`, `groupPaths`.
const REFERENCES: [&str; 4] = ["id", "ids", "path", "paths"];

/// The word before a holder that an object is put into, taken out of or read from: `addProjects`.
const DIRECTIONS: [&str; 11] = [
    "add",
    "remove",
    "associated",
    "target",
    "destination",
    "parent",
    "new",
    "start",
    "from",
    "module",
    "root",
];

/// The kind of holder that a parameter name refers to, in snake_case or camelCase.
pub fn locates_by_name(name: &str) -> Option<Locates> {
    let words = split_words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let holder = |word: &str| HOLDERS.iter().find(|(known, _)| *known == word).map(|(_, locates)| *locates);
    match words.as_slice() {
        [one] => holder(one),
        [.., "full", "path"] | ["parent", "id"] => Some(Locates::Holder),
        [before @ .., last] if REFERENCES.contains(last) => before.iter().rev().find_map(|word| holder(word)),
        [.., before, last] if DIRECTIONS.contains(before) => holder(last),
        _ => None,
    }
}

/// The words of a name in snake_case or camelCase.
pub fn split_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut starts = true;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            starts = true;
            continue;
        }
        if starts || c.is_uppercase() {
            words.push(String::new());
        }
        starts = false;
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_holders_are_recognized() {
        for name in
            ["project_id", "targetProjectPath", "group_ids", "sourceFullPath", "addProjects", "namespace"]
        {
            assert!(locates_by_name(name).is_some(), "{name}");
        }
        for name in ["project_name", "group_access", "path", "id", "iid", "ref", "clusterName"] {
            assert!(locates_by_name(name).is_none(), "{name}");
        }
    }
}
