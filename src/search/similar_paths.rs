//! Paths of files that are like one that is not there.

use super::nearest::nearest;

/// Maximum number of similar paths.
const MAX_PATHS: usize = 5;

/// The innermost of the known folders that a path is in.
pub fn innermost_folder<'a>(path: &'a str, known: &[String]) -> Option<&'a str> {
    let mut rest = path;
    while let Some((folder, _)) = rest.rsplit_once('/') {
        if known.iter().any(|known| known == folder) {
            return Some(folder);
        }
        rest = folder;
    }
    None
}

/// Similar paths: first those with the same file name elsewhere, then those with a similar spelling.
pub fn similar_paths(wanted: &str, paths: &[String]) -> Vec<String> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let same = paths.iter().filter(|path| name(path) == name(wanted));
    let mut near: Vec<String> = Vec::new();
    for path in same {
        if near.len() < MAX_PATHS && !near.contains(path) {
            near.push(path.clone());
        }
    }
    while near.len() < MAX_PATHS {
        let left = || paths.iter().filter(|path| !near.contains(path)).map(String::as_str);
        let by_path = nearest(wanted, left());
        let by_name = || {
            let name_wanted = name(wanted);
            let names: Vec<String> = left().map(name).collect();
            let found = nearest(&name_wanted, names.iter().map(String::as_str))?.to_owned();
            left().find(|path| name(path) == found)
        };
        let Some(path) = by_path.or_else(by_name).map(str::to_owned) else { break };
        near.push(path);
    }
    near
}

/// True if two paths end with the same name, or with names that are spelled alike.
pub fn has_name_like(wanted: &str, path: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let (wanted, name) = (name(wanted), name(path));
    wanted == name || nearest(&wanted, [name.as_str()].into_iter()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_the_same_elsewhere_and_those_spelled_alike() {
        let paths = ["src/gear.rs", "docs/gear.md", "README.md", "src/gears/main.rs"].map(str::to_owned);
        assert_eq!(similar_paths("lib/Gear.rs", &paths).first().map(String::as_str), Some("src/gear.rs"));
        assert_eq!(similar_paths("READM.md", &paths).first().map(String::as_str), Some("README.md"));
        assert!(similar_paths("nothing-like-it", &paths).is_empty());
    }

    #[test]
    fn a_folder_is_the_innermost_that_is_there() {
        let known = ["src", "src/widget", "docs"].map(str::to_owned);
        assert_eq!(innermost_folder("src/widget/a/b.rs", &known), Some("src/widget"));
        assert_eq!(innermost_folder("lib/b.rs", &known), None);
    }
}
