//! Credentials: each source of a token, their order, renewal while the server runs, signing in and out, and that no
//! token is shown on the way.

mod job;
mod page;
mod renewal;
mod secrecy;
mod sign_in;
mod sources;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::client::program;
use crate::support::scripted_gitlab::{Answer, Gitlab, Request, answer};

/// A folder with programs that stand in for those of the user, and files.
pub struct Machine {
    folder: TempDir,
}

impl Machine {
    pub fn new() -> Machine {
        Machine { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn text_path(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.text_path(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A program of the user: a shell script.
    pub fn install(&self, name: &str, script: &str) -> String {
        let path = self.write(name, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The search path, on which the installed programs come first.
    pub fn search_path(&self) -> String {
        format!("{}:/usr/bin:/bin", self.folder.path().display())
    }

    /// Writes a file of sign-ins with this one.
    pub fn signed_in(&self, gitlab: &Gitlab, access: &str, refresh: &str, expires_at: u64) -> String {
        let sign_in = json!({
            "kind": "oauth", "client_id": "my-app", "access_token": access, "refresh_token": refresh,
            "expires_at": expires_at, "scope": "api",
        });
        let file = json!({"version": 1, "sign_ins": {format!("{}/", gitlab.url()): sign_in}});
        let path = self.write("sign-ins.json", &file.to_string());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }
}

/// Unix time this many seconds from now.
pub fn seconds_from_now(seconds: i64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    now.checked_add_signed(seconds).unwrap()
}

/// A GitLab that knows its user.
pub fn gitlab() -> Gitlab {
    let gitlab = Gitlab::start();
    gitlab.json("/api/v4/user", &json!({"id": 1, "username": "alice"}));
    gitlab
}

pub fn unauthorized() -> Answer {
    answer(401, json!({"message": "401 Unauthorized"}))
}

pub fn user() -> Answer {
    answer(200, json!({"id": 1, "username": "alice"}))
}

/// Tokens as GitLab grants them.
pub fn granted(access: &str, refresh: &str, expires_in: u64) -> Answer {
    answer(
        200,
        json!({
            "access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": expires_in,
            "scope": "api", "created_at": 1,
        }),
    )
}

/// Asks GitLab for the user of the token, from the command line.
pub fn ask_for_user(gitlab: &Gitlab, variables: &[(&str, &str)]) -> Output {
    run(&["execute", "current_user.get"], gitlab, variables)
}

pub fn run(arguments: &[&str], gitlab: &Gitlab, variables: &[(&str, &str)]) -> Output {
    let url = gitlab.url();
    let variables = [&[("GITLAB_URL", url.as_str())], variables].concat();
    program(arguments, &variables).stdin(Stdio::null()).output().unwrap()
}

/// Both outputs together.
pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The credential of a request: the line of its header.
pub fn credential(request: &Request) -> Option<String> {
    let names = ["private-token: ", "authorization: ", "job-token: "];
    request.head.lines().find(|line| names.iter().any(|name| line.starts_with(name))).map(str::to_owned)
}

/// Credentials of the requests for the user, in turn.
pub fn credentials_of(gitlab: &Gitlab) -> Vec<Option<String>> {
    let requests = gitlab.received();
    requests.iter().filter(|request| request.path == "/api/v4/user").map(credential).collect()
}

/// Forms that were posted to an OAuth endpoint.
pub fn forms(gitlab: &Gitlab, endpoint: &str) -> Vec<Vec<(String, String)>> {
    let posted = gitlab.received().into_iter().filter(|request| request.path == endpoint);
    posted.map(|request| url::form_urlencoded::parse(&request.body).into_owned().collect()).collect()
}

/// The sign-ins that a file has.
pub fn kept(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["sign_ins"].clone()
}
