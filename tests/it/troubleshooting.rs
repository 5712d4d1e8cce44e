//! docs/guides/troubleshooting.md: every call runs on the sandbox, and its outcome is the one that the page states.

use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::Value;

use crate::support::client::{Client, Reply};

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guides/troubleshooting.md"));

/// `` `GITLAB_READ_ONLY=true` `` of a line that begins with "With".
static SETTING: LazyLock<Regex> = LazyLock::new(|| Regex::new("^With `([A-Z_]+)=([^`]+)`").unwrap());

/// `` `error.kind` is `"denied"` `` and `` `notes.0` contains `GITLAB_TOOLSETS` ``.
static STATEMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("`([a-z_.0-9A-Z]+)` (is|contains) `([^`]+)`").unwrap());

#[test]
fn every_call_of_the_page_has_the_stated_outcome() {
    let (mut calls, mut results, mut section, mut settings) = (0, 0, "", Vec::new());
    let mut last: Option<(Client, Reply)> = None;
    for line in PAGE.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            assert!(last.is_none(), "a call of {section} has no result");
            (section, settings) = (heading, Vec::new());
        } else if let Some(setting) = SETTING.captures(line) {
            settings = vec![(setting[1].to_owned(), setting[2].to_owned())];
        } else if let Some(call) = line.strip_prefix("> ") {
            assert!(last.is_none(), "a call of {section} has no result");
            let (tool, arguments) = call.split_once(' ').unwrap();
            let variables: Vec<(&str, &str)> =
                settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let mut client = Client::sandbox_with(&variables);
            let reply = client.call(tool, serde_json::from_str(arguments).unwrap());
            last = Some((client, reply));
            calls += 1;
        } else if line.starts_with("Result: ") {
            let (mut client, reply) = last.take().unwrap();
            check(section, line, &mut client, &reply);
            results += 1;
        }
    }
    assert!(last.is_none() && calls == results && calls >= 14, "{calls} calls, {results} results");
}

fn check(section: &str, line: &str, client: &mut Client, reply: &Reply) {
    let mut statements = 0;
    for statement in STATEMENT.captures_iter(line) {
        statements += 1;
        let pointer = format!("/{}", statement[1].replace('.', "/"));
        let value = reply.structured.pointer(&pointer).cloned().unwrap_or(Value::Null);
        if &statement[2] == "is" {
            let stated: Value = serde_json::from_str(&statement[3]).unwrap();
            assert_eq!(value, stated, "{section}: {line}\n{}", reply.text);
        } else {
            let text = value.as_str().unwrap_or_default();
            assert!(text.contains(&statement[3]), "{section}: {line}\n{}", reply.text);
        }
    }
    assert!(statements > 0, "{section}: nothing is stated in {line}");
    if line.contains("The call in `error.fix` succeeds") {
        let fix = &reply.structured["error"]["fix"];
        let fixed = client.call(fix["tool"].as_str().unwrap(), fix["arguments"].clone());
        assert!(!fixed.is_error, "{section}: {}", fixed.text);
    }
}

#[test]
fn the_table_names_every_section() {
    let headings: Vec<&str> = PAGE.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for heading in headings {
        let anchor = heading.to_lowercase().replace(' ', "-");
        assert!(PAGE.contains(&format!("[{heading}](#{anchor})")), "{heading}");
    }
    assert!(
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"))
            .contains("docs/guides/troubleshooting.md")
    );
}
