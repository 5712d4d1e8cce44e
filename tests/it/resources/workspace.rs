//! The project of a call: from a remote, an address, or the directories that the client works in.

// Roots are of the eras before 2026-07-28, and deprecated since.
#![allow(deprecated)]

use std::fs;
use std::path::Path;

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation, ListRootsResult,
    Root,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value, json};

use crate::support::client::{Client, execute, program, succeed};
use crate::support::scripted_gitlab::Gitlab;

const SECRET: &str = "glpat-very-secret";

#[test]
fn a_remote_in_any_form_is_its_project() {
    let mut client = Client::sandbox();
    let web =
        succeed(&mut client, "project.get", json!({"fullPath": "acme/widget"}))["data"]["web_url"].clone();
    let web = web.as_str().unwrap();
    let with_user = web.replace("http://", &format!("http://oauth2:{SECRET}@"));
    let cases = [
        ("remote", format!("{web}.git")),
        ("remote", with_user),
        ("remote", "git@127.0.0.1:acme/widget.git".to_owned()),
        ("remote", "ssh://git@127.0.0.1:2222/acme/widget.git".to_owned()),
        ("url", format!("{web}/-/merge_requests/5/diffs")),
        ("url", web.to_owned()),
    ];
    for (name, given) in cases {
        let reply = execute(&mut client, "project.resolve", json!({name: given}));
        assert!(!reply.is_error, "{}", reply.text);
        assert_eq!(reply.structured["fullPath"], "acme/widget", "{given}");
        assert!(
            !reply.text.contains(SECRET) && !reply.structured.to_string().contains(SECRET),
            "{}",
            reply.text
        );
    }
}

#[test]
fn another_host_and_no_address_are_told_without_what_is_secret_in_them() {
    let mut client = Client::sandbox();
    let cases = [
        format!("https://oauth2:{SECRET}@gitlab.example.com/acme/widget.git"),
        format!("https://{SECRET}@127.0.0.1:1/acme/widget.git"),
        format!("ftp://me:{SECRET}@127.0.0.1/acme/widget.git"),
        format!("https://me:{SECRET}@[/x"),
    ];
    for given in cases {
        let reply = execute(&mut client, "project.resolve", json!({"remote": given}));
        assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{}", reply.text);
        assert!(
            !reply.text.contains(SECRET) && !reply.structured.to_string().contains(SECRET),
            "{}",
            reply.text
        );
    }
    let reply = execute(&mut client, "project.resolve", json!({"remote": "git@127.0.0.1:acme/nothing.git"}));
    assert_eq!(reply.structured["error"]["kind"], "not_found", "{}", reply.text);
    let nothing = execute(&mut client, "project.resolve", json!({}));
    assert_eq!(nothing.structured["error"]["kind"], "not_found", "{}", nothing.text);
    assert!(!client.close().stderr.contains(SECRET));
}

#[test]
fn without_a_workspace_the_configured_project_is_it() {
    let mut client = Client::connect(&["--sandbox", "--project", "acme/site"], &[]);
    let found = succeed(&mut client, "project.resolve", json!({}));
    assert_eq!((&found["fullPath"], &found["is_default"]), (&json!("acme/site"), &json!(true)));
}

/// A client that works in a directory.
struct Working(Vec<Root>);

impl ClientHandler for Working {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_roots().build();
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, rmcp::ErrorData> {
        Ok(ListRootsResult::new(self.0.clone()))
    }
}

type Session = RunningService<RoleClient, Working>;

async fn working_in(directory: &Path, variables: &[(&str, &str)]) -> Session {
    let command = tokio::process::Command::from(program(&["--sandbox"], variables));
    let transport = TokioChildProcess::new(command).unwrap();
    let root = Root::new(url::Url::from_directory_path(directory).unwrap().to_string());
    Working(vec![root]).serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await.unwrap()
}

async fn run(session: &Session, action: &str, params: Value) -> CallToolResult {
    let arguments: Map<String, Value> =
        json!({"action": action, "params": params}).as_object().cloned().unwrap();
    session
        .call_tool(CallToolRequestParams::new("gitlab_execute_action").with_arguments(arguments))
        .await
        .unwrap()
}

fn structured(result: &CallToolResult) -> Value {
    result.structured_content.clone().unwrap()
}

fn text(result: &CallToolResult) -> String {
    serde_json::to_value(&result.content).unwrap()[0]["text"].as_str().unwrap().to_owned()
}

/// A working copy of the sandbox's project, as git leaves one.
fn checkout(remote: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let git = directory.path().join(".git");
    fs::create_dir(&git).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git.join("config"), format!("[remote \"origin\"]\n\turl = {remote}\n")).unwrap();
    fs::write(directory.path().join("README.md"), "mine\n").unwrap();
    directory
}

#[tokio::test]
async fn the_workspaces_project_is_the_one_that_is_meant() {
    let directory = checkout(&format!("git@127.0.0.1:acme/widget.git ; {SECRET}"));
    let session = working_in(directory.path(), &[]).await;
    let branches = structured(&run(&session, "branch.list", json!({})).await);
    assert!(branches["notes"].to_string().contains("acme/widget, the workspace's project"), "{branches}");
    let resolved = structured(&run(&session, "project.resolve", json!({})).await);
    assert_eq!((&resolved["fullPath"], &resolved["is_default"]), (&json!("acme/widget"), &json!(true)));
    assert_eq!(resolved["from"]["branch"], "main");
    session.cancel().await.unwrap();
}

#[tokio::test]
async fn the_remote_of_the_workspace_chooses_the_instance() {
    let work = Gitlab::with_project();
    let issue = json!({"iid": 7, "title": "at work", "state": "opened"});
    work.json("/projects/[^/]*/issues/7", &issue);
    let settings = tempfile::NamedTempFile::new().unwrap();
    fs::write(settings.path(), format!("[[instance]]\nname = \"work\"\nurl = \"{}\"\n", work.url())).unwrap();
    let file = settings.path().display().to_string();
    let directory = checkout(&format!("{}/some/project.git", work.url()));
    let session = working_in(directory.path(), &[("GITLAB_MCP_CONFIG", &file)]).await;
    let issue = run(&session, "issue.get", json!({"iid": 7})).await;
    assert_eq!(structured(&issue)["instance"], "work", "{}", text(&issue));
    assert!(text(&issue).contains("at work"), "{}", text(&issue));
    assert!(work.last("/issues/7").path.contains("some%2Fproject"), "{:?}", work.seen());
    session.cancel().await.unwrap();
    // A remote of no configured instance leaves it at the default.
    let directory = checkout("git@elsewhere.example:some/project.git");
    let session = working_in(directory.path(), &[("GITLAB_MCP_CONFIG", &file)]).await;
    let issue = run(&session, "issue.get", json!({"fullPath": "acme/widget", "iid": 1})).await;
    assert_eq!(structured(&issue)["instance"], "sandbox", "{}", text(&issue));
    session.cancel().await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_in_the_workspace_too_is_said_to_be_gitlabs_copy() {
    let directory = checkout("git@127.0.0.1:acme/widget.git");
    let readme = directory.path().join("README.md").display().to_string();
    let file = |branch: &str, path: &str| json!({"file_path": path, "ref": branch});
    let session = working_in(directory.path(), &[]).await;
    let shown = run(&session, "repository_file.get", file("main", "README.md")).await;
    assert!(text(&shown).starts_with("Note: this is GitLab's copy at main"), "{}", text(&shown));
    assert!(structured(&shown)["notes"][0].as_str().unwrap().contains(&readme));
    for (branch, path) in [("quiet-gears", "README.md"), ("main", "src/main.rs")] {
        let other = run(&session, "repository_file.get", file(branch, path)).await;
        assert!(!text(&other).contains("GitLab's copy"), "{branch} {path}: {}", text(&other));
    }
    session.cancel().await.unwrap();
    let quiet = working_in(directory.path(), &[("GITLAB_LOCAL_HINTS", "false")]).await;
    let shown = run(&quiet, "repository_file.get", file("main", "README.md")).await;
    assert!(!text(&shown).contains("GitLab's copy"), "{}", text(&shown));
    quiet.cancel().await.unwrap();
}

#[tokio::test]
async fn a_worktree_is_read_by_the_repository_it_belongs_to() {
    let main = checkout("git@127.0.0.1:acme/widget.git");
    let own = main.path().join(".git/worktrees/other");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("HEAD"), "ref: refs/heads/quiet-gears\n").unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    let session = working_in(other.path(), &[]).await;
    let resolved = structured(&run(&session, "project.resolve", json!({})).await);
    assert_eq!(
        (&resolved["fullPath"], &resolved["from"]["branch"]),
        (&json!("acme/widget"), &json!("quiet-gears"))
    );
    session.cancel().await.unwrap();
}

#[tokio::test]
async fn a_workspace_of_another_gitlab_is_no_default() {
    let directory = checkout(&format!("https://me:{SECRET}@github.com/acme/widget.git"));
    let session = working_in(directory.path(), &[]).await;
    let refused = run(&session, "branch.list", json!({})).await;
    assert_eq!(refused.is_error, Some(true));
    let answer = run(&session, "project.resolve", json!({})).await;
    assert!(text(&answer).contains("github.com") && !text(&answer).contains(SECRET), "{}", text(&answer));
    session.cancel().await.unwrap();
}

#[test]
fn what_reads_a_repository_is_marked_where_it_is_found() {
    let mut client = Client::ready();
    let found = client.call("gitlab_find_action", json!({"query": "repository_file.get"}));
    assert_eq!(found.structured["results"][0]["remote"], true, "{}", found.text);
    let other = client.call("gitlab_find_action", json!({"query": "issue.list"}));
    assert!(other.structured["results"][0].get("remote").is_none());
}
