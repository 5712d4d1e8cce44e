//! The same catalog in each of its shapes, as seen by an independent client: the listed tools, the answers to calls,
//! the refusals, and the effect of the settings.

use std::process::Stdio;

use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion, Tool};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value, json};

use crate::support::client::{Client, EXECUTE, FIND, LATEST_HANDSHAKE, WITHOUT_HANDSHAKE, program, reply};

const KINDS: [&str; 4] = ["dynamic", "meta", "individual", "toolset"];

type Running = RunningService<RoleClient, ClientConfig>;

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn the_issue() -> Value {
    json!({"fullPath": "acme/widget", "iid": 45})
}

/// A server of that surface over the sandbox, past its handshake.
pub fn start(kind: &str, variables: &[(&str, &str)]) -> Client {
    let variables = [&[("TOOL_SURFACE", kind)], variables].concat();
    Client::sandbox_with(&variables)
}

/// Every page of the list.
pub fn list(client: &mut Client) -> Vec<Value> {
    let mut tools = Vec::new();
    let mut params = json!({});
    loop {
        let result = client.request("tools/list", params)["result"].clone();
        tools.extend(result["tools"].as_array().unwrap().clone());
        match &result["nextCursor"] {
            Value::Null => return tools,
            cursor => params = json!({"cursor": cursor}),
        }
    }
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

pub fn tool<'a>(tools: &'a [Value], name: &str) -> &'a Value {
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

/// The call of an action on a surface.
fn call_of(kind: &str, action: &str, params: Value) -> (String, Value) {
    match kind {
        "meta" => ("gitlab_issues".to_owned(), json!({"action": action, "params": params})),
        "individual" => (action.replace('.', "_"), params),
        _ => (EXECUTE.to_owned(), json!({"action": action, "params": params})),
    }
}

async fn connect(kind: &str, lifecycle: ClientLifecycleMode) -> Running {
    let command = tokio::process::Command::from(program(&["--sandbox"], &[("TOOL_SURFACE", kind)]));
    let transport = TokioChildProcess::new(command).unwrap();
    ClientConfig::default().serve_with_lifecycle(transport, lifecycle).await.unwrap()
}

async fn call(client: &Running, tool: &str, arguments: &Value) -> Value {
    let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(object(arguments));
    let result = client.call_tool(request).await.unwrap();
    assert_ne!(result.is_error, Some(true), "{tool} {arguments}: {result:?}");
    result.structured_content.unwrap()
}

/// Finds the action and calls it as it was found; the called tool must be listed.
async fn find_and_call(kind: &str, lifecycle: ClientLifecycleMode) -> Value {
    let client = connect(kind, lifecycle).await;
    let tools: Vec<Tool> = client.list_all_tools().await.unwrap();
    let is_listed = |name: &str| tools.iter().any(|tool| tool.name == name);
    let found = call(&client, FIND, &json!({"query": "show one issue", "limit": 3})).await;
    let first = &found["results"][0];
    assert_eq!(first["action"], "issue.get", "{found}");
    let (tool, arguments) = call_of(kind, "issue.get", the_issue());
    assert!(is_listed(&tool), "{tool}");
    if ["meta", "individual"].contains(&kind) {
        assert_eq!((&first["tool"], &first["example"]["tool"]), (&json!(tool), &json!(tool)));
        call(&client, &tool, &first["example"]["arguments"]).await;
    }
    let mut answer = call(&client, &tool, &arguments).await;
    // Each sandbox is at a port of its own.
    assert!(answer["data"]["web_url"].take().is_string());
    client.cancel().await.unwrap();
    answer
}

#[tokio::test]
async fn every_surface_finds_and_calls_the_same_with_the_same_answer() {
    let modern = || ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let expected = find_and_call("dynamic", ClientLifecycleMode::Initialize).await;
    assert_eq!(expected["data"]["iid"], 45, "{expected}");
    for kind in KINDS {
        assert_eq!(find_and_call(kind, ClientLifecycleMode::Initialize).await, expected, "{kind}");
        assert_eq!(find_and_call(kind, modern()).await, expected, "{kind}");
    }
}

#[test]
fn a_family_has_a_tool_and_its_actions_are_its_enum() {
    let tools = list(&mut start("meta", &[]));
    assert!((38..50).contains(&tools.len()), "{:?}", names(&tools));
    let issues = tool(&tools, "gitlab_issues");
    let actions = issues["inputSchema"]["properties"]["action"]["enum"].as_array().unwrap();
    assert!(actions.contains(&json!("issue.get")) && !actions.contains(&json!("label.list")));
    let arguments = [
        "params",
        "confirm",
        "confirmation_token",
        "fields",
        "view",
        "dry_run",
        "offset",
        "lines",
        "save_to",
    ];
    for argument in arguments.into_iter().chain(["all", "count_by", "sum", "top"]) {
        assert!(issues["inputSchema"]["properties"].get(argument).is_some(), "{argument}");
    }
    for tool in &tools {
        jsonschema::meta::validate(&tool["inputSchema"]).unwrap();
    }
}

#[test]
fn split_tools_say_which_of_them_read() {
    let mut client = start("meta", &[("GITLAB_META_SPLIT", "cqrs")]);
    let tools = list(&mut client);
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let reads = name.starts_with("browse_") || name == FIND;
        assert!(reads || name.starts_with("manage_"), "{name}");
        assert_eq!(tool["annotations"]["readOnlyHint"], json!(reads), "{name}");
    }
    let actions = |name: &str| tool(&tools, name)["inputSchema"]["properties"]["action"]["enum"].to_string();
    assert!(
        actions("browse_issues").contains("issue.get") && !actions("browse_issues").contains("issue.update")
    );
    assert!(actions("manage_issues").contains("issue.update"));
    let delete = json!({"action": "issue.delete", "params": the_issue(), "confirm": true});
    let refused = client.call("browse_issues", delete);
    assert_eq!(refused.structured["error"]["fix"]["tool"], "manage_issues", "{}", refused.text);
    assert!(!client.call("browse_issues", json!({"action": "issue.get", "params": the_issue()})).is_error);
}

#[test]
fn what_stands_beside_the_parameters_works_on_every_surface() {
    for kind in KINDS {
        let mut client = start(kind, &[]);
        let mut with = |name: &str, value: Value| {
            let (tool, mut arguments) =
                call_of(kind, "issue.update", json!({"fullPath": "acme/widget", "iid": 45, "title": "x"}));
            arguments[name] = value;
            client.call(&tool, arguments)
        };
        assert_eq!(with("dry_run", json!(true)).structured["preview"], true, "{kind}");
        let wrong = with("view", json!("sideways"));
        assert_eq!(wrong.structured["error"]["kind"], "invalid_params", "{kind}");
        let fields = with("fields", json!(["title"]));
        assert_eq!(fields.structured["data"], json!({"title": "x"}), "{kind}: {}", fields.text);
    }
}

#[test]
fn a_question_is_agreed_to_by_the_call_it_names() {
    for kind in KINDS {
        let mut client = start(kind, &[("GITLAB_CONFIRM", "plan")]);
        let listed = list(&mut client);
        let (tool, arguments) = call_of(kind, "issue.delete", the_issue());
        let asked = client.call(&tool, arguments);
        let error = &asked.structured["error"];
        assert_eq!(error["kind"], "needs_confirmation", "{kind}: {}", asked.text);
        let fix = error["fix"].clone();
        assert!(names(&listed).contains(&fix["tool"].as_str().unwrap()), "{kind}: {fix}");
        assert!(asked.text.contains(&fix.to_string()), "{kind}: {}", asked.text);
        let done = client.call(fix["tool"].as_str().unwrap(), fix["arguments"].clone());
        assert!(!done.is_error, "{kind}: {}", done.text);
        let (tool, arguments) = call_of(kind, "issue.get", the_issue());
        assert!(client.call(&tool, arguments).is_error, "{kind}: it is gone");
    }
}

#[test]
fn a_user_is_asked_whatever_the_tool_is_called() {
    let able = json!({"elicitation": {"form": {}}});
    for kind in KINDS {
        let mut client = Client::start(&["--sandbox"], &[("TOOL_SURFACE", kind)]);
        let (tool, arguments) = call_of(kind, "issue.delete", the_issue());
        let call = |state: Option<&Value>| {
            let mut call = json!({"name": tool, "arguments": arguments});
            if let Some(state) = state {
                call["requestState"] = state.clone();
                call["inputResponses"] =
                    json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
            }
            call
        };
        let asked = client.modern_with("tools/call", call(None), able.clone())["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{kind}: {asked}");
        let done = client.modern_with("tools/call", call(Some(&asked["requestState"])), able.clone());
        assert!(!reply(&done).is_error, "{kind}: {done}");
    }
}

#[test]
fn the_next_page_and_the_corrected_call_are_calls_of_listed_tools() {
    for kind in ["meta", "individual"] {
        let mut client = start(kind, &[]);
        let listed = list(&mut client);
        let mut follow = |action: &str, params: Value, at: &str| {
            let (tool, arguments) = call_of(kind, action, params);
            let reply = client.call(&tool, arguments);
            let next =
                reply.structured.pointer(at).unwrap_or_else(|| panic!("{kind}: {}", reply.text)).clone();
            assert!(reply.text.contains(&next.to_string()), "{kind}: {}", reply.text);
            let tool = next["tool"].as_str().unwrap().to_owned();
            assert!(names(&listed).contains(&tool.as_str()), "{kind}: {next}");
            assert!(!client.call(&tool, next["arguments"].clone()).is_error, "{kind}: {next}");
        };
        follow("issue.list", json!({"fullPath": "acme/widget", "per_page": 2}), "/page/next");
        follow("issue.list", json!({"fullPath": "acme/widget", "state": "opend"}), "/error/fix");
        follow("issue.get", json!({"fullPath": "acme/widget", "iid": 4711}), "/error/fix");
        follow("issue.get", json!({"fullPath": "acme/widget"}), "/error/fix");
    }
}

#[test]
fn the_pair_is_callable_on_every_surface() {
    for kind in KINDS {
        let mut client = start(kind, &[]);
        let reply = client.call(EXECUTE, json!({"action": "issue.get", "params": the_issue()}));
        assert!(!reply.is_error, "{kind}: {}", reply.text);
        assert!(!client.call(FIND, json!({"query": "list issues"})).is_error, "{kind}");
        let unknown = client.request("tools/call", json!({"name": "no_such_tool", "arguments": {}}));
        assert_eq!(unknown["error"]["code"], -32602, "{kind}");
    }
}

#[test]
fn a_long_list_comes_in_one_page_for_clients_that_read_no_other() {
    let mut client = start("individual", &[]);
    let first = client.request("tools/list", json!({}))["result"].clone();
    assert!(first["nextCursor"].is_null(), "{}", first["nextCursor"]);
    let all = list(&mut client);
    assert_eq!(first["tools"].as_array().unwrap().len(), all.len());
    let mut sorted = names(&all);
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), all.len());
    assert!(all.len() > 1_500, "{}", all.len());
    assert_eq!(client.request("tools/list", json!({"cursor": "none"}))["error"]["code"], -32602);
    for tool in &all {
        let description = tool["description"].as_str().unwrap();
        assert!((1..=150).contains(&description.len()), "{}: {description}", tool["name"]);
    }
    let get = tool(&all, "issue_get");
    assert_eq!(get["annotations"]["readOnlyHint"], true);
    assert_eq!(tool(&all, "issue_delete")["annotations"]["destructiveHint"], true);
    assert_eq!(get["inputSchema"]["required"], json!(["fullPath", "iid"]));
}

#[test]
fn a_configured_project_need_not_be_named() {
    let mut client = start("individual", &[("GITLAB_PROJECT", "acme/widget")]);
    let required = tool(&list(&mut client), "issue_get")["inputSchema"]["required"].clone();
    assert_eq!(required, json!(["iid"]));
    assert!(!client.call("issue_get", json!({"iid": 45})).is_error);
}

#[test]
fn a_toolset_lists_its_tools_and_hides_the_others() {
    let mut client = Client::start(&["--sandbox"], &[("TOOL_SURFACE", "toolset")]);
    let capabilities = client.initialize(LATEST_HANDSHAKE)["result"]["capabilities"].clone();
    assert_eq!(capabilities["tools"], json!({"listChanged": true}));
    assert_eq!(names(&list(&mut client)), ["activate_toolset", FIND, EXECUTE]);

    let refused = client.call("issue_get", the_issue());
    let fix = &refused.structured["error"]["fix"];
    assert_eq!(*fix, json!({"tool": "activate_toolset", "arguments": {"toolset_name": "issues"}}));

    client.send(&json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {
        "name": "activate_toolset", "arguments": fix["arguments"]}}));
    let messages = [client.receive(), client.receive()];
    let (told, answered): (Vec<&Value>, Vec<&Value>) =
        messages.iter().partition(|message| message.get("method").is_some());
    assert_eq!(told[0]["method"], "notifications/tools/list_changed");
    let said = reply(answered[0]);
    assert!(said.text.contains("issue_get (issue.get)") && !said.is_error, "{}", said.text);

    let listed = list(&mut client);
    assert!(names(&listed).contains(&"issue_get") && !names(&listed).contains(&"label_list"));
    let answer = client.call("issue_get", the_issue()).structured;
    let same = client.call(EXECUTE, json!({"action": "issue.get", "params": the_issue()})).structured;
    assert_eq!(answer, same);
    assert!(client.call("label_list", json!({"fullPath": "acme/widget"})).is_error);
    client.close().well();
}

#[test]
fn without_sessions_those_who_listen_are_told_of_a_toolset() {
    let mut client = Client::start(&["--sandbox"], &[("TOOL_SURFACE", "toolset")]);
    let tools = client.modern("tools/list", json!({}))["result"].clone();
    assert_eq!((&tools["ttlMs"], &tools["cacheScope"]), (&json!(0), &json!("private")));
    let activate = |name: &str| json!({"name": "activate_toolset", "arguments": {"toolset_name": name}});
    // Without a subscriber, there is no notification.
    assert!(!reply(&client.modern("tools/call", activate("issues"))).is_error);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": WITHOUT_HANDSHAKE,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    client.send(&json!({"jsonrpc": "2.0", "id": "listen", "method": "subscriptions/listen", "params": {
        "_meta": meta, "notifications": {"toolsListChanged": true}}}));
    assert_eq!(client.receive()["method"], "notifications/subscriptions/acknowledged");
    let mut params = activate("planning");
    params["_meta"] = meta;
    client.send(&json!({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params}));
    let messages = [client.receive(), client.receive()];
    assert!(
        messages.iter().any(|message| message["method"] == "notifications/tools/list_changed"),
        "{messages:?}"
    );
    let tools = client.modern("tools/list", json!({}))["result"]["tools"].clone();
    assert!(names(tools.as_array().unwrap()).contains(&"milestone_list"));
}

#[test]
fn what_is_denied_is_in_no_list_and_runs_nowhere() {
    let denied = [("GITLAB_DENIED_ACTIONS", "issue.delete"), ("GITLAB_TOOLSETS", "issues")];
    for kind in KINDS {
        let mut client = start(kind, &denied);
        let listed = json!(list(&mut client)).to_string();
        assert!(!listed.contains("issue.delete\"") && !listed.contains("\"issue_delete\""), "{kind}");
        let (tool, arguments) = call_of(kind, "issue.delete", the_issue());
        let reply = client.call(&tool, arguments);
        assert_eq!(reply.structured["error"]["kind"], "denied", "{kind}: {}", reply.text);
        // The error of an action outside the toolset names the setting; names in parameters are looked up all the same.
        let other = json!({"action": "label.list", "params": {"fullPath": "acme/widget"}});
        let reply = client.call(EXECUTE, other);
        assert_eq!(reply.structured["error"]["kind"], "denied", "{kind}: {}", reply.text);
        assert!(reply.text.contains("GITLAB_TOOLSETS=issues"), "{kind}: {}", reply.text);
        let found = client.call(FIND, json!({"query": "list the labels of a project"}));
        assert!(!found.structured["results"].to_string().contains("\"label.list\""), "{kind}");
        let by_name = json!({"fullPath": "acme/widget", "iid": 45, "assignee_ids": ["root"]});
        let (tool, arguments) = call_of(kind, "issue.update", by_name);
        let reply = client.call(&tool, arguments);
        assert_ne!(reply.structured["error"]["kind"], "denied", "{kind}: {}", reply.text);
    }
}

#[test]
fn where_only_reads_run_only_reads_are_listed() {
    for (kind, gone, left) in
        [("meta", "\"issue.update\"", "\"issue.get\""), ("individual", "\"issue_update\"", "\"issue_get\"")]
    {
        let tools = list(&mut start(kind, &[("GITLAB_READ_ONLY", "true")]));
        let text = json!(tools).to_string();
        assert!(!text.contains(gone) && text.contains(left), "{kind}");
        assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true), "{kind}");
    }
}

#[test]
fn a_tool_that_is_dropped_takes_its_actions_along() {
    let variables = [("GITLAB_META_SPLIT", "cqrs"), ("GITLAB_DENIED_TOOLS_REGEX", "^manage_issues$")];
    let mut client = start("meta", &variables);
    let tools = list(&mut client);
    assert!(!names(&tools).contains(&"manage_issues") && names(&tools).contains(&"browse_issues"));
    let update =
        json!({"action": "issue.update", "params": {"fullPath": "acme/widget", "iid": 45, "title": "x"}});
    assert_eq!(client.call(EXECUTE, update).structured["error"]["kind"], "denied");
    assert!(!client.call("browse_issues", json!({"action": "issue.get", "params": the_issue()})).is_error);
}

#[test]
fn descriptions_come_from_variables_and_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words.toml");
    let text = "[tools]\ngitlab_milestones = \"from the file\"\ngitlab_labels = \"labels from the file\"\n\
                [actions]\n\"milestones.create\" = \"plans a release\"\n";
    std::fs::write(&path, text).unwrap();
    let variables = [
        ("GITLAB_CUSTOMIZE", path.to_str().unwrap()),
        ("META_PARAM_SCHEMA", "compact"),
        ("GITLAB_TOOL_MILESTONES", "from the variable"),
        ("GITLAB_PARAM_MILESTONES_TITLE", "our numbering"),
        ("GITLAB_ACTION_MILESTONES_CRATE", "misspelt"),
    ];
    let mut client = start("meta", &variables);
    let tools = list(&mut client);
    assert_eq!(tool(&tools, "gitlab_milestones")["description"], "from the variable");
    assert_eq!(tool(&tools, "gitlab_labels")["description"], "labels from the file");
    let schema = &tool(&tools, "gitlab_milestones")["inputSchema"]["properties"];
    assert!(schema["action"]["description"].as_str().unwrap().contains("plans a release"));
    let title = schema["params"]["properties"]["title"]["description"].as_str().unwrap();
    assert!(title.starts_with("our numbering"), "{title}");
    let said = client.close().stderr;
    let warnings: Vec<&str> = said.lines().filter(|line| line.contains("describes nothing")).collect();
    assert_eq!(warnings.len(), 1, "{said}");
    assert!(warnings[0].contains("GITLAB_ACTION_MILESTONES_CRATE"), "{said}");
    assert!(
        warnings[0].contains("the nearest is GITLAB_ACTION_") && warnings[0].contains("_CREATE"),
        "{said}"
    );
}

#[test]
fn only_create_left_the_tool_of_milestones_knows_only_its_parameters() {
    let denied = "milestone.list*,milestone.get*,milestone.update,milestone.delete,milestone.promote*";
    for mode in ["flat", "discriminated"] {
        let variables = [("META_PARAM_SCHEMA", "full"), ("GITLAB_SCHEMA_MODE", mode)];
        let before = list(&mut start("meta", &variables));
        let denied = [&variables[..], &[("GITLAB_DENIED_ACTIONS", denied)]].concat();
        let after = list(&mut start("meta", &denied));
        let schema = |tools: &[Value]| tool(tools, "gitlab_milestones")["inputSchema"].to_string();
        assert!(schema(&before).contains("state_event") && !schema(&after).contains("state_event"), "{mode}");
        assert!(!schema(&after).contains("milestone_id") && schema(&after).contains("due_date"), "{mode}");
        assert!(!schema(&after).contains("milestone.list"), "{mode}: {}", schema(&after));
    }
}

/// Standard output and the exit code of a command.
pub fn run(arguments: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let output = program(arguments, variables).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_shows_what_a_client_is_sent() {
    for kind in KINDS {
        let (code, out, err) = run(&["--sandbox", "surface", "--surface", kind], &[]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{kind}");
        let shown: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(shown["tools"], json!(list(&mut start(kind, &[]))), "{kind}");
    }
    let arguments = ["--sandbox", "surface", "--surface", "meta", "--tokens"];
    let (_, out, _) = run(&arguments, &[("GITLAB_DENIED_ACTIONS", "*.delete,*.update")]);
    let bytes = out.lines().find(|line| line.starts_with("bytes in all")).unwrap();
    let figures: Vec<usize> = bytes.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(figures.len() == 2 && figures[1] < figures[0], "{out}");
}

#[test]
fn agents_share_the_catalog_and_overwrite_nothing() {
    for (client, ending) in [("claude-code", ".md"), ("copilot", ".agent.md")] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("agents").display().to_string();
        let arguments = ["agents", "--client", client, "--out", &out];
        let (code, said, _) = run(&arguments, &[]);
        assert_eq!((code, said.lines().count()), (Some(0), 5), "{said}");
        let mut toolsets: Vec<String> = Vec::new();
        for path in said.lines() {
            assert!(path.ends_with(ending), "{path}");
            let text = std::fs::read_to_string(path).unwrap();
            // The two tools of its own server, and no other.
            let name = std::path::Path::new(path).file_name().unwrap().to_str().unwrap();
            let name = name.strip_suffix(ending).unwrap();
            let tools = match client {
                "claude-code" => format!("\ntools: mcp__{name}__{FIND}, mcp__{name}__{EXECUTE}\n"),
                _ => format!("\ntools: [\"{name}/{FIND}\", \"{name}/{EXECUTE}\"]\n"),
            };
            assert!(text.contains(&tools) && !text.contains('*'), "{text}");
            let is_remote = name == "gitlab-remote-repository";
            assert_eq!(text.contains("no access to the working copy"), is_remote, "{text}");
            let is_of_ai = name == "gitlab-administration";
            assert_eq!(text.contains("GitLab's API has none that queries the graph"), is_of_ai, "{text}");
            let line = text.lines().find(|line| line.contains("GITLAB_TOOLSETS: ")).unwrap();
            let own = line.split('"').nth(1).unwrap();
            toolsets.extend(own.split(',').map(str::to_owned));
            // A server starts with just that.
            let found = run(&["find", "list projects"], &[("GITLAB_TOOLSETS", own)]);
            assert_eq!(found.0, Some(0), "{}", found.2);
        }
        let count = toolsets.len();
        toolsets.sort();
        toolsets.dedup();
        assert!(toolsets.len() == count && count > 20, "no toolset is of two agents");

        let first = said.lines().next().unwrap().to_owned();
        std::fs::write(&first, "mine").unwrap();
        std::fs::remove_file(said.lines().last().unwrap()).unwrap();
        let (code, again, err) = run(&arguments, &[]);
        assert_eq!((code, again.as_str()), (Some(2), ""), "{err}");
        assert_eq!(std::fs::read_to_string(&first).unwrap(), "mine");
        assert!(!std::path::Path::new(said.lines().last().unwrap()).exists(), "all or nothing");
    }
}
