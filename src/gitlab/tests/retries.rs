//! Retries.

use std::time::SystemTime;

use super::super::Applied;
use super::*;

fn ok() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!([]))
}

fn busy(status: u16) -> ResponseTemplate {
    ResponseTemplate::new(status)
}

async fn attempts(call: &Permit, templates: Vec<ResponseTemplate>) -> (Result<Reply, GitlabError>, usize) {
    let server = in_turn(templates).await;
    let result = client(settings(&server.uri())).send(call).await;
    (result, requests(&server).await.len())
}

#[tokio::test]
async fn a_read_is_retried_after_a_gateway_error() {
    let (result, sent) = attempts(&get(PATH), vec![busy(503), busy(502), busy(504), ok()]).await;
    assert_eq!((result.unwrap().status, sent), (200, 4));
    let (result, sent) = attempts(&get(PATH), vec![busy(503)]).await;
    assert_eq!((result.unwrap_err().status(), sent), (Some(503), 4));
    let (result, sent) = attempts(&get(PATH), vec![busy(520), busy(524), ok()]).await;
    assert_eq!((result.unwrap().status, sent), (200, 3));
    let (result, sent) = attempts(&get(PATH), vec![busy(500)]).await;
    assert_eq!((result.unwrap_err().status(), sent), (Some(500), 1));
}

#[tokio::test]
async fn a_write_is_not_retried_after_a_gateway_error() {
    for method in [Method::Post, Method::Put, Method::Patch, Method::Delete] {
        let call = permit(Risk::Write, method, PATH, &[], Body::Empty);
        let (result, sent) = attempts(&call, vec![busy(503).insert_header("retry-after", "0"), ok()]).await;
        let error = result.unwrap_err();
        assert_eq!((error.status(), error.applied(), sent), (Some(503), Applied::Unknown, 1));
    }
}

#[tokio::test]
async fn a_rate_limited_request_of_any_method_is_retried() {
    for call in [get(PATH), post()] {
        let (result, sent) = attempts(&call, vec![busy(429).insert_header("retry-after", "0"), ok()]).await;
        assert_eq!((result.unwrap().status, sent), (200, 2));
    }
}

#[tokio::test]
async fn a_long_wait_is_reported_not_waited() {
    let past_and_future = |seconds: u64| {
        let now = SystemTime::now();
        (httpdate::fmt_http_date(now), httpdate::fmt_http_date(now + Duration::from_secs(seconds)))
    };
    let (date, later) = past_and_future(90);
    let cases = [
        busy(429).insert_header("retry-after", "90"),
        busy(429).insert_header("retry-after", later.as_str()).insert_header("date", date.as_str()),
        busy(429)
            .insert_header("ratelimit-reset", "1000000090")
            .insert_header("date", "Sun, 09 Sep 2001 01:46:40 GMT"),
    ];
    for template in cases {
        let (result, sent) = attempts(&post(), vec![template]).await;
        let error = result.unwrap_err();
        let GitlabError::RateLimited { retry_after: Some(wait), .. } = &error else { panic!("{error:?}") };
        assert_eq!((wait.as_secs(), sent, error.applied()), (90, 1, Applied::No));
    }
}

#[tokio::test]
async fn a_wait_out_of_range_is_capped() {
    for template in [
        busy(429).insert_header("retry-after", "99999999999999999999"),
        busy(429).insert_header("retry-after", u64::MAX.to_string().as_str()),
        busy(429).insert_header("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"),
        busy(429).insert_header("ratelimit-reset", "99999999999999999999"),
        busy(429).insert_header("ratelimit-reset", u64::MAX.to_string().as_str()),
        busy(429).insert_header("ratelimit-reset", "253402300799"),
    ] {
        let (result, sent) = attempts(&get(PATH), vec![template]).await;
        let error = result.unwrap_err();
        let GitlabError::RateLimited { retry_after: Some(wait), .. } = &error else { panic!("{error:?}") };
        assert_eq!((wait.as_secs(), sent), (365 * 24 * 3600, 1));
    }
}

#[tokio::test]
async fn a_rate_limit_with_a_far_reset_is_ignored() {
    let used_up = ResponseTemplate::new(200)
        .set_body_json(json!([]))
        .insert_header("ratelimit-remaining", "0")
        .insert_header("ratelimit-reset", "253402300799");
    let server = always(used_up).await;
    let client = client(settings(&server.uri()));
    for _ in 0..2 {
        client.send(&get(PATH)).await.unwrap();
    }
}

#[tokio::test]
async fn status_501_is_not_applied() {
    let (result, sent) = attempts(&post(), vec![busy(501)]).await;
    assert_eq!((result.unwrap_err().applied(), sent), (Applied::No, 1));
}

#[tokio::test]
async fn a_wait_beyond_the_time_left_is_not_waited() {
    let server = always(busy(429).insert_header("retry-after", "10")).await;
    let client = client(ClientSettings { timeout: Duration::from_secs(5), ..settings(&server.uri()) });
    let error = client.send(&get(PATH)).await.unwrap_err();
    assert!(matches!(error, GitlabError::RateLimited { .. }), "{error:?}");
    assert_eq!(requests(&server).await.len(), 1);
}

#[tokio::test]
async fn retries_are_limited_by_the_settings() {
    let server = always(busy(503)).await;
    let client = client(ClientSettings { retries: 0, ..settings(&server.uri()) });
    client.send(&get(PATH)).await.unwrap_err();
    assert_eq!(requests(&server).await.len(), 1);
}
