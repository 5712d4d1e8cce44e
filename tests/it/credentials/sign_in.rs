//! `gitlab-mcp auth`: the device authorization grant with each of its errors, the state of a sign-in, and signing out.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::credentials::{
    Machine, ask_for_user, credentials_of, forms, gitlab, granted, kept, run, seconds_from_now, text,
};
use crate::support::scripted_gitlab::{Answer, Gitlab, answer};

/// A GitLab that begins a sign-in and answers polls so.
pub fn with_device_grant(polls: Vec<Answer>) -> Gitlab {
    let gitlab = gitlab();
    let begun = json!({
        "device_code": "sesame-device", "user_code": "0A44L90H",
        "verification_uri": format!("{}/oauth/device", gitlab.url()),
        "verification_uri_complete": format!("{}/oauth/device?user_code=0A44L90H", gitlab.url()),
        "expires_in": 300, "interval": 1,
    });
    gitlab.says("POST /oauth/authorize_device", [answer(200, begun)]);
    gitlab.says("POST /oauth/token", polls);
    gitlab
}

fn refusal(code: &str) -> Answer {
    answer(400, json!({"error": code, "error_description": "of sesame-device"}))
}

fn variables(file: &str) -> [(&str, &str); 2] {
    [("GITLAB_LOGIN_FILE", file), ("GITLAB_CLIENT_ID", "my-app")]
}

#[test]
fn a_user_signs_in_is_shown_and_signs_out() {
    let machine = Machine::new();
    let gitlab = with_device_grant(vec![
        refusal("authorization_pending"),
        granted("sesame-access", "sesame-refresh", 7200),
    ]);
    let file = machine.text_path("state/gitlab-mcp/sign-ins.json");
    let login = run(&["auth", "login"], &gitlab, &variables(&file));
    let output = text(&login);
    assert!(login.status.success(), "{output}");
    assert!(output.contains("0A44L90H") && output.contains("/oauth/device?user_code=0A44L90H"), "{output}");
    assert!(output.contains("as alice") && output.contains(&file) && !output.contains("sesame"), "{output}");
    let field = |form: &[(String, String)], name: &str| {
        form.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap()
    };
    let asked = forms(&gitlab, "/oauth/authorize_device").remove(0);
    assert_eq!((field(&asked, "client_id"), field(&asked, "scope")), ("my-app".to_owned(), "api".to_owned()));
    let polls = forms(&gitlab, "/oauth/token");
    assert_eq!(polls.len(), 2);
    assert_eq!(field(&polls[1], "grant_type"), "urn:ietf:params:oauth:grant-type:device_code");
    assert_eq!(field(&polls[1], "device_code"), "sesame-device");
    let mode = |path: &str| std::fs::metadata(machine.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("state/gitlab-mcp/sign-ins.json"), mode("state/gitlab-mcp")), (0o600, 0o700));

    let status = run(&["auth", "status"], &gitlab, &variables(&file));
    assert!(status.status.success(), "{}", text(&status));
    for part in ["gitlab-mcp auth login", "alice", "a new token is fetched before that"] {
        assert!(text(&status).contains(part), "{part} in {}", text(&status));
    }
    // A source of a higher rank hides it, and is hidden by a file.
    let token = machine.path("token");
    std::fs::write(&token, "glpat-sesame").unwrap();
    let both = [("GITLAB_TOKEN", "glpat-other"), ("GITLAB_TOKEN_FILE", token.to_str().unwrap())];
    let hidden = text(&run(&["auth", "status"], &gitlab, &both));
    assert!(
        hidden.contains("source    GITLAB_TOKEN_FILE") && hidden.contains("not used  GITLAB_TOKEN"),
        "{hidden}"
    );
    let status = run(&["auth", "status", "--json"], &gitlab, &variables(&file));
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(
        (&status["user"], &status["sign_ins"]),
        (&json!("alice"), &json!([format!("{}/", gitlab.url())]))
    );
    ask_for_user(&gitlab, &variables(&file));
    let sent = credentials_of(&gitlab);
    assert_eq!(sent.last().unwrap().as_deref(), Some("authorization: bearer sesame-access"));

    gitlab.json("/api/v4/version", &json!({"version": "18.9.0"}));
    let doctor = text(&run(&["doctor"], &gitlab, &variables(&file)));
    for part in [
        &*format!("gitlab-mcp auth login ({file})"),
        "an OAuth access token of alice",
        "a new token is fetched",
    ] {
        assert!(doctor.contains(part), "{part} in {doctor}");
    }
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let doctor = text(&run(&["doctor"], &gitlab, &variables(&file)));
    assert!(
        doctor.contains("other users of this machine can read") && doctor.contains("chmod 600"),
        "{doctor}"
    );

    gitlab.says("POST /oauth/revoke", [answer(200, json!({}))]);
    let logout = run(&["auth", "logout"], &gitlab, &variables(&file));
    assert!(logout.status.success() && text(&logout).contains("revoked"), "{}", text(&logout));
    let revoked: Vec<String> =
        forms(&gitlab, "/oauth/revoke").iter().map(|form| field(form, "token")).collect();
    assert_eq!(revoked, ["sesame-refresh", "sesame-access"]);
    assert_eq!(kept(&machine.path("state/gitlab-mcp/sign-ins.json")), json!({}));
    let status = run(&["auth", "status"], &gitlab, &variables(&file));
    assert_eq!(status.status.code(), Some(1), "{}", text(&status));
    assert!(text(&status).contains("there is no token"), "{}", text(&status));
    let again = run(&["auth", "logout"], &gitlab, &variables(&file));
    assert!(again.status.success() && text(&again).contains("There is no sign-in"), "{}", text(&again));
}

#[test]
fn each_error_of_the_grant_says_what_to_do() {
    let machine = Machine::new();
    let file = machine.text_path("sign-ins.json");
    for (code, expected) in [
        ("access_denied", "denied in GitLab"),
        ("expired_token", "the sign-in was not approved in time"),
        ("invalid_grant", "the sign-in was not approved in time"),
        ("server_is_odd", "GitLab refused the sign-in: \"server_is_odd\""),
    ] {
        let gitlab = with_device_grant(vec![refusal(code)]);
        let login = run(&["auth", "login"], &gitlab, &variables(&file));
        assert_eq!(login.status.code(), Some(1), "{code}");
        assert!(text(&login).contains(expected), "{code}: {}", text(&login));
        assert!(
            !text(&login).contains("sesame") && !machine.path("sign-ins.json").exists(),
            "{}",
            text(&login)
        );
    }
    for (begun, expected) in [
        (answer(401, json!({"error": "invalid_client"})), "does not know the application my-app"),
        (answer(400, json!({"error": "invalid_scope"})), "does not have the scope api"),
        (answer(404, json!({"error": "404 Not Found"})), "refused the sign-in"),
        (crate::support::scripted_gitlab::raw(404, "text/html", "<html>"), "came with GitLab 17.2"),
        (crate::support::scripted_gitlab::raw(200, "text/html", "<html>"), "did not respond as GitLab"),
    ] {
        let gitlab = gitlab();
        gitlab.says("POST /oauth/authorize_device", [begun]);
        let login = run(&["auth", "login"], &gitlab, &variables(&file));
        assert_eq!(login.status.code(), Some(1));
        assert!(text(&login).contains(expected), "{expected}: {}", text(&login));
    }
}

#[test]
fn what_is_missing_for_a_sign_in_is_named() {
    let gitlab = gitlab();
    let login = run(&["auth", "login"], &gitlab, &[("GITLAB_LOGIN_FILE", "/nowhere/x")]);
    assert_eq!(login.status.code(), Some(2));
    let page = format!("{}/-/user_settings/applications", gitlab.url());
    let command = format!("gitlab-mcp auth login --url {}/ --client-id ID", gitlab.url());
    for expected in ["GITLAB_CLIENT_ID is not set", &page, &command] {
        assert!(text(&login).contains(expected), "{}", text(&login));
    }
    let login = run(&["auth", "login"], &gitlab, &[("GITLAB_CLIENT_ID", "my-app")]);
    assert_eq!(login.status.code(), Some(2));
    assert!(text(&login).contains("set GITLAB_LOGIN_FILE"), "{}", text(&login));
    let login = run(&["auth", "login"], &gitlab, &[("GITLAB_URL", "sandbox")]);
    assert!(text(&login).contains("the sandbox needs no sign-in"), "{}", text(&login));
    assert!(gitlab.received().is_empty(), "{:?}", gitlab.seen());
}

#[test]
fn a_read_only_server_asks_for_a_scope_that_only_reads() {
    let machine = Machine::new();
    let file = machine.text_path("sign-ins.json");
    let scope = |arguments: &[&str]| {
        let gitlab = with_device_grant(vec![refusal("access_denied")]);
        run(&[&["auth", "login"], arguments].concat(), &gitlab, &variables(&file));
        forms(&gitlab, "/oauth/authorize_device")[0]
            .iter()
            .find(|(name, _)| name == "scope")
            .unwrap()
            .1
            .clone()
    };
    assert_eq!(scope(&["--read-only"]), "read_api");
    assert_eq!(scope(&["--scope", "api read_user"]), "api read_user");
}

#[test]
fn headers_for_a_proxy_are_sent_with_a_sign_in() {
    let machine = Machine::new();
    let file = machine.text_path("sign-ins.json");
    let gitlab = with_device_grant(vec![granted("access", "refresh", 7200)]);
    let header = [("GITLAB_EXTRA_HEADERS", "CF-Access-Client-Secret: sesame")];
    let login = run(&["auth", "login"], &gitlab, &[&variables(&file)[..], &header].concat());
    assert!(login.status.success() && !text(&login).contains("sesame"), "{}", text(&login));
    for request in gitlab.received() {
        assert!(request.head.contains("cf-access-client-secret: sesame"), "{request:?}");
    }
}

#[test]
fn a_sign_in_revokes_the_tokens_of_the_one_that_it_replaces() {
    let (machine, first) = (Machine::new(), granted("sesame-access-1", "sesame-refresh-1", 7200));
    let gitlab = with_device_grant(vec![first, granted("sesame-access-2", "sesame-refresh-2", 7200)]);
    gitlab.says("POST /oauth/revoke", [answer(200, json!({}))]);
    let (file, path) = (machine.text_path("sign-ins.json"), machine.search_path());
    let variables = [&variables(&file)[..], &[("PATH", path.as_str())]].concat();
    let revoked = || -> Vec<String> {
        let fields = forms(&gitlab, "/oauth/revoke").into_iter().flatten();
        fields.filter(|(name, _)| name == "token").map(|(_, token)| token).collect()
    };
    let login = run(&["auth", "login"], &gitlab, &variables);
    assert!(login.status.success() && revoked().is_empty(), "{}", text(&login));
    // The application is known from the first: the hint of an ended sign-in names no id.
    let alone = [("GITLAB_LOGIN_FILE", file.as_str()), ("PATH", path.as_str())];
    let login = run(&["auth", "login"], &gitlab, &alone);
    assert!(login.status.success() && !text(&login).contains("sesame"), "{}", text(&login));
    let applications = forms(&gitlab, "/oauth/authorize_device");
    let is_ours =
        |form: &Vec<(String, String)>| form.contains(&("client_id".to_owned(), "my-app".to_owned()));
    assert!(applications.len() == 2 && applications.iter().all(is_ours), "{applications:?}");
    assert_eq!(revoked(), ["sesame-refresh-1", "sesame-access-1"]);
    assert!(machine.read("sign-ins.json").contains("sesame-refresh-2"));

    machine.install("glab", "echo password=glpat-sesame");
    gitlab.says("POST /oauth/revoke", [answer(503, "down")]);
    let login = run(&["auth", "login", "--use", "glab"], &gitlab, &variables);
    let output = text(&login);
    assert!(login.status.success() && output.contains("may still be valid"), "{output}");
    assert!(!output.contains("sesame"), "{output}");
    assert_eq!(revoked().get(2).map(String::as_str), Some("sesame-refresh-2"), "{:?}", revoked());
}

#[test]
fn a_sign_in_shows_no_terminal_codes_and_no_page_but_a_web_page() {
    let machine = Machine::new();
    let file = machine.text_path("sign-ins.json");
    let begun = |code: &str, page: &str, complete: &str| {
        let gitlab = with_device_grant(vec![refusal("access_denied")]);
        let begun = json!({
            "device_code": "sesame-device", "user_code": code, "verification_uri": page,
            "verification_uri_complete": complete, "expires_in": 300, "interval": 1,
        });
        gitlab.says("POST /oauth/authorize_device", [answer(200, begun)]);
        text(&run(&["auth", "login"], &gitlab, &variables(&file)))
    };
    let output = begun(
        "0A44\u{1b}[2J\nL90H",
        "https://gitlab.example.com/\u{1b}]0;x\u{7}device",
        "file:///etc/passwd",
    );
    assert!(
        output.contains("enter the code 0A44 L90H") && output.contains("Open https://gitlab.example.com/"),
        "{output}"
    );
    assert!(!output.contains(['\u{1b}', '\u{7}']) && !output.contains("passwd"), "{output}");
    let output = begun("0A44L90H", "javascript:alert(1)", "gitlab");
    assert!(output.contains("named no web page") && !output.contains("0A44L90H"), "{output}");
}

#[test]
fn a_sign_out_that_gitlab_does_not_hear_of_is_not_called_a_success() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let file = machine.signed_in(&gitlab, "sesame-access", "sesame-refresh", seconds_from_now(7000));
    gitlab.says("POST /oauth/revoke", [answer(503, "down")]);
    let logout = run(&["auth", "logout"], &gitlab, &variables(&file));
    let output = text(&logout);
    assert_eq!(logout.status.code(), Some(1), "{output}");
    assert!(
        output.contains("may still be valid")
            && output.contains("applications")
            && !output.contains("sesame"),
        "{output}"
    );
    assert_eq!(kept(&machine.path("sign-ins.json")), json!({}));
}

#[test]
fn another_program_s_sign_in_can_be_agreed_to_and_given_up() {
    let (machine, gitlab) = (Machine::new(), gitlab());
    let (file, path) = (machine.text_path("sign-ins.json"), machine.search_path());
    let variables = [("GITLAB_LOGIN_FILE", file.as_str()), ("PATH", path.as_str())];
    machine.install("glab", "exit 1");
    let login = run(&["auth", "login", "--use", "glab"], &gitlab, &variables);
    let advice = format!("Run `glab auth login --hostname {}`", gitlab.address);
    assert_eq!(login.status.code(), Some(1));
    assert!(text(&login).contains(&advice) && !machine.path("sign-ins.json").exists(), "{}", text(&login));

    machine.install("glab", "echo password=glpat-sesame");
    let login = run(&["auth", "login", "--use", "glab"], &gitlab, &variables);
    assert!(login.status.success() && text(&login).contains("as alice"), "{}", text(&login));
    assert!(!machine.read("sign-ins.json").contains("sesame"), "the token stays where it is");
    ask_for_user(&gitlab, &variables);
    let sent = credentials_of(&gitlab);
    assert_eq!(sent.last().unwrap().as_deref(), Some("private-token: glpat-sesame"));

    let status = text(&run(&["auth", "status"], &gitlab, &variables));
    assert!(status.contains("source    glab, by gitlab-mcp auth login"), "{status}");
    let logout = run(&["auth", "logout"], &gitlab, &variables);
    assert!(text(&logout).contains("glab is no longer asked"), "{}", text(&logout));
    ask_for_user(&gitlab, &variables);
    assert_eq!(credentials_of(&gitlab).last().unwrap(), &None);
}
