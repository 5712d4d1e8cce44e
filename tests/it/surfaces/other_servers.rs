//! Flags, variables and patterns of other GitLab servers: understood, or answered with what there is here.

use serde_json::json;

use crate::surfaces::listings::{list, run, start};

#[test]
fn patterns_by_tool_and_action_deny_what_they_say() {
    let denied = "browse_milestones:burndown,manage_milestone:promote,manage_milestone:delete";
    let mut client = start("dynamic", &[("GITLAB_DENIED_ACTIONS", denied)]);
    for action in ["milestone.list_burndown_events", "milestone.promote", "milestone.delete"] {
        let reply = client.call("gitlab_execute_action", json!({"action": action, "params": {}}));
        assert_eq!(reply.structured["error"]["kind"], "denied", "{action}: {}", reply.text);
    }
    let list_all = json!({"action": "milestone.list", "params": {"fullPath": "acme/widget"}});
    assert!(!client.call("gitlab_execute_action", list_all).is_error);
    let split = [("GITLAB_DENIED_ACTIONS", denied), ("GITLAB_META_SPLIT", "cqrs")];
    let listed = json!(list(&mut start("meta", &split))).to_string();
    assert!(!listed.contains("milestone.promote\"") && listed.contains("milestone.update\""));
}

/// The nouns of other servers' tools are not GitLab's: a variable is one of CI/CD, a discussion is of a merge request.
#[test]
fn nouns_of_other_servers_deny_the_actions_of_their_domains() {
    for (pattern, action) in [
        ("manage_variable:delete", "ci_variable.delete"),
        ("browse_variables:get", "ci_variable.get"),
        ("manage_pipeline_job:play", "job.play"),
        ("manage_files:delete", "repository_file.delete"),
        ("manage_mr_discussion:create", "merge_request_discussion.create"),
        ("manage_milestone : promote", "milestone.promote"),
    ] {
        let mut client = start("dynamic", &[("GITLAB_DENIED_ACTIONS", pattern)]);
        let reply = client.call("gitlab_execute_action", json!({"action": action, "params": {}}));
        assert_eq!(reply.structured["error"]["kind"], "denied", "{pattern}: {}", reply.text);
    }
}

#[test]
fn tools_of_other_servers_lead_to_the_call_that_does_the_same() {
    let mut client = start("dynamic", &[]);
    let mut instead = |tool: &str, arguments: serde_json::Value| {
        let answer = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        (answer["error"]["message"].as_str().unwrap().to_owned(), answer["error"]["data"]["call"].clone())
    };
    for (tool, arguments, action) in [
        ("manage_variable", json!({"action": "create", "key": "A", "value": "b"}), "ci_variable.create"),
        ("browse_variables", json!({"action": "list"}), "ci_variable.list"),
        ("manage_pipeline_job", json!({"action": "play", "job_id": 3}), "job.play"),
        ("manage_mr_discussion", json!({"action": "create"}), "merge_request_discussion.create"),
        ("manage_files", json!({"action": "get"}), "repository_file.get"),
        // Names that are an alias of one action, and of a domain as well.
        ("search", json!({"scope": "issues", "search": "gear"}), "search.run"),
        (
            "mr_discussions",
            json!({"project_id": "acme/widget", "merge_request_iid": 5}),
            "merge_request_discussion.list",
        ),
        ("edit_file", json!({"project_id": "acme/widget", "file_path": "a.py"}), "repository_file.update"),
    ] {
        let (message, call) = instead(tool, arguments);
        assert_eq!(call["arguments"]["action"], action, "{tool}: {message}");
    }
    let file = json!({"project_id": "acme/widget", "file_path": "README.md", "ref": "main"});
    let (message, call) = instead("read_repository_file", file);
    let read = client.call("gitlab_execute_action", call["arguments"].clone());
    assert!(read.text.contains("A thing that turns."), "{message}: {}", read.text);
}

/// `fetch_comments` is of an issue or of a merge request.
#[test]
fn a_tool_of_two_meanings_names_both() {
    let mut client = start("dynamic", &[]);
    let arguments = json!({"fullPath": "acme/widget", "iid": 5});
    let answer = client.request("tools/call", json!({"name": "fetch_comments", "arguments": arguments}));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("issue_note.list") && message.contains("or with merge_request_note.list"),
        "{message}"
    );
}

/// `manage_todos {"action": "mark_done"}` as an action, not as a tool.
#[test]
fn a_tool_of_other_servers_as_an_action_leads_to_the_action_that_it_has() {
    let mut client = start("dynamic", &[]);
    for (tool, params, action) in [
        ("manage_todos", json!({"action": "mark_done", "id": 1}), "todo.mark_as_done"),
        ("manage_todos", json!({"action": "mark_all_done"}), "todo.mark_all_as_done"),
        ("manage_repository", json!({"action": "fork", "project_id": "acme/widget"}), "project.fork"),
        (
            "browse_merge_requests",
            json!({"action": "get", "project_id": "acme/widget", "iid": 5}),
            "merge_request.get",
        ),
    ] {
        let call = json!({"action": tool, "params": params});
        let reply = client.call("gitlab_execute_action", call);
        assert_eq!(reply.structured["error"]["kind"], "unknown_action", "{tool}: {}", reply.text);
        assert_eq!(reply.structured["error"]["fix"]["arguments"]["action"], action, "{tool}: {}", reply.text);
    }
    // A toolset is looked for by what it has.
    let call = json!({"action": "activate_toolset", "params": {"toolset_name": "issues"}});
    let reply = client.call("gitlab_execute_action", call);
    let query = reply.structured["error"]["fix"]["arguments"]["query"].clone();
    let found = client.call("gitlab_find_action", json!({"query": query}));
    assert!(found.structured["results"][0]["action"].as_str().unwrap().contains("issue"), "{}", found.text);
}

/// `read_file {"path": "README.md"}` is meant for the client's own tool, and was told of parameters alone.
#[test]
fn a_clients_own_tool_as_an_action_is_told_so() {
    let mut client = start("dynamic", &[]);
    for (tool, params) in [
        ("read_file", json!({"path": "README.md"})),
        ("edit_file", json!({"file_path": "utils.py"})),
        ("find_files", json!({})),
        ("create_file_with_contents", json!({"file_path": "a", "contents": "b"})),
    ] {
        let reply = client.call("gitlab_execute_action", json!({"action": tool, "params": params}));
        assert!(reply.is_error && reply.text.contains("the client's own tools"), "{tool}: {}", reply.text);
    }
    let named = json!({"action": "read_file", "params": {"fullPath": "acme/widget", "path": "README.md"}});
    assert!(client.call("gitlab_execute_action", named.clone()).text.contains("A thing that turns."));
    let mut client = start("dynamic", &[("GITLAB_PROJECT", "acme/widget")]);
    let in_default = json!({"action": "read_file", "params": {"path": "README.md"}});
    assert!(client.call("gitlab_execute_action", in_default).text.contains("A thing that turns."));
}

#[test]
fn a_name_in_capitals_is_the_same_name() {
    let mut client = start("dynamic", &[]);
    let call =
        json!({"action": "CLOSE_ISSUE", "params": {"fullPath": "acme/widget", "iid": 3}, "dry_run": true});
    let shown = client.call("gitlab_execute_action", call).text;
    assert!(shown.contains(r#""body":{"state_event":"close"}"#), "{shown}");
}

/// `push_files` of other servers has no `action` for a file and calls its place `path`; `create_note` has the type and
/// the number of what is commented apart.
#[test]
fn parameters_of_other_servers_tools_are_understood() {
    let mut client = start("dynamic", &[]);
    let mut dry = |action: &str, params: serde_json::Value| {
        let call = json!({"action": action, "params": params, "dry_run": true});
        client.call("gitlab_execute_action", call).text
    };
    let file = json!({"project_id": "acme/widget", "branch": "main", "commit_message": "Add", "files": [{"path": "a.txt", "content": "x"}]});
    let shown = dry("push_files", file);
    assert!(shown.contains(r#"{"file_path":"a.txt","content":"x","action":"create"}"#), "{shown}");
    for (kind, number, id) in
        [("issue", json!(12), "Issue/"), ("merge_request", json!("5"), "MergeRequest/205")]
    {
        let note = json!({"project_id": "acme/widget", "noteable_type": kind, "noteable_iid": number, "body": "Hello"});
        let shown = dry("create_note", note);
        assert!(shown.contains(&format!("gid://gitlab/{id}")), "{shown}");
    }
    // The number of an issue is no id: with its project it is the issue's reference.
    let issue =
        json!({"fullPath": "acme", "epic": "One shop front", "project_path": "acme/widget", "issue_iid": 18});
    let shown = dry("epic_issue.assign", issue);
    assert!(shown.contains("issue_id: acme/widget#18 -> 18"), "{shown}");
    // Neither a group nor the number of the epic is the project of an issue.
    for (name, value) in [("group_id", json!("acme")), ("id", json!(2))] {
        let call = json!({"fullPath": "acme", "epic": "One shop front", name: value, "issue_iid": 1});
        let refused = dry("epic_issue.assign", call);
        assert!(refused.contains(&format!("there is no parameter `{name}`")), "{refused}");
    }
    let shown = dry("search_code", json!({"project_id": "acme/widget", "search": "gear"}));
    assert!(shown.contains("scope=blobs"), "{shown}");
    let unknown = dry("create_note", json!({"noteable_type": "chair", "noteable_iid": 3, "body": "Hello"}));
    assert!(unknown.contains("there is no parameter `noteable_type`"), "{unknown}");
}

/// A number alone does not say whether an issue or a merge request is commented on: the comment went to an epic.
#[test]
fn a_comment_on_something_of_an_unsaid_type_is_not_led_to_one_of_them() {
    let mut client = start("dynamic", &[]);
    let note = json!({"project_id": "acme/widget", "noteable_iid": 5, "body": "Hello"});
    let reply = client.call("gitlab_execute_action", json!({"action": "create_note", "params": note}));
    assert_eq!(reply.structured["error"]["fix"]["tool"], "gitlab_find_action", "{}", reply.text);
    for candidate in ["issue_note.create", "merge_request_note.create"] {
        assert!(reply.text.contains(&format!("- {candidate} |")), "{}", reply.text);
    }
}

/// A model that means the client's own tool was led to a change on GitLab.
#[test]
fn tools_of_the_client_itself_are_not_led_to_gitlab() {
    let mut client = start("dynamic", &[]);
    for (tool, arguments, says) in [
        ("edit_file", json!({"file_path": "utils.py"}), "files of this machine"),
        ("read_file", json!({"path": "/tmp/a"}), "files of this machine"),
        ("run_git_command", json!({"command": "status"}), "git in a working copy"),
        ("bash", json!({"command": "ls"}), "commands of this machine"),
    ] {
        let answer = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(says) && message.contains("the client's own tools"), "{message}");
        assert_eq!(answer["error"]["data"]["call"], serde_json::Value::Null, "{answer}");
    }
    let find = client.call("gitlab_find_action", json!({"query": "run git status"}));
    assert!(find.text.starts_with("This server does not run git on this machine"), "{}", find.text);
}

#[test]
fn a_pattern_that_means_nothing_stops_the_start_with_the_nearest() {
    for (pattern, nearest) in [
        ("manage_milestone:promot", "milestone.promote"),
        ("isue.delete", "issue.delete"),
        ("delete_isue", "issue.delete"),
    ] {
        let (code, out, err) = run(&["--sandbox", "surface"], &[("GITLAB_DENIED_ACTIONS", pattern)]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{pattern}");
        assert!(err.contains(&format!("`{pattern}` matches no action; the nearest is `{nearest}`")), "{err}");
    }
}

#[test]
fn other_spellings_of_flags_and_variables_are_understood() {
    let (code, _, err) = run(&["--gitlab-url", "sandbox", "execute", "issue.list"], &[]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    for name in ["GITLAB_API_URL", "GITLAB_BASE_URL", "GITLAB_INSTANCE_URL"] {
        let (code, _, err) = run(&["execute", "issue.list"], &[(name, "sandbox")]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{name}");
    }
    for (name, value) in [
        ("GITLAB_HOST", "gitlab.invalid"),
        ("GL_HOST", "https://gitlab.invalid"),
        ("GITLAB_API_URL", "https://gitlab.invalid/api/v4"),
    ] {
        let dry = ["execute", "issue.list", "--dry-run", "--json"];
        let (code, out, err) = run(&dry, &[(name, value), ("GITLAB_PERSONAL_ACCESS_TOKEN", "glpat-a")]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{name}");
        assert!(out.contains("issue.list"), "{name}: {out}");
    }
    for name in ["GITLAB_PERSONAL_ACCESS_TOKEN", "GITLAB_ACCESS_TOKEN", "GITLAB_API_TOKEN", "GITLAB_PAT"] {
        let variables = [(name, "glpat-a"), ("GITLAB_URL", "https://gitlab.invalid")];
        let (_, _, err) = run(&["execute", "issue.list", "--dry-run"], &variables);
        assert!(!err.contains("no token is set"), "{name}: {err}");
    }
}

#[test]
fn foreign_flags_are_answered_with_what_there_is() {
    for (arguments, expected) in [
        (&["--port=8080"][..], "--http ADDRESS"),
        (&["--transport", "sse"], "--http ADDRESS"),
        (&["--stdio"], "leave it out"),
        (&["--token", "glpat-sesame"], "GITLAB_TOKEN"),
    ] {
        let (code, out, err) = run(arguments, &[]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(err.starts_with("gitlab-mcp: there is no flag --") && err.contains(expected), "{err}");
        assert!(err.lines().count() == 1 && !err.contains("sesame"), "{err}");
    }
    let (code, _, err) = run(&["--frobnicate"], &[]);
    assert!(code == Some(2) && err.contains("unexpected argument"), "{err}");
}

#[test]
fn foreign_variables_are_answered_with_ours() {
    for (name, ours) in [("GITLAB_PROJECT_ID", "GITLAB_PROJECT "), ("STREAMABLE_HTTP", "GITLAB_MCP_HTTP")] {
        let (code, _, err) = run(&["--sandbox", "execute", "issue.list"], &[(name, "1")]);
        assert_eq!(code, Some(0), "{err}");
        assert!(
            err.contains(&format!("{name} is not a setting of gitlab-mcp; ")) && err.contains(ours),
            "{err}"
        );
    }
    // A restriction that would not hold is no start.
    for (name, ours) in [
        ("GITLAB_ALLOWED_PROJECT_IDS", "GITLAB_ALLOWED_PATHS"),
        ("GITLAB_DENIED_TOOLS", "GITLAB_DENIED_ACTIONS"),
        ("MCP_READ_ONLY", "GITLAB_READ_ONLY"),
        ("READ_ONLY_MODE", "GITLAB_READ_ONLY"),
    ] {
        let (code, out, err) = run(&["--sandbox", "execute", "issue.list"], &[(name, "1")]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains(name) && err.contains(ours), "{err}");
    }
}
