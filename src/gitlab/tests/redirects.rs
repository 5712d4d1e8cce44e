//! Redirects: which are followed, and that the token does not follow.

use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::StatusCode;
use reqwest::dns::{Name, Resolve};
use reqwest::header::{HeaderMap, LOCATION};

use super::super::redirect::Hop;
use super::super::ssrf::{DnsLookup, Guard};
use super::super::{Applied, Content, NotFollowed};
use super::*;

fn to(status: u16, location: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).insert_header("location", location)
}

fn file() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw("the file", "text/plain")
}

/// Starts two hosts: another port is another host.
async fn two_hosts(location_path: &str, answer: ResponseTemplate) -> (MockServer, MockServer) {
    let storage = always(answer).await;
    let gitlab = always(to(302, &format!("{}{location_path}", storage.uri()))).await;
    (gitlab, storage)
}

fn not_followed(error: &GitlabError) -> Option<NotFollowed> {
    match error {
        GitlabError::Redirect { reason, .. } => Some(*reason),
        _ => None,
    }
}

#[tokio::test]
async fn another_host_gets_the_request_without_credentials() {
    let answer = file()
        .insert_header("x-request-id", "of the storage")
        .insert_header("x-total", "9")
        .insert_header("content-type", "text/plain");
    let (gitlab, storage) = two_hosts("/bucket/a%2Fb.zip?X-Amz-Signature=s%2Fg", answer).await;
    for token in [TOKEN, "glcbt-1", &"0a".repeat(32)] {
        let credential = Some(Token::guess(Secret::new(token.to_owned())).into());
        let client = client(ClientSettings { credential, ..settings(&gitlab.uri()) });
        let reply = client.send(&get(PATH)).await.unwrap();
        assert_eq!(reply.content, Content::Text("the file".to_owned()));
        assert_eq!((reply.request_id, reply.page.total), (None, None));
    }
    for request in requests(&storage).await {
        assert_eq!(request.url.path(), "/bucket/a%2Fb.zip");
        assert_eq!(request.url.query(), Some("X-Amz-Signature=s%2Fg"));
        for name in ["private-token", "job-token", "authorization", "cookie", "referer"] {
            assert!(!request.headers.contains_key(name), "{name}");
        }
    }
}

#[tokio::test]
async fn a_redirect_back_from_another_host_carries_no_credentials() {
    let gitlab = MockServer::start().await;
    let storage = always(to(302, &format!("{}/api/v4/user", gitlab.uri()))).await;
    let away = to(302, &storage.uri());
    Mock::given(wiremock::matchers::path("/api/v4/away")).respond_with(away).mount(&gitlab).await;
    Mock::given(wiremock::matchers::path("/api/v4/user")).respond_with(file()).mount(&gitlab).await;
    client(settings(&gitlab.uri())).send(&get("/api/v4/away")).await.unwrap();
    let seen: Vec<_> =
        requests(&gitlab).await.iter().map(|request| request.headers.contains_key("private-token")).collect();
    assert_eq!(seen, [true, false]);
}

#[tokio::test]
async fn the_same_host_keeps_the_token() {
    let gitlab = in_turn(vec![to(301, "/api/v4/projects/7"), file()]).await;
    let reply = client(settings(&gitlab.uri())).send(&get(PATH)).await.unwrap();
    assert_eq!(reply.status, 200);
    let requests = requests(&gitlab).await;
    assert_eq!(requests[1].url.path(), "/api/v4/projects/7");
    assert!(requests[1].headers.contains_key("private-token"));
}

#[tokio::test]
async fn a_write_is_not_redirected() {
    for (status, applied) in
        [(301, Applied::No), (302, Applied::No), (303, Applied::Unknown), (307, Applied::No)]
    {
        let (gitlab, storage) = two_hosts("/", file()).await;
        gitlab.reset().await;
        let away = to(status, &storage.uri());
        Mock::given(wiremock::matchers::any()).respond_with(away).mount(&gitlab).await;
        let error = client(settings(&gitlab.uri())).send(&post()).await.unwrap_err();
        let GitlabError::Redirect { to_host, reason: NotFollowed::Write, .. } = &error else {
            panic!("{error:?}")
        };
        assert!(storage.uri().ends_with(to_host.as_str()));
        assert_eq!(error.applied(), applied, "{status}");
        assert!(requests(&storage).await.is_empty());
        assert_eq!(requests(&gitlab).await.len(), 1);
    }
}

#[tokio::test]
async fn the_number_of_redirects_is_limited() {
    let gitlab = always(to(302, "/again")).await;
    let error = client(settings(&gitlab.uri())).send(&get(PATH)).await.unwrap_err();
    assert_eq!(not_followed(&error), Some(NotFollowed::TooMany));
    assert_eq!(requests(&gitlab).await.len(), 6);
}

#[tokio::test]
async fn a_sign_in_page_is_an_error() {
    let page = || ResponseTemplate::new(200).set_body_raw("<html>Sign in</html>", "text/html");
    let (gitlab, _proxy) = two_hosts("/login", page()).await;
    let error = client(settings(&gitlab.uri())).send(&get(PATH)).await.unwrap_err();
    assert_eq!(not_followed(&error), Some(NotFollowed::SignIn));
    let gitlab = always(to(302, "/users/sign_in")).await;
    let error = client(settings(&gitlab.uri())).send(&get(PATH)).await.unwrap_err();
    assert_eq!(not_followed(&error), Some(NotFollowed::SignIn));
    let attached = page().insert_header("content-disposition", "attachment; filename=\"report.html\"");
    let (gitlab, _storage) = two_hosts("/report.html", attached).await;
    assert!(client(settings(&gitlab.uri())).send(&get(PATH)).await.is_ok());
}

/// Follows a redirect of a GET: true if the target is trusted, or the reason for a refusal.
fn leads(base: &str, location: &str) -> Result<bool, NotFollowed> {
    leads_beside(base, &[], location)
}

/// The same beside other configured instances.
fn leads_beside(base: &str, others: &[&str], location: &str) -> Result<bool, NotFollowed> {
    leads_by(&get(PATH), base, others, location)
}

fn leads_by(permit: &Permit, base: &str, others: &[&str], location: &str) -> Result<bool, NotFollowed> {
    let headers = HeaderMap::from_iter([(LOCATION, location.parse().unwrap())]);
    let base = Url::parse(base).unwrap();
    let first = Hop::first(base.join(&format!("{}{PATH}", base.path().trim_end_matches('/'))).unwrap());
    let other_roots = others.iter().map(|other| Url::parse(other).unwrap()).collect();
    let settings = ClientSettings { other_roots, ..ClientSettings::new(base) };
    match first.next(&settings, permit, StatusCode::FOUND, &headers) {
        Ok(next) => Ok(next.unwrap().trusted),
        Err(error) => Err(not_followed(&error).unwrap()),
    }
}

#[test]
fn only_the_configured_origin_is_trusted() {
    let leads = |location| leads("https://gitlab.example.com", location);
    assert_eq!(leads("/elsewhere"), Ok(true));
    assert_eq!(leads("https://gitlab.example.com:443/elsewhere"), Ok(true));
    assert_eq!(leads("https://user:password@GITLAB.example.com/"), Ok(true));
    assert_eq!(leads("https://gitlab.example.com:8443/"), Ok(false));
    assert_eq!(leads("http://gitlab.example.com/"), Ok(false));
    assert_eq!(leads("//storage.example.com/a"), Ok(false));
    assert_eq!(leads("https://gitlab.example.com.evil.example/"), Ok(false));
    assert_eq!(leads("https://gitlab.example.com@evil.example/"), Ok(false));
    assert_eq!(leads("file:///etc/passwd"), Err(NotFollowed::Unusable));
    assert_eq!(leads("http://["), Err(NotFollowed::Unusable));
}

#[test]
fn a_redirect_to_another_root_of_the_host_does_not_carry_the_token() {
    for (location, is_trusted) in [
        ("/a/api/v4/projects/7", true),
        ("/a/api/v4/projects/acme%2Fwidget", true),
        ("/a/uploads/x.tar.gz", true),
        ("projects/7", true),
        ("/b/api/v4/projects/7", false),
        ("/ab/api/v4/projects/7", false),
        ("/a-b/api/v4/projects/7", false),
        ("/A/api/v4/projects/7", false),
        ("/%61/api/v4/projects/7", false),
        ("/a%2Fb/api/v4/projects/7", false),
        ("/a", false),
        ("/", false),
        ("/a/../b/api/v4/projects/7", false),
        ("/a/%2e%2e/b/api/v4/projects/7", false),
        ("/a/..%2fb/api/v4/projects/7", false),
        ("/a/%252e%252e%252fb/api/v4/projects/7", false),
        ("/a/%25252525252e%25252525252e/b/api/v4/projects/7", false),
        ("/a/..%5cb/api/v4/projects/7", false),
        ("/a/..;x=1/b/api/v4/projects/7", false),
        ("//gitlab.example.com/b/api/v4/projects/7", false),
    ] {
        let led = leads("https://gitlab.example.com/a", location);
        assert_eq!(led, Ok(is_trusted), "{location}");
        assert_eq!(leads("https://gitlab.example.com/a/", location), Ok(is_trusted), "{location}");
    }
}

#[test]
fn a_redirect_to_an_instance_below_the_root_does_not_carry_the_token() {
    let others = ["https://gitlab.example.com/b/", "https://elsewhere.example.com/c"];
    for (location, is_trusted) in [
        ("/api/v4/projects/7", true),
        ("/bc/api/v4/projects/7", true),
        ("/c/api/v4/projects/7", true),
        ("/b/api/v4/projects/7", false),
        ("/b", false),
        ("/B/api/v4/projects/7", false),
        ("/%62/api/v4/projects/7", false),
        ("/%2562/api/v4/projects/7", false),
        ("https://gitlab.example.com//b/api/v4/projects/7", false),
        ("/b;x/api/v4/projects/7", false),
        ("/api/..%2fb/api/v4/projects/7", false),
    ] {
        let led = leads_beside("https://gitlab.example.com", &others, location);
        assert_eq!(led, Ok(is_trusted), "{location}");
    }
    // The root above is no part of the nested instance, which keeps its own token.
    let above = ["https://gitlab.example.com/"];
    let nested = |location| leads_beside("https://gitlab.example.com/b", &above, location);
    assert_eq!((nested("/b/api/v4/projects/7"), nested("/api/v4/projects/7")), (Ok(true), Ok(false)));
    let upgraded = leads_beside(
        "http://gitlab.example.com",
        &["http://gitlab.example.com/b"],
        "https://gitlab.example.com/b/x",
    );
    assert_eq!(upgraded, Ok(false));
}

/// No rule has seen the project to which GitLab redirects.
#[test]
fn a_call_under_rules_on_paths_is_led_to_no_other_path_of_the_api() {
    for base in ["https://gitlab.example.com", "https://gitlab.example.com/gitlab"] {
        let leads = |path: &str| leads_by(&get(PATH).staying(), base, &[], &format!("{base}{path}"));
        assert_eq!(leads("/api/v4/projects/7"), Err(NotFollowed::Moved), "{base}");
        assert_eq!(leads("/uploads/x.tar.gz"), Ok(true), "{base}");
    }
}

#[test]
fn the_upgrade_to_https_keeps_the_token() {
    assert_eq!(leads("http://gitlab.example.com", "https://gitlab.example.com/"), Ok(true));
    assert_eq!(
        leads("http://gitlab.example.com:8080", "https://gitlab.example.com/"),
        Err(NotFollowed::Https)
    );
    assert_eq!(leads("http://gitlab.example.com", "https://other.example.com/"), Ok(false));
}

/// A resolver of these names only.
fn names(known: &'static [(&'static str, &'static str)]) -> DnsLookup {
    Arc::new(move |name| {
        let found = known.iter().filter(|(known, _)| *known == name);
        let found: Vec<_> = found.map(|(_, ip)| SocketAddr::new(ip.parse().unwrap(), 0)).collect();
        let none = || std::io::Error::other("no such name");
        Box::pin(async move { if found.is_empty() { Err(none()) } else { Ok(found) } })
    })
}

/// True if a GitLab at `base` may redirect to that URL.
async fn admits(base: &str, location: &str) -> bool {
    let lookup = names(&[("gitlab.example.com", "203.0.113.1"), ("gitlab.corp.example", "10.1.2.3")]);
    let guard = Guard::new(Url::parse(base).unwrap(), lookup);
    guard.admits(&Url::parse(location).unwrap()).await
}

const OWN: [&str; 10] = [
    "http://localhost/",
    "http://LOCALHOST.:8080/",
    "http://a.localhost/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://0/",
    "http://[::1]/",
    "http://[2002:7f00:1::]/",
];

const PRIVATE: [&str; 11] = [
    "http://redis/",
    "http://printer.local/",
    "http://storage.internal/",
    "http://10.0.0.1/",
    "http://172.16.5.4/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.127.255.254/",
    "http://[fd00::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[64:ff9b:1::808:808]/",
];

const SET_APART: [&str; 12] = [
    "http://metadata.google.internal/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://224.0.0.1/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://[fd00:c1::a9fe:a9fe]/",
    "http://[fd00:42::42]/",
];

#[tokio::test]
async fn a_public_gitlab_cannot_redirect_to_internal_addresses() {
    for base in ["https://gitlab.example.com", "https://8.8.8.8", "https://name.that.resolves.nowhere"] {
        for location in OWN.iter().chain(&PRIVATE).chain(&SET_APART) {
            assert!(!admits(base, location).await, "{base} to {location}");
        }
        for location in
            ["http://8.8.8.8/", "http://100.128.0.1/", "http://172.32.0.1/", "http://[2606:4700::1]/"]
        {
            assert!(admits(base, location).await, "{base} to {location}");
        }
    }
}

#[tokio::test]
async fn an_internal_gitlab_cannot_redirect_to_loopback_or_metadata() {
    for base in ["http://10.1.2.3", "https://gitlab.corp.example", "http://gitlab"] {
        for location in PRIVATE {
            assert!(admits(base, location).await, "{base} to {location}");
        }
        for location in OWN.iter().chain(&SET_APART) {
            assert!(!admits(base, location).await, "{base} to {location}");
        }
    }
    for location in OWN.iter().chain(&PRIVATE) {
        assert!(admits("http://127.0.0.1:3000", location).await, "{location}");
    }
    for location in SET_APART {
        assert!(!admits("http://localhost:3000", location).await, "{location}");
    }
}

/// Sends a request to a GitLab on this machine, called `base`, that redirects to a storage host on this machine called
/// `storage.example.com`.
async fn led(lookup: DnsLookup, base: &str) -> (Result<Reply, GitlabError>, usize) {
    let storage = always(file()).await;
    let port = Url::parse(&storage.uri()).unwrap().port().unwrap();
    let gitlab = always(to(302, &format!("http://storage.example.com:{port}/file"))).await;
    let client = client(settings(&gitlab.uri()));
    let told = Url::parse(base).unwrap_or_else(|_| Url::parse(&gitlab.uri()).unwrap());
    let result = client.with_guard(told, lookup).send(&get(PATH)).await;
    (result, requests(&storage).await.len())
}

#[tokio::test]
async fn the_address_connected_to_is_the_address_checked() {
    let inside = || names(&[("storage.example.com", "127.0.0.1"), ("gitlab.example.com", "203.0.113.1")]);
    let (result, asked) = led(inside(), "https://gitlab.example.com").await;
    assert_eq!((not_followed(&result.unwrap_err()), asked), (Some(NotFollowed::Internal), 0));
    // Allowed if GitLab itself is on this machine.
    let (result, asked) = led(inside(), "").await;
    assert_eq!((result.unwrap().content, asked), (Content::Text("the file".to_owned()), 1));
    // Among several addresses, an allowed one is used.
    let several = names(&[("storage.example.com", "169.254.169.254"), ("storage.example.com", "127.0.0.1")]);
    let (result, asked) = led(several, "").await;
    assert_eq!((result.unwrap().status, asked), (200, 1));
}

#[tokio::test]
async fn only_the_public_addresses_of_a_name_are_connected_to() {
    for inside in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"] {
        for places in [["203.0.113.7", inside], [inside, "203.0.113.7"]] {
            let lookup: DnsLookup = Arc::new(move |name| {
                let public = ["203.0.113.1"; 2];
                let places = if name == "gitlab.example.com" { public } else { places };
                let found = places.map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).to_vec();
                Box::pin(async move { Ok(found) })
            });
            let guard = Guard::new(Url::parse("https://gitlab.example.com").unwrap(), lookup);
            let name: Name = "storage.example.com".parse().unwrap();
            let found: Vec<SocketAddr> = guard.resolve(name).await.unwrap().collect();
            assert_eq!(found, [SocketAddr::new("203.0.113.7".parse().unwrap(), 0)], "{places:?}");
        }
    }
}

/// Every omnibus GitLab redirects http to https; without the token the answer would be a 401 that blames the token.
#[tokio::test]
async fn a_redirect_to_https_of_the_same_gitlab_is_named_with_what_to_set() {
    let gitlab = always(to(301, "https://127.0.0.1:8443/api/v4/projects/acme%2Fwidget/issues/1")).await;
    let client = client(settings(&gitlab.uri()));
    for permit in [get(PATH), post()] {
        let error = client.send(&permit).await.unwrap_err();
        assert_eq!(not_followed(&error), Some(NotFollowed::Https));
        assert!(error.to_string().contains("set GITLAB_URL to that address"), "{error}");
    }
    assert_eq!(requests(&gitlab).await.len(), 2, "nothing follows");
}
