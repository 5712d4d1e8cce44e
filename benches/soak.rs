//! Fifty thousand calls of every kind over stdio against the sandbox, 32 at a time: every one is answered, no error
//! comes that was not asked for, and memory stays where it was. Memory is read from `/proc` and so on Linux alone.
//!
//! `GITLAB_MCP_BIN=target/measured cargo bench --bench soak`, of a copy of the release; `GITLAB_MCP_SOAK=1000` for fewer.

// A bench that is wrong may stop where it is wrong.
#![allow(clippy::indexing_slicing, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const CALLS: usize = 50_000;
const IN_FLIGHT: usize = 32;
/// How much more memory the last fifth may take than the second. What grows with every call grows far beyond it.
const GROWTH: f64 = 1.15;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A kind of call: what it asks, and the kind of error it is to have, where it is to have one.
type Kind = (&'static str, fn(usize) -> Value, Option<&'static str>);

const KINDS: [Kind; 12] = [
    (
        "find",
        |n| find(["list open issues", "who approved this", "retry a job", "delete a branch"][n % 4]),
        None,
    ),
    ("find nonsense", |_| find("boil three eggs"), None),
    ("list", |_| run("issue.list", json!({"fullPath": "acme/widget", "per_page": 20})), None),
    ("get", |n| run("issue.get", json!({"fullPath": "acme/widget", "iid": n % 40 + 1})), None),
    (
        "get by reference",
        |n| run("issue.get", json!({"target": format!("acme/widget#{}", n % 40 + 1)})),
        None,
    ),
    (
        "update",
        |n| {
            run(
                "issue.update",
                json!({"fullPath": "acme/widget", "iid": n % 40 + 1, "description": format!("Seen {n} times")}),
            )
        },
        None,
    ),
    ("file", |_| run("file.get_raw", json!({"fullPath": "acme/widget", "file_path": "README.md"})), None),
    ("graphql", |_| run("api.graphql", json!({"document": "{ currentUser { username } }"})), None),
    (
        "dry run",
        |_| json!({"action": "issue.create", "params": {"fullPath": "acme/widget", "title": "x"}, "dry_run": true}),
        None,
    ),
    (
        "unconfirmed",
        |_| run("issue.delete", json!({"fullPath": "acme/widget", "iid": 3})),
        Some("needs_confirmation"),
    ),
    (
        "unknown parameter",
        |_| run("issue.list", json!({"fullPath": "acme/widget", "stat": "opened"})),
        Some("invalid_params"),
    ),
    ("not there", |_| run("issue.get", json!({"fullPath": "acme/widget", "iid": 4711})), Some("not_found")),
];

fn find(query: &str) -> Value {
    json!({"query": query})
}

fn run(action: &str, params: Value) -> Value {
    json!({"action": action, "params": params})
}

/// A running server and what is still to be answered.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    open: BTreeMap<u64, Instant>,
}

impl Server {
    fn start() -> Outcome<Server> {
        let binary = std::env::var("GITLAB_MCP_BIN").unwrap_or(env!("CARGO_BIN_EXE_gitlab-mcp").to_owned());
        let mut command = Command::new(binary);
        command
            .arg("--sandbox")
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn()?;
        let stdin = child.stdin.take().ok_or("no standard input")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        let mut server = Server { child, stdin, stdout, open: BTreeMap::new() };
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}});
        writeln!(server.stdin, "{hello}")?;
        server.line()?;
        Ok(server)
    }

    fn send(&mut self, number: usize) -> Outcome<()> {
        let arguments = KINDS[number % KINDS.len()].1(number / KINDS.len());
        let tool =
            if arguments.get("query").is_some() { "gitlab_find_action" } else { "gitlab_execute_action" };
        let id = u64::try_from(number)? + 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}});
        self.open.insert(id, Instant::now());
        Ok(writeln!(self.stdin, "{message}")?)
    }

    /// The next answer, which is to be what its call is for; how long it took.
    fn receive(&mut self) -> Outcome<Duration> {
        let answer = self.line()?;
        let id = answer["id"].as_u64().ok_or("an answer without an id")?;
        let sent = self.open.remove(&id).ok_or("an answer to nothing")?;
        let (name, _, error) = KINDS[usize::try_from(id - 1)? % KINDS.len()];
        let kind = answer["result"]["structuredContent"]["error"]["kind"].as_str();
        assert!(answer["result"].is_object() && kind == error, "{name}: {answer}");
        Ok(sent.elapsed())
    }

    fn line(&mut self) -> Outcome<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    /// The resident set in KiB.
    fn resident(&self) -> Outcome<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS")).ok_or("no VmRSS")?;
        Ok(line.split_whitespace().nth(1).ok_or("no figure")?.parse()?)
    }
}

fn main() -> Outcome<()> {
    let calls = std::env::var("GITLAB_MCP_SOAK").ok().and_then(|calls| calls.parse().ok()).unwrap_or(CALLS);
    let mut server = Server::start()?;
    let start = Instant::now();
    let mut took = Vec::with_capacity(calls);
    let mut resident = Vec::new();
    let mut sent = 0;
    while took.len() < calls {
        while sent < calls && server.open.len() < IN_FLIGHT {
            server.send(sent)?;
            sent += 1;
        }
        took.push(server.receive()?);
        if took.len() % (calls / 5).max(1) == 0 {
            resident.push(server.resident()?);
        }
    }
    let all = start.elapsed();
    took.sort();
    println!(
        "{calls} calls, {IN_FLIGHT} at a time, in {:.1} s: {:.0} a second",
        all.as_secs_f64(),
        calls as f64 / all.as_secs_f64()
    );
    println!(
        "p50 {:?}, p99 {:?}, the longest {:?}",
        took[calls / 2],
        took[calls * 99 / 100],
        took[calls - 1]
    );
    println!("resident after each fifth: {resident:?} KiB");
    let (second, last) = (resident[1] as f64, resident[resident.len() - 1] as f64);
    assert!(last <= second * GROWTH, "memory grows: {resident:?}");
    drop(server.stdin);
    assert!(server.child.wait()?.success());
    Ok(())
}
