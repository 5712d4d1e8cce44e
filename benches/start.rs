//! From the program's start to its first answer, in both eras of MCP, and what it keeps in memory after a hundred
//! different finds. Each answer is asserted before its time counts. Memory is read from `/proc` and so on Linux alone.
//!
//! `cargo bench --bench start`, or with `GITLAB_MCP_BIN=…` before it for a copy of another build (`cargo bench` puts
//! its own in the place of the release).

// A bench that is wrong may stop where it is wrong.
#![allow(clippy::indexing_slicing)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const STARTS: usize = 100;
const FINDS: usize = 100;

/// Requests of every kind, so that each find wants other actions.
const REQUESTS: &str = include_str!("../tests/eval/dev.jsonl");

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A running server.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Outcome<Server> {
        let binary = std::env::var("GITLAB_MCP_BIN").unwrap_or(env!("CARGO_BIN_EXE_gitlab-mcp").to_owned());
        let mut child =
            Command::new(binary).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take().ok_or("no standard input")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        Ok(Server { child, stdin, stdout })
    }

    fn ask(&mut self, message: &Value) -> Outcome<Value> {
        writeln!(self.stdin, "{message}")?;
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    fn end(mut self) -> Outcome<()> {
        drop(self.stdin);
        self.child.wait()?;
        Ok(())
    }

    /// The resident set in KiB.
    fn resident(&self) -> Outcome<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS")).ok_or("no VmRSS")?;
        Ok(line.split_whitespace().nth(1).ok_or("no figure")?.parse()?)
    }
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}})
}

fn discover() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}}})
}

fn find(id: usize, query: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
           "params": {"name": "gitlab_find_action", "arguments": {"query": query}}})
}

fn first_answer(message: &Value) -> Outcome<Duration> {
    let start = Instant::now();
    let mut server = Server::start()?;
    let answer = server.ask(message)?;
    let took = start.elapsed();
    assert!(answer["result"].is_object(), "{answer}");
    server.end()?;
    Ok(took)
}

fn memory() -> Outcome<(u64, u64)> {
    let mut server = Server::start()?;
    server.ask(&initialize())?;
    writeln!(server.stdin, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#)?;
    let before = server.resident()?;
    for (id, case) in REQUESTS.lines().enumerate().take(FINDS) {
        let case: Value = serde_json::from_str(case)?;
        let query = case["request"].as_str().ok_or("a case has no request")?;
        let answer = server.ask(&find(id + 1, query))?;
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
    }
    let after = server.resident()?;
    server.end()?;
    Ok((before, after))
}

#[allow(clippy::print_stdout)]
fn main() -> Outcome<()> {
    for (name, message) in [("initialize", initialize()), ("server/discover", discover())] {
        let mut times = (0..STARTS).map(|_| first_answer(&message)).collect::<Outcome<Vec<_>>>()?;
        times.sort_unstable();
        println!(
            "start to {name:<16} p50 {:>9.1?}  p99 {:>9.1?}",
            times[STARTS / 2],
            times[STARTS * 99 / 100]
        );
    }
    let (before, after) = memory()?;
    println!("resident after the handshake {before} KiB, after {FINDS} finds {after} KiB");
    Ok(())
}
