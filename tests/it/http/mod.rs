//! The server over HTTP: who may call, what one caller sees of another, what wrong requests are answered with, and how
//! it is operated.

mod authentication;
mod bad_requests;
mod clients;
mod deploy;
mod elicitation;
mod floods;
mod isolation;
mod operation;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::client::{EXECUTE, FIND, program};

/// Longest time that a step of these tests may take: a guard against hanging, no expectation.
const GUARD: Duration = Duration::from_secs(60);

/// A running server and its log.
pub struct HttpServer {
    child: Child,
    pub address: SocketAddr,
    log: Arc<Mutex<String>>,
}

/// Response to an HTTP request.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    /// Header lines, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl HttpServer {
    /// Starts the server on a free port, with an environment that holds only the given variables.
    pub fn start(arguments: &[&str], variables: &[(&str, &str)]) -> HttpServer {
        let always = ["serve", "--http", "127.0.0.1:0"];
        let arguments: Vec<&str> = always.into_iter().chain(arguments.iter().copied()).collect();
        HttpServer::run(&arguments, variables)
    }

    /// Runs the program with these arguments, which make it listen at a free port.
    pub fn run(arguments: &[&str], variables: &[(&str, &str)]) -> HttpServer {
        let mut child =
            program(arguments, variables).stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        let log = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&log);
        let (sender, listening) = std::sync::mpsc::channel();
        thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                if let Some((_, address)) = line.split_once("listening address=") {
                    let _ = sender.send(address.parse().unwrap());
                }
                let mut log = written.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        let address = listening
            .recv_timeout(GUARD)
            .unwrap_or_else(|_| panic!("it does not listen: {}", log.lock().unwrap()));
        HttpServer { child, address, log }
    }

    /// For that GitLab, with tokens of the callers.
    pub fn for_callers(gitlab: &str, variables: &[(&str, &str)]) -> HttpServer {
        let always = [("GITLAB_URL", gitlab), ("GITLAB_MCP_AUTH", "token")];
        let all: Vec<(&str, &str)> = always.into_iter().chain(variables.iter().copied()).collect();
        HttpServer::start(&[], &all)
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until the log has a text.
    pub fn wait_for_log(&self, text: &str) {
        let started = Instant::now();
        while !self.log().contains(text) {
            assert!(started.elapsed() < GUARD, "{text} is not in the log: {}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn get(&self, path: &str) -> Response {
        get(self.address, path)
    }

    /// The address of the metrics, of a server that has one.
    pub fn metrics_address(&self) -> SocketAddr {
        let log = self.log();
        let (_, address) = log.split_once("/metrics address=").unwrap_or_else(|| panic!("no address: {log}"));
        address.lines().next().unwrap().parse().unwrap()
    }

    /// Sends bytes on a connection of their own and reads the response until its end.
    pub fn send(&self, bytes: &[u8]) -> Response {
        let mut stream = self.connect();
        // A server that refuses a large request may close before all of it is sent.
        let _ = stream.write_all(bytes);
        read_response(&mut BufReader::new(stream)).expect("there is a response")
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(GUARD)).unwrap();
        stream
    }

    /// Posts a message to the endpoint.
    pub fn post(&self, headers: &[(&str, &str)], message: &Value) -> Response {
        self.send(&self.request(headers, &message.to_string()))
    }

    /// The bytes of a request to the endpoint. A header of the given ones replaces the usual one of that name; an empty
    /// one leaves it out.
    pub fn request(&self, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
        let (host, length) = (self.address.to_string(), body.len().to_string());
        let usual = [
            ("Host", host.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Length", &length),
            ("Connection", "close"),
        ];
        let is_given = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let usual = usual.into_iter().filter(|(name, _)| !is_given(name));
        let all = usual.chain(headers.iter().copied().filter(|(_, value)| !value.is_empty()));
        let lines: String = all.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("POST /mcp HTTP/1.1\r\n{lines}\r\n{body}").into_bytes()
    }

    /// Calls a tool as a client of 2025-11-25 and returns its result.
    pub fn call(&self, headers: &[(&str, &str)], tool: &str, arguments: Value) -> Value {
        let response = self.post(headers, &tool_call(tool, arguments));
        assert_eq!(response.status, 200, "{}", response.body);
        response.json()["result"].clone()
    }

    /// Executes an action and returns the result.
    pub fn execute(&self, headers: &[(&str, &str)], action: &str, params: Value) -> Value {
        self.call(headers, EXECUTE, json!({"action": action, "params": params}))
    }

    pub fn find(&self, headers: &[(&str, &str)], query: &str) -> Value {
        self.call(headers, FIND, json!({"query": query}))
    }

    /// Asks the server to stop.
    pub fn terminate(&self) {
        let killed = std::process::Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(killed.success());
    }

    /// Waits for the end and returns the exit code.
    pub fn wait(mut self) -> Option<i32> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(started.elapsed() < GUARD, "it does not end");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Response {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Requests a path at an address.
pub fn get(address: SocketAddr, path: &str) -> Response {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(GUARD)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    read_response(&mut BufReader::new(stream)).expect("there is a response")
}

/// A `tools/call` message.
pub fn tool_call(tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// The text of a result.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// The kind of an error result.
pub fn error_kind(result: &Value) -> &str {
    result["structuredContent"]["error"]["kind"].as_str().unwrap_or("(no error)")
}

/// Reads one response; none if the connection ends before it.
pub fn read_response(reader: &mut impl BufRead) -> Option<Response> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let value =
        |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let mut body = Vec::new();
    match value("content-length") {
        Some(length) => {
            body = vec![0; length.parse().unwrap()];
            reader.read_exact(&mut body).ok()?;
        }
        None => {
            reader.read_to_end(&mut body).ok()?;
        }
    }
    Some(Response { status, headers, body: String::from_utf8_lossy(&body).into_owned() })
}
