//! Renewal of a rejected token: once, for GitLab's own 401 only, with the advice of the source in the error.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::{self, BoxFuture};

use super::super::{Credential, CredentialError, IssuedToken, TokenSource};
use super::*;

/// A source with these tokens in turn; none for a failure.
#[derive(Debug)]
struct Source {
    tokens: Vec<Option<&'static str>>,
    at: Mutex<usize>,
    renewals: AtomicUsize,
}

impl Source {
    fn new(tokens: &[Option<&'static str>]) -> Arc<Source> {
        Arc::new(Source { tokens: tokens.to_vec(), at: Mutex::new(0), renewals: AtomicUsize::new(0) })
    }

    fn token(&self) -> Result<Option<IssuedToken>, CredentialError> {
        let at = *self.at.lock().unwrap();
        match self.tokens.get(at).copied().unwrap_or(self.tokens[self.tokens.len() - 1]) {
            Some(token) => {
                Ok(Some(IssuedToken { token: Token::guess(Secret::new(token.to_owned())), expires_at: None }))
            }
            None => {
                Err(CredentialError { what: "the vault is closed".to_owned(), hint: "Open it.".to_owned() })
            }
        }
    }
}

impl TokenSource for Source {
    fn current(&self) -> BoxFuture<'_, Result<Option<IssuedToken>, CredentialError>> {
        Box::pin(future::ready(self.token()))
    }

    fn renew<'a>(&'a self, _: &'a Token) -> BoxFuture<'a, Result<Option<IssuedToken>, CredentialError>> {
        self.renewals.fetch_add(1, Ordering::Relaxed);
        *self.at.lock().unwrap() += 1;
        Box::pin(future::ready(self.token()))
    }

    fn remedy(&self) -> String {
        "Ask for another.".to_owned()
    }

    fn is_missing(&self) -> bool {
        false
    }
}

fn renewing(server: &MockServer, source: &Arc<Source>) -> Client {
    let source: Arc<dyn TokenSource> = Arc::clone(source) as _;
    client(ClientSettings { credential: Some(Credential::Renewed(source)), ..settings(&server.uri()) })
}

fn tokens(requests: &[Request]) -> Vec<&str> {
    requests.iter().map(|request| request.headers.get("private-token").unwrap().to_str().unwrap()).collect()
}

fn rejected() -> ResponseTemplate {
    ResponseTemplate::new(401).set_body_json(json!({"message": "401 Unauthorized"}))
}

fn remedy(error: GitlabError) -> String {
    match error {
        GitlabError::Unauthorized { remedy: Some(remedy), .. } => remedy,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_rejected_request_is_sent_once_more_with_another_token() {
    for call in [get(PATH), post()] {
        let server = in_turn(vec![rejected(), ResponseTemplate::new(204)]).await;
        let source = Source::new(&[Some("glpat-first"), Some("glpat-second")]);
        let client = renewing(&server, &source);
        client.send(&call).await.unwrap();
        let requests = requests(&server).await;
        assert_eq!(tokens(&requests), ["glpat-first", "glpat-second"]);
        assert_eq!(requests[0].body, requests[1].body);
        assert_eq!(client.secrets().redact("glpat-first glpat-second"), "[redacted] [redacted]");
    }
}

#[tokio::test]
async fn a_second_rejection_is_final() {
    let server = always(rejected()).await;
    let source = Source::new(&[Some("glpat-first"), Some("glpat-second"), Some("glpat-third")]);
    let error = renewing(&server, &source).send(&post()).await.unwrap_err();
    assert_eq!(remedy(error), "Ask for another.");
    assert_eq!(requests(&server).await.len(), 2);
    assert_eq!(source.renewals.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn the_same_token_or_a_failure_sends_nothing_more() {
    for (next, advice) in [
        (Some("glpat-first"), "Ask for another."),
        (None, "The token could not be renewed: the vault is closed. Open it."),
    ] {
        let server = always(rejected()).await;
        let source = Source::new(&[Some("glpat-first"), next]);
        let error = renewing(&server, &source).send(&get(PATH)).await.unwrap_err();
        assert_eq!(remedy(error), advice);
        assert_eq!(requests(&server).await.len(), 1);
    }
}

#[tokio::test]
async fn without_a_token_nothing_is_sent() {
    let server = always(ResponseTemplate::new(204)).await;
    let error = renewing(&server, &Source::new(&[None])).send(&post()).await.unwrap_err();
    assert!(matches!(error, GitlabError::Credential(_)), "{error:?}");
    assert_eq!(error.applied(), super::super::Applied::No);
    assert!(requests(&server).await.is_empty());
}

#[tokio::test]
async fn a_401_of_another_host_says_nothing_of_the_token() {
    let storage = always(rejected()).await;
    let elsewhere = storage.uri().replace("127.0.0.1", "localhost");
    let moved = ResponseTemplate::new(302).insert_header("location", format!("{elsewhere}/file").as_str());
    let server = always(moved).await;
    let source = Source::new(&[Some("glpat-first"), Some("glpat-second")]);
    let error = renewing(&server, &source).send(&get(PATH)).await.unwrap_err();
    assert!(matches!(error, GitlabError::Unauthorized { remedy: None, .. }), "{error:?}");
    assert_eq!(source.renewals.load(Ordering::Relaxed), 0);
    assert_eq!(requests(&storage).await.len(), 1);
}
