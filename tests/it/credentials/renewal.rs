//! Renewal of tokens while the program runs: after a 401, before the expiry, and if a file changes.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::credentials::sources::{PRIVATE, helper};
use crate::credentials::{
    Machine, ask_for_user, credential, credentials_of, forms, gitlab, granted, kept, seconds_from_now, text,
    unauthorized, user,
};
use crate::http::HttpServer;
use crate::support::client::{Client, execute, refused, succeed, wait_until};
use crate::support::scripted_gitlab::{Gitlab, answer};

/// A command that prints another token each time.
fn counting_command(machine: &Machine) -> String {
    machine.install(
        "print-token",
        "echo run >> \"$0.runs\"; echo glpat-number-$(wc -l < \"$0.runs\" | tr -d ' ')",
    )
}

fn connect(gitlab: &Gitlab, machine: &Machine, variables: &[(&str, &str)]) -> Client {
    let (url, path) = (gitlab.url(), machine.search_path());
    Client::connect(&[], &[&[("GITLAB_URL", url.as_str()), ("PATH", &path)], variables].concat())
}

#[test]
fn a_read_that_gets_a_401_is_sent_again_with_a_new_token() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    gitlab.says("GET /api/v4/user", [unauthorized(), user()]);
    let output = ask_for_user(
        &gitlab,
        &[("GITLAB_TOKEN_COMMAND", &counting_command(&machine)), ("PATH", &machine.search_path())],
    );
    assert!(output.status.success(), "{}", text(&output));
    let expected = ["private-token: glpat-number-1", "private-token: glpat-number-2"];
    assert_eq!(credentials_of(&gitlab), expected.map(|line| Some(line.to_owned())));
}

#[test]
fn a_write_that_gets_a_401_is_sent_again_once_with_the_same_body() {
    let (machine, gitlab) = (Machine::new(), Gitlab::with_project());
    let created =
        answer(201, json!({"id": 5, "iid": 5, "title": "Squeaks", "web_url": "https://x.example/5"}));
    gitlab.says("POST /api/v4/projects/", [unauthorized(), created]);
    let command = counting_command(&machine);
    let mut client = connect(&gitlab, &machine, &[("GITLAB_TOKEN_COMMAND", &command)]);
    let params = json!({"method": "POST", "path": "/projects/acme%2Fwidget/labels", "body": {"name": "x", "color": "#fff"}});
    succeed(&mut client, "api.rest", params);
    let posts: Vec<_> = gitlab.received().into_iter().filter(|request| request.method == "POST").collect();
    assert_eq!(posts.len(), 2, "{:?}", gitlab.seen());
    assert_eq!(posts[0].body, posts[1].body);
    assert_ne!(credential(&posts[0]), credential(&posts[1]));
}

#[test]
fn a_second_401_is_the_answer_and_says_what_to_do() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    gitlab.says("GET /api/v4/user", [unauthorized()]);
    let command = counting_command(&machine);
    let mut client = connect(&gitlab, &machine, &[("GITLAB_TOKEN_COMMAND", &command)]);
    for _ in 0..3 {
        let reply = execute(&mut client, "current_user.get", json!({}));
        let error = refused(&reply, "unauthorized");
        assert!(error["hint"].as_str().unwrap().contains("GITLAB_TOKEN_COMMAND"), "{error}");
    }
    // GitLab also answers 401 where a user may not do something: the source is not asked each time.
    assert_eq!(machine.read("print-token.runs").lines().count(), 2);
}

#[test]
fn the_same_token_again_is_not_sent_again() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    gitlab.says("GET /api/v4/user", [unauthorized()]);
    let command = machine.install("print-token", "echo glpat-sesame");
    let said = text(&ask_for_user(&gitlab, &[("GITLAB_TOKEN_COMMAND", &command)]));
    assert!(said.contains("has no other token") && !said.contains("sesame"), "{said}");
    assert_eq!(credentials_of(&gitlab).len(), 1);
    // A fixed token cannot be renewed at all.
    ask_for_user(&gitlab, &[("GITLAB_TOKEN", "glpat-sesame")]);
    assert_eq!(credentials_of(&gitlab).len(), 2);
}

#[test]
fn a_file_that_changed_is_read_again() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let file = machine.write("token", "glpat-first");
    let mut client = connect(&gitlab, &machine, &[("GITLAB_TOKEN_FILE", &file)]);
    succeed(&mut client, "current_user.get", json!({}));
    machine.write("token", "glpat-second-one");
    succeed(&mut client, "current_user.get", json!({}));
    // A file that is not there for a moment is no reason to fail.
    std::fs::remove_file(&file).unwrap();
    succeed(&mut client, "current_user.get", json!({}));
    let sent = credentials_of(&gitlab);
    let expected = ["glpat-first", "glpat-second-one", "glpat-second-one"];
    assert_eq!(sent, expected.map(|token| Some(format!("private-token: {token}"))));
    let revoked = json!({"error": "invalid_token", "error_description": "Token was revoked."});
    gitlab.says("GET /api/v4/user", [answer(401, revoked)]);
    let error = refused(&execute(&mut client, "current_user.get", json!({})), "unauthorized");
    assert!(error["hint"].as_str().unwrap().contains(&file), "{error}");
}

#[test]
fn an_expired_sign_in_is_renewed_and_kept_before_it_is_used() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let file = machine.signed_in(&gitlab, "old-access", "old-refresh", seconds_from_now(30));
    gitlab.says("POST /oauth/token", [granted("new-access", "new-refresh", 7200)]);
    // Left behind by a process that was killed while it wrote.
    machine.write("sign-ins.json.new", "{\"version\": 1, \"sign_");
    let output = ask_for_user(&gitlab, &[("GITLAB_LOGIN_FILE", &file)]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(credentials_of(&gitlab), [Some("authorization: bearer new-access".to_owned())]);
    let form = [("grant_type", "refresh_token"), ("client_id", "my-app"), ("refresh_token", "old-refresh")];
    assert_eq!(
        forms(&gitlab, "/oauth/token"),
        [form.map(|(name, value)| (name.to_owned(), value.to_owned()))]
    );
    let sign_in = &kept(&machine.path("sign-ins.json"))[format!("{}/", gitlab.url())];
    assert_eq!(
        (&sign_in["access_token"], &sign_in["refresh_token"]),
        (&json!("new-access"), &json!("new-refresh"))
    );
    assert!(sign_in["expires_at"].as_u64().unwrap() > seconds_from_now(7000), "{sign_in}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn processes_that_renew_at_once_use_a_refresh_token_once() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let file = machine.signed_in(&gitlab, "old-access", "old-refresh", seconds_from_now(-1));
    // GitLab rejects a refresh token that was used.
    let used = answer(400, json!({"error": "invalid_grant", "error_description": "used"}));
    let first = granted("new-access", "new-refresh", 7200).after(Duration::from_millis(300));
    gitlab.says("POST /oauth/token", [first, used]);
    thread::scope(|scope| {
        let ask = || scope.spawn(|| text(&ask_for_user(&gitlab, &[("GITLAB_LOGIN_FILE", file.as_str())])));
        for process in [ask(), ask(), ask(), ask()] {
            let said = process.join().unwrap();
            assert!(said.contains("alice"), "{said}");
        }
    });
    assert_eq!(forms(&gitlab, "/oauth/token").len(), 1);
    let sent = credentials_of(&gitlab);
    assert_eq!(sent, vec![Some("authorization: bearer new-access".to_owned()); 4]);
}

#[test]
fn a_cancelled_call_loses_no_refresh_token() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let file = machine.signed_in(&gitlab, "old-access", "old-refresh", seconds_from_now(-1));
    let used = answer(400, json!({"error": "invalid_grant"}));
    let slow = granted("new-access", "new-refresh", 7200).after(Duration::from_millis(500));
    gitlab.says("POST /oauth/token", [slow, used]);
    let mut client = connect(&gitlab, &machine, &[("GITLAB_LOGIN_FILE", &file)]);
    let arguments = json!({"action": "current_user.get"});
    let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params}));
    wait_until("the renewal", || !forms(&gitlab, "/oauth/token").is_empty());
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}));
    wait_until("the new sign-in", || {
        kept(&machine.path("sign-ins.json")).to_string().contains("new-refresh")
    });
    succeed(&mut client, "current_user.get", json!({}));
    assert_eq!(forms(&gitlab, "/oauth/token").len(), 1);
    assert_eq!(credentials_of(&gitlab), [Some("authorization: bearer new-access".to_owned())]);
}

#[test]
fn calls_of_one_server_renew_a_rejected_sign_in_once() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let file = machine.signed_in(&gitlab, "old-access", "old-refresh", seconds_from_now(7000));
    gitlab.says("GET /api/v4/user", [unauthorized(), user()]);
    gitlab.says("POST /oauth/token", [granted("new-access", "new-refresh", 7200)]);
    let mut client = connect(&gitlab, &machine, &[("GITLAB_LOGIN_FILE", &file)]);
    for _ in 0..3 {
        succeed(&mut client, "current_user.get", json!({}));
    }
    let sent = credentials_of(&gitlab);
    assert_eq!(sent.first().unwrap().as_deref(), Some("authorization: bearer old-access"));
    assert_eq!(sent.last().unwrap().as_deref(), Some("authorization: bearer new-access"));
    assert_eq!(forms(&gitlab, "/oauth/token").len(), 1);
}

#[test]
fn a_sign_in_that_has_ended_is_an_error_until_the_user_signs_in_again() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let file = machine.signed_in(&gitlab, "old-access", "old-refresh", seconds_from_now(-1));
    let ended = answer(400, json!({"error": "invalid_grant", "error_description": "revoked old-refresh"}));
    gitlab.says("POST /oauth/token", [ended]);
    let mut client = connect(&gitlab, &machine, &[("GITLAB_LOGIN_FILE", &file)]);
    for _ in 0..2 {
        let reply = execute(&mut client, "current_user.get", json!({}));
        let error = refused(&reply, "unauthorized");
        assert!(error["message"].as_str().unwrap().contains("has ended"), "{error}");
        let advice = format!("gitlab-mcp auth login --url {}", gitlab.url());
        assert!(error["hint"].as_str().unwrap().contains(&advice), "{error}");
        assert!(!reply.text.contains("old-refresh"), "{}", reply.text);
    }
    assert!(credentials_of(&gitlab).is_empty());
    // The running server takes the new sign-in.
    machine.signed_in(&gitlab, "another-access", "another-refresh", seconds_from_now(7000));
    succeed(&mut client, "current_user.get", json!({}));
    assert_eq!(credentials_of(&gitlab), [Some("authorization: bearer another-access".to_owned())]);
}

#[test]
fn a_sign_in_while_the_server_runs_is_noticed() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let file = machine.text_path("sign-ins.json");
    let mut client = connect(&gitlab, &machine, &[("GITLAB_LOGIN_FILE", &file)]);
    succeed(&mut client, "current_user.get", json!({}));
    machine.signed_in(&gitlab, "an-access", "a-refresh", seconds_from_now(7000));
    succeed(&mut client, "current_user.get", json!({}));
    assert_eq!(credentials_of(&gitlab), [None, Some("authorization: bearer an-access".to_owned())]);
}

#[test]
fn a_sign_in_while_the_server_runs_comes_before_glab() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let (file, path) = (machine.text_path("sign-ins.json"), machine.search_path());
    for (host, from_glab) in
        [(gitlab.address.to_string(), Some(PRIVATE.to_owned())), ("127.0.0.1".to_owned(), None)]
    {
        helper(&machine, "glab", &host);
        let sent_before = credentials_of(&gitlab).len();
        let variables =
            [("GITLAB_LOGIN_FILE", file.as_str()), ("GITLAB_CREDENTIALS", "glab"), ("PATH", path.as_str())];
        let mut client = connect(&gitlab, &machine, &variables);
        succeed(&mut client, "current_user.get", json!({}));
        machine.signed_in(&gitlab, "an-access", "a-refresh", seconds_from_now(7000));
        succeed(&mut client, "current_user.get", json!({}));
        // Signed out again.
        machine.write("sign-ins.json", r#"{"version": 1, "sign_ins": {}}"#);
        succeed(&mut client, "current_user.get", json!({}));
        let signed_in = Some("authorization: bearer an-access".to_owned());
        let sent = credentials_of(&gitlab);
        assert_eq!(sent[sent_before..], [from_glab.clone(), signed_in, from_glab], "glab answers for {host}");
    }
}

#[test]
fn a_file_of_sign_ins_that_cannot_be_used_is_an_error_without_its_content() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    for (text_of_file, expected) in [
        ("{\"version\": 1, \"sign_ins\": {\"sesame\": ", "is not a file of sign-ins (line 1)"),
        ("{\"version\": 2}", "was written by a newer gitlab-mcp"),
    ] {
        let file = machine.write("sign-ins.json", text_of_file);
        let output = ask_for_user(&gitlab, &[("GITLAB_LOGIN_FILE", &file)]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected) && !said.contains("sesame"), "{said}");
        // With another source, it is not needed.
        let output = ask_for_user(&gitlab, &[("GITLAB_LOGIN_FILE", &file), ("GITLAB_TOKEN", "glpat-1")]);
        assert!(output.status.success(), "{}", text(&output));
    }
    // No file of this user is no error.
    for file in ["/nowhere/sign-ins.json", "/dev/null/sign-ins.json"] {
        let output = ask_for_user(&gitlab, &[("GITLAB_LOGIN_FILE", file)]);
        assert!(output.status.success(), "{}", text(&output));
    }
}

#[test]
fn callers_of_one_http_server_share_a_renewal() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    gitlab.says("GET /api/v4/user", [unauthorized(), user()]);
    let (url, command, path) = (gitlab.url(), counting_command(&machine), machine.search_path());
    let variables = [
        ("GITLAB_URL", url.as_str()),
        ("GITLAB_TOKEN_COMMAND", &command),
        ("PATH", &path),
        ("GITLAB_MCP_AUTH", "none"),
    ];
    let server = HttpServer::start(&[], &variables);
    for headers in [&[][..], &[("X-MCP-Readonly", "true")]] {
        let result = server.execute(headers, "current_user.get", json!({}));
        assert_eq!(result["isError"], false, "{result}");
    }
    assert_eq!(credentials_of(&gitlab).last().unwrap().as_deref(), Some("private-token: glpat-number-2"));
    assert_eq!(machine.read("print-token.runs").lines().count(), 2);
}
