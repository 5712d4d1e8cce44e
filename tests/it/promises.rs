//! The table of promises in tests/it/promises/*.toml, run through the binary over stdio and the sandbox.
//!
//! A row is one promise. Its `status` is `works`, `differs` (another behavior that serves as well; `why` is the
//! paragraph of the documentation that describes it) or `open` (wanted, and not there yet). Each row is checked by
//! `calls`, by the `tests` that it names, or by both. The calls of an open row are its goal: once all of them pass, the
//! row fails until its status is changed.
//!
//! Rows with equal `env`, `flags` and `workspace` share a server, so their calls change nothing. A row with
//! `alone = true` has a server to itself. A call is one of:
//!
//! | Key | Value | Checks apply to |
//! |---|---|---|
//! | `find` | a query, or all arguments as JSON | the structured content |
//! | `execute` | an action and its parameters as JSON; `beside` holds further arguments | the structured content |
//! | `tool` | a tool and its arguments as JSON | the structured content |
//! | `follow` | the JSON pointer of a call in the answer before (`/error/fix`, `/page/next`) | the structured content |
//! | `read` | the address of a resource | its text, as JSON if it is that |
//! | `method` | an MCP method and its parameters as JSON | the result |
//! | `maintainers` | arguments of the maintainers' program | as for `command` |
//! | `command` | arguments of the program | standard output as JSON; the text is both outputs |
//! | `page` | a file of the repository | its text |
//!
//! `fails` is the kind of the expected tool error, `code` the code of the expected JSON-RPC error (whose object is
//! then checked), `exit` the exit code of a command, `notified` a notification that must come before the answer.
//! In calls, `$URL` is the address of the sandbox. In commands, pages and `env`, `$DIR` is a directory of the row's
//! own, with the `files` that it lists. Such a row has a server to itself, too.
//!
//! A check has a JSON pointer `at` (default: the text), in which `*` matches every member of a list or an object, and
//! one condition. With `*`, the condition applies to the list of the values, except `present` and `matches`, which
//! apply to each.
//!
//! `PROMISE=12 cargo test promises -- --nocapture` runs one row and prints its outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::docs::{anchor, anchors};
use crate::security_page::{collect, is_there};
use crate::support::client::{Client, LATEST_HANDSHAKE, maintainers_program, program, with_objects};

const PROMISES: u32 = 219;
const SERVERS_AT_A_TIME: usize = 3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    promise: Vec<Promise>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Promise {
    number: u32,
    says: String,
    status: Status,
    /// Page and anchor of the paragraph that describes a difference.
    why: Option<String>,
    #[serde(default)]
    tests: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    flags: Vec<String>,
    /// The client has roots, and its one root is a working copy of acme/widget at main.
    #[serde(default)]
    workspace: bool,
    #[serde(default)]
    alone: bool,
    /// Files in `$DIR`, by name.
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    calls: Vec<Call>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "lowercase")]
enum Status {
    Works,
    Differs,
    Open,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    find: Option<String>,
    execute: Option<String>,
    beside: Option<String>,
    tool: Option<String>,
    follow: Option<String>,
    read: Option<String>,
    method: Option<String>,
    command: Option<Vec<String>>,
    maintainers: Option<Vec<String>>,
    page: Option<String>,
    fails: Option<String>,
    code: Option<i64>,
    exit: Option<i32>,
    notified: Option<String>,
    #[serde(default)]
    expect: Vec<Check>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Check {
    at: Option<String>,
    equals: Option<Value>,
    /// Text within a text, or a member of a list.
    contains: Option<Value>,
    lacks: Option<Value>,
    matches: Option<String>,
    present: Option<bool>,
    /// Minimum of a number's value, of a list's length, or else of its bytes.
    at_least: Option<f64>,
    at_most: Option<f64>,
}

/// Answer to a call, for any kind of call.
struct Answer {
    value: Value,
    text: String,
}

type Outcome<T> = Result<T, String>;

/// A server with what its rows share.
struct Server {
    client: Client,
    /// The working copy that the client names as its root.
    workspace: Option<tempfile::TempDir>,
    url: Option<String>,
    notifications: Vec<String>,
    next_id: u64,
}

impl Server {
    fn start(row: &Row) -> Server {
        let promise = row.promise;
        let flags: Vec<&str> =
            ["--sandbox"].into_iter().chain(promise.flags.iter().map(String::as_str)).collect();
        let variables = row.variables();
        let mut client = Client::start(&flags, &borrow(&variables));
        let workspace = promise.workspace.then(working_copy);
        let capabilities = if promise.workspace { json!({"roots": {}}) } else { json!({}) };
        client.initialize_with(LATEST_HANDSHAKE, capabilities);
        Server { client, workspace, url: None, notifications: Vec::new(), next_id: 1 }
    }

    /// The answer to a request. Requests of the server are answered, its notifications kept.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = format!("promise-{}", self.next_id);
        self.next_id += 1;
        self.notifications.clear();
        self.client.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.client.receive();
            match message["method"].as_str() {
                None if message["id"] == id.as_str() => return message,
                Some("roots/list") => {
                    let root = self.workspace.as_ref().unwrap().path();
                    let uri = url::Url::from_directory_path(root).unwrap().to_string();
                    let result = json!({"roots": [{"uri": uri}]});
                    self.client.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
                }
                Some(notification) => self.notifications.push(notification.to_owned()),
                None => panic!("an answer to nothing: {message}"),
            }
        }
    }

    /// The sandbox's address, which is another for each server.
    fn url(&mut self) -> String {
        if self.url.is_none() {
            let call = json!({"action": "project.get", "params": {"fullPath": "acme/widget"}});
            let answer =
                self.request("tools/call", &json!({"name": "gitlab_execute_action", "arguments": call}));
            let page = answer["result"]["structuredContent"]["data"]["web_url"].as_str().unwrap();
            self.url = Some(page.trim_end_matches("/acme/widget").to_owned());
        }
        self.url.clone().unwrap()
    }

    fn tool(&mut self, call: &Call, name: &str, arguments: Value) -> Outcome<Answer> {
        let asked = arguments.get("action").cloned();
        let answer = self.request("tools/call", &json!({"name": name, "arguments": arguments}));
        let result = match result_of(&answer, call.code)? {
            Reply::Result(result) => result,
            Reply::Error(error) => return Ok(error),
        };
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        let mut value = with_objects(result["structuredContent"].clone());
        // An answer names the action where another one ran than the call names.
        if let (Some(map), Some(asked)) = (value.as_object_mut(), asked) {
            map.entry("action").or_insert(asked);
        }
        match (result["isError"] == true, &call.fails) {
            (false, Some(kind)) => Err(format!("expected the error {kind}, got {}", head(&text))),
            (true, None) => Err(format!("is an error: {}", head(&text))),
            (true, Some(kind)) if value["error"]["kind"] != kind.as_str() => {
                Err(format!("expected the error {kind}, got {}", head(&text)))
            }
            _ => Ok(Answer { value, text }),
        }
    }

    fn method(&mut self, call: &Call, method: &str, params: &Value) -> Outcome<Answer> {
        let answer = self.request(method, params);
        match result_of(&answer, call.code)? {
            Reply::Result(value) => Ok(Answer { text: value.to_string(), value }),
            Reply::Error(error) => Ok(error),
        }
    }

    fn read_resource(&mut self, call: &Call, address: &str) -> Outcome<Answer> {
        let answer = self.method(call, "resources/read", &json!({"uri": address}))?;
        let Some(text) = answer.value["contents"][0]["text"].as_str().map(str::to_owned) else {
            return Ok(answer);
        };
        Ok(Answer { value: serde_json::from_str(&text).unwrap_or(answer.value), text })
    }
}

enum Reply {
    Result(Value),
    Error(Answer),
}

/// The result, or the JSON-RPC error where `code` expects one.
fn result_of(answer: &Value, code: Option<i64>) -> Outcome<Reply> {
    let error = &answer["error"];
    match (error["code"].as_i64(), code) {
        (None, None) => Ok(Reply::Result(answer["result"].clone())),
        (got, expected) if got == expected => {
            Ok(Reply::Error(Answer { value: error.clone(), text: error.to_string() }))
        }
        (Some(_), _) => Err(format!("is a JSON-RPC error: {}", head(&error.to_string()))),
        (None, Some(code)) => {
            Err(format!("expected the JSON-RPC error {code}, got {}", head(&answer.to_string())))
        }
    }
}

/// A row and its directory.
struct Row<'a> {
    promise: &'a Promise,
    directory: tempfile::TempDir,
}

impl<'a> Row<'a> {
    fn new(promise: &'a Promise) -> Row<'a> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in &promise.files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        Row { promise, directory }
    }

    fn fill(&self, text: &str) -> String {
        text.replace("$DIR", self.directory.path().to_str().unwrap())
    }

    fn variables(&self) -> Vec<(String, String)> {
        self.promise.env.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect()
    }
}

fn borrow(variables: &[(String, String)]) -> Vec<(&str, &str)> {
    variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// A working copy of the sandbox's acme/widget at main, with a README.md of its own.
fn working_copy() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let git = directory.path().join(".git");
    fs::create_dir(&git).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git.join("config"), "[remote \"origin\"]\n\turl = git@127.0.0.1:acme/widget.git\n").unwrap();
    fs::write(directory.path().join("README.md"), "local\n").unwrap();
    directory
}

fn head(text: &str) -> String {
    text.chars().take(400).collect()
}

/// A name, and JSON after the first space if there is any.
fn split(text: &str) -> (&str, Value) {
    match text.split_once(' ') {
        Some((name, rest)) => (name, parse_json(rest)),
        None => (text, json!({})),
    }
}

fn parse_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn call(server: &mut Server, row: &Row, call: &Call, before: &Answer) -> Outcome<Answer> {
    let mut fill = |text: &str| {
        if text.contains("$URL") { text.replace("$URL", &server.url()) } else { text.to_owned() }
    };
    if let Some(query) = &call.find {
        let query = fill(query);
        let arguments = if query.starts_with('{') { parse_json(&query) } else { json!({"query": query}) };
        return server.tool(call, "gitlab_find_action", arguments);
    }
    if let Some(text) = &call.execute {
        let text = fill(text);
        let (action, params) = split(&text);
        let mut arguments =
            Map::from_iter([("action".to_owned(), json!(action)), ("params".to_owned(), params)]);
        if let Some(beside) = &call.beside {
            arguments.extend(parse_json(beside).as_object().unwrap().clone());
        }
        return server.tool(call, "gitlab_execute_action", Value::Object(arguments));
    }
    if let Some(text) = &call.tool {
        let text = fill(text);
        let (name, arguments) = split(&text);
        return server.tool(call, name, arguments);
    }
    if let Some(pointer) = &call.follow {
        let next = before.value.pointer(pointer).ok_or_else(|| format!("nothing at {pointer}"))?.clone();
        return match next["tool"].as_str() {
            Some(tool) => server.tool(call, tool, next["arguments"].clone()),
            None => server.tool(call, "gitlab_execute_action", next),
        };
    }
    if let Some(address) = &call.read {
        let address = fill(address);
        return server.read_resource(call, &address);
    }
    if let Some(text) = &call.method {
        let (method, params) = split(text);
        return server.method(call, method, &params);
    }
    if let Some(arguments) = &call.command {
        return run_command(row, call, arguments, program);
    }
    if let Some(arguments) = &call.maintainers {
        return run_command(row, call, arguments, maintainers_program);
    }
    let page = row.fill(call.page.as_deref().unwrap());
    let text = fs::read_to_string(root().join(&page)).map_err(|error| format!("{page}: {error}"))?;
    Ok(Answer { value: Value::Null, text })
}

fn run_command(
    row: &Row,
    call: &Call,
    arguments: &[String],
    program: impl Fn(&[&str], &[(&str, &str)]) -> Command,
) -> Outcome<Answer> {
    let arguments: Vec<String> = arguments.iter().map(|argument| row.fill(argument)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let variables = row.variables();
    let mut command = program(&arguments, &borrow(&variables));
    let output = command.current_dir(root()).stdin(Stdio::null()).output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let text = format!("{out}{}", String::from_utf8_lossy(&output.stderr));
    let expected = call.exit.unwrap_or(0);
    if output.status.code() != Some(expected) {
        return Err(format!("exit code {:?} instead of {expected}: {}", output.status.code(), head(&text)));
    }
    Ok(Answer { value: serde_json::from_str(&out).unwrap_or(Value::Null), text })
}

/// Runs the calls of a row in order. The error is the expectation of the first failed check.
fn run(server: &mut Server, row: &Row) -> Outcome<()> {
    let mut answer = Answer { value: Value::Null, text: String::new() };
    for (index, step) in row.promise.calls.iter().enumerate() {
        let place = |fault: String| format!("call {}: {fault}", index + 1);
        answer = call(server, row, step, &answer).map_err(place)?;
        if let Some(method) = &step.notified
            && !server.notifications.contains(method)
        {
            return Err(place(format!("{method} was not sent before the answer")));
        }
        for check in &step.expect {
            holds(check, &answer).map_err(place)?;
        }
    }
    Ok(())
}

/// The values at a pointer in which `*` matches every member.
fn select(value: &Value, pointer: &str) -> Vec<Value> {
    let Some((first, rest)) = pointer.split_once("/*") else {
        return vec![value.pointer(pointer).cloned().unwrap_or_default()];
    };
    match value.pointer(first) {
        Some(Value::Array(members)) => members.iter().flat_map(|member| select(member, rest)).collect(),
        Some(Value::Object(members)) => members.values().flat_map(|member| select(member, rest)).collect(),
        _ => Vec::new(),
    }
}

fn size(value: &Value) -> f64 {
    match value {
        Value::Number(number) => number.as_f64().unwrap(),
        Value::Array(members) => members.len() as f64,
        Value::String(text) => text.len() as f64,
        other => other.to_string().len() as f64,
    }
}

fn holds(check: &Check, answer: &Answer) -> Outcome<()> {
    let (values, value) = match &check.at {
        None => (Vec::new(), json!(answer.text)),
        Some(pointer) => {
            let values = select(&answer.value, pointer);
            let value = if pointer.contains('*') { json!(values) } else { values[0].clone() };
            (values, value)
        }
    };
    let has = |part: &Value| match &value {
        Value::Array(members) => members.contains(part),
        Value::String(text) => text.contains(part.as_str().unwrap()),
        other => part.as_str().is_some_and(|part| other.to_string().contains(part)),
    };
    let matches = |pattern: &str| {
        let pattern = regex::Regex::new(pattern).unwrap();
        let is_match = |value: &Value| match value {
            Value::String(text) => pattern.is_match(text),
            other => pattern.is_match(&other.to_string()),
        };
        if values.is_empty() { is_match(&value) } else { values.iter().all(is_match) }
    };
    let is_met = [
        check.equals.as_ref().map(|expected| value == *expected),
        check.contains.as_ref().map(has),
        check.lacks.as_ref().map(|part| !value.is_null() && !has(part)),
        check.matches.as_deref().map(matches),
        check.present.map(|present| match present {
            true => !values.is_empty() && values.iter().all(|value| !value.is_null()),
            false => values.iter().all(Value::is_null),
        }),
        check.at_least.map(|least| !value.is_null() && size(&value) >= least),
        check.at_most.map(|most| !value.is_null() && size(&value) <= most),
    ];
    let mut conditions = is_met.iter().flatten().peekable();
    assert!(conditions.peek().is_some(), "a check without a condition: {}", describe(check));
    if conditions.all(|is_met| *is_met) {
        return Ok(());
    }
    Err(format!("{} does not hold of {}", describe(check), head(&value.to_string())))
}

/// The keys of a check that are set.
fn describe(check: &Check) -> String {
    let mut keys = json!(check);
    keys.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    keys.to_string()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn load() -> Vec<Promise> {
    let mut promises = Vec::new();
    for entry in fs::read_dir(root().join("tests/it/promises")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let table: Table =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        promises.extend(table.promise);
    }
    promises.sort_by_key(|promise| promise.number);
    promises
}

/// The rows that share a server, by their shared settings.
fn groups(promises: &[Promise]) -> Vec<Vec<&Promise>> {
    let mut groups: BTreeMap<_, Vec<&Promise>> = BTreeMap::new();
    for promise in promises.iter().filter(|promise| !promise.calls.is_empty()) {
        let own = (promise.alone || !promise.files.is_empty()).then_some(promise.number);
        groups.entry((&promise.env, &promise.flags, promise.workspace, own)).or_default().push(promise);
    }
    groups.into_values().collect()
}

/// Fault of a row after its calls have run.
fn fault(promise: &Promise, outcome: Outcome<()>) -> Option<String> {
    match (promise.status, outcome) {
        (Status::Open, Ok(())) => Some("is open and passes: change its status".to_owned()),
        (Status::Open, Err(_)) | (_, Ok(())) => None,
        (_, Err(fault)) => Some(fault),
    }
}

#[test]
fn every_promise_is_kept() {
    let promises = load();
    let only: Option<u32> = std::env::var("PROMISE").ok().map(|number| number.parse().unwrap());
    let groups = Mutex::new(groups(&promises));
    let faults = Mutex::new(Vec::new());
    let next_group = || groups.lock().unwrap().pop();
    thread::scope(|scope| {
        for _ in 0..SERVERS_AT_A_TIME {
            scope.spawn(|| {
                while let Some(mut group) = next_group() {
                    group.retain(|promise| only.is_none_or(|number| promise.number == number));
                    let rows: Vec<Row> = group.into_iter().map(Row::new).collect();
                    let Some(first) = rows.first() else { continue };
                    let mut server = Server::start(first);
                    for row in &rows {
                        let promise = row.promise;
                        let outcome = run(&mut server, row);
                        if only.is_some() {
                            eprintln!("{}: {outcome:?}", promise.number);
                        }
                        let fault = fault(promise, outcome);
                        faults.lock().unwrap().extend(fault.map(|fault| (promise, fault)));
                    }
                }
            });
        }
    });
    let mut faults = faults.into_inner().unwrap();
    faults.sort_by_key(|(promise, _)| promise.number);
    let report: Vec<String> = faults
        .iter()
        .map(|(promise, fault)| format!("{} ({}): {fault}", promise.number, promise.says))
        .collect();
    assert!(report.is_empty(), "{} promises:\n{}", report.len(), report.join("\n"));
}

#[test]
fn the_table_is_whole() {
    let promises = load();
    let numbers: Vec<u32> = promises.iter().map(|promise| promise.number).collect();
    assert_eq!(numbers, (1..=PROMISES).collect::<Vec<u32>>(), "each number once");
    let mut sources = Vec::new();
    for folder in ["src", "tests/it"] {
        collect(&root().join(folder), &mut sources);
    }
    for promise in &promises {
        let number = promise.number;
        assert!(!promise.says.is_empty() && !promise.says.ends_with('.'), "{number}: {}", promise.says);
        assert_eq!(promise.why.is_some(), promise.status == Status::Differs, "{number}: `why`");
        assert!(promise.status != Status::Open || !promise.calls.is_empty(), "{number} has no calls");
        assert!(!(promise.calls.is_empty() && promise.tests.is_empty()) || promise.why.is_some(), "{number}");
        for name in &promise.tests {
            assert!(is_there(name, &sources), "{number}: there is no test `{name}`");
        }
        for call in &promise.calls {
            let kinds =
                [&call.find, &call.execute, &call.tool, &call.follow, &call.read, &call.method, &call.page];
            let kinds = kinds.iter().filter(|kind| kind.is_some()).count()
                + usize::from(call.command.is_some())
                + usize::from(call.maintainers.is_some());
            assert_eq!(kinds, 1, "{number}: a call is of one kind");
            let is_checked = !call.expect.is_empty() || call.fails.is_some() || call.code.is_some();
            assert!(is_checked || promise.calls.len() > 1, "{number}: a call without a check");
        }
    }
}

#[test]
fn every_difference_is_documented() {
    let promises = load();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for promise in &promises {
        let Some(why) = &promise.why else { continue };
        let (page, anchor) = why.split_once('#').unwrap_or_else(|| panic!("{why} has no anchor"));
        assert!(anchors(&root().join(page)).contains(anchor), "{}: no paragraph {why}", promise.number);
        used.insert(why.clone());
    }
    // The page of differences has no paragraph that no row is about, and is reached from another page.
    let page = "docs/internals/differences.md";
    let text = fs::read_to_string(root().join(page)).unwrap();
    for heading in text.lines().filter(|line| line.starts_with("## ")) {
        let address = format!("{page}#{}", anchor(heading));
        assert!(used.contains(&address), "{address} is of no row");
    }
    let architecture = fs::read_to_string(root().join("docs/internals/architecture.md")).unwrap();
    assert!(architecture.contains("(differences.md)"), "{page} is not linked");
}
