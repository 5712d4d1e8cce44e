//! Requests: token header, path, query and body; nothing shows the token.

use std::sync::{Arc, Mutex};

use base64::Engine;

use super::super::{Applied, Event, watched};
use super::*;
use crate::call::Part;

async fn sent(settings: impl FnOnce(&str) -> ClientSettings, call: &Permit) -> Request {
    let server = always(ResponseTemplate::new(204)).await;
    client(settings(&server.uri())).send(call).await.unwrap();
    requests(&server).await.remove(0)
}

async fn sent_with(token: Option<Token>) -> Request {
    sent(|base| ClientSettings { credential: token.map(Into::into), ..settings(base) }, &get(PATH)).await
}

fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.headers.get(name).map(|value| value.to_str().unwrap())
}

#[tokio::test]
async fn each_kind_of_token_has_its_header() {
    let oauth = "0a".repeat(32);
    let cases = [
        (TOKEN, "private-token", TOKEN.to_owned()),
        ("acme-glpat-1234", "private-token", "acme-glpat-1234".to_owned()),
        ("custom prefix of old", "private-token", "custom prefix of old".to_owned()),
        ("glcbt-64_abc", "job-token", "glcbt-64_abc".to_owned()),
        ("acme-glcbt-64_abc", "job-token", "acme-glcbt-64_abc".to_owned()),
        (oauth.as_str(), "authorization", format!("Bearer {oauth}")),
    ];
    for (token, name, value) in cases {
        let request = sent_with(Some(Token::guess(Secret::new(token.to_owned())))).await;
        assert_eq!(header(&request, name), Some(value.as_str()));
        let credentials = ["private-token", "job-token", "authorization", "cookie"];
        assert_eq!(credentials.iter().filter(|name| request.headers.contains_key(**name)).count(), 1);
    }
    let anonymous = sent_with(None).await;
    assert!(!anonymous.headers.contains_key("private-token"));
    assert_eq!(header(&anonymous, "user-agent"), Some(concat!("gitlab-mcp/", env!("CARGO_PKG_VERSION"))));
}

#[tokio::test]
async fn a_token_with_invalid_header_characters_is_refused_without_showing_it() {
    let bad = Token::Private(Secret::new(format!("{TOKEN}\n")));
    let client = client(ClientSettings { credential: Some(bad.into()), ..settings("http://127.0.0.1:9") });
    let error = client.send(&get(PATH)).await.unwrap_err();
    assert!(matches!(error, GitlabError::Setup { .. }), "{error:?}");
    assert!(!print_chain(&error).contains(TOKEN));
}

#[test]
fn nothing_shows_the_token() {
    let settings = settings("https://user:password@gitlab.example.com/gitlab");
    let shown = format!("{settings:?} {settings:#?} {:?}", Client::new(settings.clone()));
    assert!(shown.contains("https://gitlab.example.com/gitlab"), "{shown}");
    assert!(!shown.contains(TOKEN) && !shown.contains("password"), "{shown}");
}

#[tokio::test]
async fn path_and_query_are_sent_unchanged() {
    let query = [("labels[]", "a & b"), ("labels[]", "ä"), ("search", "50% off?")];
    let call = permit(Risk::Read, Method::Get, PATH, &query, Body::Empty);
    let request = sent(|base| settings(&format!("{base}/sub/path/")), &call).await;
    assert_eq!(request.url.path(), "/sub/path/api/v4/projects/acme%2Fwidget/issues");
    let pairs: Vec<_> =
        request.url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    assert_eq!(pairs, call.call().query());
    let request = sent(settings, &get("/api/v4/files/a%2F%2E%2E%2Fb%20c")).await;
    assert_eq!(request.url.path(), "/api/v4/files/a%2F%2E%2E%2Fb%20c");
    assert_eq!(request.url.query(), None);
}

#[tokio::test]
async fn a_path_that_the_parser_changes_is_not_sent() {
    let server = always(ResponseTemplate::new(204)).await;
    let client = client(settings(&server.uri()));
    for path in [
        "/api/v4/projects/../user",
        "/api/v4/projects/%2e%2E/user",
        "/api/v4/projects/.%2e",
        "/api/v4/a/./b",
        "/api/v4/a?b=c",
        "/api/v4/a#b",
        "/api/v4/a\\..\\b",
        "/api/v4/a b",
        "/api/v4/a\tb",
        "@example.com/api",
        "",
    ] {
        let error = client.send(&get(path)).await.unwrap_err();
        assert!(matches!(error, GitlabError::Path { .. }), "{path}: {error:?}");
        assert_eq!(error.applied(), Applied::No);
    }
    assert!(requests(&server).await.is_empty());
}

#[tokio::test]
async fn user_information_in_the_url_is_not_sent() {
    let request = sent(|base| settings(&base.replace("http://", "http://user:password@")), &get(PATH)).await;
    assert!(!request.headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_large_file_reports_how_much_of_it_was_sent() {
    let bytes = vec![7; 2_500_000];
    let file =
        Part::File { name: "file".to_owned(), filename: "a.bin".to_owned(), bytes: bytes.clone().into() };
    for body in [Body::Multipart(vec![file]), Body::Raw(bytes.clone().into())] {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        let upload = permit(Risk::Write, Method::Post, PATH, &[], body);
        let request = watched(move |event| seen.lock().unwrap().push(event), sent(settings, &upload)).await;
        assert!(request.body.windows(bytes.len()).any(|window| window == bytes));
        // GitLab takes no upload whose size it is not told.
        assert_eq!(header(&request, "content-length"), Some(request.body.len().to_string().as_str()));
        let events = events.lock().unwrap();
        let [Event::SendingChange, parts @ ..] = events.as_slice() else { panic!("{events:?}") };
        let parts: Vec<u64> = parts
            .iter()
            .map(|event| match event {
                Event::Sent { bytes, of: 2_500_000 } => bytes / 1024,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(parts, [1024, 2048, 2441]);
    }
}

#[tokio::test]
async fn a_url_that_is_not_http_is_refused() {
    let error = client(settings("file:///etc")).send(&get(PATH)).await.unwrap_err();
    assert!(matches!(error, GitlabError::Setup { .. }), "{error:?}");
}

#[tokio::test]
async fn bodies_are_json_or_forms() {
    let request = sent(settings, &post()).await;
    assert_eq!(header(&request, "content-type"), Some("application/json"));
    assert_eq!(request.body_json::<serde_json::Value>().unwrap(), json!({"title": "A title"}));

    let bytes = base64::engine::general_purpose::STANDARD.decode("iVBORw0KGgoA/w==").unwrap();
    let file =
        Part::File { name: "file".to_owned(), filename: "a b.png".to_owned(), bytes: bytes.clone().into() };
    let text = Part::Text { name: "path".to_owned(), value: "väl ue".to_owned() };
    let parts = Body::Multipart(vec![text, file]);
    let request = sent(settings, &permit(Risk::Write, Method::Post, PATH, &[], parts)).await;
    assert!(header(&request, "content-type").unwrap().starts_with("multipart/form-data; boundary="));
    let body = String::from_utf8_lossy(&request.body);
    for piece in ["name=\"path\"\r\n\r\nväl ue\r\n", "name=\"file\"; filename=\"a b.png\"", "image/png"] {
        assert!(body.contains(piece), "{piece} in {body}");
    }
    assert_eq!(body.matches("ontent-").count() + body.matches("ONTENT-").count(), 3, "{body}");
    assert!(request.body.windows(bytes.len()).any(|window| window == bytes));

    let empty = permit(Risk::Write, Method::Post, PATH, &[], Body::Empty);
    let request = sent(settings, &empty).await;
    assert!(request.body.is_empty());
    assert!(matches!(header(&request, "content-length"), None | Some("0")));
}
