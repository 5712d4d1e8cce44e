//! The instance of a call, and what answers say of it.

use std::fs;

use serde_json::{Value, json};

use super::{ACCOUNT_TOKEN, HOME_TOKEN, Setup, WORK_TOKEN, call};
use crate::http::HttpServer;
use crate::support::client::{Client, EXECUTE, FIND, LATEST_HANDSHAKE, Reply, follow, program, refused};
use crate::support::scripted_gitlab::{Gitlab, answer};
use crate::surfaces::listings::list;

fn run(client: &mut Client, action: &str, params: Value, beside: Value) -> Reply {
    client.call(EXECUTE, call(action, params, beside))
}

#[test]
fn a_url_an_argument_or_the_default_decides() {
    let setup = Setup::new();
    let mut client = setup.client(&[]);
    let (home, work) = (setup.home_name(), "work");
    let issue = json!({"fullPath": "acme/widget", "iid": 7});
    let at_work = json!({"target": Setup::issue_url(&setup.work, "acme/widget")});
    let at_home = json!({"target": Setup::issue_url(&setup.home, "acme/widget")});
    let host = setup.work.url();
    for (params, beside, name, mark) in [
        (issue.clone(), json!({}), home.as_str(), "HOMEMARK"),
        (issue.clone(), json!({"instance": "work"}), work, "WORKMARK"),
        (issue.clone(), json!({"instance": "WORK"}), work, "WORKMARK"),
        (issue.clone(), json!({"instance": host}), work, "WORKMARK"),
        (at_work.clone(), json!({}), work, "WORKMARK"),
        (at_work.clone(), json!({"instance": "work"}), work, "WORKMARK"),
        (at_home, json!({}), home.as_str(), "HOMEMARK"),
    ] {
        let reply = run(&mut client, "issue.get", params, beside);
        assert!(!reply.is_error && reply.text.contains(mark), "{}", reply.text);
        assert_eq!(reply.structured["instance"], name);
        assert!(reply.text.starts_with(&format!("Instance: {name}\n")), "{}", reply.text);
        assert_eq!(reply.text.matches(name).count(), 1, "named once: {}", reply.text);
    }
    // The URL under another name, in place of a path, or in place of the action.
    let url = Setup::issue_url(&setup.work, "acme/widget");
    for (action, params) in [
        ("issue.get", json!({"url": url})),
        ("issue.get", json!({"fullPath": url})),
        (url.as_str(), json!({})),
        ("resource.fetch", json!({"targets": [url, "acme/widget#2"]})),
        ("api.batch", json!({"calls": [{"action": "issue.get", "params": {"target": url}}]})),
        ("project.resolve", json!({"remote": format!("{}/acme/widget.git", setup.work.url())})),
        ("project.resolve", json!({"url": format!("{}/acme/widget/-/issues", setup.work.url())})),
        ("api.rest", json!({"method": "GET", "path": format!("{}/api/v4/user", setup.work.url())})),
    ] {
        let reply = run(&mut client, action, params.clone(), json!({}));
        assert!(!reply.is_error, "{action} {params}: {}", reply.text);
        assert_eq!(reply.structured["instance"], "work", "{action} {params}");
    }
}

#[test]
fn the_paths_of_an_account_choose_it() {
    let setup = Setup::new();
    let mut client = setup.client(&[]);
    for (params, name, token) in [
        (json!({"fullPath": "second/app", "iid": 7}), "account".to_owned(), ACCOUNT_TOKEN),
        (json!({"fullPath": "Second/App/Sub", "iid": 7}), "account".to_owned(), ACCOUNT_TOKEN),
        (json!({"target": "second/app#7"}), "account".to_owned(), ACCOUNT_TOKEN),
        (json!({"target": Setup::issue_url(&setup.home, "second/app")}), "account".to_owned(), ACCOUNT_TOKEN),
        (json!({"fullPath": "seconds/app", "iid": 7}), setup.home_name(), HOME_TOKEN),
        (json!({"fullPath": "acme/second", "iid": 7}), setup.home_name(), HOME_TOKEN),
    ] {
        let reply = run(&mut client, "issue.get", params.clone(), json!({}));
        assert_eq!(reply.structured["instance"], name, "{params}: {}", reply.text);
        assert!(setup.home.last("/issues/7").head.contains(token), "{params}");
    }
    // The argument is stronger than the paths.
    let reply = run(
        &mut client,
        "issue.get",
        json!({"fullPath": "acme/x", "iid": 7}),
        json!({"instance": "account"}),
    );
    assert_eq!(reply.structured["instance"], "account", "{}", reply.text);
    let two = json!({"calls": [
        {"action": "issue.get", "params": {"target": "second/app#7"}},
        {"action": "issue.get", "params": {"target": Setup::issue_url(&setup.work, "acme/widget")}},
    ]});
    let error =
        refused(&run(&mut client, "api.batch", two, json!({"instance": "account"})), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("a URL in the call is of work"), "{error}");
}

#[test]
fn what_is_not_configured_is_refused_with_what_is() {
    let setup = Setup::new();
    let mut client = setup.client(&[]);
    let foreign = json!({"target": "https://elsewhere.example/acme/widget/-/issues/7"});
    let error = refused(&run(&mut client, "issue.get", foreign, json!({})), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("elsewhere.example"), "{error}");
    for name in ["work", "account", &setup.home_name()] {
        assert!(error["hint"].as_str().unwrap().contains(name), "{error}");
    }
    let issue = json!({"fullPath": "acme/widget", "iid": 7});
    let unknown = run(&mut client, "issue.get", issue.clone(), json!({"instance": "nobody"}));
    let error = refused(&unknown, "invalid_params");
    assert!(error["hint"].as_str().unwrap().contains("work ("), "{error}");
    // Among the parameters it is understood, and not dropped.
    let inside = |name: &str| json!({"fullPath": "acme/widget", "iid": 7, "instance": name});
    let unknown = run(&mut client, "issue.get", inside("nobody"), json!({}));
    refused(&unknown, "invalid_params");
    assert!(setup.work.seen().is_empty(), "{:?}", setup.work.seen());
    let url = json!({"target": Setup::issue_url(&setup.work, "acme/widget")});
    let home = setup.home_name();
    let reply = run(&mut client, "issue.delete", url, json!({"instance": home, "confirm": true}));
    let error = refused(&reply, "invalid_params");
    // The scopes of the default instance's token are requested in the background.
    let is_of_call = |line: &String| !line.ends_with("/personal_access_tokens/self");
    assert!(!setup.home.seen().iter().any(is_of_call), "{:?}", setup.home.seen());
    assert!(setup.work.seen().is_empty(), "{:?}", setup.work.seen());
    // Which of the two is meant is not guessed.
    assert!(error["fix"].is_null(), "{error}");
    // The call without the unknown name would go to an instance that was not meant: none is offered.
    for (params, beside) in [
        (issue.clone(), json!({"instance": "nobody", "confirm": true, "confirmation_token": "x"})),
        (inside("nobody"), json!({"confirm": true})),
    ] {
        let error = refused(&run(&mut client, "issue.delete", params, beside), "invalid_params");
        assert!(error["fix"].is_null(), "{error}");
    }
    // A misspelt one is corrected to the nearest, without consent; so it is for a find.
    let beside = json!({"instance": "wrok", "confirm": true});
    let error = refused(&run(&mut client, "issue.delete", issue, beside), "invalid_params");
    let arguments = json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 7}, "instance": "work"});
    assert_eq!(error["fix"]["arguments"], arguments, "{error}");
    let found = client.call(FIND, json!({"query": "delete an issue", "instance": "wrok"}));
    assert_eq!(refused(&found, "invalid_params")["fix"]["arguments"]["instance"], "work");
    // A host with its port is a name, as it stands in a URL.
    let named = json!({"instance": setup.work.address.to_string()});
    let reply = run(&mut client, "issue.get", json!({"fullPath": "acme/widget", "iid": 7}), named);
    assert_eq!(reply.structured["instance"], "work", "{}", reply.text);
    assert!(!setup.home.seen().iter().any(is_of_call), "{:?}", setup.home.seen());
    let inside = run(&mut client, "issue.get", inside("work"), json!({}));
    assert_eq!(inside.structured["instance"], "work", "{}", inside.text);
}

#[test]
fn a_host_of_two_accounts_is_refused_with_the_names_of_both() {
    let setup = Setup::new();
    let mut client = setup.client(&[]);
    // All three instances are on this host; the default one and `account` share a root too.
    let host = setup.home.address.ip().to_string();
    for name in [host, setup.home.url(), format!("{}/", setup.home.url()), setup.home.url().to_uppercase()] {
        let params = json!({"fullPath": "acme/widget"});
        let executed = run(&mut client, "issue.list", params, json!({"instance": name}));
        let found = client.call(FIND, json!({"query": "list issues", "instance": name}));
        for reply in [executed, found] {
            let error = refused(&reply, "invalid_params");
            for account in [setup.home_name().as_str(), "account"] {
                let hint = error["hint"].as_str().unwrap();
                assert!(hint.contains(&format!("{account} (http")), "{name}: {error}");
            }
        }
    }
    for gitlab in [&setup.home, &setup.work] {
        assert!(gitlab.seen().iter().all(|line| !line.contains("/issues")), "{:?}", gitlab.seen());
    }
}

#[test]
fn a_name_among_the_parameters_is_the_argument() {
    let setup = Setup::new();
    let mut client = setup.client(&[]);
    let inside = |name: &str| json!({"fullPath": "acme/widget", "iid": 7, "instance": name});
    // By its id, by an alias and as a REST request.
    for (action, params) in [
        ("issue.get", inside("work")),
        ("get_issue", inside("work")),
        ("GET /projects/acme%2Fwidget/issues/7", json!({"instance": "work"})),
    ] {
        let reply = run(&mut client, action, params, json!({}));
        assert_eq!(reply.structured["instance"], "work", "{action}: {}", reply.text);
    }
    let sent = || {
        let of = |gitlab: &Gitlab| gitlab.seen().iter().filter(|line| line.contains("/issues/")).count();
        (of(&setup.home), of(&setup.work))
    };
    let before = sent();
    let error = refused(&run(&mut client, "issue.get", inside("nobody"), json!({})), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("no GitLab is configured as"), "{error}");
    // Another address is no misspelt one, and the address of several is neither's.
    for (address, said) in [("127.0.0.3", "no GitLab is configured as"), ("127.0.0.1", "3 are configured at")]
    {
        let params = json!({"fullPath": "acme/widget", "iid": 7, "title": "x"});
        let reply = run(&mut client, "issue.update", params, json!({"instance": address}));
        let error = refused(&reply, "invalid_params");
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
        assert_ne!(error["fix"]["arguments"]["action"], "issue.update", "{error}");
    }
    assert!(error["fix"]["arguments"]["params"].get("instance").is_none(), "{error}");
    // Given twice, it is not guessed which one is right.
    let twice = json!({"instance": setup.home_name()});
    let error = refused(&run(&mut client, "issue.get", inside("work"), twice), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("instance"), "{error}");
    assert_eq!(sent(), before, "nothing is sent");
}

#[test]
fn a_name_that_is_not_that_of_the_only_instance_is_refused() {
    let setup = Setup::new();
    let url = setup.home.url();
    let variables = [("GITLAB_URL", url.as_str()), ("GITLAB_TOKEN", HOME_TOKEN)];
    let params = json!({"fullPath": "acme/widget", "iid": 7}).to_string();
    let run = |command: &[&str], name: &str| {
        let arguments = [command, &["--instance", name]].concat();
        let output = program(&arguments, &variables).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let deletion = ["execute", "issue.delete", "--params", params.as_str(), "--confirm"];
    for command in [&deletion[..], &["find", "delete an issue"]] {
        let (code, text) = run(command, "nobody");
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("no GitLab is configured as \"nobody\""), "{text}");
    }
    let inside = json!({"fullPath": "acme/widget", "iid": 7, "instance": "nobody"}).to_string();
    let output = program(&["execute", "issue.get", "--params", &inside], &variables).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("no GitLab is configured as"), "{output:?}");
    assert!(setup.home.seen().is_empty(), "{:?}", setup.home.seen());
    let reading = ["execute", "issue.get", "--params", params.as_str()];
    for name in [setup.home_name(), url.clone()] {
        let (code, text) = run(&reading, &name);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("HOMEMARK"), "{text}");
    }
}

#[test]
fn an_error_quotes_a_key_that_is_named_like_a_setting() {
    let setup = Setup::new();
    let missing = answer(404, json!({"message": "404 Variable Not Found"}));
    setup.work.answer("GET", "/projects/[^/]*/variables/GITLAB_TOKEN", missing);
    let mut client = setup.client(&[]);
    let params = json!({"fullPath": "acme/widget", "key": "GITLAB_TOKEN"});
    let reply = run(&mut client, "ci_variable.get", params, json!({"instance": "work"}));
    let error = refused(&reply, "not_found");
    assert!(error["message"].as_str().unwrap().contains("GITLAB_TOKEN"), "{error}");
    assert!(!reply.text.contains("token_env"), "{}", reply.text);
}

#[test]
fn calls_in_answers_stay_with_their_instance() {
    let setup = Setup::new();
    let mut client = setup.client(&[]);
    let listed =
        run(&mut client, "issue.list", json!({"fullPath": "acme/widget"}), json!({"instance": "work"}));
    let next = &listed.structured["page"]["next"];
    assert_eq!(next["arguments"]["instance"], "work");
    assert!(listed.text.contains(&next.to_string()), "{}", listed.text);
    let following = follow(&mut client, next);
    assert_eq!(following.structured["instance"], "work", "{}", following.text);
    let missing = json!({"fullPath": "acme/widget", "iid": "seven"});
    let error = refused(&run(&mut client, "issue.get", missing, json!({"instance": "work"})), "not_found");
    assert_eq!(
        (&error["instance"], &error["fix"]["arguments"]["instance"]),
        (&json!("work"), &json!("work"))
    );
    let found = client.call(FIND, json!({"query": "issue.get", "instance": "work"}));
    assert_eq!(found.structured["results"][0]["example"]["instance"], "work", "{}", found.text);
    assert!(found.text.contains("\"instance\":\"work\"}`"), "{}", found.text);
    let found = client.call(FIND, json!({"query": "issue.get"}));
    assert!(found.structured["results"][0]["example"].get("instance").is_none(), "{}", found.text);
}

#[test]
fn a_confirmation_is_good_for_one_instance() {
    let setup = Setup::new();
    let mut client = setup.client(&[("GITLAB_CONFIRM", "destructive,token")]);
    let issue = json!({"fullPath": "acme/widget", "iid": 7});
    let asked = run(&mut client, "issue.delete", issue.clone(), json!({"instance": "work"}));
    let fix = refused(&asked, "needs_confirmation")["fix"].clone();
    assert_eq!(fix["arguments"]["instance"], "work");
    let mut elsewhere = fix.clone();
    elsewhere["arguments"]["instance"] = json!(setup.home_name());
    let again = follow(&mut client, &elsewhere);
    refused(&again, "needs_confirmation");
    assert!(!setup.home.seen().iter().any(|line| line.starts_with("DELETE")), "{:?}", setup.home.seen());
    let done = follow(&mut client, &fix);
    assert!(!done.is_error, "{}", done.text);
    assert!(setup.work.seen().iter().any(|line| line.starts_with("DELETE")));
    assert!(!setup.home.seen().iter().any(|line| line.starts_with("DELETE")));
}

#[test]
fn a_question_to_the_user_names_the_instance_and_the_answer_stays_there() {
    let setup = Setup::new();
    let mut client = setup.client(&[]);
    let able = json!({"elicitation": {}});
    let issue = json!({"fullPath": "acme/widget", "iid": 7});
    let deletion = |state: Option<&Value>| {
        let arguments = call("issue.delete", issue.clone(), json!({"instance": "work"}));
        let mut call = json!({"name": EXECUTE, "arguments": arguments});
        if let Some(state) = state {
            call["requestState"] = state.clone();
            call["inputResponses"] = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
        }
        call
    };
    let asked = client.modern_with("tools/call", deletion(None), able.clone())["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert!(asked["inputRequests"].to_string().contains("work"), "{asked}");
    let done = client.modern_with("tools/call", deletion(Some(&asked["requestState"])), able);
    assert_eq!(done["result"]["structuredContent"]["instance"], "work", "{done}");
    let deletes = |gitlab: &crate::support::scripted_gitlab::Gitlab| {
        gitlab.seen().iter().filter(|line| line.starts_with("DELETE")).count()
    };
    assert_eq!((deletes(&setup.work), deletes(&setup.home)), (1, 0));
}

#[test]
fn other_surfaces_have_the_argument_and_carry_it() {
    let setup = Setup::new();
    for (kind, tool, arguments) in [
        ("individual", "issue_list", json!({"fullPath": "acme/widget", "instance": "work"})),
        (
            "meta",
            "gitlab_issues",
            json!({"action": "list", "params": {"fullPath": "acme/widget"}, "instance": "work"}),
        ),
        (
            "toolset",
            EXECUTE,
            call("issue.list", json!({"fullPath": "acme/widget"}), json!({"instance": "work"})),
        ),
    ] {
        let mut client = setup.client(&[("TOOL_SURFACE", kind), ("GITLAB_READ_TOOL", "true")]);
        let listed = client.call(tool, arguments);
        assert!(listed.text.contains("WORKMARK"), "{kind}: {}", listed.text);
        let next = &listed.structured["page"]["next"];
        assert_eq!(next["arguments"]["instance"], "work", "{kind}: {next}");
        assert!(listed.text.contains(&next.to_string()), "{kind}: {}", listed.text);
        let following = follow(&mut client, next);
        assert_eq!(following.structured["instance"], "work", "{kind}: {}", following.text);
    }
}

#[test]
fn a_url_that_is_a_value_names_no_instance() {
    let setup = Setup::new();
    setup.home.answer(
        "POST",
        "/projects/[^/]*/hooks",
        answer(201, json!({"id": 1, "url": "https://h.example/x"})),
    );
    setup.home.answer("POST", "/releases/[^/]*/assets/links", answer(201, json!({"id": 2, "name": "x"})));
    let mut client = setup.client(&[("GITLAB_CONFIRM", "never")]);
    let at_work = Setup::issue_url(&setup.work, "acme/widget");
    for (action, params) in [
        ("webhook.create", json!({"fullPath": "acme/widget", "url": "https://h.example/x"})),
        ("create_webhook", json!({"fullPath": "acme/widget", "url": at_work})),
        ("POST /projects/acme%2Fwidget/hooks", json!({"url": at_work})),
        (
            "release_link.create",
            json!({"fullPath": "acme/widget", "tag_name": "v1", "name": "x", "url": at_work}),
        ),
        ("issue.update", json!({"fullPath": "acme/widget", "iid": 7, "description": at_work})),
    ] {
        let reply = run(&mut client, action, params, json!({}));
        assert!(!reply.is_error, "{action}: {}", reply.text);
        assert_eq!(reply.structured["instance"], setup.home_name(), "{action}");
    }
    assert!(setup.work.seen().is_empty(), "{:?}", setup.work.seen());
}

#[test]
fn a_policy_file_is_that_of_its_instance() {
    let directory = tempfile::tempdir().unwrap();
    let policy = directory.path().join("policy.toml");
    fs::write(&policy, "denied_actions = [\"issue.update\"]\n").unwrap();
    let setup = Setup::with(&format!("policy = {}", json!(policy.display().to_string())));
    let mut client = setup.client(&[]);
    let change = json!({"fullPath": "acme/widget", "iid": 7, "title": "x"});
    refused(&run(&mut client, "issue.update", change.clone(), json!({"instance": "work"})), "denied");
    let done = run(&mut client, "issue.update", change, json!({}));
    assert!(!done.is_error, "{}", done.text);
    assert!(setup.work.seen().iter().all(|line| !line.starts_with("PUT")), "{:?}", setup.work.seen());
}

#[test]
fn an_error_of_a_token_command_names_the_key_of_its_table() {
    let setup = Setup::new();
    let table = format!(
        "[[instance]]\nname = \"work\"\nurl = \"{}\"\ntoken_command = \"/nowhere/print-token\"\n",
        setup.work.url()
    );
    fs::write(setup.settings(), table).unwrap();
    let mut client = setup.client(&[]);
    let read = json!({"fullPath": "acme/widget", "iid": 7});
    let error = refused(&run(&mut client, "issue.get", read, json!({"instance": "work"})), "unauthorized");
    let key = "token_command of [[instance]] work";
    let message = format!("{key}: there is no program /nowhere/print-token");
    assert!(error["message"].as_str().unwrap().contains(&message), "{error}");
    assert!(error["hint"].as_str().unwrap().contains(&format!("the program in {key}:")), "{error}");
    assert!(setup.work.seen().is_empty(), "{:?}", setup.work.seen());
}

#[test]
fn an_instance_has_a_policy_and_an_audit_of_its_own() {
    let setup = Setup::with("read_only = true");
    let mut client = setup.client(&[("GITLAB_AUDIT", "json")]);
    let change = json!({"fullPath": "acme/widget", "iid": 7, "title": "x"});
    let error =
        refused(&run(&mut client, "issue.update", change.clone(), json!({"instance": "work"})), "denied");
    assert_eq!(error["instance"], "work");
    assert!(error["message"].as_str().unwrap().contains("`read_only` of [[instance]] work"), "{error}");
    let found = client.call(FIND, json!({"query": "issue.update", "instance": "work"}));
    assert!(found.text.contains("Only reads are offered"), "{}", found.text);
    let done = run(&mut client, "issue.update", change, json!({}));
    assert!(!done.is_error, "{}", done.text);
    let log = client.close().stderr;
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of = |name: &str| lines.iter().filter(|line| line["audit"]["instance"] == name).count();
    assert!(of("work") == 1 && of(&setup.home_name()) >= 1, "{log}");
    assert!(setup.work.seen().iter().all(|line| !line.starts_with("PUT")));
}

#[test]
fn the_argument_is_there_where_there_are_several() {
    let setup = Setup::new();
    let file = setup.settings().display().to_string();
    let url = setup.home.url();
    let variables = [
        ("GITLAB_URL", url.as_str()),
        ("GITLAB_TOKEN", HOME_TOKEN),
        ("GITLAB_MCP_CONFIG", file.as_str()),
        ("WORK_TOKEN", WORK_TOKEN),
        ("ACCOUNT_TOKEN", ACCOUNT_TOKEN),
    ];
    let mut several = Client::start(&[], &variables);
    let instructions = several.initialize(LATEST_HANDSHAKE)["result"]["instructions"].clone();
    let instructions = instructions.as_str().unwrap();
    assert!(instructions.contains("several GitLabs: ") && instructions.contains("work ("), "{instructions}");
    let names = json!([setup.home_name(), "work", "account"]);
    let list = several.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in list.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["properties"]["instance"]["enum"], names, "{}", tool["name"]);
    }
    let mut one = Client::start(&[], &variables[..2]);
    let instructions = one.initialize(LATEST_HANDSHAKE)["result"]["instructions"].to_string();
    assert!(!instructions.contains("several GitLabs"), "{instructions}");
    let list = one.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in list.as_array().unwrap() {
        assert!(tool["inputSchema"]["properties"].get("instance").is_none(), "{}", tool["name"]);
    }
    let issue = call("issue.get", json!({"fullPath": "acme/widget", "iid": 7}), json!({"instance": "work"}));
    let error = refused(&one.call(EXECUTE, issue), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("`instance` is not an argument"), "{error}");
    let answer = run(&mut one, "issue.get", json!({"fullPath": "acme/widget", "iid": 7}), json!({}));
    assert!(
        answer.structured.get("instance").is_none() && !answer.text.contains("Instance:"),
        "{}",
        answer.text
    );
}

#[test]
fn resources_are_read_from_the_instance_that_they_name() {
    let setup = Setup::new();
    // RFC 6570 encodes the value of a query parameter.
    let work = setup.work.url().replace(':', "%3A").replace('/', "%2F");
    let encoded = format!("gitlab://project/acme/widget/issue/7?instance={work}");
    let mut client = setup.client(&[]);
    for (uri, mark) in [
        ("gitlab://project/acme/widget/issue/7", "HOMEMARK"),
        ("gitlab://project/acme/widget/issue/7?instance=work", "WORKMARK"),
        (encoded.as_str(), "WORKMARK"),
    ] {
        let read = client.request("resources/read", json!({"uri": uri}));
        assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains(mark), "{read}");
        assert_eq!(read["result"]["contents"][0]["uri"], uri);
    }
    let two = json!({"uri": "gitlab://project/acme/widget/issue/7?instance=work&instance=account"});
    let read = client.request("resources/read", two);
    assert!(read["error"]["message"].as_str().unwrap().contains("more than once"), "{read}");
    let unknown = json!({"uri": "gitlab://project/acme/widget/issue/7?instance=nobody"});
    let read = client.request("resources/read", unknown);
    assert!(read["error"]["message"].as_str().unwrap().contains("no GitLab is configured"), "{read}");
    let templates = client.request("resources/templates/list", json!({}))["result"].to_string();
    assert!(templates.contains("{?instance}") && templates.contains(",instance}"), "{templates}");
}

#[test]
fn completions_are_those_of_the_instance_that_they_name() {
    let setup = Setup::new();
    for (gitlab, mark) in [(&setup.home, "at-home"), (&setup.work, "at-work")] {
        let branch = json!([{"name": mark}]);
        gitlab.json("/repository/branches", &branch);
    }
    let mut client = setup.client(&[]);
    let mut complete = |argument: Value, given: Value| {
        let templates = client.request("resources/templates/list", json!({}));
        let listed = templates["result"]["resourceTemplates"].as_array().unwrap().iter();
        let of_branch = listed.map(|one| one["uriTemplate"].as_str().unwrap().to_owned());
        let uri = of_branch.into_iter().find(|uri| uri.starts_with("gitlab://project/{fullPath}/branch/"));
        let params = json!({
            "ref": {"type": "ref/resource", "uri": uri.unwrap()},
            "argument": argument,
            "context": {"arguments": given},
        });
        client.request("completion/complete", params)["result"]["completion"]["values"].clone()
    };
    let name = json!({"name": "instance", "value": "w"});
    assert_eq!(complete(name, json!({})), json!(["work"]));
    let branch = json!({"name": "branch", "value": "at"});
    assert_eq!(complete(branch.clone(), json!({"fullPath": "acme/widget"})), json!(["at-home"]));
    let at_work = json!({"fullPath": "acme/widget", "instance": "work"});
    assert_eq!(complete(branch, at_work), json!(["at-work"]));
}

#[test]
fn the_first_table_is_the_default_where_nothing_else_is_set() {
    let setup = Setup::new();
    let file = setup.settings().display().to_string();
    let variables =
        [("GITLAB_MCP_CONFIG", file.as_str()), ("WORK_TOKEN", WORK_TOKEN), ("ACCOUNT_TOKEN", ACCOUNT_TOKEN)];
    let mut client = Client::connect(&[], &variables);
    let reply = run(&mut client, "issue.get", json!({"fullPath": "acme/widget", "iid": 7}), json!({}));
    assert_eq!(reply.structured["instance"], "work", "{}", reply.text);
}

#[test]
fn changes_are_listed_where_an_instance_allows_them() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("settings.toml");
    let table = |name: &str, more: &str| {
        format!("[[instance]]\nname = \"{name}\"\nurl = \"https://{name}.example\"\n{more}\n")
    };
    let listed = |tables: &[String], kind: &str| {
        fs::write(&path, tables.concat()).unwrap();
        let file = path.display().to_string();
        let variables =
            [("GITLAB_MCP_CONFIG", file.as_str()), ("TOOL_SURFACE", kind), ("GITLAB_DOMAINS", "milestone")];
        let mut client = Client::connect(&[], &variables);
        json!(list(&mut client)).to_string()
    };
    let reads = |name: &str| table(name, "read_only = true");
    for (kind, read, change) in [
        ("individual", "\"milestone_list\"", "\"milestone_delete\""),
        ("meta", "\"milestone.list\"", "\"milestone.delete\""),
    ] {
        for (tables, expected) in [
            (vec![reads("one")], false),
            (vec![reads("one"), reads("two")], false),
            (vec![reads("one"), table("two", "")], true),
            (vec![table("one", "")], true),
        ] {
            let text = listed(&tables, kind);
            assert!(text.contains(read), "{kind}: {text}");
            assert_eq!(text.contains(change), expected, "{kind} {tables:?}: {text}");
        }
    }
}

#[test]
fn invalid_tables_are_refused_without_the_token() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("settings.toml");
    for (text, expected) in [
        ("[[instance]]\nname = \"a b\"\nurl = \"https://x.example\"", "name: expected letters"),
        ("[[instance]]\nname = \"a\"\nurl = \"x.example\"", "url: expected an http"),
        ("[[instance]]\nname = \"a\"\nurl = \"https://x.example\"\npaths = [\"../x\"]", "paths: expected"),
        (
            "[[instance]]\nname = \"a\"\nurl = \"https://x.example\"\ntoken_env = \"NOT_SET\"",
            "token_env: expected",
        ),
        (
            "[[instance]]\nname = \"a\"\nurl = \"https://x.example\"\ntoken = \"glpat-secret\"",
            "unknown field `token`",
        ),
        ("instance = 5", "[[instance]] in"),
        (
            "[[instance]]\nname = \"a\"\nurl = \"https://x.example\"\n\
             [[instance]]\nname = \"A\"\nurl = \"https://y.example\"",
            "two GitLab instances are named",
        ),
    ] {
        fs::write(&file, text).unwrap();
        let path = file.display().to_string();
        let output =
            program(&["surface"], &[("GITLAB_MCP_CONFIG", &path), ("T", "glpat-x")]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(expected) && !said.contains("secret"), "{text}: {said}");
        assert_eq!(output.status.code(), Some(2), "{said}");
    }
}

#[test]
fn a_command_is_a_source_of_the_token_of_an_instance() {
    let setup = Setup::new();
    let file = setup.directory.path().join("by-command.toml");
    let secret = setup.directory.path().join("secret");
    fs::write(&secret, "glpat-from-a-command\n").unwrap();
    let command = format!("cat {}", secret.display());
    let table = format!(
        "[[instance]]\nname = \"work\"\nurl = \"{}\"\ntoken_command = {}\n",
        setup.work.url(),
        json!(command)
    );
    fs::write(&file, table).unwrap();
    let (file, url) = (file.display().to_string(), setup.home.url());
    let path = std::env::var("PATH").unwrap();
    let variables = [
        ("PATH", path.as_str()),
        ("GITLAB_MCP_CONFIG", file.as_str()),
        ("GITLAB_URL", url.as_str()),
        ("GITLAB_TOKEN", HOME_TOKEN),
    ];
    let mut client = Client::connect(&[], &variables);
    let issue = json!({"fullPath": "acme/widget", "iid": 7});
    let reply = run(&mut client, "issue.get", issue, json!({"instance": "work"}));
    assert!(!reply.is_error, "{}", reply.text);
    assert!(setup.work.last("/issues/7").head.contains("glpat-from-a-command"));
    assert!(setup.home.received().iter().all(|request| !request.head.contains("glpat-from-a-command")));
}

#[test]
fn doctor_examines_each_instance() {
    let (setup, home) = (Setup::new(), tempfile::tempdir().unwrap());
    fs::create_dir(home.path().join(".cursor")).unwrap();
    let (file, url) = (setup.settings().display().to_string(), setup.home.url());
    let variables = [
        ("HOME", home.path().to_str().unwrap()),
        ("GITLAB_URL", url.as_str()),
        ("GITLAB_TOKEN", HOME_TOKEN),
        ("GITLAB_MCP_CONFIG", file.as_str()),
        ("WORK_TOKEN", WORK_TOKEN),
        ("ACCOUNT_TOKEN", ACCOUNT_TOKEN),
    ];
    let output = program(&["doctor", "--json"], &variables).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    for name in [setup.home_name().as_str(), "work", "account"] {
        let address = checks.iter().find(|check| check["instance"] == name && check["check"] == "address");
        assert_eq!(address.unwrap()["state"], "fine", "{report}");
    }
    let clients: Vec<&Value> = checks.iter().filter(|check| check["check"] == "client").collect();
    assert!(clients.len() == 1 && clients[0]["instance"].is_null(), "a client is of no instance: {report}");
    let output = program(&["doctor"], &variables).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\nwork:\n") && text.contains("\naccount:\n"), "{text}");
    for token in [HOME_TOKEN, WORK_TOKEN, ACCOUNT_TOKEN] {
        assert!(!text.contains(token), "{text}");
    }
}

#[test]
fn the_http_server_uses_each_credential_at_its_own_instance() {
    let setup = Setup::new();
    let (file, url, work) = (setup.settings().display().to_string(), setup.home.url(), setup.work.url());
    let variables = [
        ("GITLAB_URL", url.as_str()),
        ("GITLAB_TOKEN", HOME_TOKEN),
        ("GITLAB_MCP_CONFIG", file.as_str()),
        ("GITLAB_MCP_AUTH", "none"),
        ("WORK_TOKEN", WORK_TOKEN),
        ("ACCOUNT_TOKEN", ACCOUNT_TOKEN),
    ];
    let server = HttpServer::start(&[], &variables);
    let issue = json!({"fullPath": "acme/widget", "iid": 7});
    // By a header, and by the argument.
    let by_header = server.execute(&[("GITLAB-URL", &work)], "issue.get", issue.clone());
    assert!(by_header.to_string().contains("WORKMARK"), "{by_header}");
    let by_url = json!({"target": Setup::issue_url(&setup.work, "acme/widget")});
    let by_url = server.execute(&[], "issue.get", by_url);
    assert!(by_url.to_string().contains("WORKMARK"), "{by_url}");
    let by_default = server.execute(&[], "issue.get", issue);
    assert!(by_default.to_string().contains("HOMEMARK"), "{by_default}");
    for request in setup.work.received() {
        assert!(
            !request.head.contains(HOME_TOKEN) && !request.head.contains(ACCOUNT_TOKEN),
            "{}",
            request.head
        );
    }
    assert!(setup.work.last("/issues/7").head.contains(WORK_TOKEN));
    assert!(setup.home.received().iter().all(|request| !request.head.contains(WORK_TOKEN)));
}
