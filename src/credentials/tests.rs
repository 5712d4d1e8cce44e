//! Tests of the renewal of a sign-in.

use std::time::Duration;

use serde_json::json;
use url::Url;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::renewed::{Origin, RenewedToken};
use super::sign_in_renewal::SignedIn;
use super::{KeptSignIn, LoginFile, SignIn};
use crate::gitlab::{self, HttpClients, Secret, Token, TokenSource};

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

/// A GitLab that accepts a refresh token once, and takes its time.
async fn slow_gitlab() -> MockServer {
    let server = MockServer::start().await;
    let granted = json!({"access_token": "new-access", "refresh_token": "new-refresh", "expires_in": 7200});
    let slow = ResponseTemplate::new(200).set_body_json(granted).set_delay(Duration::from_millis(200));
    Mock::given(any()).respond_with(slow).up_to_n_times(1).mount(&server).await;
    let used = ResponseTemplate::new(400).set_body_json(json!({"error": "invalid_grant"}));
    Mock::given(any()).respond_with(used).mount(&server).await;
    server
}

async fn is_asked(server: &MockServer) {
    while server.received_requests().await.unwrap_or_default().is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A sign-in whose access token has expired.
async fn expired_sign_in(file: &LoginFile, base: &Url) -> SignedIn {
    let expired = KeptSignIn {
        client_id: "my-app".to_owned(),
        access_token: secret("old-access"),
        refresh_token: Some(secret("old-refresh")),
        expires_at: Some(std::time::SystemTime::UNIX_EPOCH),
        scope: None,
    };
    file.lock().await.unwrap().keep(base, &SignIn::Kept(expired)).unwrap();
    SignedIn {
        file: Some(file.clone()),
        helpers: Vec::new(),
        base: base.clone(),
        clients: HttpClients::new(&gitlab::ClientSettings::new(base.clone())),
        time_limit: Duration::from_secs(10),
    }
}

#[tokio::test]
async fn a_renewal_goes_on_when_its_call_is_dropped() {
    let (server, folder) = (slow_gitlab().await, tempfile::tempdir().unwrap());
    let base = Url::parse(&server.uri()).unwrap();
    let file = LoginFile::new(folder.path().join("sign-ins.json"));
    let login = expired_sign_in(&file, &base).await;
    let source = RenewedToken::new(Origin::Login(Box::new(login)), None, false);
    tokio::select! {
        _ = source.current() => panic!("GitLab has not answered yet"),
        () = is_asked(&server) => {}
    }
    let issued = source.current().await.unwrap().unwrap();
    assert!(issued.token.is_same(&Token::OAuth(secret("new-access"))));
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
    let Some(SignIn::Kept(kept)) = file.find(&base).unwrap() else { panic!("the sign-in is kept") };
    assert_eq!(kept.refresh_token.unwrap().reveal(), "new-refresh");
}

/// A server need not issue a new refresh token (RFC 6749, 6): the old one stays good.
#[tokio::test]
async fn a_sign_in_that_keeps_its_refresh_token_is_renewed_again_and_again() {
    let (server, folder) = (MockServer::start().await, tempfile::tempdir().unwrap());
    let granted = json!({"access_token": "new-access", "expires_in": 1});
    let renewed = ResponseTemplate::new(200).set_body_json(granted);
    Mock::given(any()).respond_with(renewed).mount(&server).await;
    let base = Url::parse(&server.uri()).unwrap();
    let file = LoginFile::new(folder.path().join("sign-ins.json"));
    let login = expired_sign_in(&file, &base).await;
    for requests in 1..=2 {
        assert!(login.issue(None).await.unwrap().is_some());
        assert_eq!(server.received_requests().await.unwrap().len(), requests);
    }
    let Some(SignIn::Kept(kept)) = file.find(&base).unwrap() else { panic!("the sign-in is kept") };
    assert_eq!(kept.refresh_token.unwrap().reveal(), "old-refresh");
}
