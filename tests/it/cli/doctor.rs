//! `gitlab-mcp doctor`: for each thing that can be wrong the line that says so, the way to mend it, and the exit
//! code.

use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::format_description;

use crate::support::client::program;
use crate::support::raw_server::nowhere;
use crate::support::scripted_gitlab::{Answer, Gitlab, answer, raw};
use crate::support::tls::{Authority, serve};

/// Answers of a GitLab to the doctor.
struct Answers {
    version: Answer,
    user: Answer,
    own: Answer,
}

fn day(ahead: i64) -> String {
    let day = OffsetDateTime::now_utc().date() + time::Duration::days(ahead);
    day.format(format_description!("[year]-[month]-[day]")).unwrap()
}

fn own(scopes: &[&str], expires: Value) -> Answer {
    ok(json!({"name": "for the agent", "scopes": scopes, "expires_at": expires, "active": true}))
}

fn ok(body: Value) -> Answer {
    answer(200, body)
}

fn version(number: &str) -> Answer {
    ok(json!({"version": number, "revision": "0"}))
}

impl Default for Answers {
    fn default() -> Answers {
        let rate = |template: Answer| {
            template.header("ratelimit-limit", "2000").header("ratelimit-remaining", "1999")
        };
        Answers {
            version: version("18.9.0-ee"),
            user: ok(json!({"username": "alice", "bot": false})),
            own: rate(own(&["api"], json!(day(200)))),
        }
    }
}

impl Answers {
    fn serve(self) -> Gitlab {
        let gitlab = Gitlab::start();
        for (place, answer) in [
            ("/api/v4/version", self.version),
            ("/api/v4/user", self.user),
            ("/api/v4/personal_access_tokens/self", self.own),
        ] {
            gitlab.answer("GET", place, answer);
        }
        gitlab
    }
}

/// The exit code, and the findings.
fn examined(variables: &[(&str, &str)]) -> (Option<i32>, Value) {
    let with_token =
        [("GITLAB_TOKEN", "glpat-sesame"), ("GITLAB_TIMEOUT", "60"), ("GITLAB_PLAIN_HTTP", "true")];
    let variables = [&with_token, variables].concat();
    let doctor = |arguments: &[&str]| program(arguments, &variables).stdin(Stdio::null()).output().unwrap();
    let (json, text) = (doctor(&["doctor", "--json"]), doctor(&["doctor"]));
    assert_eq!(json.status.code(), text.status.code());
    let found: Value = serde_json::from_slice(&json.stdout).unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    for finding in found["checks"].as_array().unwrap() {
        let check = finding["check"].as_str().unwrap();
        assert!(text.contains(check), "{check} in {text}");
        if let Some(mend) = finding["mend"].as_str() {
            assert!(text.contains(mend), "{mend} in {text}");
        }
    }
    assert!(!text.contains("sesame") && !found.to_string().contains("sesame"), "{text}");
    (json.status.code(), found)
}

fn finding<'f>(found: &'f Value, check: &str) -> &'f Value {
    let all = found["checks"].as_array().unwrap();
    all.iter().find(|finding| finding["check"] == check).unwrap_or_else(|| panic!("{check} in {found}"))
}

/// Checks that one line is in that state, says that in what it says or how it is mended, and decides the exit code.
fn assert_found((code, found): &(Option<i32>, Value), check: &str, state: &str, word: &str) {
    let finding = finding(found, check);
    assert_eq!(finding["state"], state, "{found:#}");
    assert!(finding.to_string().contains(word), "{word} in {finding}");
    let expected = match state {
        "failure" => 2,
        "warning" => 1,
        _ => 0,
    };
    assert_eq!(*code, Some(expected), "{found:#}");
    assert_eq!(finding["mend"].is_string(), expected > 0, "{finding}");
}

fn with(answers: Answers, variables: &[(&str, &str)]) -> (Option<i32>, Value) {
    let gitlab = answers.serve();
    let url = gitlab.url();
    examined(&[&[("GITLAB_URL", url.as_str())], variables].concat())
}

#[test]
fn a_gitlab_that_is_well() {
    let outcome = with(Answers::default(), &[]);
    let checks: Vec<&str> = outcome.1["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["check"].as_str().unwrap())
        .collect();
    let all = [
        "address",
        "proxy",
        "certificate",
        "version",
        "credentials",
        "token",
        "scopes",
        "expiry",
        "rate limit",
        "clock",
        "restrictions",
    ];
    assert_eq!(checks, all);
    for check in all {
        assert_found(&outcome, check, "fine", "");
    }
    assert_found(&outcome, "credentials", "fine", "GITLAB_TOKEN");
    assert_found(&outcome, "token", "fine", "a personal access token \\\"for the agent\\\" of alice");
    assert_found(&outcome, "rate limit", "fine", "1999 of 2000");
    assert_found(
        &examined(&[("GITLAB_URL", "sandbox"), ("GITLAB_TOKEN", "")]),
        "version",
        "fine",
        concat!(env!("CATALOG_GITLAB_VERSION"), "."),
    );
}

#[test]
fn what_the_policy_denies_is_not_blamed_on_the_certificate() {
    let outcome = with(Answers::default(), &[("GITLAB_DENIED_ACTIONS", "instance.get_version")]);
    assert_found(&outcome, "policy", "warning", "instance.get_version is denied");
    assert!(!outcome.1.to_string().contains("certificate"), "{:#}", outcome.1);
    let outcome = with(Answers::default(), &[("GITLAB_DENIED_ACTIONS", "current_user.get")]);
    assert_found(&outcome, "token", "unknown", "current_user.get is denied");
}

#[test]
fn tokens() {
    let scoped = |scopes: &[&str]| Answers { own: own(scopes, Value::Null), ..Answers::default() };
    let lasting = |days: i64| Answers { own: own(&["api"], json!(day(days))), ..Answers::default() };
    let refusing = |body: Value| {
        let answer = || answer(401, body.clone());
        Answers { version: answer(), user: answer(), own: answer() }
    };
    assert_found(&with(scoped(&["read_api"]), &[]), "scopes", "warning", "GITLAB_READ_ONLY");
    assert_found(&with(scoped(&["read_api"]), &[("GITLAB_READ_ONLY", "1")]), "scopes", "fine", "read_api");
    assert_found(&with(scoped(&["read_repository"]), &[]), "scopes", "failure", "scope api");
    assert_found(&with(lasting(5), &[]), "expiry", "warning", "in 5 days");
    // A token ends when its day begins.
    for days in [-1, 0] {
        assert_found(&with(lasting(days), &[]), "expiry", "failure", "expired on");
    }
    let expired = json!({"error": "invalid_token", "error_description": "Token is expired."});
    assert_found(&with(refusing(expired), &[]), "token", "failure", "create a new one");
    let unknown = json!({"message": "401 Unauthorized"});
    assert_found(&with(refusing(unknown.clone()), &[]), "token", "failure", "GITLAB_OAUTH_TOKEN");
    assert_found(&with(refusing(unknown), &[("GITLAB_TOKEN", "")]), "token", "warning", "not set");

    let bot = Answers { user: ok(json!({"username": "project_1_bot", "bot": true})), ..Answers::default() };
    assert_found(&with(bot, &[]), "token", "fine", "a project or group access token");
    let job = [("GITLAB_TOKEN", ""), ("GITLAB_JOB_TOKEN", "glcbt-1")];
    assert_found(&with(Answers::default(), &job), "token", "fine", "job");
    let none = || answer(404, json!({"message": "404 Not found"}));
    let oauth = Answers { own: none(), ..Answers::default() };
    let token = [("GITLAB_TOKEN", ""), ("GITLAB_OAUTH_TOKEN", "a1b2")];
    assert_found(&with(oauth, &token), "scopes", "unknown", "does not report");
    let oauth = Answers { own: none(), ..Answers::default() }.serve();
    let info = json!({"scope": ["api"], "expires_in": 1800, "application": {"uid": "app"}});
    oauth.answer("GET", "/oauth/token/info", ok(info));
    let url = oauth.url();
    let outcome = examined(&[&[("GITLAB_URL", url.as_str())], &token[..]].concat());
    assert_found(&outcome, "expiry", "warning", "in 30 minutes");
    assert_eq!(finding(&outcome.1, "scopes")["says"], "api");
}

#[test]
fn sources_of_the_token() {
    let both = with(Answers::default(), &[("GITLAB_OAUTH_TOKEN", "sesame")]);
    assert_found(&both, "credentials", "warning", "GITLAB_TOKEN; GITLAB_OAUTH_TOKEN is set too and not used");
    let mut held = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut held, b"glpat-sesame").unwrap();
    let path = held.path().to_str().unwrap();
    let file = with(Answers::default(), &[("GITLAB_TOKEN", ""), ("GITLAB_TOKEN_FILE", path)]);
    assert_found(&file, "credentials", "fine", path);
    let failing = [("GITLAB_TOKEN", ""), ("GITLAB_TOKEN_COMMAND", "/nowhere/print-token sesame")];
    let outcome = with(Answers::default(), &failing);
    assert_found(&outcome, "token", "failure", "there is no program /nowhere/print-token");
}

#[test]
fn what_answers() {
    let answering = |version| Answers { version, ..Answers::default() };
    assert_found(&with(answering(version("15.1.0")), &[]), "version", "warning", "Update GitLab");
    assert_found(&with(answering(ok(json!({"hello": "world"}))), &[]), "version", "failure", "GITLAB_URL");
    assert_found(&with(answering(raw(404, "text/plain", "")), &[]), "address", "failure", "sub-path");
    let page = raw(200, "text/html", "<html><title>Intranet</title>");
    assert_found(&with(answering(page), &[]), "address", "failure", "Intranet");
    let moved = raw(302, "text/plain", "").header("location", "/users/sign_in");
    assert_found(&with(answering(moved), &[]), "address", "failure", "sign-in");
    assert_found(&with(answering(raw(500, "text/plain", "")), &[]), "address", "failure", "status page");
}

/// Each was answered with a hint that leads astray: to the address of the sign-in page, to try again, to a new token.
#[test]
fn the_hint_fits_what_is_in_the_way() {
    let redirecting = |to: &str| Answers {
        version: raw(302, "text/plain", "").header("location", to),
        ..Answers::default()
    };
    let elsewhere = with(redirecting("http://sso.does-not-exist.invalid/login"), &[]);
    assert_found(
        &elsewhere,
        "address",
        "failure",
        "Set GITLAB_URL to an address of GitLab that can be reached",
    );
    let page = Gitlab::start();
    page.answer("GET", "/login", raw(200, "text/html", "<html><title>Sign in</title>"));
    assert_found(
        &with(redirecting(&format!("{}/login", page.url())), &[]),
        "address",
        "failure",
        "an address that programs may use",
    );

    let answered = |status: u16, text: &str| Answers {
        version: answer(status, json!({"message": text})),
        user: answer(status, json!({"message": text})),
        own: answer(status, json!({"message": text})),
    };
    let plain = answered(400, "The plain HTTP request was sent to HTTPS port");
    assert_found(&with(plain, &[]), "address", "failure", "https://");
    let blocked = with(answered(403, "403 Forbidden - Your account has been blocked."), &[]);
    assert_found(&blocked, "token", "failure", "ask its administrator");
    // GitLab's own refusal has the id of its request; a firewall's has not.
    let of_gitlab = |answer: Answer| answer.header("x-request-id", "01J0000000000000000000000A");
    let refused = answered(403, "403 Forbidden");
    let refused = Answers {
        version: of_gitlab(refused.version),
        user: of_gitlab(refused.user),
        own: of_gitlab(refused.own),
    };
    assert_found(&with(refused, &[]), "token", "failure", "scope api");
    let firewall = with(answered(403, "403 Forbidden"), &[]);
    assert_found(&firewall, "address", "failure", "a firewall or a proxy");
    let half = Answers { version: version("19.5.0"), ..answered(403, "403 Forbidden") };
    assert_found(&with(half, &[]), "token", "failure", "a new token does not help");
    assert_found(
        &with(answered(403, "403 Forbidden"), &[("GITLAB_TOKEN", "")]),
        "address",
        "failure",
        "firewall",
    );
    assert_found(&with(answered(429, "Retry later"), &[]), "token", "failure", "wait a few minutes");
}

#[test]
fn a_proxy_that_is_none_is_a_failure() {
    for wrong in ["127.0.0.1:9998:foo", "http://", "::"] {
        let outcome = with(Answers::default(), &[("HTTPS_PROXY", wrong)]);
        assert_found(&outcome, "proxy", "failure", "http://host:port");
    }
    for (wrong, scheme) in [("ftp://proxy.example.com", "ftp"), ("socks5://10.0.0.1:1080", "socks5")] {
        let outcome = with(Answers::default(), &[("HTTPS_PROXY", wrong)]);
        assert_found(&outcome, "proxy", "failure", &format!("HTTPS_PROXY is of the kind {scheme}"));
    }
    for right in ["proxy.example.com:3128", "http://me:secret@proxy.example.com"] {
        let outcome = with(Answers::default(), &[("HTTPS_PROXY", right)]);
        assert_eq!(finding(&outcome.1, "proxy")["state"], "fine", "{right}: {outcome:?}");
    }
}

#[test]
fn limits_and_clocks() {
    let low = own(&["api"], Value::Null)
        .header("ratelimit-limit", "2000")
        .header("ratelimit-remaining", "20")
        .header("ratelimit-reset", "1");
    let low = Answers { own: low, ..Answers::default() };
    assert_found(&with(low, &[]), "rate limit", "warning", "20 of 2000");
    for (shift, side) in [(600_i64, "behind"), (-600, "ahead of")] {
        let then = if shift > 0 {
            SystemTime::now() + Duration::from_secs(shift.unsigned_abs())
        } else {
            SystemTime::now() - Duration::from_secs(shift.unsigned_abs())
        };
        let date = httpdate::fmt_http_date(then);
        let gitlab = Answers::default();
        let dated = |template: Answer| template.header("date", date.as_str());
        let gitlab =
            Answers { version: dated(gitlab.version), user: dated(gitlab.user), own: dated(gitlab.own) };
        assert_found(&with(gitlab, &[]), "clock", "warning", side);
    }
}

#[test]
fn the_way_there() {
    let url = format!("http://127.0.0.1:{}", nowhere());
    let dead = examined(&[("GITLAB_URL", &url)]);
    assert_found(&dead, "address", "failure", "GITLAB_URL");
    assert_eq!(finding(&dead.1, "token")["state"], "unknown");
    assert_eq!(finding(&dead.1, "credentials")["says"], "GITLAB_TOKEN");
    // Without an answer, nothing is reported as GitLab's.
    let checks = dead.1["checks"].as_array().unwrap();
    assert!(!checks.iter().any(|one| ["rate limit", "clock"].contains(&one["check"].as_str().unwrap())));
    let says = finding(&dead.1, "address")["says"].as_str().unwrap();
    assert!(
        says.starts_with("could not connect (127.0.0.1") && says.contains(": Connection refused"),
        "{says}"
    );
    assert_eq!(says.matches(": ").count(), 1, "the cause alone: {says}");
    let no_name = examined(&[("GITLAB_URL", "https://does-not-exist.invalid")]);
    assert_found(&no_name, "address", "failure", "name resolves");

    let proxied = [("GITLAB_URL", "https://gitlab.example.com"), ("HTTPS_PROXY", url.as_str())];
    let outcome = examined(&proxied);
    assert_found(&outcome, "proxy", "failure", "NO_PROXY");
    assert!(finding(&outcome.1, "proxy")["says"].as_str().unwrap().starts_with(&url), "{outcome:?}");
    let proxy = Answers::default().serve();
    let signed_in = proxy.url().replace("http://", "http://me:sesame@");
    let outcome = examined(&[("GITLAB_URL", "http://gitlab.example.com"), ("HTTP_PROXY", &signed_in)]);
    assert_found(&outcome, "certificate", "warning", "https");
    assert!(finding(&outcome.1, "proxy")["says"].as_str().unwrap().contains("forwards requests"));
}

#[test]
fn certificates() {
    let authority = Authority::new();
    let url = serve(&authority.vouch("localhost", 2099), None);
    let at = |variable: (&'static str, String)| {
        let url = url.clone();
        examined(&[("GITLAB_URL", &url), (variable.0, &variable.1)])
    };
    let file = authority.file();
    let trusted = at(("GITLAB_CA_FILE", file.path().display().to_string()));
    assert_eq!(finding(&trusted.1, "certificate")["state"], "fine", "{trusted:?}");
    let until = finding(&trusted.1, "certificate")["says"].as_str().unwrap();
    assert!(until.starts_with("valid until 2099-12-31, for "), "{until}");
    let (code, found) = at(("GITLAB_MAX_REQUESTS", "1".to_owned()));
    assert_eq!(
        (code, &finding(&found, "address")["state"]),
        (Some(2), &json!("fine")),
        "it accepts connections"
    );
    assert_found(&(code, found), "certificate", "failure", "GITLAB_CA_FILE");
    let blind = at(("GITLAB_INSECURE_TLS", "true".to_owned()));
    assert_eq!(finding(&blind.1, "certificate")["state"], "warning", "{blind:?}");
    let other = Authority::new().file();
    let wrong = at(("GITLAB_CA_FILE", other.path().display().to_string()));
    assert_found(&wrong, "certificate", "failure", "has not the authority that signed it");
    let expired = serve(&authority.vouch("localhost", 2002), None);
    let ca = file.path().display().to_string();
    let outcome = examined(&[("GITLAB_URL", &expired), ("GITLAB_CA_FILE", &ca)]);
    assert_found(&outcome, "certificate", "failure", "clock");
    let own = serve(&authority.present_itself(), None);
    let outcome = examined(&[("GITLAB_URL", &own)]);
    assert_found(
        &outcome,
        "certificate",
        "failure",
        "its certificate is that of an authority, not of a server",
    );
    let none = tempfile::NamedTempFile::new().unwrap();
    let outcome = at(("GITLAB_CA_FILE", none.path().display().to_string()));
    assert_found(&outcome, "certificate", "failure", "GITLAB_CA_FILE");
}

#[test]
fn a_wrong_setting_is_a_failure_too() {
    let output = program(&["doctor"], &[("GITLAB_URL", "gitlab.example.com")]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("gitlab-mcp: GITLAB_URL: expected"), "{said}");
    assert!(said.ends_with("got \"gitlab.example.com\"; write https://gitlab.example.com\n"), "{said}");
}

#[test]
fn texts_of_gitlab_are_printed_in_one_line_without_terminal_codes() {
    let hostile = "\u{1b}]0;title\u{7}\u{1b}[31m\u{202e}\r\nok       forged       line";
    let answers = Answers {
        version: version(&format!("18.9.0{hostile}")),
        user: ok(json!({"username": format!("root{hostile}"), "bot": false})),
        own: own(&["api", hostile], json!(format!("2026-12-01{hostile}"))),
    };
    let gitlab = answers.serve();
    for arguments in [&["doctor"][..], &["doctor", "--json"]] {
        let variables = [("GITLAB_URL", gitlab.url()), ("GITLAB_TOKEN", "glpat-1".to_owned())];
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let output = program(arguments, &variables).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("forged line"), "the text is shown: {said}");
        assert!(!said.chars().any(|c| matches!(c, '\u{1b}' | '\u{7}' | '\u{202e}' | '\r')), "{said:?}");
        assert!(!said.contains("\\u") && !said.contains("\\n"), "{said}");
        assert!(!said.lines().any(|line| line.starts_with("ok       forged")), "{said}");
    }
}
