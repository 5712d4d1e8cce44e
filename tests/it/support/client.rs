//! The program under a client that writes lines: what a well-behaved client cannot do, and a short way to call a
//! tool.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

/// Ends a test that hangs. No test asserts how long something takes: anything here is done in a fraction of this,
/// on a busy machine too.
pub const HANG_GUARD: Duration = Duration::from_secs(60);

/// Waits for a condition that another process or thread brings about.
#[track_caller]
pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < HANG_GUARD, "{what} does not happen");
        thread::sleep(Duration::from_millis(2));
    }
}

/// The token that [`Client::for_gitlab`] is started with.
pub const OWN_TOKEN: &str = "glpat-stand-in";

pub const FIND: &str = "gitlab_find_action";
pub const EXECUTE: &str = "gitlab_execute_action";

pub const LATEST_HANDSHAKE: &str = "2025-11-25";
pub const WITHOUT_HANDSHAKE: &str = "2026-07-28";

/// The program with an environment that holds only the given variables.
pub fn program(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gitlab-mcp"));
    command.args(arguments).env_clear().envs(variables.iter().copied());
    command
}

/// The maintainers' program with nothing of this process's environment.
pub fn maintainers_program(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let Some(path) = option_env!("CARGO_BIN_EXE_catalog_gen") else {
        panic!("catalog_gen is not built: run the tests with --all-features");
    };
    let mut command = Command::new(path);
    command.args(arguments).env_clear().envs(variables.iter().copied());
    command
}

/// A running server and the two ends of its pipes.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<thread::JoinHandle<String>>,
    next_id: u64,
}

/// End of a server.
pub struct Ended {
    pub status: ExitStatus,
    pub stderr: String,
    /// The messages on standard output that the test did not receive.
    pub unread: Vec<String>,
}

/// Answer of a tool.
#[derive(Debug)]
pub struct Reply {
    pub structured: Value,
    pub text: String,
    pub is_error: bool,
}

impl Client {
    pub fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Client {
        let mut command = program(arguments, variables);
        Client::spawn(command.stdin(Stdio::piped()))
    }

    /// A server past its handshake.
    pub fn connect(arguments: &[&str], variables: &[(&str, &str)]) -> Client {
        let mut client = Client::start(arguments, variables);
        client.initialize(LATEST_HANDSHAKE);
        client
    }

    /// A server over the sandbox, past its handshake.
    pub fn sandbox() -> Client {
        Client::sandbox_with(&[])
    }

    /// The same with these variables set.
    pub fn sandbox_with(variables: &[(&str, &str)]) -> Client {
        Client::connect(&["--sandbox"], variables)
    }

    /// A server for a GitLab at this address, past its handshake.
    pub fn for_gitlab(url: &str, variables: &[(&str, &str)]) -> Client {
        let own = [("GITLAB_URL", url), ("GITLAB_TOKEN", OWN_TOKEN)];
        Client::connect(&[], &[&own, variables].concat())
    }

    /// A server past its handshake that needs no GitLab.
    pub fn ready() -> Client {
        Client::connect(&[], &[])
    }

    pub fn spawn(command: &mut Command) -> Client {
        Client::adopt(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// A server that runs already. What it has no standard error left for is not read.
    pub fn adopt(mut child: Child) -> Client {
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = child.stderr.take();
        let (sender, lines) = channel();
        thread::spawn(move || {
            stdout.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok());
        });
        let errors = thread::spawn(move || {
            let mut text = String::new();
            stderr.map(|mut stderr| stderr.read_to_string(&mut text).unwrap());
            text
        });
        Client { stdin: child.stdin.take(), child, lines, errors: Some(errors), next_id: 1 }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// The next message; every line of standard output must be one.
    pub fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(HANG_GUARD).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    /// Checks that nothing sent so far is answered: the next message is the answer to a ping.
    #[track_caller]
    pub fn assert_unanswered(&mut self) {
        assert!(self.request("ping", json!({}))["result"].is_object());
    }

    /// The answer to a request, result or error.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The same in the era without a handshake, where each request says who asks.
    pub fn modern(&mut self, method: &str, params: Value) -> Value {
        self.modern_with(method, params, json!({}))
    }

    /// The same of a client that can do this.
    pub fn modern_with(&mut self, method: &str, mut params: Value, capabilities: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": WITHOUT_HANDSHAKE,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        self.request(method, params)
    }

    pub fn initialize(&mut self, version: &str) -> Value {
        self.initialize_with(version, json!({}))
    }

    /// The handshake of a client of this name.
    pub fn initialize_as(&mut self, name: &str) -> Value {
        self.shake_hands("2025-11-25", json!({}), name)
    }

    /// The handshake of a client that can do this.
    pub fn initialize_with(&mut self, version: &str, capabilities: Value) -> Value {
        self.shake_hands(version, capabilities, "test")
    }

    fn shake_hands(&mut self, version: &str, capabilities: Value, name: &str) -> Value {
        let client = json!({"name": name, "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client});
        let answer = self.request("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Reply {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        reply(&answer)
    }

    pub fn end_input(&mut self) {
        drop(self.stdin.take());
    }

    /// Ends the input, and says how the server took it.
    pub fn close(mut self) -> Ended {
        self.end_input();
        self.wait()
    }

    /// Waits for an end that has another cause.
    pub fn wait(mut self) -> Ended {
        let mut status = None;
        let start = Instant::now();
        while status.is_none() {
            assert!(start.elapsed() < HANG_GUARD, "the server does not end");
            thread::sleep(Duration::from_millis(2));
            status = self.child.try_wait().unwrap();
        }
        let stderr = self.errors.take().unwrap().join().unwrap();
        Ended { status: status.unwrap(), stderr, unread: self.lines.iter().collect() }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The server may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Checks that it was in order.
    #[track_caller]
    pub fn well(&self) {
        assert_eq!(self.status.code(), Some(0), "{}", self.stderr);
    }
}

/// The parts of a tool's result, each of which has to be there.
pub fn reply(answer: &Value) -> Reply {
    let result = &answer["result"];
    assert!(result.is_object(), "{answer}");
    let beside = &result["content"].as_array().unwrap()[1..];
    assert!(beside.iter().all(|block| block["type"] == "image"), "{result}");
    Reply {
        structured: with_objects(result["structuredContent"].clone()),
        text: result["content"][0]["text"].as_str().unwrap().to_owned(),
        is_error: result["isError"] == true,
    }
}

/// A structure with each table as the list of objects that it stands for.
pub fn with_objects(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(with_objects).collect(),
        Value::Object(map) => {
            let map: Map<String, Value> =
                map.into_iter().map(|(name, value)| (name, with_objects(value))).collect();
            match (map.get("columns"), map.get("rows")) {
                (Some(Value::Array(columns)), Some(Value::Array(rows))) if map.len() == 2 => {
                    rows.iter().map(|row| object(columns, row)).collect()
                }
                _ => Value::Object(map),
            }
        }
        other => other,
    }
}

/// The object of a row; a column may be of several fields.
fn object(columns: &[Value], row: &Value) -> Value {
    let cells = row.as_array().unwrap();
    assert!(cells.len() <= columns.len(), "{row}");
    let cells = cells.iter().zip(columns).filter(|(cell, _)| !cell.is_null());
    let fields = cells.flat_map(|(cell, names)| {
        names.as_str().unwrap().split(", ").map(|name| (name.to_owned(), cell.clone()))
    });
    Value::Object(fields.collect())
}

/// The error of a reply, which must be of that kind and have the same content in both forms.
#[track_caller]
pub fn refused(reply: &Reply, kind: &str) -> Value {
    assert!(reply.is_error, "{}", reply.text);
    let error = reply.structured["error"].clone();
    assert_eq!(error["kind"], kind, "{error}");
    assert!(reply.text.contains(error["message"].as_str().unwrap()), "{}", reply.text);
    error
}

/// Makes the call that an answer offers.
pub fn follow(client: &mut Client, call: &Value) -> Reply {
    client.call(call["tool"].as_str().unwrap(), call["arguments"].clone())
}

/// Runs an action.
pub fn execute(client: &mut Client, action: &str, params: Value) -> Reply {
    client.call("gitlab_execute_action", json!({"action": action, "params": params}))
}

/// Runs an action that has to succeed.
pub fn succeed(client: &mut Client, action: &str, params: Value) -> Value {
    let reply = execute(client, action, params);
    assert!(!reply.is_error, "{action}: {}", reply.text);
    reply.structured
}
