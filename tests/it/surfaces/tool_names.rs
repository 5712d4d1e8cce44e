//! Tool and action names of other servers: the error of an unknown one, and the names that are understood.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, FIND};
use crate::surfaces::listings::{list, start, tool};

/// The error of a tool that is not listed.
fn unknown(client: &mut Client, name: &str, arguments: &Value) -> Value {
    let answer = client.request("tools/call", json!({"name": name, "arguments": arguments}));
    assert_eq!(answer["error"]["code"], -32602, "{name}: {answer}");
    answer["error"].clone()
}

/// The call that such an error names: of a listed tool, and one that succeeds unless it is `unsent`.
fn follow(client: &mut Client, error: &Value, unsent: bool) -> Value {
    let (data, message) = (&error["data"], error["message"].as_str().unwrap());
    let call = data["call"].clone();
    assert_eq!(data["nearest"], call["tool"], "{error}");
    let listed = list(client);
    let nearest = data["nearest"].as_str().unwrap_or_else(|| panic!("{error}"));
    tool(&listed, nearest);
    assert!(message.contains(nearest), "{message}");
    if !unsent {
        let reply = client.call(nearest, call["arguments"].clone());
        assert!(!reply.is_error, "{error}: {}", reply.text);
    }
    call
}

#[test]
fn an_unknown_tool_names_the_call_that_does_it_on_every_surface() {
    let issue = json!({"items": [{"itemType": "Issue", "iid": 45, "fullPath": "acme/widget"}]});
    let file = json!({"fullPath": "acme/widget", "files": [{"path": "README.md"}]});
    let mr = json!({"project_id": "acme/widget", "merge_request_iid": 5});
    let update =
        json!({"items": [{"itemType": "issue", "fullPath": "acme/widget", "iid": 45, "title": "x"}]});
    let cases = [
        ("fetch_gitlab_resource", issue, "resource.fetch", "gitlab_composite", "resource_fetch"),
        ("update_gitlab_resource", update, "resource.update", "gitlab_composite", "resource_update"),
        (
            "read_repository_files",
            file,
            "repository.read_files",
            "gitlab_repository",
            "repository_read_files",
        ),
        ("get_merge_request", mr, "merge_request.get", "gitlab_merge_requests", "merge_request_get"),
    ];
    for kind in ["dynamic", "meta", "individual", "toolset"] {
        let mut client = start(kind, &[]);
        for (name, arguments, action, family, own) in &cases {
            let error = unknown(&mut client, name, arguments);
            let call = follow(&mut client, &error, false);
            match kind {
                "individual" => assert_eq!(call, json!({"tool": own, "arguments": arguments})),
                kind => {
                    assert_eq!(call["tool"], if kind == "meta" { family } else { EXECUTE }, "{error}");
                    assert_eq!(call["arguments"]["action"], *action, "{kind} {error}");
                    assert_eq!(call["arguments"]["params"], *arguments, "{kind} {error}");
                }
            }
        }
    }
}

#[test]
fn tools_of_families_and_verbs_are_named_with_the_action() {
    let mut client = start("dynamic", &[]);
    let of = |path: &str| json!({"fullPath": path});
    for (name, arguments, action) in [
        ("manage_milestone", json!({"action": "list", "fullPath": "acme/widget"}), "milestone.list"),
        (
            "gitlab_merge_request",
            json!({"action": "list", "params": of("acme/widget")}),
            "merge_request.list",
        ),
        ("gitlab_merge_request", json!({"fullPath": "acme/widget", "iid": 5}), "merge_request.get"),
        ("gitlab_branch", json!({"action": "list", "fullPath": "acme/widget"}), "branch.list"),
        ("mcp__gitlab__list_issues", of("acme/widget"), "issue.list"),
        ("issue_list", of("acme/widget"), "issue.list"),
    ] {
        let error = unknown(&mut client, name, &arguments);
        let call = follow(&mut client, &error, false);
        assert_eq!(
            (&call["tool"], &call["arguments"]["action"]),
            (&json!(EXECUTE), &json!(action)),
            "{name}"
        );
        assert_eq!(call["arguments"]["params"]["fullPath"], "acme/widget", "{name}");
    }
    for (name, action) in [("read_pipeline", "pipeline.get"), ("run_job", "job.play")] {
        let error = unknown(&mut client, name, &json!({"fullPath": "acme/widget", "pipeline_id": 1}));
        let call = follow(&mut client, &error, true);
        assert_eq!(call["arguments"]["action"], action, "{name}: {error}");
    }
    // A name without any match leads to a find; a misspelt tool leads to the tool.
    let error = unknown(&mut client, "frobnicate_things", &json!({}));
    assert_eq!(follow(&mut client, &error, false)["tool"], FIND);
    let error = unknown(&mut client, "gitlab_find_actions", &json!({"query": "list issues"}));
    assert_eq!(error["data"]["call"], json!({"tool": FIND, "arguments": {"query": "list issues"}}));
}

#[test]
fn consent_is_not_carried_over_and_what_is_denied_is_not_called() {
    let delete = json!({"fullPath": "acme/widget", "iid": 45, "confirm": true, "dry_run": true});
    let mut client = start("dynamic", &[]);
    let error = unknown(&mut client, "delete_issue", &delete);
    let expected =
        json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 45}, "dry_run": true});
    assert_eq!(error["data"]["call"], json!({"tool": EXECUTE, "arguments": expected}), "{error}");
    let mut client = start("dynamic", &[("GITLAB_READ_ONLY", "true")]);
    let error = unknown(&mut client, "delete_issue", &delete);
    assert_eq!(error["data"]["call"]["tool"], FIND, "{error}");
    let mut client = start("dynamic", &[("GITLAB_DENIED_TOOLS_REGEX", "^gitlab_execute_action$")]);
    let error = unknown(&mut client, "get_issue", &json!({}));
    assert_eq!(error["data"]["tools"], json!([FIND]), "{error}");
    assert_ne!(error["data"]["nearest"], EXECUTE, "{error}");
}

#[test]
fn the_listed_tools_are_those_of_the_surface() {
    for kind in ["dynamic", "meta", "toolset"] {
        let mut client = start(kind, &[]);
        let names: Vec<Value> = list(&mut client).iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(unknown(&mut client, "frobnicate", &json!({}))["data"]["tools"], json!(names), "{kind}");
    }
    let mut client = start("individual", &[]);
    let tools = unknown(&mut client, "get_merge_request", &json!({}))["data"]["tools"].clone();
    let tools = tools.as_array().unwrap();
    assert!(tools.len() < 20 && tools.contains(&json!("merge_request_get")), "{tools:?}");
}

#[test]
fn the_tool_of_another_surface_is_said_to_be_there() {
    for kind in ["dynamic", "meta", "individual"] {
        let mut client = start(kind, &[]);
        let error = unknown(&mut client, "activate_toolset", &json!({"toolset_name": "ci_operations"}));
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("TOOL_SURFACE=toolset has it") && message.contains(kind), "{message}");
        follow(&mut client, &error, false);
        let reply = client.call(EXECUTE, json!({"action": "activate_toolset", "params": {}}));
        assert!(reply.is_error && reply.text.contains("TOOL_SURFACE=toolset"), "{kind}: {}", reply.text);
        let reply = client.call(FIND, json!({"query": "activate_toolset"}));
        assert!(reply.text.contains("TOOL_SURFACE=toolset"), "{kind}: {}", reply.text);
    }
}

#[test]
fn short_actions_mean_the_family_s_own_thing() {
    let mut client = start("meta", &[]);
    let of_widget = json!({"fullPath": "acme/widget"});
    for (tool, action, params, id) in [
        ("gitlab_issues", "list", of_widget.clone(), "issue.list"),
        ("gitlab_issues", "get", json!({"fullPath": "acme/widget", "iid": 45}), "issue.get"),
        ("gitlab_issues", "create", json!({"fullPath": "acme/widget", "title": "Short"}), "issue.create"),
        ("gitlab_merge_requests", "list", of_widget.clone(), "merge_request.list"),
        ("gitlab_merge_requests", "get", json!({"fullPath": "acme/widget", "iid": 5}), "merge_request.get"),
        ("gitlab_projects", "get", of_widget.clone(), "project.get"),
        ("gitlab_pipelines", "list", of_widget.clone(), "pipeline.list"),
        ("gitlab_issue", "list", of_widget.clone(), "issue.list"),
        ("gitlab_merge_request", "show", json!({"fullPath": "acme/widget", "iid": 5}), "merge_request.get"),
    ] {
        let reply = client.call(tool, json!({"action": action, "params": params}));
        assert_eq!(reply.structured["action"], id, "{tool} {action}: {}", reply.text);
    }
    // Without an action: the thing that is named.
    let reply = client.call("gitlab_merge_requests", json!({"fullPath": "acme/widget", "iid": 5}));
    let fix = &reply.structured["error"]["fix"];
    assert_eq!(fix["arguments"]["action"], "merge_request.get", "{}", reply.text);
    assert!(!client.call("gitlab_merge_requests", fix["arguments"].clone()).is_error, "{fix}");
    let reply = client.call("gitlab_issue", json!({"action": "list", "params": of_widget}));
    let notes = reply.structured["notes"].to_string();
    assert!(notes.contains("understood the tool `gitlab_issue` as `gitlab_issues`"), "{notes}");
}

#[test]
fn the_fix_of_a_short_action_is_the_corrected_call() {
    let mut client = start("meta", &[]);
    let params = json!({"fullPath": "acme/widget", "title": "4.2"});
    let reply =
        client.call("gitlab_milestones", json!({"action": "crate", "params": params, "dry_run": true}));
    let fix = &reply.structured["error"]["fix"];
    let expected = json!({"action": "milestone.create", "params": params, "dry_run": true});
    assert_eq!(*fix, json!({"tool": "gitlab_milestones", "arguments": expected}), "{}", reply.text);
    assert!(!client.call("gitlab_milestones", fix["arguments"].clone()).is_error);
    // An action of another family, with all that was given.
    let call =
        json!({"action": "get_issue", "params": {"fullPath": "acme/widget", "iid": 45}, "fields": ["iid"]});
    let reply = client.call("gitlab_labels", call);
    let fix = &reply.structured["error"]["fix"];
    assert_eq!((&fix["tool"], &fix["arguments"]["fields"]), (&json!("gitlab_issues"), &json!(["iid"])));
    assert!(!client.call("gitlab_issues", fix["arguments"].clone()).is_error);
}

#[test]
fn split_tools_are_understood_in_the_singular() {
    let mut client = start("meta", &[("GITLAB_META_SPLIT", "cqrs")]);
    let list = json!({"action": "list", "params": {"fullPath": "acme/widget"}});
    assert_eq!(client.call("browse_milestone", list.clone()).structured["action"], "milestone.list");
    let create = json!({"action": "create", "params": {"fullPath": "acme/widget", "title": "4.3"}});
    assert_eq!(client.call("manage_milestone", create).structured["action"], "milestone.create");
    // Words of an action's name, with its parameters.
    let burndown = json!({"action": "burndown", "params": {"fullPath": "acme/widget", "milestone_id": 1}, "dry_run": true});
    let reply = client.call("browse_milestones", burndown);
    assert_eq!(reply.structured["action"], "milestone.list_burndown_events", "{}", reply.text);
    assert!(reply.text.contains("understood `burndown`"), "{}", reply.text);
    let refused = client.call("manage_milestone", list);
    assert_eq!(refused.structured["error"]["fix"]["tool"], "browse_milestones", "{}", refused.text);
    let error =
        unknown(&mut client, "gitlab_milestone", &json!({"action": "list", "fullPath": "acme/widget"}));
    assert_eq!(follow(&mut client, &error, false)["tool"], "browse_milestones");
}

#[test]
fn a_dropped_tool_is_not_called_by_another_spelling() {
    let variables = [("GITLAB_META_SPLIT", "cqrs"), ("GITLAB_DENIED_TOOLS_REGEX", "^manage_milestones$")];
    let mut client = start("meta", &variables);
    let create = json!({"action": "create", "params": {"fullPath": "acme/widget", "title": "4.3"}});
    let error = unknown(&mut client, "manage_milestone", &create);
    assert!(!error["data"]["tools"].to_string().contains("manage_milestones"), "{error}");
}

/// A rule on tools means the same on each surface, also by the name of a tool that another one has.
#[test]
fn a_dropped_tool_is_denied_on_every_surface() {
    let create = json!({"action": "milestone.create", "params": {"fullPath": "acme/widget", "title": "4.4"}});
    for expression in
        ["^manage_milestones$", "^gitlab_milestones$", "^milestone_create$", "^manage_", "create_milestone"]
    {
        for kind in ["dynamic", "toolset", "meta", "individual"] {
            let mut client = start(kind, &[("GITLAB_DENIED_TOOLS_REGEX", expression)]);
            let (tool, arguments) = match kind {
                "meta" => ("gitlab_milestones", create.clone()),
                "individual" => ("milestone_create", create["params"].clone()),
                _ => (EXECUTE, create.clone()),
            };
            let reply = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
            let refused = reply["error"]["code"] == -32602 || reply["result"]["isError"] == true;
            assert!(refused, "{expression} {kind}: {reply}");
            let mut client = start(kind, &[("GITLAB_DENIED_TOOLS_REGEX", expression)]);
            let listed = client.request("tools/list", json!({}));
            assert!(!listed["result"].to_string().contains("milestone_create"), "{expression} {kind}");
        }
    }
}

#[test]
fn a_listed_tool_is_a_resource() {
    for (kind, names) in [
        ("dynamic", &[FIND, EXECUTE][..]),
        ("meta", &[FIND, "gitlab_issues"]),
        ("individual", &[FIND]),
        ("toolset", &[FIND, EXECUTE, "activate_toolset"]),
    ] {
        let mut client = start(kind, &[]);
        let listed = list(&mut client);
        for name in names {
            let answer = client.request("resources/read", json!({"uri": format!("gitlab://tools/{name}")}));
            let text = answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
            let read: Value = serde_json::from_str(text).unwrap();
            assert_eq!(read, *tool(&listed, name), "{kind} {name}");
        }
    }
}

#[test]
fn the_list_of_actions_speaks_of_listed_tools() {
    for kind in ["meta", "individual", "dynamic", "toolset"] {
        let mut client = start(kind, &[]);
        let listed = list(&mut client);
        let mut read = |uri: &str| {
            let answer = client.request("resources/read", json!({"uri": uri}));
            answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
        };
        let is_listed = listed.iter().any(|tool| tool["name"] == EXECUTE);
        assert_eq!(read("gitlab://tools").contains(EXECUTE), is_listed, "{kind}");
        let action: Value = serde_json::from_str(&read("gitlab://tools/issue.list")).unwrap();
        tool(&listed, action["call"]["tool"].as_str().unwrap());
    }
}
