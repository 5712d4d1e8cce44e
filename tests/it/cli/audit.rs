//! The audit file, and the command that shows it.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::client::{Client, execute, program};

fn run(file: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let ended = program(arguments, &[("GITLAB_AUDIT_FILE", file.to_str().unwrap())]).output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap())
}

/// "What did it do last night?"
#[test]
fn what_an_assistant_did_is_shown_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.jsonl");
    let variables = [("GITLAB_AUDIT_FILE", file.to_str().unwrap()), ("GITLAB_AUDIT", "off")];
    let mut client = Client::sandbox_with(&variables);
    execute(&mut client, "issue.update", json!({"target": "acme/widget#3", "title": "a secret title"}));
    execute(&mut client, "issue.delete", json!({"target": "acme/widget#3"}));
    let ended = client.close();
    assert!(!ended.stderr.contains("audit"), "standard error has none: {}", ended.stderr);
    // The command line's calls are kept too.
    let (code, ..) = run(&file, &["--sandbox", "execute", "label.list", "fullPath=acme/widget"]);
    assert_eq!(code, Some(0));
    let create = ["--sandbox", "execute", "issue.create", "fullPath=acme/widget", "title=a secret title"];
    run(&file, &create);
    run(
        &file,
        &["--sandbox", "execute", "issue.comment", "fullPath=acme/widget", "iid=1", "body=a secret title"],
    );
    run(&file, &["--sandbox", "execute", "branch.delete", "fullPath=acme/widget", "branch=old/login"]);
    run(&file, &["--sandbox", "execute", "no.such_action"]);
    let (code, table, _) = run(&file, &["audit", "--since", "1h"]);
    assert_eq!(code, Some(0));
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("time") && lines.len() == 8, "{table}");
    // A call without an object leaves the column to the others.
    assert!(lines[7].contains("unknown_action") && !lines[7].contains("acme"), "{table}");
    for (line, parts) in lines[1..].iter().zip([
        ["issue.update", "acme/widget/issues/3", "allowed"],
        ["issue.delete", "acme/widget/issues/3", "needs_confirmation"],
        ["label.list", "acme/widget/labels", "allowed"],
        // A created object by its address, else by its id.
        ["issue.create", "/acme/widget/-/issues/", "allowed"],
        ["issue_note.create", "acme/widget/issues/1/notes (id ", "allowed"],
        ["branch.delete", "acme/widget/repository/branches/old/login", "not_found"],
    ]) {
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
    let (_, raw, _) = run(&file, &["audit", "--since", "1h", "--json"]);
    assert!(
        raw.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["audit"].is_object()),
        "{raw}"
    );
    assert!(!raw.contains("secret title"), "values of parameters are no part of it: {raw}");
    let (_, none, _) = run(&file, &["audit", "--since", "2999-01-01"]);
    assert!(none.starts_with("No call since 2999-01-01"), "{none}");
    let (code, _, error) = run(&file, &["audit", "--since", "soon"]);
    assert!(code == Some(2) && error.contains("a time (2026-11-29T08:30"), "{error}");
    let ended = program(&["audit"], &[]).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8(ended.stderr).unwrap().contains("GITLAB_AUDIT_FILE is not set"));
}

/// The file names projects and people.
#[cfg(unix)]
#[test]
fn a_file_that_the_group_could_read_is_closed_to_it() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    for mode in [0o640, 0o660, 0o604] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("audit.jsonl");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        run(&file, &["--sandbox", "execute", "label.list", "fullPath=acme/widget"]);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{mode:o}");
    }
}

/// Setup writes the setting into the client's configuration, where the person's shell does not have it.
#[test]
fn the_file_that_a_client_was_set_up_with_is_found() {
    let home = tempfile::tempdir().unwrap();
    let of_home = [("HOME", home.path().to_str().unwrap())];
    let ended = |arguments: &[&str]| {
        let output = program(arguments, &of_home).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let file = home.path().join("calls/audit.jsonl");
    let set_up = ["--sandbox", "--audit-file=~/calls/audit.jsonl", "setup", "--client", "cursor", "--write"];
    let (code, setup) = ended(&set_up);
    assert!(code == Some(0) && !setup.contains("To see later"), "{setup}");
    let entry: Value =
        serde_json::from_str(&std::fs::read_to_string(home.path().join(".cursor/mcp.json")).unwrap())
            .unwrap();
    let variables = &entry["mcpServers"]["gitlab"]["env"];
    assert_eq!(variables["GITLAB_AUDIT_FILE"], file.to_str().unwrap());
    let started = [("GITLAB_AUDIT_FILE", file.to_str().unwrap()), of_home[0]];
    let mut client = Client::sandbox_with(&started);
    execute(&mut client, "label.list", json!({"fullPath": "acme/widget"}));
    client.close();
    let (code, table) = ended(&["audit", "--since", "1h"]);
    let heading = format!("{}, the audit file of Cursor:\n", file.display());
    assert!(code == Some(0) && table.starts_with(&heading) && table.contains("label.list"), "{table}");
    let (_, raw) = ended(&["audit", "--since", "1h", "--json"]);
    assert!(raw.starts_with('{') && raw.contains("label.list"), "{raw}");
    // The entry keeps its audit file, so nothing is left to suggest.
    let (_, again) = ended(&["--sandbox", "--read-only", "setup", "--client", "cursor", "--write"]);
    assert!(again.contains("Written.") && !again.contains("To see later"), "{again}");
}

/// A disk that is full must not stop the calls, and is reported.
#[test]
fn a_file_that_cannot_be_written_is_reported_and_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let no_folder = folder.path().join("a-file");
    std::fs::write(&no_folder, "").unwrap();
    for file in [no_folder.join("audit.jsonl").to_str().unwrap(), "/dev/full"] {
        let mut client = Client::sandbox_with(&[("GITLAB_AUDIT_FILE", file)]);
        let reply = execute(&mut client, "label.list", json!({"fullPath": "acme/widget"}));
        assert!(!reply.is_error, "{file}: {}", reply.text);
        let ended = client.close();
        assert!(ended.stderr.contains("the audit file cannot be written"), "{file}: {}", ended.stderr);
    }
}
