//! docs/guides/sign-in.md: its commands are run against a scripted GitLab, with the output that is shown.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::credentials::sign_in::with_device_grant;
use crate::credentials::{Machine, granted};
use crate::docs::is_shown;
use crate::support::client::program;
use crate::support::scripted_gitlab::answer;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guides/sign-in.md"));

/// The instance of the page.
const URL: &str = "https://gitlab.example.com";

#[test]
fn the_commands_of_the_page_sign_in_and_out() {
    let machine = Machine::new();
    let gitlab = with_device_grant(vec![granted("access", "refresh", 7200)]);
    gitlab.says("POST /oauth/revoke", [answer(200, json!({}))]);
    gitlab.json("/api/v4/version", &json!({"version": "18.9.0"}));
    fs::create_dir(machine.path("bin")).unwrap();
    symlink(program(&[], &[]).get_program(), machine.path("bin/gitlab-mcp")).unwrap();
    machine.install("glab", "echo password=glpat-1");
    let path = format!("{}:{}", machine.text_path("bin"), machine.search_path());
    let (mut commands, mut lines) = (0, PAGE.lines().peekable());
    while let Some(line) = lines.next() {
        if line != "```console gitlab" {
            continue;
        }
        while let Some(command) = lines.next_if(|line| line.starts_with("$ ")) {
            let mut shown = String::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with("```")) {
                shown.push_str(line);
                shown.push('\n');
            }
            let command = command.trim_start_matches("$ ").replace(URL, &gitlab.url());
            let output = Command::new("/bin/sh")
                .args(["-c", &format!("{{ {command}\n}} 2>&1")])
                .env_clear()
                .envs([("PATH", path.as_str()), ("HOME", "/home/me"), ("GITLAB_URL", &gitlab.url())])
                .env("GITLAB_LOGIN_FILE", machine.path("sign-ins.json"))
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let output = String::from_utf8(output.stdout).unwrap();
            let output = output
                .replace(&gitlab.url(), URL)
                .replace(&gitlab.address.to_string(), "gitlab.example.com")
                .replace(
                    &machine.text_path("sign-ins.json"),
                    "/home/me/.local/state/gitlab-mcp/sign-ins.json",
                );
            assert!(is_shown(&shown, &output), "{command} shows\n{shown}\nand answers\n{output}");
            commands += 1;
        }
    }
    assert!(commands >= 5, "{commands} commands");
}
