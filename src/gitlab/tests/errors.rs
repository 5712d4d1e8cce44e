//! Error responses: their variant, their message, and whether the change may have been made.

use reqwest::StatusCode;

use super::super::Applied;
use super::super::error_body::{self, RefusalBody};
use super::*;
use crate::untrusted::Secrets;

fn message(body: &str) -> String {
    error_body::parse(StatusCode::BAD_REQUEST, body, Secrets::NONE).message
}

#[test]
fn every_body_shape_becomes_one_line() {
    let cases = [
        (r#"{"message":"404 Project Not Found"}"#, "404 Project Not Found"),
        (
            r#"{"message":{"title":["can't be blank","is too long"],"base":["No way"],"user.email":["is taken"]}}"#,
            "title can't be blank; title is too long; No way; user.email is taken",
        ),
        (r#"{"message":{"error":"Too many requests"}}"#, "Too many requests"),
        (r#"{"message":["One thing","Another"]}"#, "One thing; Another"),
        (r#"{"error":"title is missing"}"#, "title is missing"),
        (
            r#"{"error":"invalid_token","error_description":"Token is expired."}"#,
            "invalid_token: Token is expired.",
        ),
        (r#"{"errors":["One","Two"]}"#, "One; Two"),
        (
            r#"{"errors":[{"message":"Field 'x' doesn't exist","locations":[{"line":1}]}]}"#,
            "Field 'x' doesn't exist",
        ),
        (r#"{"message":"Failed","error":"Failed","errors":{"ref":"is missing"}}"#, "Failed; ref is missing"),
        (r#"{"message":{"position":{"line":["is wrong"]},"count":3}}"#, "position.line is wrong; count 3"),
        (r#"{"status":"bad","code":7}"#, r#"{"status":"bad","code":7}"#),
        (r#"["a","b"]"#, "a; b"),
        (r#""just text""#, "just text"),
        ("null", "Bad Request"),
        ("", "Bad Request"),
        ("  \n ", "Bad Request"),
        ("Retry\r\n\tlater\u{1b}[31m\u{202e}", "Retry later"),
        (
            "<!DOCTYPE html>\n<html><head><TITLE lang=en>\n GitLab isn&#39;t &lt;here&gt; (502)</TITLE></head>…",
            "GitLab isn't <here> (502)",
        ),
        ("<html><body><h1>Nope</h1></body></html>", "Bad Request"),
        ("<html><title>never closed", "Bad Request"),
    ];
    for (body, wanted) in cases {
        assert_eq!(message(body), wanted, "{body}");
    }
    let long = message(&"ä".repeat(9000));
    assert_eq!((long.chars().count(), long.ends_with('…')), (501, true));
}

#[tokio::test]
async fn statuses_map_to_error_variants() {
    let kind = async |status: u16| {
        let error = answered(&post(), ResponseTemplate::new(status)).await.unwrap_err();
        assert_eq!(error.status(), Some(status));
        let kind = match &error {
            GitlabError::Unauthorized { .. } => "unauthorized",
            GitlabError::Forbidden { .. } => "forbidden",
            GitlabError::NotFound { .. } => "not found",
            GitlabError::Conflict { .. } => "conflict",
            GitlabError::Invalid { .. } => "invalid",
            GitlabError::RateLimited { .. } => "rate limited",
            GitlabError::Server { .. } => "server",
            _ => "other",
        };
        (kind, error.applied())
    };
    let cases = [
        (400, "invalid", Applied::No),
        (401, "unauthorized", Applied::No),
        (403, "forbidden", Applied::No),
        (404, "not found", Applied::No),
        (405, "invalid", Applied::No),
        (408, "server", Applied::Unknown),
        (409, "conflict", Applied::No),
        (412, "conflict", Applied::No),
        (422, "invalid", Applied::No),
        (429, "rate limited", Applied::No),
        (500, "server", Applied::Unknown),
        (502, "server", Applied::Unknown),
        (504, "server", Applied::Unknown),
        (302, "server", Applied::No),
    ];
    for (status, wanted, applied) in cases {
        assert_eq!(kind(status).await, (wanted, applied), "{status}");
    }
}

#[tokio::test]
async fn a_failed_read_is_never_applied() {
    let lint = permit(Risk::Read, Method::Post, PATH, &[], Body::Json(json!({})));
    for call in [get(PATH), lint] {
        let error = answered(&call, ResponseTemplate::new(500)).await.unwrap_err();
        assert_eq!(error.applied(), Applied::No);
    }
}

#[tokio::test]
async fn expired_tokens_and_missing_scopes_are_detected() {
    let body = json!({"error": "invalid_token", "error_description": "Token is expired. You can either do re-authorization or token refresh."});
    let error = answered(&get(PATH), ResponseTemplate::new(401).set_body_json(body)).await.unwrap_err();
    assert!(matches!(error, GitlabError::Unauthorized { expired: true, .. }), "{error:?}");
    let body = json!({"message": "401 Unauthorized"});
    let error = answered(&get(PATH), ResponseTemplate::new(401).set_body_json(body)).await.unwrap_err();
    assert!(matches!(error, GitlabError::Unauthorized { expired: false, .. }), "{error:?}");
    assert_eq!(error.to_string(), "GitLab did not accept the credentials: 401 Unauthorized");

    let description = "The request requires higher privileges than provided by the access token.";
    let body =
        json!({"error": "insufficient_scope", "error_description": description, "scope": "api read_api"});
    let answer = ResponseTemplate::new(403).set_body_json(body).insert_header("x-request-id", "01XYZ");
    let error = answered(&get(PATH), answer).await.unwrap_err();
    assert_eq!(error.request_id(), Some("01XYZ"));
    let GitlabError::Forbidden { missing_scope: Some(scopes), .. } = &error else { panic!("{error:?}") };
    assert_eq!(scopes, &["api", "read_api"]);
    let body = json!({"message": "403 Forbidden"});
    let error = answered(&get(PATH), ResponseTemplate::new(403).set_body_json(body)).await.unwrap_err();
    assert!(matches!(error, GitlabError::Forbidden { missing_scope: None, .. }), "{error:?}");
    assert_eq!(
        error_body::parse(StatusCode::FORBIDDEN, r#"{"error":"insufficient_granular_scope"}"#, Secrets::NONE),
        RefusalBody {
            code: None,
            is_page: false,
            message: "insufficient_granular_scope".to_owned(),
            expired: false,
            missing_scope: Some(vec![])
        }
    );
}

#[tokio::test]
async fn an_echoed_token_is_redacted() {
    let echo = format!("{}{TOKEN} is not valid", "x".repeat(490));
    let body = json!({"message": echo});
    let error = answered(&get(PATH), ResponseTemplate::new(401).set_body_json(body)).await.unwrap_err();
    assert!(!print_chain(&error).contains("glpat"), "{error:?}");
    assert!(error.to_string().contains("[redacted"), "{error}");
}

#[tokio::test]
async fn a_large_error_body_is_read_partially() {
    let page = format!("<html><title>Bad gateway</title>{}", "x".repeat(500_000));
    let answer = ResponseTemplate::new(502).set_body_raw(page, "text/html");
    let error = answered(&post(), answer).await.unwrap_err();
    assert_eq!(error.to_string(), "GitLab failed: 502 \"Bad gateway\"");
}
