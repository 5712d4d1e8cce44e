//! Permissions and confirmations, over stdio: the rules of the settings and of a policy's file, the question before
//! something is destroyed, and the user's own answer in both eras of the protocol.

use std::fs;

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, LATEST_HANDSHAKE, Reply, execute, refused, reply, succeed};

fn the_issue() -> Value {
    json!({"fullPath": "acme/widget", "iid": 45})
}

fn delete() -> Value {
    json!({"action": "issue.delete", "params": the_issue()})
}

fn is_there(client: &mut Client) -> bool {
    !execute(client, "issue.get", the_issue()).is_error
}

#[test]
fn the_question_names_what_would_be_hit() {
    let mut client = Client::sandbox();
    let error = refused(&client.call(EXECUTE, delete()), "needs_confirmation");
    let issue = succeed(&mut client, "issue.get", the_issue());
    assert_eq!(error["would_hit"]["title"], issue["data"]["title"], "{error}");
    let project = json!({"action": "project.delete", "params": {"fullPath": "acme/widget"}});
    let error = refused(&client.call(EXECUTE, project), "needs_confirmation");
    let hit = &error["would_hit"];
    assert_eq!(hit["path_with_namespace"], "acme/widget", "{error}");
    assert!(hit["open_issues_count"].as_u64().is_some() && hit["last_activity_at"].is_string(), "{error}");
}

#[test]
fn what_is_not_there_is_said_before_anything_is_asked() {
    let mut client = Client::sandbox();
    let gone = json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 4711}});
    refused(&client.call(EXECUTE, gone), "not_found");
}

#[test]
fn a_plan_is_good_for_one_call_on_one_state() {
    let mut client = Client::sandbox_with(&[("GITLAB_CONFIRM", "plan")]);
    let mut bare = delete();
    bare["confirm"] = json!(true);
    let error = refused(&client.call(EXECUTE, bare.clone()), "needs_confirmation");
    let agreed = error["fix"]["arguments"].clone();
    assert!(agreed["confirmation_token"].as_str().unwrap().len() >= 8, "{error}");
    let mut other = agreed.clone();
    other["params"]["iid"] = json!(44);
    refused(&client.call(EXECUTE, other), "needs_confirmation");
    let mut guessed = agreed.clone();
    guessed["confirmation_token"] = json!("0000000000");
    refused(&client.call(EXECUTE, guessed), "needs_confirmation");
    let mut renamed = the_issue();
    renamed["title"] = json!("Something else by now");
    succeed(&mut client, "issue.update", renamed);
    let error = refused(&client.call(EXECUTE, agreed), "needs_confirmation");
    assert_eq!(error["would_hit"]["title"], "Something else by now", "{error}");
    assert!(is_there(&mut client));
    let reply = client.call(EXECUTE, error["fix"]["arguments"].clone());
    assert!(!reply.is_error, "{}", reply.text);
    assert!(!is_there(&mut client));
}

/// A token is bound to what the call would hit, also where the project is named by its id and a rule speaks of paths.
#[test]
fn a_token_is_bound_to_the_state_of_a_thing_that_is_named_by_an_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    fs::write(&path, "[[rule]]\npaths = [\"acme/vault\"]\ndecision = \"deny\"\n").unwrap();
    let mut client =
        Client::sandbox_with(&[("GITLAB_CONFIRM", "token"), ("GITLAB_POLICY", path.to_str().unwrap())]);
    let ask = json!({"action": "issue.delete", "params": {"fullPath": "1", "iid": 45}});
    let error = refused(&client.call(EXECUTE, ask), "needs_confirmation");
    assert!(error["would_hit"]["title"].is_string(), "{error}");
    let mut renamed = the_issue();
    renamed["title"] = json!("Something else by now");
    succeed(&mut client, "issue.update", renamed);
    refused(&client.call(EXECUTE, error["fix"]["arguments"].clone()), "needs_confirmation");
    assert!(is_there(&mut client));
}

/// A branch with a commit that nobody has seen is not deleted, alone or among several: no question shows the commit.
#[test]
fn a_token_is_bound_to_the_state_of_each_thing_though_the_question_does_not_show_it() {
    let mut client = Client::sandbox_with(&[("GITLAB_CONFIRM", "token")]);
    let new = json!({"fullPath": "acme/widget", "branch": "second", "ref": "main"});
    succeed(&mut client, "branch.create", new);
    let is_there = |client: &mut Client| {
        let branch = json!({"fullPath": "acme/widget", "branch": "spring-load"});
        !execute(client, "branch.get", branch).is_error
    };
    for (number, branch) in [json!("spring-load"), json!(["spring-load", "second"])].iter().enumerate() {
        let ask = json!({"action": "branch.delete", "params": {"fullPath": "acme/widget", "branch": branch}});
        let error = refused(&client.call(EXECUTE, ask.clone()), "needs_confirmation");
        let file = json!({"action": "create", "file_path": format!("{number}.txt"), "content": "unseen"});
        let pushed = json!({
            "fullPath": "acme/widget", "branch": "spring-load", "commit_message": "Unseen", "actions": [file]
        });
        succeed(&mut client, "commit.create", pushed);
        refused(&client.call(EXECUTE, error["fix"]["arguments"].clone()), "needs_confirmation");
        assert!(is_there(&mut client), "{branch}");
    }
    // As they are now, they are deleted.
    let both = json!({"fullPath": "acme/widget", "branch": ["spring-load", "second"]});
    let error = refused(&execute(&mut client, "branch.delete", both), "needs_confirmation");
    let reply = client.call(EXECUTE, error["fix"]["arguments"].clone());
    assert!(!reply.is_error && !is_there(&mut client), "{}", reply.text);
}

#[test]
fn on_autopilot_nothing_is_asked() {
    for variable in ["YOLO_MODE", "AUTOPILOT"] {
        let mut client = Client::sandbox_with(&[(variable, "true")]);
        let reply = client.call(EXECUTE, delete());
        assert!(!reply.is_error, "{}", reply.text);
        assert!(!is_there(&mut client));
    }
}

#[test]
fn what_is_denied_is_neither_run_nor_found() {
    for pattern in ["issue.delete", "issue.*", "*.delete", "manage_issue:delete", "delete_issue"] {
        let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", pattern)]);
        let mut call = delete();
        call["confirm"] = json!(true);
        let error = refused(&client.call(EXECUTE, call), "denied");
        let said = error["message"].as_str().unwrap();
        assert!(said.contains(pattern) && said.contains("GITLAB_DENIED_ACTIONS"), "{said}");
        let found = client.call("gitlab_find_action", json!({"query": "delete an issue"}));
        let ids: Vec<&Value> =
            found.structured["results"].as_array().unwrap().iter().map(|result| &result["action"]).collect();
        assert!(!ids.contains(&&json!("issue.delete")), "{pattern}: {ids:?}");
        assert!(found.structured["notes"].to_string().contains(pattern), "{}", found.text);
    }
}

#[test]
fn changes_stay_below_the_allowed_paths() {
    let mut client = Client::sandbox_with(&[("GITLAB_ALLOWED_PATHS", "acme/tools, acme/wid*")]);
    succeed(&mut client, "issue.create", json!({"fullPath": "acme/widget", "title": "Within"}));
    let outside = json!({"fullPath": "acme", "title": "Outside"});
    let error = refused(&execute(&mut client, "epic.create", outside), "denied");
    assert!(error["message"].as_str().unwrap().contains("GITLAB_ALLOWED_PATHS"), "{error}");
    succeed(&mut client, "issue.list", json!({"fullPath": "acme", "per_page": 1}));
}

#[test]
fn a_file_says_more_by_path_and_verb() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    fs::write(
        &file,
        r#"
        denied_actions = ["*.delete"]
        [[rule]]
        paths = ["acme/widget"]
        actions = ["issue.create"]
        decision = "confirm"
        reason = "the team triages on Mondays"
        [[rule]]
        actions = ["label.*"]
        risk = "write"
        decision = "deny"
        "#,
    )
    .unwrap();
    let mut client = Client::sandbox_with(&[("GITLAB_POLICY", file.to_str().unwrap())]);
    refused(&client.call(EXECUTE, delete()), "denied");
    let create = json!({"action": "issue.create", "params": {"fullPath": "acme/widget", "title": "Asked"}});
    let error = refused(&client.call(EXECUTE, create), "needs_confirmation");
    assert!(error["message"].as_str().unwrap().contains("the team triages on Mondays"), "{error}");
    let reply = client.call(EXECUTE, error["fix"]["arguments"].clone());
    assert!(!reply.is_error, "{}", reply.text);
    let label = json!({"fullPath": "acme/widget", "name": "x", "color": "#fff"});
    refused(&execute(&mut client, "label.create", label), "denied");
    succeed(&mut client, "label.list", json!({"fullPath": "acme/widget"}));
}

#[test]
fn a_policy_that_cannot_be_used_ends_the_start_and_says_why() {
    let ended = Client::start(&["--sandbox"], &[("GITLAB_DENIED_ACTIONS", "isue.delete")]).wait();
    assert!(!ended.status.success());
    assert!(
        ended.stderr.contains("isue.delete") && ended.stderr.contains("GITLAB_DENIED_ACTIONS"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_tool_that_is_dropped_is_not_there() {
    let mut client = Client::sandbox_with(&[("GITLAB_DENIED_TOOLS_REGEX", "^gitlab_execute")]);
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0]["name"], "gitlab_find_action");
    let answer = client.request("tools/call", json!({"name": EXECUTE, "arguments": delete()}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("unknown tool"), "{answer}");
}

#[test]
fn the_scopes_of_the_token_decide_before_gitlab_does() {
    let mut client = Client::sandbox_with(&[("GITLAB_TOKEN", "glpat-sandbox-read-api")]);
    let create = json!({"fullPath": "acme/widget", "title": "No"});
    let error = refused(&execute(&mut client, "issue.create", create), "forbidden");
    let said = error["message"].as_str().unwrap();
    assert!(said.contains("read_api") && said.contains("Nothing was sent"), "{said}");
    assert_eq!(error["hint"], "Give GITLAB_TOKEN a token with `api`.");
    let found = client.call("gitlab_find_action", json!({"query": "create an issue"}));
    for result in found.structured["results"].as_array().unwrap() {
        assert_eq!(result["risk"], "read", "{result}");
    }
}

/// A client of the older era whose user says this to what it is asked.
fn start_with_answer(said: &str) -> (Client, Value, Reply) {
    let mut client = Client::start(&["--sandbox"], &[]);
    client.initialize_with(LATEST_HANDSHAKE, json!({"elicitation": {}}));
    client.send(&json!({
        "jsonrpc": "2.0", "id": "delete", "method": "tools/call",
        "params": {"name": EXECUTE, "arguments": delete()},
    }));
    let question = client.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let content = json!({"confirm": true});
    client.send(
        &json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": said, "content": content}}),
    );
    let answer = client.receive();
    assert_eq!(answer["id"], "delete");
    (client, question, reply(&answer))
}

#[test]
fn the_user_is_asked_where_the_client_can_and_the_answer_counts() {
    let (mut client, question, reply) = start_with_answer("accept");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("Delete issue #45 \""), "{message}");
    assert!(!reply.is_error, "{}", reply.text);
    assert!(!is_there(&mut client));
    for (no, kind) in [("decline", "declined"), ("cancel", "unanswered")] {
        let (mut client, _, reply) = start_with_answer(no);
        refused(&reply, kind);
        assert!(is_there(&mut client), "{no}");
    }
}

/// The same in the era in which the server asks by its result.
#[test]
fn a_result_asks_where_the_server_may_not() {
    let able = json!({"elicitation": {}});
    let mut client = Client::start(&["--sandbox"], &[]);
    let call = json!({"name": EXECUTE, "arguments": delete()});
    let asked = client.modern_with("tools/call", call.clone(), able.clone())["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let (name, request) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    let with = |state: &Value, action: &str, arguments: &Value| {
        json!({
            "name": EXECUTE, "arguments": arguments, "requestState": state,
            "inputResponses": {name: {"action": action, "content": {"confirm": true}}},
        })
    };
    let there = |client: &mut Client| {
        let get = json!({"name": EXECUTE, "arguments": {"action": "issue.get", "params": the_issue()}});
        client.modern("tools/call", get)["result"]["isError"] != true
    };
    // The state of another call, or a forged one, agrees to nothing.
    let mut other = delete();
    other["params"]["iid"] = json!(44);
    for (state, arguments) in [(&asked["requestState"], &other), (&json!("made up"), &delete())] {
        let again = client.modern_with("tools/call", with(state, "accept", arguments), able.clone());
        assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    }
    let closed =
        client.modern_with("tools/call", with(&asked["requestState"], "cancel", &delete()), able.clone());
    assert_eq!(closed["result"]["structuredContent"]["error"]["kind"], "unanswered", "{closed}");
    assert!(there(&mut client));
    // The state is used up by the answer; the user is asked anew.
    let again =
        client.modern_with("tools/call", with(&asked["requestState"], "accept", &delete()), able.clone());
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    let state = &again["result"]["requestState"];
    let done = client.modern_with("tools/call", with(state, "accept", &delete()), able);
    assert_ne!(done["result"]["isError"], true, "{done}");
    assert!(!there(&mut client));
}

#[test]
fn a_client_that_cannot_ask_gets_the_question_as_text() {
    let mut client = Client::start(&["--sandbox"], &[]);
    let call = json!({"name": EXECUTE, "arguments": delete()});
    let answer = client.modern("tools/call", call);
    assert_eq!(answer["result"]["structuredContent"]["error"]["kind"], "needs_confirmation", "{answer}");
}
