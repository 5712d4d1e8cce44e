//! The server over stand-ins for the tools that panic, hang and count.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gitlab_mcp::server::{Backend, ServerError, serve_on};
use gitlab_mcp::tools::{Answer, ExecuteRequest, FindRequest, Route, ToolError};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::support::client::HANG_GUARD;

/// Calls that run now, the most there were, and those that were dropped before they answered.
#[derive(Default)]
struct StandIn {
    running: AtomicUsize,
    most: AtomicUsize,
    dropped: AtomicUsize,
    gate: Gate,
}

/// Closed until permits are added.
struct Gate(Semaphore);

impl Default for Gate {
    fn default() -> Gate {
        Gate(Semaphore::new(0))
    }
}

/// Counts a call until it is over.
struct Running<'a>(&'a StandIn, bool);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.dropped.fetch_add(usize::from(!self.1), Ordering::SeqCst);
    }
}

impl Backend for StandIn {
    fn find(&self, request: &FindRequest, _: Option<&Route>) -> Result<Answer, ToolError> {
        assert_ne!(request.query, "panic", "as asked");
        Ok(answer())
    }

    async fn execute(&self, request: &ExecuteRequest) -> Result<Answer, ToolError> {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        let mut guard = Running(self, false);
        match request.action.as_str() {
            "panic" => panic!("as asked"),
            "hang" => std::future::pending::<()>().await,
            "wait" => drop(self.gate.0.acquire().await.unwrap()),
            _ => tokio::task::yield_now().await,
        }
        guard.1 = true;
        Ok(answer())
    }
}

fn answer() -> Answer {
    Answer::new(Map::from_iter([("data".to_owned(), json!("fine"))]), "fine".to_owned())
}

/// A session in memory with a server over a stand-in.
struct Session {
    tools: Arc<StandIn>,
    server: JoinHandle<Result<(), ServerError>>,
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
}

impl Session {
    async fn open() -> Session {
        let tools = Arc::new(StandIn::default());
        let (input, reader) = tokio::io::duplex(1 << 20);
        let (writer, output) = tokio::io::duplex(1 << 20);
        let server = tokio::spawn(serve_on(tools.clone(), reader, writer));
        let output = BufReader::new(output).lines();
        let mut session = Session { tools, server, input, output };
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        session.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
        assert_eq!(session.receive().await["id"], 0);
        session
    }

    async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn call(&mut self, id: u64, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).await;
    }

    async fn execute(&mut self, id: u64, action: &str) {
        self.call(id, "gitlab_execute_action", json!({"action": action})).await;
    }

    async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(HANG_GUARD, self.output.next_line()).await.unwrap().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn until(&self, done: impl Fn(&StandIn) -> bool) {
        let start = Instant::now();
        while !done(&self.tools) {
            assert!(start.elapsed() < HANG_GUARD);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

#[tokio::test]
async fn a_panic_is_answered_and_outlived() {
    let mut session = Session::open().await;
    let calls = [
        ("gitlab_find_action", json!({"query": "panic"})),
        ("gitlab_execute_action", json!({"action": "panic"})),
    ];
    for (id, (tool, arguments)) in (1..).zip(calls) {
        session.call(id, tool, arguments).await;
        let answer = session.receive().await;
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"]["isError"], true);
        assert_eq!(answer["result"]["structuredContent"]["error"]["kind"], "internal");
        assert!(!answer.to_string().contains("as asked"), "what panicked is not for the client");
    }
    session.execute(3, "go").await;
    assert_eq!(session.receive().await["result"]["content"][0]["text"], "fine");
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_not_answered() {
    let mut session = Session::open().await;
    session.execute(1, "hang").await;
    session.until(|tools| tools.running.load(Ordering::SeqCst) == 1).await;
    let params = json!({"requestId": 1, "reason": "never mind"});
    session.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
    session.until(|tools| tools.dropped.load(Ordering::SeqCst) == 1).await;
    session.execute(2, "go").await;
    assert_eq!(session.receive().await["id"], 2, "the cancelled call has no answer");
}

#[tokio::test]
async fn calls_in_flight_are_bounded_and_all_answered() {
    let mut session = Session::open().await;
    for id in 1..=200 {
        session.execute(id, "wait").await;
    }
    session.until(|tools| tools.running.load(Ordering::SeqCst) == 64).await;
    session.tools.gate.0.add_permits(64);
    let mut answered = Vec::new();
    for _ in 0..200 {
        answered.push(session.receive().await["id"].as_u64().unwrap());
    }
    answered.sort();
    assert_eq!(answered, (1..=200).collect::<Vec<u64>>());
    assert_eq!(session.tools.most.load(Ordering::SeqCst), 64);
}

#[tokio::test]
async fn a_find_does_not_wait_behind_executions() {
    let mut session = Session::open().await;
    for id in 1..=100 {
        session.execute(id, "hang").await;
    }
    session.until(|tools| tools.running.load(Ordering::SeqCst) == 64).await;
    session.call(101, "gitlab_find_action", json!({"query": "x"})).await;
    assert_eq!(session.receive().await["id"], 101);
}

#[tokio::test]
async fn a_call_that_hangs_does_not_hold_up_the_end() {
    let mut session = Session::open().await;
    session.execute(1, "hang").await;
    session.until(|tools| tools.running.load(Ordering::SeqCst) == 1).await;
    drop(session.input);
    tokio::time::timeout(HANG_GUARD, session.server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_call_that_runs_at_the_end_is_answered() {
    let mut session = Session::open().await;
    session.execute(1, "go").await;
    session.input.shutdown().await.unwrap();
    assert_eq!(session.receive().await["result"]["content"][0]["text"], "fine");
    session.server.await.unwrap().unwrap();
}
