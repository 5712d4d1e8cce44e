//! Names of the code that a test can hold: a constant says what it bounds, a function is a verb, and a comment says more
//! than the name below it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::security_page::collect;

/// Names of constants that say no more than that there is a bound.
const BARE_BOUNDS: [&str; 6] = ["MOST", "LONGEST", "LARGEST", "SHORTEST", "LEAST", "LIMIT"];

fn sources() -> Vec<(String, String)> {
    let mut sources = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut sources);
    assert!(sources.len() > 500, "{}", sources.len());
    sources
}

/// The name after a keyword at the beginning of a line, whatever its visibility.
fn defined<'l>(line: &'l str, keyword: &str) -> Option<&'l str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(super) ")).unwrap_or(line);
    let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    let rest = line.strip_prefix(keyword)?.strip_prefix(' ')?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    Some(&rest[..end])
}

#[test]
fn a_constant_says_what_it_bounds() {
    for (path, text) in sources() {
        let bare = text.lines().filter_map(|line| defined(line, "const"));
        let bare: Vec<&str> = bare.filter(|name| BARE_BOUNDS.contains(name)).collect();
        assert!(bare.is_empty(), "{path}: {bare:?}");
    }
    assert_eq!(defined("    pub const MOST: usize = 3;", "const"), Some("MOST"));
}

/// The sandbox, the generator and the small crates have names of their own.
const OTHER_CRATES: [&str; 4] = ["sandbox", "bin", "encoder", "allocator"];

#[test]
fn a_type_name_means_one_thing() {
    let mut defining: BTreeMap<String, String> = BTreeMap::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (path, text) in sources() {
        let inside = Path::new(&path).strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let room = inside.split('/').next().unwrap();
        if OTHER_CRATES.contains(&room) || inside.contains("tests") {
            continue;
        }
        let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let keywords = ["struct", "enum", "trait", "type"];
        let unindented = own.lines().filter(|line| !line.starts_with(' '));
        for name in unindented.filter_map(|line| keywords.iter().find_map(|keyword| defined(line, keyword))) {
            let other = defining.insert(name.to_owned(), inside.clone());
            assert!(other.is_none(), "{name} is defined in {inside} and in {}", other.unwrap());
        }
    }
    assert!(defining.len() > 500, "{}", defining.len());
}

#[test]
fn a_function_is_not_an_article() {
    for (path, text) in sources() {
        let mut functions = text.lines().filter_map(|line| defined(line, "fn"));
        assert!(!functions.any(|name| ["the", "a", "an"].contains(&name)), "{path}");
    }
    assert_eq!(defined("pub(super) async fn the(request: &Request)", "fn"), Some("the"));
}

#[test]
fn a_comment_says_more_than_the_name_below_it() {
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for window in lines.windows(3) {
            let comment = window[1].trim().strip_prefix("/// ");
            let Some(comment) = comment.filter(|comment| !comment.starts_with('`')) else { continue };
            let Some(name) = defined(window[2], "fn").filter(|_| !window[0].contains("///")) else {
                continue;
            };
            let bare = comment.trim_end_matches('.').to_lowercase();
            let is_name = bare == name || bare == format!("{name}s") || bare == format!("{name}es");
            assert!(!is_name && comment.split(' ').count() > 1, "{path}: /// {comment}");
        }
    }
}
