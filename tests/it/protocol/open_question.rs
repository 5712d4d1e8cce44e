//! A question that the client does not answer: the call ends by itself. In paused time, which passes as soon as everybody
//! waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gitlab_mcp::server::{Backend, serve_on};
use gitlab_mcp::tools::{
    Answer, ErrorKind, ExecuteRequest, FindRequest, NextCall, Question, Route, ToolError,
};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::time::Instant;

/// Asks about every call without consent, and counts those that run.
#[derive(Default)]
struct Asking {
    done: AtomicUsize,
}

impl Backend for Asking {
    fn find(&self, _: &FindRequest, _: Option<&Route>) -> Result<Answer, ToolError> {
        Ok(Answer::new(Map::new(), String::new()))
    }

    async fn execute(&self, request: &ExecuteRequest) -> Result<Answer, ToolError> {
        if request.confirm == Some(true) {
            self.done.fetch_add(1, Ordering::SeqCst);
            return Ok(Answer::new(Map::new(), "done".to_owned()));
        }
        let agreed = ExecuteRequest { confirm: Some(true), ..request.clone() };
        let mut error = ToolError::new(ErrorKind::NeedsConfirmation, "it needs confirmation");
        error = error.fix(NextCall::whole(&agreed));
        let question = Question { calls: Vec::new(), why: "to test".to_owned(), plan: None, instance: None };
        error.question = Some(Box::new(question));
        Err(error)
    }
}

struct Session {
    tools: Arc<Asking>,
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
}

impl Session {
    async fn open() -> Session {
        let tools = Arc::new(Asking::default());
        let (input, reader) = tokio::io::duplex(1 << 20);
        let (writer, output) = tokio::io::duplex(1 << 20);
        tokio::spawn(serve_on(tools.clone(), reader, writer));
        let mut session = Session { tools, input, output: BufReader::new(output).lines() };
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": client});
        session.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
        session.receive().await;
        session
    }

    async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// The next message. Without a limit of its own, which would let the paused time pass.
    async fn receive(&mut self) -> Value {
        serde_json::from_str(&self.output.next_line().await.unwrap().unwrap()).unwrap()
    }

    /// Calls a tool with the model's consent, and returns the question.
    async fn call(&mut self, meta: Value) -> Value {
        let arguments = json!({"action": "issue.delete", "confirm": true});
        let params = json!({"name": "gitlab_execute_action", "arguments": arguments, "_meta": meta});
        self.send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
        loop {
            let message = self.receive().await;
            if message["method"] == "elicitation/create" {
                return message;
            }
            assert_eq!(message["method"], "notifications/progress", "{message}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_ends_before_clients_give_up() {
    let mut session = Session::open().await;
    let started = Instant::now();
    let question = session.call(json!({"progressToken": "p"})).await;
    let mut progress = Vec::new();
    let mut withdrawn = false;
    let answer = loop {
        let message = session.receive().await;
        match message["method"].as_str() {
            Some("notifications/progress") => {
                assert_eq!(message["params"]["progressToken"], "p");
                progress.push(message["params"]["progress"].as_f64().unwrap());
                assert!(
                    message["params"]["message"].as_str().unwrap().contains("the user's answer"),
                    "{message}"
                );
            }
            Some("notifications/cancelled") => withdrawn = message["params"]["requestId"] == question["id"],
            _ => break message,
        }
    };
    let elapsed = started.elapsed();
    assert!(elapsed >= Duration::from_secs(30) && elapsed < Duration::from_secs(60), "{elapsed:?}");
    assert!(progress.len() >= 5 && progress.is_sorted(), "{progress:?}");
    assert!(withdrawn, "the client is told that the question is over");
    let error = &answer["result"]["structuredContent"]["error"];
    assert_eq!((&answer["id"], &error["kind"]), (&json!(1), &json!("needs_confirmation")), "{answer}");
    assert!(error["hint"].as_str().unwrap().contains("GITLAB_CONFIRM_BY=model"), "{error}");
    assert_eq!(error["fix"]["arguments"], json!({"action": "issue.delete", "params": {}}), "{error}");
    // A late yes does nothing.
    let yes = json!({"action": "accept", "content": {"confirm": true}});
    session.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": yes})).await;
    session.send(json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).await;
    assert_eq!(session.receive().await["id"], 2);
    assert_eq!(session.tools.done.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_runs_the_call() {
    let mut session = Session::open().await;
    let question = session.call(json!({})).await;
    tokio::time::sleep(Duration::from_secs(40)).await;
    let yes = json!({"action": "accept", "content": {"confirm": true}});
    session.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": yes})).await;
    let answer = session.receive().await;
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(false)), "{answer}");
    assert_eq!(session.tools.done.load(Ordering::SeqCst), 1);
}

/// A client that declares elicitation and cannot ask after all gets the error at once.
#[tokio::test]
async fn a_client_that_refuses_to_ask_gets_the_error() {
    let mut session = Session::open().await;
    let question = session.call(json!({})).await;
    let error = json!({"code": -32601, "message": "Method not found"});
    session.send(json!({"jsonrpc": "2.0", "id": question["id"], "error": error})).await;
    let answer = session.receive().await;
    assert_eq!(answer["result"]["structuredContent"]["error"]["kind"], "needs_confirmation", "{answer}");
    assert_eq!(session.tools.done.load(Ordering::SeqCst), 0);
}
