//! A wall clock that jumps by days while the program runs, with libfaketime as the judge: what measures a duration goes by
//! the monotonic clock. Without the library (package `libfaketime`, or its path in `LIBFAKETIME`) the tests do nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, fs};

use serde_json::json;

use crate::support::client::{Client, EXECUTE, execute, succeed};
use crate::support::scripted_gitlab::{Gitlab, answer, raw};

/// A clock of the program's own.
struct Clock {
    folder: tempfile::TempDir,
    library: String,
}

impl Clock {
    /// A clock that is right at first; none without the library.
    fn new() -> Option<Clock> {
        let given = env::var_os("LIBFAKETIME").map(PathBuf::from);
        let folders = ["x86_64-linux-gnu", "aarch64-linux-gnu", "."];
        let usual = folders.map(|name| PathBuf::from(format!("/usr/lib/{name}/faketime/libfaketimeMT.so.1")));
        let library = given.into_iter().chain(usual).find(|path| path.exists())?;
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock { folder, library: library.to_str().unwrap().to_owned() };
        clock.jump("+0");
        Some(clock)
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Sets the clock to this distance from the right time.
    fn jump(&self, offset: &str) {
        fs::write(self.path("clock"), offset).unwrap();
    }

    fn variables(&self) -> [(&'static str, String); 4] {
        [
            ("LD_PRELOAD", self.library.clone()),
            ("FAKETIME_TIMESTAMP_FILE", self.path("clock")),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ]
    }

    fn client(&self, more: &[(&str, &str)]) -> Client {
        let own = self.variables();
        let own = own.iter().map(|(name, value)| (*name, value.as_str()));
        Client::connect(&[], &own.chain(more.iter().copied()).collect::<Vec<_>>())
    }
}

#[test]
fn a_clock_that_jumps_expires_no_consent_and_ends_no_wait() {
    let Some(clock) = Clock::new() else { return };
    for offset in ["+3d", "-3d"] {
        clock.jump("+0");
        let mut client = clock.client(&[("GITLAB_URL", "sandbox"), ("GITLAB_CONFIRM", "token")]);
        let delete = json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 4}});
        let asked = client.call(EXECUTE, delete);
        clock.jump(offset);
        let agreed = client.call(EXECUTE, asked.structured["error"]["fix"]["arguments"].clone());
        assert!(!agreed.is_error, "{offset}: {}", agreed.text);
        // A job that nobody runs: the wait ends by its own time.
        let made = succeed(&mut client, "pipeline.create", json!({"fullPath": "acme/widget", "ref": "main"}));
        let wait = json!({"fullPath": "acme/widget", "pipeline_id": made["data"]["id"], "wait": 2});
        let started = Instant::now();
        let waited = execute(&mut client, "pipeline.get", wait);
        assert!(!waited.is_error && started.elapsed() >= Duration::from_secs(1), "{offset}: {}", waited.text);
    }
}

#[test]
fn a_clock_that_jumps_renews_a_token_and_lengthens_no_pause() {
    let Some(clock) = Clock::new() else { return };
    let gitlab = Gitlab::start();
    let asked = clock.path("asked");
    let command = clock.path("print-token");
    let print = r#"echo '{"token": "glpat-one", "expires_in": 7200}'"#;
    fs::write(&command, format!("#!/bin/sh\necho >> {asked}\n{print}\n")).unwrap();
    fs::set_permissions(&command, fs::Permissions::from_mode(0o700)).unwrap();
    let mut client = clock.client(&[
        ("GITLAB_URL", &gitlab.url()),
        ("GITLAB_TOKEN_COMMAND", &command),
        ("PATH", "/usr/bin:/bin"),
    ]);
    let user = || answer(200, json!({"id": 1, "username": "alice"}));
    let limited = || raw(429, "text/plain", "Retry later").header("retry-after", "1");
    let mut renewed = 0;
    for offset in ["+0", "+3d", "-3d"] {
        clock.jump(offset);
        gitlab.says("GET /api/v4/user", [limited(), user()]);
        let started = Instant::now();
        let reply = execute(&mut client, "current_user.get", json!({}));
        assert!(!reply.is_error, "{offset}: {}", reply.text);
        assert!(started.elapsed() >= Duration::from_secs(1), "{offset}: the pause was cut");
        let count = fs::read_to_string(&asked).unwrap().lines().count();
        assert!(offset != "+3d" || count > renewed, "a token that has expired by the clock is renewed");
        renewed = count;
    }
}
