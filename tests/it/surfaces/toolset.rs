//! The toolset surface: which toolset is active, how it is switched, and names of other servers' toolsets.

use serde_json::{Value, json};

use crate::support::client::{Client, Reply, execute};
use crate::surfaces::listings::{list, run, start};

/// An activation, after which the client is notified of the changed list.
fn activate(client: &mut Client, arguments: Value) -> Reply {
    client.send(&json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call",
        "params": {"name": "activate_toolset", "arguments": arguments}}));
    loop {
        let message = client.receive();
        if message["id"] == "a" {
            // The notification comes before or after the answer.
            return crate::support::client::reply(&message);
        }
    }
}

/// Everything after an activation but notifications.
fn ask(client: &mut Client, method: &str, params: Value) -> Value {
    client.send(&json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}));
    loop {
        let message = client.receive();
        if message["id"] == "q" {
            return message["result"].clone();
        }
    }
}

fn count(client: &mut Client) -> usize {
    ask(client, "tools/list", json!({}))["tools"].as_array().unwrap().len()
}

fn active(client: &mut Client) -> Value {
    let read = ask(client, "resources/read", json!({"uri": "gitlab://toolsets"}));
    serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
}

#[test]
fn toolsets_are_switched_and_deactivated() {
    let mut client = start("toolset", &[]);
    assert_eq!(active(&mut client)["active"], "default");
    let first = activate(&mut client, json!({"toolset_name": "planning"}));
    let own = first.structured["count"].as_u64().unwrap();
    assert!(
        first.text.starts_with(&format!("Toolset switched from default to planning: {own} tools.")),
        "{}",
        first.text
    );
    assert_eq!(first.structured["tools"].as_array().unwrap().len() as u64, own);
    assert_eq!(count(&mut client) as u64, own + 3);

    let second = activate(&mut client, json!({"toolset_name": "ci_operations"}));
    let said = &second.structured;
    assert_eq!(
        (&said["previous"], &said["current"], &said["changed"]),
        (&json!("planning"), &json!("pipelines"), &json!(true))
    );
    assert!(second.text.starts_with("Toolset switched from planning to pipelines: "), "{}", second.text);
    let resource = active(&mut client);
    assert_eq!(resource["active"], "pipelines");
    let shown: Vec<&Value> =
        resource["toolsets"].as_array().unwrap().iter().filter(|toolset| toolset["active"] == true).collect();
    assert_eq!(
        (shown.len(), &shown[0]["name"], &shown[0]["actions"]),
        (1, &json!("pipelines"), &said["actions"])
    );

    for name in ["default", "none", ""] {
        activate(&mut client, json!({"toolset_name": "gitlab_resources"}));
        assert_eq!(active(&mut client)["active"], "composite");
        let off = activate(&mut client, json!({"toolset_name": name}));
        assert_eq!(
            (&off.structured["current"], &off.structured["count"]),
            (&json!("default"), &json!(0)),
            "{}",
            off.text
        );
        assert_eq!(count(&mut client), 3);
    }
    assert!(ask(&mut client, "resources/list", json!({})).to_string().contains("gitlab://toolsets"));
}

#[test]
fn a_toolset_that_is_not_here_says_what_to_use() {
    let mut client = start("toolset", &[]);
    let reply = activate(&mut client, json!({"toolset_name": "local_filesystem"}));
    assert!(reply.is_error && reply.text.contains("client's own file tools"), "{}", reply.text);
    for (given, nearest) in
        [("isues", "issues"), ("merge-requests", "merge_requests"), ("kubernetes clusters", "deployments")]
    {
        let reply = activate(&mut client, json!({"toolset_name": given}));
        let current = match reply.is_error {
            true => reply.structured["error"]["fix"]["arguments"]["toolset_name"].clone(),
            false => reply.structured["current"].clone(),
        };
        assert_eq!(current, nearest, "{given}: {}", reply.text);
    }
    assert_eq!(active(&mut client)["active"], "merge_requests", "what fails changes nothing");
}

#[test]
fn a_missing_or_misnamed_argument_is_answered_with_a_working_call() {
    for (arguments, name) in [
        (json!({"toolset": "issues"}), "issues"),
        (json!({"name": "ci_operations"}), "pipelines"),
        (json!({"toolsets": ["wikis"]}), "wikis"),
        (json!({"toolset_name": 5}), "default"),
        (json!({}), "default"),
    ] {
        let mut client = start("toolset", &[]);
        let reply = activate(&mut client, arguments.clone());
        let fix = reply.structured["error"]["fix"].clone();
        assert_eq!(
            fix,
            json!({"tool": "activate_toolset", "arguments": {"toolset_name": name}}),
            "{}",
            reply.text
        );
        assert!(!activate(&mut client, fix["arguments"].clone()).is_error, "{arguments}");
    }
}

#[test]
fn the_tool_that_switches_is_always_listed() {
    let mut client = start("toolset", &[]);
    let error = |client: &mut Client| {
        client.send(&json!({"jsonrpc": "2.0", "id": "e", "method": "tools/call",
            "params": {"name": "frobnicate", "arguments": {}}}));
        loop {
            let message = client.receive();
            if message["id"] == "e" {
                return message["error"]["data"]["tools"].to_string();
            }
        }
    };
    assert!(error(&mut client).contains("activate_toolset"));
    activate(&mut client, json!({"toolset_name": "issues"}));
    assert!(error(&mut client).contains("activate_toolset") && error(&mut client).contains("issue_get"));
    // A tool that is listed now is the nearest, by its own parameters.
    client.send(&json!({"jsonrpc": "2.0", "id": "n", "method": "tools/call",
        "params": {"name": "get_issue", "arguments": {"fullPath": "acme/widget", "iid": 45}}}));
    let call = client.receive()["error"]["data"]["call"].clone();
    assert_eq!(call, json!({"tool": "issue_get", "arguments": {"fullPath": "acme/widget", "iid": 45}}));
}

#[test]
fn a_server_starts_with_another_server_s_toolset() {
    let (code, out, err) = run(&["find", "list pipelines"], &[("GITLAB_TOOLSETS", "ci_operations")]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("pipeline.list"), "{out}");
    let mut client = start("dynamic", &[("GITLAB_TOOLSETS", "gitlab_resources")]);
    assert_eq!(list(&mut client).len(), 2);
    let items = json!([{"itemType": "MergeRequest", "fullPath": "acme/widget", "iid": 5}, "acme/widget#1"]);
    let fetched =
        execute(&mut client, "fetch_gitlab_resource", json!({"items": [items[0]], "targets": [items[1]]}));
    let statuses: Vec<&Value> =
        fetched.structured["data"].as_array().unwrap().iter().map(|row| &row["status"]).collect();
    assert_eq!(statuses, ["ok", "ok"], "{}", fetched.text);
}

/// A hundred tools of one toolset cost a client more than what toolsets save.
#[test]
fn an_active_toolset_lists_its_everyday_actions() {
    let mut client = start("toolset", &[]);
    let toolsets = active(&mut client)["toolsets"].clone();
    let names: Vec<String> =
        toolsets.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect();
    assert!(names.len() > 20, "{names:?}");
    let large = ["issues", "merge_requests", "projects", "security", "settings", "pipelines"];
    for name in names.iter().filter(|name| large.contains(&name.as_str())) {
        let activated = activate(&mut client, json!({"toolset_name": name}));
        let listed = ask(&mut client, "tools/list", json!({}));
        assert_eq!(listed["_meta"]["activeToolset"], *name);
        let tools = listed["tools"].as_array().unwrap();
        assert!(tools.len() <= 20, "{name}: {}", tools.len());
        assert!(listed["tools"].to_string().len() <= 25_000, "{name}: {}", listed["tools"].to_string().len());
        let (count, all) = (&activated.structured["count"], &activated.structured["actions"]);
        if count.as_u64() < all.as_u64() {
            assert!(activated.text.contains("more actions of"), "{name}: {}", activated.text);
        }
    }
    activate(&mut client, json!({"toolset_name": "issues"}));
    let listed = ask(&mut client, "tools/list", json!({})).to_string();
    for tool in ["issue_get", "issue_list", "issue_create", "issue_update", "issue_note_create"] {
        assert!(listed.contains(&format!("\"{tool}\"")), "{tool} is wanted every day");
    }
    // An action that is not listed is a tool of the active toolset all the same.
    let statistics = json!({"name": "issue_statistics_get", "arguments": {"fullPath": "acme/widget"}});
    let called = ask(&mut client, "tools/call", statistics);
    assert_ne!(called["isError"], true, "{called}");
}

#[test]
fn toolsets_of_the_proposals_diagram_lead_somewhere() {
    let mut client = start("toolset", &[]);
    for (name, says, instead) in
        [("gitlab", "run every action", "default"), ("local", "the client's own tools", "repository")]
    {
        let reply = activate(&mut client, json!({"toolset_name": name}));
        assert!(reply.is_error && reply.text.contains(says), "{}", reply.text);
        assert_eq!(reply.structured["error"]["fix"]["arguments"]["toolset_name"], instead);
    }
}
