//! Network failures: no connection, timeouts, broken connections.

use super::super::{Applied, Content, NetworkError, Unread};
use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]";
const CUT_SHORT: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n[1,";
const CUT_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-";

fn trouble(error: &GitlabError) -> Option<NetworkError> {
    match error {
        GitlabError::Network { trouble, .. } => Some(*trouble),
        _ => None,
    }
}

/// An address with no server.
async fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn no_connection_means_not_applied() {
    let error = client(settings(&nowhere().await)).send(&post()).await.unwrap_err();
    assert_eq!((trouble(&error), error.applied()), (Some(NetworkError::Connect), Applied::No));
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test]
async fn an_unresolved_name_is_detected() {
    let error = client(settings("http://does-not-exist.invalid")).send(&post()).await.unwrap_err();
    // Behind a proxy that resolves names, the proxy reports the error.
    if let Some(trouble) = trouble(&error) {
        assert_eq!((trouble, error.applied()), (NetworkError::Name, Applied::No));
        assert!(error.to_string().contains("does-not-exist.invalid"), "{error}");
    }
}

#[tokio::test]
async fn a_write_with_a_lost_response_may_be_applied() {
    for answer in ["", CUT_HEAD] {
        let base = raw(vec![answer]).await;
        let error = client(settings(&base)).send(&post()).await.unwrap_err();
        assert_eq!(
            (trouble(&error), error.applied()),
            (Some(NetworkError::Lost), Applied::Unknown),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_read_with_a_lost_response_is_retried() {
    let base = raw(vec!["", CUT_HEAD, CUT_SHORT, OK]).await;
    let reply = client(settings(&base)).send(&get(PATH)).await.unwrap();
    assert_eq!(reply.content, Content::Json(json!([])));
}

#[tokio::test]
async fn a_change_with_a_success_status_and_a_lost_body_is_a_success() {
    let base = raw(vec![CUT_SHORT]).await;
    let reply = client(settings(&base)).send(&post()).await.unwrap();
    assert_eq!((reply.status, reply.content), (200, Content::Unread(Unread::Lost)));
    let graphql = permit(Risk::Write, Method::Post, "/api/graphql", &[], Body::Json(json!({})));
    let error = client(settings(&base)).send(&graphql).await.unwrap_err();
    assert_eq!((trouble(&error), error.applied()), (Some(NetworkError::Lost), Applied::Unknown));
}

#[tokio::test]
async fn a_timed_out_write_has_an_unknown_outcome_and_is_not_retried() {
    let server = always(ResponseTemplate::new(201).set_delay(Duration::from_secs(60))).await;
    let client = client(ClientSettings { timeout: Duration::from_millis(100), ..settings(&server.uri()) });
    let error = client.send(&post()).await.unwrap_err();
    assert!(matches!(error, GitlabError::Timeout { .. }), "{error:?}");
    assert_eq!(error.applied(), Applied::Unknown);
    let error = client.send(&get(PATH)).await.unwrap_err();
    assert!(matches!(error, GitlabError::Timeout { .. }), "{error:?}");
    assert_eq!(error.applied(), Applied::No);
}

#[tokio::test]
async fn errors_hold_neither_the_token_nor_the_query() {
    let query = [("token", "a-secret-in-the-query")];
    let call = permit(Risk::Write, Method::Post, PATH, &query, Body::Empty);
    let slow = always(ResponseTemplate::new(201).set_delay(Duration::from_secs(60))).await;
    let refusing = always(ResponseTemplate::new(500)).await;
    let moving = always(ResponseTemplate::new(302).insert_header("location", "/?token=a-secret")).await;
    let bases = [nowhere().await, raw(vec![""]).await, slow.uri(), refusing.uri(), moving.uri()];
    for base in bases {
        let settings = ClientSettings { timeout: Duration::from_millis(500), ..settings(&base) };
        let text = print_chain(&client(settings).send(&call).await.unwrap_err());
        assert!(!text.contains(TOKEN) && !text.contains("a-secret"), "{text}");
    }
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let client = client(settings(&base));
    let call = post();
    let mut sending = Box::pin(client.send(&call));
    let mut stream = tokio::select! {
        _ = &mut sending => panic!("nothing answers"),
        accepted = listener.accept() => accepted.unwrap().0,
    };
    tokio::select! {
        _ = &mut sending => panic!("nothing answers"),
        () = read_request(&mut stream) => {}
    }
    drop(sending);
    let end = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut [0; 1])).await;
    assert!(matches!(end, Ok(Ok(0) | Err(_))), "{end:?}");
}
