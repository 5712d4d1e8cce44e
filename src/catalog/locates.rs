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

/// The word before `path` of a project or group other than the one that a call works on: `targetPath`.
const OTHER_ENDS: [&str; 6] = ["target", "source", "upstream", "downstream", "destination", "parent"];

/// Words for objects of a project or group, whose references begin with its path: `alertReferences`.
const OBJECTS: [&str; 6] = ["issue", "epic", "request", "item", "alert", "vulnerability"];

/// The kind of place that a parameter name refers to, in snake_case or camelCase.
pub fn locates_by_name(name: &str) -> Option<Locates> {
    let words = split_words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let holder = |word: &str| HOLDERS.iter().find(|(known, _)| *known == word).map(|(_, locates)| *locates);
    let is_other = |word: &str| OTHER_ENDS.contains(&word);
    match words.as_slice() {
        [one] => holder(one),
        [.., "full", "path" | "paths"] | ["parent", "id"] => Some(Locates::Holder),
        [.., end, "path" | "paths"] if is_other(end) => Some(Locates::Holder),
        [.., of, "reference" | "references"] if is_other(of) || OBJECTS.contains(of) => {
            Some(Locates::Foreign)
        }
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
    fn names_of_places_are_recognized() {
        for name in
            ["project_id", "targetProjectPath", "group_ids", "sourceFullPath", "addProjects", "namespace"]
        {
            assert!(locates_by_name(name).is_some(), "{name}");
        }
        for name in ["targetPath", "upstreamPath", "source_path", "destination_paths", "fullPaths"] {
            assert_eq!(locates_by_name(name), Some(Locates::Holder), "{name}");
        }
        for name in ["alertReferences", "mergeRequestReference", "source_reference"] {
            assert_eq!(locates_by_name(name), Some(Locates::Foreign), "{name}");
        }
        for name in [
            "project_name",
            "group_access",
            "path",
            "id",
            "iid",
            "ref",
            "clusterName",
            "newPath",
            "conan_package_reference",
        ] {
            assert!(locates_by_name(name).is_none(), "{name}");
        }
    }
}
