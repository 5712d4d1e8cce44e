//! The embedded sandbox.

pub mod access;
pub mod against_graphql_schema;
pub mod against_openapi;
pub mod behavior;
pub mod ci;
pub mod code;
pub mod effects;
pub mod graphql;
pub mod groups_and_projects;
pub mod parameters;
pub mod planning;
pub mod refusals;
pub mod versions;

use std::sync::Once;

use gitlab_mcp::documentation::start_sandbox;
use gitlab_mcp_sandbox::{Sandbox, TOKEN};
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;

const WIDGET: &str = "/projects/acme%2Fwidget";

/// A sandbox and a client of it.
struct World {
    sandbox: Sandbox,
    http: reqwest::Client,
}

impl World {
    async fn new() -> World {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        World { sandbox: start_sandbox(None, None).await.unwrap(), http }
    }
}

/// A response.
struct Got {
    status: u16,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Got {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or(Value::Null)
    }
    fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
    /// The members of a list that are called `name`.
    fn each(&self, name: &str) -> Vec<Value> {
        self.json().as_array().unwrap_or(&Vec::new()).iter().map(|row| row[name].clone()).collect()
    }
}

impl World {
    async fn send(&self, method: &str, path: &str, token: &str, body: Option<Value>) -> Got {
        let url = format!("{}/api/v4{path}", self.sandbox.url());
        let mut request = self.http.request(method.parse::<Method>().unwrap(), url);
        if !token.is_empty() {
            request = request.header("PRIVATE-TOKEN", token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        Self::finish(request).await
    }

    async fn finish(request: reqwest::RequestBuilder) -> Got {
        let reply = request.send().await.unwrap();
        let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
        Got { status, headers, bytes: reply.bytes().await.unwrap().to_vec() }
    }

    /// A `GET` that must succeed.
    async fn get(&self, path: &str) -> Got {
        let got = self.send("GET", path, TOKEN, None).await;
        assert_eq!(got.status, 200, "GET {path}: {}", String::from_utf8_lossy(&got.bytes));
        got
    }

    /// A request with a body, and the status it must have.
    async fn expect(&self, status: u16, method: &str, path: &str, body: Value) -> Value {
        let body = if body.is_null() { None } else { Some(body) };
        let got = self.send(method, path, TOKEN, body).await;
        assert_eq!(got.status, status, "{method} {path}: {}", String::from_utf8_lossy(&got.bytes));
        got.json()
    }

    /// Status, headers and body of a request.
    async fn ask(&self, method: &str, path: &str, token: &str, body: Value) -> (u16, HeaderMap, Value) {
        let got = self.send(method, path, token, Some(body).filter(|body| !body.is_null())).await;
        let body = got.json();
        (got.status, got.headers, body)
    }

    /// The body of a request of `sandbox` that must succeed.
    async fn done(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, _, answer) = self.ask(method, path, TOKEN, body).await;
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    async fn read(&self, path: &str) -> Value {
        self.done("GET", path, Value::Null).await
    }

    /// The members of a list that are called `name`.
    async fn column(&self, path: &str, name: &str) -> Vec<Value> {
        self.read(path).await.as_array().unwrap().iter().map(|row| row[name].clone()).collect()
    }
}
