//! docs/concepts/security.md names for each promise the tests that hold it: each of them exists.

use std::fs;
use std::path::Path;

#[test]
fn every_test_that_the_security_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/concepts/security.md")).unwrap();
    let mut sources = Vec::new();
    for folder in ["src", "tests/it"] {
        collect(&root.join(folder), &mut sources);
    }
    let mut named = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let tests = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let mut names = tests.split('`').skip(1).step_by(2).peekable();
        assert!(names.peek().is_some(), "no test in the row: {row}");
        for name in names {
            named += 1;
            assert!(is_there(name, &sources), "there is no test `{name}`");
        }
    }
    assert!(named > 50, "{named}");
}

/// True if a file of the name's modules has the function, or is the module itself.
pub fn is_there(name: &str, sources: &[(String, String)]) -> bool {
    let parts: Vec<&str> = name.split("::").collect();
    let last = parts[parts.len() - 1];
    let modules = &parts[..parts.len() - 1];
    // Whole segments: `present::sections` is no module because there is a `log_sections.rs`.
    let has_segment =
        |path: &str, name: &str| path.trim_end_matches(".rs").split('/').any(|part| part == name);
    let is_module = |path: &str| has_segment(path, last);
    let is_nested = |module: &str, text: &str| text.contains(&format!("mod {module} {{"));
    let holds = |path: &str, text: &str| {
        modules.iter().all(|module| has_segment(path, module) || is_nested(module, text))
    };
    sources.iter().any(|(path, text)| {
        holds(path, text)
            && (text.contains(&format!("fn {last}("))
                || (is_module(path) && text.contains("#[test]"))
                || (is_module(path) && text.contains("#[tokio::test")))
    })
}

pub fn collect(folder: &Path, sources: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push((path.to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()));
        }
    }
}
