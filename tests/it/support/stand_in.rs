//! A GitLab that answers what a test wants, and the program in front of it.

use serde_json::{Value, json};
use wiremock::matchers::{method, path_regex};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::client::{Client, LATEST_HANDSHAKE};
use crate::support::fixtures::PROJECT;

/// A GitLab and the runtime that it answers on.
pub struct StandIn {
    server: MockServer,
    runtime: tokio::runtime::Runtime,
}

impl StandIn {
    /// Without any answer: everything is a 404.
    pub fn empty() -> StandIn {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let server = runtime.block_on(MockServer::start());
        StandIn { server, runtime }
    }

    pub fn start() -> StandIn {
        let gitlab = StandIn::empty();
        // What tells the project from a group.
        gitlab.json("/projects/[^/]*", &json!({"id": 27_418_650, "path_with_namespace": PROJECT}));
        gitlab
    }

    /// Answers so where the path ends like this.
    pub fn answer(&self, verb: &str, path: &str, template: ResponseTemplate) {
        let place = path_regex(format!("{path}$"));
        let mock = Mock::given(method(verb)).and(place).respond_with(template);
        self.runtime.block_on(mock.mount(&self.server));
    }

    /// Answers so the first time, before any other answer.
    pub fn answer_once(&self, verb: &str, path: &str, template: ResponseTemplate) {
        let place = path_regex(format!("{path}$"));
        let mock =
            Mock::given(method(verb)).and(place).respond_with(template).up_to_n_times(1).with_priority(1);
        self.runtime.block_on(mock.mount(&self.server));
    }

    pub fn json(&self, path: &str, body: &Value) {
        self.answer("GET", path, ResponseTemplate::new(200).set_body_json(body));
    }

    pub fn body(&self, path: &str, content_type: &str, body: &[u8]) {
        self.answer("GET", path, ResponseTemplate::new(200).set_body_raw(body, content_type));
    }

    /// The bodies of the requests that came.
    pub fn received(&self) -> Vec<wiremock::Request> {
        self.runtime.block_on(self.server.received_requests()).unwrap()
    }

    /// The program that works on it, past its handshake.
    pub fn client(&self, variables: &[(&str, &str)]) -> Client {
        let url = self.server.uri();
        let own = [("GITLAB_URL", url.as_str()), ("GITLAB_TOKEN", "glpat-stand-in")];
        let mut client = Client::start(&[], &[&own, variables].concat());
        client.initialize(LATEST_HANDSHAKE);
        client
    }
}
