//! Start with a wrong setting, and the accuracy of the documentation.

use std::process::Stdio;

use gitlab_mcp::config::{AnySetting, JOB_VARIABLES, render_markdown_table, settings};

use crate::support::client::program;

#[test]
fn a_wrong_setting_is_one_line_and_no_start() {
    let cases = [
        ("GITLAB_URL", "gitlab.example.com", "GITLAB_URL: expected an http or https URL"),
        ("GITLAB_READ_ONLY", "maybe", "GITLAB_READ_ONLY: expected true or false"),
        ("GITLAB_TIMEOUT", "soon", "GITLAB_TIMEOUT: expected whole seconds from 1 to 3600"),
        ("GITLAB_TOKEN_FILE", "/nowhere", "GITLAB_TOKEN_FILE: cannot read /nowhere"),
        ("GITLAB_TOKEN", "two words sesame", "GITLAB_TOKEN: invalid value"),
        ("GITLAB_URL", "https://root:sesame@a.b", "GITLAB_URL: invalid value"),
    ];
    for (name, value, expected) in cases {
        let output = program(&[], &[(name, value)]).stdin(Stdio::null()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{error}");
        assert!(error.starts_with(&format!("gitlab-mcp: {expected}")), "{error}");
        assert!(error.lines().count() == 1 && !error.contains("sesame"), "{error}");
    }
}

#[test]
fn a_token_that_is_not_used_is_warned_of() {
    let variables = [("GITLAB_TOKEN", "glpat-sesame"), ("GITLAB_OAUTH_TOKEN", "sesame")];
    let output = program(&[], &variables).stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains("GITLAB_OAUTH_TOKEN is not used: the token comes from GITLAB_TOKEN"), "{error}");
    assert!(!error.contains("sesame"), "{error}");
}

#[test]
fn the_documentation_holds_the_table_of_the_code() {
    let table = render_markdown_table();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/configuration.md");
    let documentation = std::fs::read_to_string(path).unwrap();
    assert!(documentation.contains(&table), "{path} should hold this:\n\n{table}");
}

#[test]
fn the_page_on_a_new_setting_shows_settings_as_they_are_defined() {
    let file =
        |path: &str| std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (page, code) = (file("docs/contributing/settings.md"), file("src/config/table/calls.rs"));
    let blocks = page.split("```rust\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0));
    let definitions: Vec<&str> = blocks.filter(|block| block.contains("name: \"GITLAB_")).collect();
    assert_eq!(definitions.len(), 2);
    for definition in definitions {
        assert!(code.contains(definition), "src/config/table/calls.rs has another form than {definition}");
    }
}

#[test]
fn the_documentation_has_the_variables_of_a_job() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/configuration.md");
    let documentation = std::fs::read_to_string(path).unwrap();
    for (setting, variable) in JOB_VARIABLES {
        let row = format!("| `{variable}` | `{}` |", setting.name);
        assert!(documentation.contains(&row), "{row}");
    }
}

#[test]
fn no_setting_is_named_twice() {
    let rows = settings().map(AnySetting::row);
    let mut names: Vec<&str> =
        rows.flat_map(|row| [row.name].into_iter().chain(row.aliases.iter().copied())).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}
