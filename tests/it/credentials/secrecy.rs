//! No token is shown on the way: in the finest log, in errors, in the arguments of processes, or echoed in an answer.

use std::fs;

use serde_json::json;

use crate::credentials::{Machine, credentials_of, gitlab, granted, seconds_from_now, unauthorized, user};
use crate::support::client::{Client, execute, succeed};
use crate::support::scripted_gitlab::{Gitlab, answer};

#[test]
fn renewed_tokens_are_in_no_log_no_answer_and_no_argument() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let file = machine.signed_in(&gitlab, "sesame-access-1", "sesame-refresh-1", seconds_from_now(7000));
    gitlab.says("GET /api/v4/user", [unauthorized(), user()]);
    gitlab.says("POST /oauth/token", [granted("sesame-access-2", "sesame-refresh-2", 7200)]);
    let echo = json!({"version": "18.0.0", "revision": "sesame-access-2 and sesame-access-1"});
    gitlab.says("GET /api/v4/version", [answer(200, echo)]);
    let variables =
        [("GITLAB_URL", gitlab.url()), ("GITLAB_LOGIN_FILE", file), ("GITLAB_MCP_LOG", "trace".to_owned())];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut client = Client::connect(&[], &variables);
    succeed(&mut client, "current_user.get", json!({}));
    assert_eq!(credentials_of(&gitlab).len(), 2, "the token was renewed");
    let echoed = execute(&mut client, "instance.get_version", json!({}));
    assert!(echoed.text.contains("[redacted]"), "{}", echoed.text);
    let arguments = fs::read(format!("/proc/{}/cmdline", client.id())).unwrap_or_default();
    let seen = format!("{}{}{}", echoed.text, echoed.structured, String::from_utf8_lossy(&arguments));
    assert!(!seen.contains("sesame"), "{seen}");
    let ended = client.close();
    assert!(!ended.stderr.contains("sesame"), "{}", ended.stderr);
    assert!(ended.stderr.contains("sent"), "the finest log is on: {}", ended.stderr);
}

#[test]
fn programs_get_no_token_as_an_argument_and_their_errors_are_not_logged() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let script = "echo \"$@\" >> \"$0.arguments\"; echo sesame-of-stderr >&2; exit 1";
    for name in ["glab", "git"] {
        machine.install(name, script);
    }
    let path = machine.search_path();
    let variables = [
        ("GITLAB_URL", gitlab.url()),
        ("PATH", path),
        ("GITLAB_CREDENTIALS", "glab,git".to_owned()),
        ("GITLAB_MCP_LOG", "trace".to_owned()),
    ];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut client = Client::connect(&[], &variables);
    let reply = execute(&mut client, "current_user.get", json!({}));
    let ended = client.close();
    assert!(!format!("{}{}", reply.text, ended.stderr).contains("sesame"), "{}", ended.stderr);
    let arguments = machine.read("glab.arguments") + &machine.read("git.arguments");
    assert_eq!(arguments, "auth git-credential get\ncredential fill\n");
}

/// The remote addresses of the sockets that a process has, as the kernel writes them: `0100007F:1F90`.
#[cfg(target_os = "linux")]
fn remote_addresses(process: u32) -> Vec<String> {
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten();
    let targets = descriptors.filter_map(|descriptor| fs::read_link(descriptor.path()).ok());
    let targets: Vec<String> = targets.map(|target| target.to_string_lossy().into_owned()).collect();
    let tables = ["tcp", "tcp6", "udp", "udp6"].map(|table| format!("/proc/{process}/net/{table}"));
    let lines = tables.iter().filter_map(|table| fs::read_to_string(table).ok());
    let lines: Vec<String> =
        lines.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let rows = lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let own =
        rows.filter(|row| row.get(9).is_some_and(|inode| targets.contains(&format!("socket:[{inode}]"))));
    own.map(|row| row[2].to_owned()).collect()
}

/// docs/guides/privacy.md: what a client asks goes to GitLab, and nothing goes anywhere else.
#[cfg(target_os = "linux")]
#[test]
fn the_process_speaks_to_the_configured_gitlab_alone() {
    let gitlab = Gitlab::with_project();
    gitlab.json("/issues", &json!([{"iid": 1, "title": "One", "web_url": "http://elsewhere.example/1"}]));
    let mut client = gitlab.client(&[]);
    let found = client.call("gitlab_find_action", json!({"query": "list issues"}));
    assert!(!found.is_error, "{}", found.text);
    let listed = execute(&mut client, "issue.list", json!({"fullPath": "acme/widget"}));
    assert!(!listed.is_error, "{}", listed.text);
    let expected = format!("0100007F:{:04X}", gitlab.address.port());
    let remotes = remote_addresses(client.id());
    assert!(
        !remotes.is_empty() && remotes.iter().all(|remote| *remote == expected),
        "{remotes:?}, not {expected}"
    );
}
