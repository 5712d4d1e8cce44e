//! Promises to the users of such a server, tried through the binary: over stdio on the sandbox, on the command line, and
//! in the pages. A test is one promise. Where this server does something else that serves as well, the test names the
//! paragraph of the documentation that says so.

mod agents;
mod capabilities;
mod costs;
mod files;
mod find;
mod items;
mod names;
mod schemas;
mod settings;
mod surfaces;
mod toolsets;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::docs::{anchor, anchors};
use crate::security_page::{collect, is_there};
use crate::support::client::{
    Client, EXECUTE, FIND, LATEST_HANDSHAKE, maintainers_program, program, with_objects,
};

/// Promises that tests of another module hold.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "No toolset belongs to two sub-agents",
        "surfaces::listings::agents_share_the_catalog_and_overwrite_nothing",
    ),
    (
        "A saved run is a baseline; a figure that falls is an error",
        "cli::commands::an_evaluation_fails_where_a_saved_figure_fell",
    ),
    (
        "Each executed action leaves a line of audit that names its object, without the values of other parameters",
        "policy::audit::each_call_has_its_line_without_a_value",
    ),
    ("max_lines is 100 by default", "composite::read_files::windows_go_on_exactly_where_they_ended"),
    (
        "A Git LFS pointer is named as one, with its object",
        "composite::read_files::what_is_no_text_is_told_as_what_it_is",
    ),
    (
        "A symbolic link is named as one, with its target",
        "composite::read_files::a_link_and_a_submodule_are_told_by_the_tree",
    ),
    (
        "A submodule is named as one, with its commit",
        "composite::read_files::a_link_and_a_submodule_are_told_by_the_tree",
    ),
    (
        "A client that can ask its user is made to",
        "policy::confirmation::the_user_is_asked_where_the_client_can_and_the_answer_counts",
    ),
    (
        "A client that can ask its user is made to",
        "policy::confirmation::a_result_asks_where_the_server_may_not",
    ),
    (
        "A client that can ask its user is made to",
        "policy::consent::the_models_consent_does_not_replace_the_question",
    ),
];

/// Paragraphs on what differs that no answer shows.
const TOLD_ONLY: &[&str] = &[];

/// A server on the sandbox, and what the calls to it share.
struct Server {
    client: Client,
    /// The working copy that the client names as its root.
    workspace: Option<tempfile::TempDir>,
    url: Option<String>,
    notifications: Vec<String>,
    next_id: u64,
}

impl Server {
    fn sandbox() -> Server {
        Server::with(&[], &[])
    }

    fn with(variables: &[(&str, &str)], flags: &[&str]) -> Server {
        Server::start(variables, flags, None)
    }

    /// A server whose client has one root: a working copy of the sandbox's acme/widget at main, with a README.md of its
    /// own.
    fn in_working_copy(variables: &[(&str, &str)]) -> Server {
        let directory = tempfile::tempdir().unwrap();
        let git = directory.path().join(".git");
        fs::create_dir(&git).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("config"), "[remote \"origin\"]\n\turl = git@127.0.0.1:acme/widget.git\n")
            .unwrap();
        fs::write(directory.path().join("README.md"), "local\n").unwrap();
        Server::start(variables, &[], Some(directory))
    }

    fn start(variables: &[(&str, &str)], flags: &[&str], workspace: Option<tempfile::TempDir>) -> Server {
        let mut client = Client::start(&[&["--sandbox"], flags].concat(), variables);
        let capabilities = if workspace.is_some() { json!({"roots": {}}) } else { json!({}) };
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
            let project = self.execute("project.get", json!({"fullPath": "acme/widget"})).ok();
            let page = project.value["data"]["web_url"].as_str().unwrap();
            self.url = Some(page.trim_end_matches("/acme/widget").to_owned());
        }
        self.url.clone().unwrap()
    }

    fn find(&mut self, query: &str) -> Shown {
        self.tool(FIND, json!({"query": query}))
    }

    fn execute(&mut self, action: &str, params: Value) -> Shown {
        self.tool(EXECUTE, json!({"action": action, "params": params}))
    }

    fn tool(&mut self, name: &str, arguments: Value) -> Shown {
        let asked = arguments.get("action").cloned();
        let answer = self.request("tools/call", &json!({"name": name, "arguments": arguments}));
        if answer["error"].is_object() {
            return Shown::rpc_error(&answer["error"]);
        }
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        let mut value = with_objects(result["structuredContent"].clone());
        // An answer names the action where another one ran than the call names.
        if let (Some(map), Some(asked)) = (value.as_object_mut(), asked) {
            map.entry("action").or_insert(asked);
        }
        let kind =
            (result["isError"] == true).then(|| value["error"]["kind"].as_str().unwrap_or("").to_owned());
        Shown { value, text, failure: kind.map(Failure::Tool) }
    }

    /// Makes the call that an answer has at a pointer.
    fn follow(&mut self, shown: &Shown, pointer: &str) -> Shown {
        let next = shown.value.pointer(pointer).unwrap_or_else(|| panic!("nothing at {pointer}")).clone();
        match next["tool"].as_str() {
            Some(tool) => self.tool(tool, next["arguments"].clone()),
            None => self.tool(EXECUTE, next),
        }
    }

    /// The text of a resource, as JSON if it is that.
    fn read(&mut self, address: &str) -> Shown {
        let shown = self.method("resources/read", json!({"uri": address}));
        let Some(text) = shown.value["contents"][0]["text"].as_str().map(str::to_owned) else { return shown };
        Shown { value: serde_json::from_str(&text).unwrap_or(shown.value), text, failure: None }
    }

    fn method(&mut self, method: &str, params: Value) -> Shown {
        let answer = self.request(method, &params);
        match answer["error"].is_object() {
            true => Shown::rpc_error(&answer["error"]),
            false => Shown::told(answer["result"].clone()),
        }
    }

    fn notified(&self, method: &str) {
        let is_sent = self.notifications.iter().any(|sent| sent == method);
        assert!(is_sent, "{method} was not sent before the answer");
    }
}

/// A command of the program, run in the repository: standard output as JSON, and the text of both outputs.
fn command(arguments: &[&str], variables: &[(&str, &str)]) -> Shown {
    run(program(arguments, variables))
}

/// A command of the maintainers' program.
fn maintain(arguments: &[&str]) -> Shown {
    run(maintainers_program(arguments, &[]))
}

fn run(mut command: Command) -> Shown {
    let output = command.current_dir(root()).stdin(Stdio::null()).output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let text = format!("{out}{}", String::from_utf8_lossy(&output.stderr));
    let failure = output.status.code().filter(|code| *code != 0).map(Failure::Exit);
    Shown { value: serde_json::from_str(&out).unwrap_or(Value::Null), text, failure }
}

/// A page of the repository, or one that a command has written.
fn page(path: &str) -> Shown {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    Shown { value: Value::Null, text, failure: None }
}

/// A folder with these files, for the commands of one test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, text) in files {
            fs::write(folder.0.path().join(name), text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

#[derive(Debug, PartialEq)]
enum Failure {
    /// The kind of a tool's error.
    Tool(String),
    /// The code of a JSON-RPC error.
    Rpc(i64),
    Exit(i32),
}

/// An answer. A pointer's `*` matches every member of a list or an object: a check then applies to the list of the
/// values, and `present` and `matches` to each.
struct Shown {
    value: Value,
    text: String,
    failure: Option<Failure>,
}

impl Shown {
    fn told(value: Value) -> Shown {
        Shown { text: value.to_string(), value, failure: None }
    }

    fn rpc_error(error: &Value) -> Shown {
        Shown { failure: error["code"].as_i64().map(Failure::Rpc), ..Shown::told(error.clone()) }
    }

    #[track_caller]
    fn ok(self) -> Shown {
        assert!(self.failure.is_none(), "{:?}: {}", self.failure, self.text);
        self
    }

    /// A tool's error of this kind.
    #[track_caller]
    fn fails(self, kind: &str) -> Shown {
        assert_eq!(self.failure, Some(Failure::Tool(kind.to_owned())), "{}", self.text);
        self
    }

    /// A JSON-RPC error with this code.
    #[track_caller]
    fn code(self, code: i64) -> Shown {
        assert_eq!(self.failure, Some(Failure::Rpc(code)), "{}", self.text);
        self
    }

    #[track_caller]
    fn exits(self, code: i32) -> Shown {
        assert_eq!(self.failure, Some(Failure::Exit(code)), "{}", self.text);
        self
    }

    fn all(&self, pointer: &str) -> Vec<Value> {
        select(&self.value, pointer)
    }

    fn at(&self, pointer: &str) -> Value {
        let mut all = self.all(pointer);
        if pointer.contains('*') { Value::Array(all) } else { all.remove(0) }
    }

    #[track_caller]
    fn equals(self, pointer: &str, expected: impl Into<Value>) -> Shown {
        assert_eq!(self.at(pointer), expected.into(), "{pointer}");
        self
    }

    /// Text within a text, or a member of a list.
    #[track_caller]
    fn contains(self, pointer: &str, part: impl Into<Value>) -> Shown {
        let (value, part) = (self.at(pointer), part.into());
        assert!(has(&value, &part), "{pointer}: {part} is not in {value}");
        self
    }

    #[track_caller]
    fn lacks(self, pointer: &str, part: impl Into<Value>) -> Shown {
        let (value, part) = (self.at(pointer), part.into());
        assert!(!value.is_null() && !has(&value, &part), "{pointer}: {part} is in {value}");
        self
    }

    #[track_caller]
    fn matches(self, pointer: &str, pattern: &str) -> Shown {
        let pattern = regex::Regex::new(pattern).unwrap();
        let all = self.all(pointer);
        assert!(!all.is_empty(), "nothing at {pointer}");
        for value in all {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert!(pattern.is_match(&text), "{pointer}: {pattern} does not match {text}");
        }
        self
    }

    #[track_caller]
    fn present(self, pointer: &str) -> Shown {
        let all = self.all(pointer);
        assert!(!all.is_empty() && !all.contains(&Value::Null), "{pointer}: {all:?}");
        self
    }

    #[track_caller]
    fn absent(self, pointer: &str) -> Shown {
        assert!(self.all(pointer).iter().all(Value::is_null), "{pointer} is there");
        self
    }

    /// The value of a number, the length of a list, or else the number of bytes.
    #[track_caller]
    fn at_least(self, pointer: &str, least: f64) -> Shown {
        let value = self.at(pointer);
        assert!(!value.is_null() && size(&value) >= least, "{pointer}: {value} is below {least}");
        self
    }

    #[track_caller]
    fn at_most(self, pointer: &str, most: f64) -> Shown {
        let value = self.at(pointer);
        assert!(!value.is_null() && size(&value) <= most, "{pointer}: {value} is over {most}");
        self
    }

    #[track_caller]
    fn says(self, part: &str) -> Shown {
        assert!(self.text.contains(part), "{part:?} is not in {}", self.text);
        self
    }

    #[track_caller]
    fn says_not(self, part: &str) -> Shown {
        assert!(!self.text.contains(part), "{part:?} is in {}", self.text);
        self
    }

    #[track_caller]
    fn says_like(self, pattern: &str) -> Shown {
        assert!(regex::Regex::new(pattern).unwrap().is_match(&self.text), "{pattern}: {}", self.text);
        self
    }

    /// Bytes of the text.
    #[track_caller]
    fn has_bytes(self, bytes: std::ops::RangeInclusive<usize>) -> Shown {
        assert!(bytes.contains(&self.text.len()), "{} bytes: {}", self.text.len(), self.text);
        self
    }
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

fn has(value: &Value, part: &Value) -> bool {
    match value {
        Value::Array(members) => members.contains(part),
        Value::String(text) => text.contains(part.as_str().unwrap()),
        other => part.as_str().is_some_and(|part| other.to_string().contains(part)),
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

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn promises_that_other_tests_hold_have_their_tests() {
    let mut sources = Vec::new();
    collect(&root().join("src"), &mut sources);
    collect(&root().join("tests/it"), &mut sources);
    for (promise, test) in ELSEWHERE {
        assert!(is_there(test, &sources), "{promise}: there is no test `{test}`");
    }
}

/// A test of what differs names its paragraph in a comment: `docs/internals/differences.md#five-results`.
#[test]
fn every_difference_is_documented_and_every_paragraph_is_of_a_test() {
    let mut sources = Vec::new();
    collect(&root().join("tests/it/promises"), &mut sources);
    let address = regex::Regex::new(r"docs/[a-z/]+\.md#[a-z0-9_-]+").unwrap();
    let mut named: BTreeSet<String> = TOLD_ONLY.iter().map(|address| (*address).to_owned()).collect();
    for (_, source) in &sources {
        named.extend(address.find_iter(source).map(|found| found.as_str().to_owned()));
    }
    for address in &named {
        let (page, heading) = address.split_once('#').unwrap();
        assert!(anchors(&root().join(page)).contains(heading), "no paragraph {address}");
    }
    let page = "docs/internals/differences.md";
    let text = fs::read_to_string(root().join(page)).unwrap();
    for heading in text.lines().filter(|line| line.starts_with("## ")) {
        let address = format!("{page}#{}", anchor(heading));
        assert!(named.contains(&address), "{address} is of no test");
    }
    let architecture = fs::read_to_string(root().join("docs/internals/architecture.md")).unwrap();
    assert!(architecture.contains("(differences.md)"), "{page} is not linked");
}
