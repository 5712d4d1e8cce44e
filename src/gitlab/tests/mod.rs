//! Tests of the client against a mock server.

mod answers;
mod errors;
mod headers;
mod redirects;
mod renewal;
mod retries;
mod tls;
mod transport;

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use url::Url;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::{Client, ClientSettings, GitlabError, Reply, Secret, Token};
use crate::call::{Body, Call};
use crate::catalog::{Method, Risk};
use crate::policy::Permit;

const TOKEN: &str = "glpat-never-to-be-seen";
const PATH: &str = "/api/v4/projects/acme%2Fwidget/issues";

/// Settings with a token and short timeouts.
fn settings(base: &str) -> ClientSettings {
    let mut settings = ClientSettings::new(Url::parse(base).unwrap());
    settings.credential = Some(Token::guess(Secret::new(TOKEN.to_owned())).into());
    settings.timeout = Duration::from_secs(20);
    settings
}

fn client(settings: ClientSettings) -> Client {
    Client::new(settings).with_pace(Duration::from_millis(1))
}

fn permit(risk: Risk, method: Method, path: &str, query: &[(&str, &str)], body: Body) -> Permit {
    Permit::for_test(Call::for_test(risk, method, path, query, body))
}

fn get(path: &str) -> Permit {
    permit(Risk::Read, Method::Get, path, &[], Body::Empty)
}

fn post() -> Permit {
    permit(Risk::Write, Method::Post, PATH, &[], Body::Json(json!({"title": "A title"})))
}

/// Sends one call to a server that always gives the same response.
async fn answered(call: &Permit, template: ResponseTemplate) -> Result<Reply, GitlabError> {
    let server = always(template).await;
    client(settings(&server.uri())).send(call).await
}

async fn always(template: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(template).mount(&server).await;
    server
}

/// Starts a server that gives its responses in turn, repeating the last.
async fn in_turn(templates: Vec<ResponseTemplate>) -> MockServer {
    let server = MockServer::start().await;
    let last = templates.len().saturating_sub(1);
    for (at, template) in templates.into_iter().enumerate() {
        let mock = Mock::given(any()).respond_with(template);
        let mock = if at < last { mock.up_to_n_times(1) } else { mock };
        mock.mount(&server).await;
    }
    server
}

async fn requests(server: &MockServer) -> Vec<Request> {
    server.received_requests().await.unwrap()
}

/// Starts a raw TCP server: reads one request of each connection, writes one of the responses in turn (repeating the
/// last), and closes the connection.
async fn raw(answers: Vec<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut turn = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            read_request(&mut stream).await;
            stream.write_all(answers[turn.min(answers.len() - 1)].as_bytes()).await.unwrap();
            turn += 1;
        }
    });
    base
}

/// Reads a request with its body, by its `Content-Length`.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) {
    let mut seen = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&seen).to_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return;
            }
        }
        match stream.read(&mut chunk).await {
            Ok(read) if read > 0 => seen.extend_from_slice(&chunk[..read]),
            _ => return,
        }
    }
}

/// The message of an error with all its causes.
fn print_chain(error: &GitlabError) -> String {
    let mut text = format!("{error} {error:?} {error:#?}");
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text.push_str(&format!(" {next} {next:?}"));
        cause = next.source();
    }
    text
}
