//! Several GitLab instances: which one a call goes to, how its answer names it, and that no token leaves it.

mod routing;
mod tokens;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::scripted_gitlab::{Gitlab, answer};

/// Tokens of the default instance, of the second account there, and of the other instance.
const HOME_TOKEN: &str = "glpat-home-secret-token";
const ACCOUNT_TOKEN: &str = "glpat-account-secret-token";
const WORK_TOKEN: &str = "glpat-work-secret-token";

/// Two scripted instances, and the settings file of a server for both.
struct Setup {
    home: Gitlab,
    work: Gitlab,
    directory: tempfile::TempDir,
}

/// A GitLab whose project and issues bear a mark.
fn marked_gitlab(mark: &str) -> Gitlab {
    let gitlab = Gitlab::start();
    gitlab.json("/api/v4/version", &json!({"version": "18.9.0"}));
    gitlab.json("/api/v4/user", &json!({"id": 1, "username": mark}));
    let project = |path: &str| json!({"id": 1, "path_with_namespace": path, "name": mark});
    gitlab.json("/projects/[^/]*", &project("acme/widget"));
    let issue = |iid: u64| json!({"iid": iid, "title": format!("{mark} {iid}"), "state": "opened"});
    let page = answer(200, [issue(1), issue(2)]).header("x-next-page", "2").header("x-total", "4");
    gitlab.answer("GET", "/projects/[^/]*/issues", page);
    gitlab.json("/projects/[^/]*/issues/[0-9]+", &issue(7));
    gitlab.answer("DELETE", "/projects/[^/]*/issues/[0-9]+", answer(204, json!(null)));
    gitlab.answer("PUT", "/projects/[^/]*/issues/[0-9]+", answer(200, issue(7)));
    gitlab
}

impl Setup {
    fn new() -> Setup {
        Setup::with("")
    }

    /// With more lines in the table of the instance `work`.
    fn with(more: &str) -> Setup {
        let (home, work) = (marked_gitlab("HOMEMARK"), marked_gitlab("WORKMARK"));
        let directory = tempfile::tempdir().unwrap();
        let settings = format!(
            "[[instance]]\nname = \"work\"\nurl = \"{}\"\ntoken_env = \"WORK_TOKEN\"\n{more}\n\
             [[instance]]\nname = \"account\"\nurl = \"{}\"\ntoken_env = \"ACCOUNT_TOKEN\"\npaths = [\"second\"]\n",
            work.url(),
            home.url()
        );
        fs::write(directory.path().join("settings.toml"), settings).unwrap();
        Setup { home, work, directory }
    }

    fn settings(&self) -> PathBuf {
        self.directory.path().join("settings.toml")
    }

    fn client(&self, more: &[(&str, &str)]) -> Client {
        let file = self.settings().display().to_string();
        let always = [
            ("GITLAB_MCP_CONFIG", file.as_str()),
            ("WORK_TOKEN", WORK_TOKEN),
            ("ACCOUNT_TOKEN", ACCOUNT_TOKEN),
        ];
        let url = self.home.url();
        let own = [("GITLAB_URL", url.as_str()), ("GITLAB_TOKEN", HOME_TOKEN)];
        Client::connect(&[], &[&own, &always[..], more].concat())
    }

    /// The name of the default instance.
    fn home_name(&self) -> String {
        self.home.address.to_string()
    }

    /// The URL of the issue 7 at a GitLab.
    fn issue_url(gitlab: &Gitlab, path: &str) -> String {
        format!("{}/{path}/-/issues/7", gitlab.url())
    }
}

/// Arguments of execute.
fn call(action: &str, params: Value, beside: Value) -> Value {
    let mut arguments = json!({"action": action, "params": params});
    arguments.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
    arguments
}
