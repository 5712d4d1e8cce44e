//! A GitLab with a project that policies deny, `acme/vault`, and calls that reach it.

use std::fs;

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, Reply};
use crate::support::scripted_gitlab::{Gitlab, answer};

/// A GitLab with `acme/vault` (id 5), `acme/widget` (id 1) and the group `acme` (id 7).
pub fn gitlab() -> Gitlab {
    let gitlab = Gitlab::start();
    for (id, path) in [(5, "acme/vault"), (1, "acme/widget"), (9, "other/secret")] {
        let project = json!({"id": id, "path_with_namespace": path, "name": path});
        let encoded = path.replace('/', "%2F");
        gitlab.json(&format!("/projects/({id}|{encoded})"), &project);
        for (verb, status) in [("POST", 201), ("PUT", 200), ("DELETE", 202)] {
            let any = answer(status, json!({"id": 77, "iid": 77}));
            gitlab.answer(verb, &format!("/projects/({id}|{encoded})(/.*)?"), any);
        }
        gitlab.json(&format!("/projects/({id}|{encoded})/issues"), &json!([{"iid": 1, "title": "One"}]));
        gitlab.json(&format!("/projects/({id}|{encoded})/issues/1"), &json!({"iid": 1, "title": "One"}));
    }
    gitlab.json("/groups/(7|acme)", &json!({"id": 7, "full_path": "acme", "name": "acme"}));
    gitlab.json("/user", &json!({"id": 3, "username": "me"}));
    for path in ["/projects", "/groups"] {
        gitlab.answer("POST", path, answer(201, json!({"id": 78})));
    }
    for verb in ["POST", "PUT", "DELETE"] {
        let any = answer(202, json!({"id": 7}));
        gitlab.answer(verb, "/groups/(7|acme)(/.*)?", any);
    }
    gitlab
}

/// The settings of a policy file, kept until the test ends.
pub struct PolicyFile {
    _folder: tempfile::TempDir,
    pub path: String,
}

pub fn policy_file(text: &str) -> PolicyFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    fs::write(&path, text).unwrap();
    PolicyFile { path: path.to_str().unwrap().to_owned(), _folder: folder }
}

pub fn deny_vault() -> PolicyFile {
    policy_file("[[rule]]\npaths = [\"acme/vault\"]\ndecision = \"deny\"\n")
}

pub fn run(client: &mut Client, action: &str, params: &Value, confirm: bool) -> Reply {
    let mut arguments = json!({"action": action, "params": params});
    if confirm {
        arguments["confirm"] = json!(true);
    }
    client.call(EXECUTE, arguments)
}

pub fn kind(reply: &Reply) -> String {
    reply.structured["error"]["kind"].as_str().unwrap_or("none").to_owned()
}

/// The requests that came, as `METHOD path`.
pub fn sent(gitlab: &Gitlab) -> Vec<String> {
    gitlab.received().iter().map(|request| format!("{} {}", request.method, request.path)).collect()
}

/// True if nothing was sent but reads by which an id is located.
pub fn is_only_located(requests: &[String]) -> bool {
    let located = [
        "GET /api/v4/projects/5",
        "GET /api/v4/groups/7",
        "GET /api/v4/user",
        "GET /api/v4/projects/9",
        "GET /api/v4/groups/9",
    ];
    requests.iter().all(|request| {
        located.contains(&request.as_str()) || request.ends_with("personal_access_tokens/self")
    })
}
