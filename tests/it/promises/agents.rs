//! Sub-agents that share the catalog.

use super::{Folder, Server, command, page};

#[test]
fn agents_writes_sub_agents_each_with_a_server_and_toolsets_of_its_own() {
    let folder = Folder::with(&[]);
    command(&["agents", "--out", &folder.path("agents")], &[])
        .ok()
        .says("gitlab-ci.md")
        .says("gitlab-security.md");
    page(&folder.path("agents/gitlab-ci.md"))
        .says("command: gitlab-mcp")
        .says_like(r#"GITLAB_TOOLSETS: "[^"]*pipelines"#);
}

#[test]
fn each_sub_agent_has_a_description_and_a_prompt() {
    let folder = Folder::with(&[]);
    command(&["agents", "--out", &folder.path("agents")], &[]).ok();
    page(&folder.path("agents/gitlab-security.md"))
        .says_like(r#"(?m)^description: "[^"]*vulnerabilities"#)
        .says_like("(?s)---\n.*---\n\n[A-Z].*gitlab_find_action");
}

#[test]
fn a_sub_agent_may_use_the_tools_of_its_own_server_and_no_others() {
    let folder = Folder::with(&[]);
    command(&["agents", "--out", &folder.path("claude")], &[]).ok();
    page(&folder.path("claude/gitlab-ci.md")).says_like("(?m)^tools: .*gitlab_execute_action");
    command(&["agents", "--client", "copilot", "--out", &folder.path("copilot")], &[]).ok();
    page(&folder.path("copilot/gitlab-ci.agent.md"))
        .says_like("(?m)^tools: .*gitlab_execute_action")
        .says_not(r#""*""#);
}

#[test]
fn the_sub_agent_for_code_is_named_as_remote_and_says_that_it_does_not_see_local_files() {
    let folder = Folder::with(&[]);
    command(&["agents", "--out", &folder.path("agents")], &[])
        .ok()
        .says("gitlab-remote-repository.md")
        .says_not("gitlab-codebase");
    page(&folder.path("agents/gitlab-remote-repository.md")).says("working copy");
}

/// Differs: docs/internals/differences.md#sub-agents-by-toolset
#[test]
fn one_sub_agent_reads_and_updates_issues_epics_projects_and_groups() {
    let folder = Folder::with(&[]);
    command(&["agents", "--out", &folder.path("agents")], &[]).ok();
    page(&folder.path("agents/gitlab-resources.md"))
        .says_like(r#"GITLAB_TOOLSETS: "[^"]*\bissues\b[^"]*\bepics\b[^"]*\bcomposite\b"#);
}

/// The sub-agent that administers says that GitLab's API has no query of the knowledge graph; finds are not confident.
#[test]
fn the_sub_agent_that_administers_says_that_gitlabs_api_has_no_query_of_the_knowledge_graph() {
    let folder = Folder::with(&[]);
    let mut server = Server::sandbox();
    command(&["agents", "--out", &folder.path("agents")], &[]).ok();
    page(&folder.path("agents/gitlab-administration.md")).says_like("(?i)knowledge graph");
    server.find("search the graph database").ok().matches("/confidence", "low|none");
}

/// Differs: docs/internals/differences.md#orchestration-by-the-client
#[test]
fn which_sub_agent_works_on_what_and_what_it_is_told_is_decided_by_the_client() {
    let folder = Folder::with(&[]);
    command(&["agents", "--client", "copilot", "--out", &folder.path("agents")], &[]).ok();
    page(&folder.path("agents/gitlab-ci.agent.md")).says_like("(?m)^description: ");
}
