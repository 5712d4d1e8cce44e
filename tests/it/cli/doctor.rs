//! `gitlab-mcp doctor`: for each thing that can be wrong the line that says so, the way to mend it, and the exit
//! code.

use std::net::TcpListener;
use std::process::{Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::format_description;
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::client::program;
use crate::support::tls::{Authority, serve};

/// What a GitLab answers a doctor.
struct Gitlab {
    version: ResponseTemplate,
    user: ResponseTemplate,
    own: ResponseTemplate,
}

fn day(ahead: i64) -> String {
    let day = OffsetDateTime::now_utc().date() + time::Duration::days(ahead);
    day.format(format_description!("[year]-[month]-[day]")).unwrap()
}

fn own(scopes: &[&str], expires: Value) -> ResponseTemplate {
    ok(json!({"name": "for the agent", "scopes": scopes, "expires_at": expires, "active": true}))
}

fn ok(body: Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

fn version(number: &str) -> ResponseTemplate {
    ok(json!({"version": number, "revision": "0"}))
}

impl Default for Gitlab {
    fn default() -> Gitlab {
        let rate = |template: ResponseTemplate| {
            template.insert_header("ratelimit-limit", "2000").insert_header("ratelimit-remaining", "1999")
        };
        Gitlab {
            version: version("18.9.0-ee"),
            user: ok(json!({"username": "alice", "bot": false})),
            own: rate(own(&["api"], json!(day(200)))),
        }
    }
}

impl Gitlab {
    async fn serve(self) -> MockServer {
        let server = MockServer::start().await;
        for (place, answer) in [
            ("/api/v4/version", self.version),
            ("/api/v4/user", self.user),
            ("/api/v4/personal_access_tokens/self", self.own),
        ] {
            Mock::given(path(place)).respond_with(answer).mount(&server).await;
        }
        server
    }
}

/// The exit code, and what was found.
async fn examined(variables: &[(&str, &str)]) -> (Option<i32>, Value) {
    let with_token = [("GITLAB_TOKEN", "glpat-sesame"), ("GITLAB_TIMEOUT", "3")];
    let variables: Vec<(String, String)> = with_token
        .iter()
        .chain(variables)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let run = move || {
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let doctor = |arguments: &[&str]| -> Output {
            program(arguments, &variables).stdin(Stdio::null()).output().unwrap()
        };
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
    };
    tokio::task::spawn_blocking(run).await.unwrap()
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

async fn with(gitlab: Gitlab, variables: &[(&str, &str)]) -> (Option<i32>, Value) {
    let server = gitlab.serve().await;
    let url = server.uri();
    examined(&[&[("GITLAB_URL", url.as_str())], variables].concat()).await
}

#[tokio::test]
async fn a_gitlab_that_is_well() {
    let outcome = with(Gitlab::default(), &[]).await;
    let checks: Vec<&str> = outcome.1["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["check"].as_str().unwrap())
        .collect();
    let all =
        ["address", "proxy", "certificate", "version", "token", "scopes", "expiry", "rate limit", "clock"];
    assert_eq!(checks, all);
    for check in all {
        assert_found(&outcome, check, "fine", "");
    }
    assert_found(&outcome, "token", "fine", "a personal access token \\\"for the agent\\\" of alice");
    assert_found(&outcome, "rate limit", "fine", "1999 of 2000");
    assert_found(
        &examined(&[("GITLAB_URL", "sandbox"), ("GITLAB_TOKEN", "")]).await,
        "version",
        "fine",
        "18.",
    );
}

#[tokio::test]
async fn what_the_policy_denies_is_not_blamed_on_the_certificate() {
    let outcome = with(Gitlab::default(), &[("GITLAB_DENIED_ACTIONS", "instance.get_version")]).await;
    assert_found(&outcome, "policy", "warning", "instance.get_version is denied");
    assert!(!outcome.1.to_string().contains("certificate"), "{:#}", outcome.1);
    let outcome = with(Gitlab::default(), &[("GITLAB_DENIED_ACTIONS", "current_user.get")]).await;
    assert_found(&outcome, "token", "unknown", "current_user.get is denied");
}

#[tokio::test]
async fn tokens() {
    let scoped = |scopes: &[&str]| Gitlab { own: own(scopes, Value::Null), ..Gitlab::default() };
    let lasting = |days: i64| Gitlab { own: own(&["api"], json!(day(days))), ..Gitlab::default() };
    let refusing = |body: Value| {
        let answer = || ResponseTemplate::new(401).set_body_json(body.clone());
        Gitlab { version: answer(), user: answer(), own: answer() }
    };
    assert_found(&with(scoped(&["read_api"]), &[]).await, "scopes", "warning", "GITLAB_READ_ONLY");
    assert_found(
        &with(scoped(&["read_api"]), &[("GITLAB_READ_ONLY", "1")]).await,
        "scopes",
        "fine",
        "read_api",
    );
    assert_found(&with(scoped(&["read_repository"]), &[]).await, "scopes", "failure", "scope api");
    assert_found(&with(lasting(5), &[]).await, "expiry", "warning", "in 5 days");
    assert_found(&with(lasting(-1), &[]).await, "expiry", "failure", "ran out");
    let expired = json!({"error": "invalid_token", "error_description": "Token is expired."});
    assert_found(&with(refusing(expired), &[]).await, "token", "failure", "make a new one");
    let unknown = json!({"message": "401 Unauthorized"});
    assert_found(&with(refusing(unknown.clone()), &[]).await, "token", "failure", "GITLAB_OAUTH_TOKEN");
    assert_found(&with(refusing(unknown), &[("GITLAB_TOKEN", "")]).await, "token", "warning", "not set");

    let bot = Gitlab { user: ok(json!({"username": "project_1_bot", "bot": true})), ..Gitlab::default() };
    assert_found(&with(bot, &[]).await, "token", "fine", "a project or group access token");
    let job = [("GITLAB_TOKEN", ""), ("GITLAB_JOB_TOKEN", "glcbt-1")];
    assert_found(&with(Gitlab::default(), &job).await, "token", "fine", "job");
    let none = || ResponseTemplate::new(404).set_body_json(json!({"message": "404 Not found"}));
    let oauth = Gitlab { own: none(), ..Gitlab::default() };
    let token = [("GITLAB_TOKEN", ""), ("GITLAB_OAUTH_TOKEN", "a1b2")];
    assert_found(&with(oauth, &token).await, "scopes", "unknown", "does not tell");
}

#[tokio::test]
async fn what_answers() {
    let answering = |version| Gitlab { version, ..Gitlab::default() };
    assert_found(&with(answering(version("15.1.0")), &[]).await, "version", "warning", "Update GitLab");
    assert_found(
        &with(answering(ok(json!({"hello": "world"}))), &[]).await,
        "version",
        "failure",
        "GITLAB_URL",
    );
    assert_found(&with(answering(ResponseTemplate::new(404)), &[]).await, "address", "failure", "sub-path");
    let page = ResponseTemplate::new(200).set_body_raw("<html><title>Intranet</title>", "text/html");
    assert_found(&with(answering(page), &[]).await, "address", "failure", "Intranet");
    let moved = ResponseTemplate::new(302).insert_header("location", "/users/sign_in");
    assert_found(&with(answering(moved), &[]).await, "address", "failure", "signing in");
    assert_found(&with(answering(ResponseTemplate::new(500)), &[]).await, "address", "failure", "trouble");
}

#[tokio::test]
async fn limits_and_clocks() {
    let low = own(&["api"], Value::Null)
        .insert_header("ratelimit-limit", "2000")
        .insert_header("ratelimit-remaining", "20")
        .insert_header("ratelimit-reset", "1");
    let low = Gitlab { own: low, ..Gitlab::default() };
    assert_found(&with(low, &[]).await, "rate limit", "warning", "20 of 2000");
    for (shift, side) in [(600_i64, "behind"), (-600, "ahead of")] {
        let then = if shift > 0 {
            SystemTime::now() + Duration::from_secs(shift.unsigned_abs())
        } else {
            SystemTime::now() - Duration::from_secs(shift.unsigned_abs())
        };
        let date = httpdate::fmt_http_date(then);
        let gitlab = Gitlab::default();
        let dated = |template: ResponseTemplate| template.insert_header("date", date.as_str());
        let gitlab =
            Gitlab { version: dated(gitlab.version), user: dated(gitlab.user), own: dated(gitlab.own) };
        assert_found(&with(gitlab, &[]).await, "clock", "warning", side);
    }
}

/// An address at which nothing listens.
fn nowhere() -> String {
    format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
}

#[tokio::test]
async fn the_way_there() {
    let url = nowhere();
    let dead = examined(&[("GITLAB_URL", &url)]).await;
    assert_found(&dead, "address", "failure", "GITLAB_URL");
    assert_eq!(finding(&dead.1, "token")["state"], "unknown");
    let no_name = examined(&[("GITLAB_URL", "https://does-not-exist.invalid")]).await;
    assert_found(&no_name, "address", "failure", "name resolves");

    let proxied = [("GITLAB_URL", "https://gitlab.example.com"), ("HTTPS_PROXY", url.as_str())];
    let outcome = examined(&proxied).await;
    assert_found(&outcome, "proxy", "failure", "NO_PROXY");
    assert!(finding(&outcome.1, "proxy")["says"].as_str().unwrap().starts_with(&url), "{outcome:?}");
    let proxy = Gitlab::default().serve().await;
    let signed_in = proxy.uri().replace("http://", "http://me:sesame@");
    let outcome = examined(&[("GITLAB_URL", "http://gitlab.example.com"), ("HTTP_PROXY", &signed_in)]).await;
    assert_found(&outcome, "certificate", "warning", "https");
    assert!(finding(&outcome.1, "proxy")["says"].as_str().unwrap().contains("lets requests through"));
}

#[tokio::test]
async fn certificates() {
    let authority = Authority::new();
    let url = serve(&authority.vouch("localhost", 2099), None);
    let at = |variable: (&'static str, String)| {
        let url = url.clone();
        async move { examined(&[("GITLAB_URL", &url), (variable.0, &variable.1)]).await }
    };
    let file = authority.file();
    let trusted = at(("GITLAB_CA_FILE", file.path().display().to_string())).await;
    assert_eq!(finding(&trusted.1, "certificate")["state"], "fine", "{trusted:?}");
    let (code, found) = at(("GITLAB_MAX_REQUESTS", "1".to_owned())).await;
    assert_eq!(
        (code, &finding(&found, "address")["state"]),
        (Some(2), &json!("fine")),
        "it can be connected to"
    );
    assert_found(&(code, found), "certificate", "failure", "GITLAB_CA_FILE");
    let blind = at(("GITLAB_INSECURE_TLS", "true".to_owned())).await;
    assert_eq!(finding(&blind.1, "certificate")["state"], "warning", "{blind:?}");
    let expired = serve(&authority.vouch("localhost", 2002), None);
    let ca = file.path().display().to_string();
    let outcome = examined(&[("GITLAB_URL", &expired), ("GITLAB_CA_FILE", &ca)]).await;
    assert_found(&outcome, "certificate", "failure", "clock");
    let none = tempfile::NamedTempFile::new().unwrap();
    let outcome = at(("GITLAB_CA_FILE", none.path().display().to_string())).await;
    assert_found(&outcome, "certificate", "failure", "GITLAB_CA_FILE");
}

#[test]
fn a_wrong_setting_is_a_failure_too() {
    let output = program(&["doctor"], &[("GITLAB_URL", "gitlab.example.com")]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("gitlab-mcp: GITLAB_URL: expected"));
}
