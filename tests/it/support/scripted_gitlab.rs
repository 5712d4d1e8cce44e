//! A scripted GitLab: it answers from a script, which can be changed while it runs, and records the requests.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use regex::Regex;
use serde::Serialize;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::fixtures::PROJECT;

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// Before it is answered.
    pub delay: Duration,
}

/// An answer in JSON.
pub fn answer(status: u16, body: impl Serialize) -> Answer {
    raw(status, "application/json", serde_json::to_vec(&body).unwrap())
}

/// An answer with that body as it is.
pub fn raw(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
    Answer {
        status,
        content_type: content_type.to_owned(),
        headers: Vec::new(),
        body: body.into(),
        delay: Duration::ZERO,
    }
}

impl Answer {
    pub fn header(mut self, name: &'static str, value: &str) -> Answer {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn after(self, delay: Duration) -> Answer {
        Answer { delay, ..self }
    }
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET /path?query`.
    pub line: String,
    pub method: String,
    /// Without the query.
    pub path: String,
    /// The header lines, in lower case.
    pub head: String,
    pub body: Vec<u8>,
}

/// The answers to the requests that begin like this (`GET /api/v4/projects/acme`): each for its turn, the last one
/// for ever.
type Turns = (String, VecDeque<Answer>);

#[derive(Default)]
struct Script {
    /// The longest beginning decides.
    beginnings: Vec<Turns>,
    /// If no beginning fits, the first of these with that method and that end of the path decides.
    endings: Vec<(String, Regex, Answer)>,
    /// Answers a JSON body with the same object, where nothing else is scripted.
    echoes: bool,
}

pub struct Gitlab {
    pub address: SocketAddr,
    script: Arc<Mutex<Script>>,
    received: Arc<Mutex<Vec<Request>>>,
}

impl Gitlab {
    /// Without any answer: everything is a 404.
    pub fn start() -> Gitlab {
        Gitlab::on(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// A GitLab with [`PROJECT`] at every project path, by which the server recognizes a project.
    pub fn with_project() -> Gitlab {
        let gitlab = Gitlab::start();
        gitlab.json("/projects/[^/]*", &json!({"id": 27_418_650, "path_with_namespace": PROJECT}));
        gitlab
    }

    pub fn on(listener: TcpListener) -> Gitlab {
        let address = listener.local_addr().unwrap();
        let gitlab = Gitlab { address, script: Arc::default(), received: Arc::default() };
        let (script, received) = (gitlab.script.clone(), gitlab.received.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (script, received) = (script.clone(), received.clone());
                thread::spawn(move || {
                    exchange(stream, |request| {
                        received.lock().unwrap().push(request.clone());
                        script.lock().unwrap().next(request)
                    });
                });
            }
        });
        gitlab
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers requests that begin so, in turn.
    pub fn says(&self, request: &str, answers: impl IntoIterator<Item = Answer>) -> &Gitlab {
        let beginnings = &mut self.script.lock().unwrap().beginnings;
        beginnings.retain(|(known, _)| known != request);
        beginnings.push((request.to_owned(), answers.into_iter().collect()));
        self
    }

    /// Answers requests whose path ends like this regular expression.
    pub fn answer(&self, method: &str, path: &str, answer: Answer) {
        let ending = Regex::new(&format!("{path}$")).unwrap();
        self.script.lock().unwrap().endings.push((method.to_owned(), ending, answer));
    }

    /// Answers each write that has a JSON body with what it set, as GitLab does.
    pub fn echo(&self) {
        self.script.lock().unwrap().echoes = true;
    }

    pub fn json(&self, path: &str, body: &Value) {
        self.answer("GET", path, answer(200, body));
    }

    pub fn body(&self, path: &str, content_type: &str, body: &[u8]) {
        self.answer("GET", path, raw(200, content_type, body));
    }

    pub fn received(&self) -> Vec<Request> {
        self.received.lock().unwrap().clone()
    }

    /// The last request whose line has this in it. The server asks for scopes and versions in the background, so the
    /// last request of all may be one of those.
    pub fn last(&self, part: &str) -> Request {
        let mut received = self.received().into_iter().rev();
        received
            .find(|request| request.line.contains(part))
            .unwrap_or_else(|| panic!("no {part}: {:?}", self.seen()))
    }

    /// The requests that came, each as `GET /path?query`.
    pub fn seen(&self) -> Vec<String> {
        self.received().into_iter().map(|request| request.line).collect()
    }

    /// The program that works on it, past its handshake.
    pub fn client(&self, variables: &[(&str, &str)]) -> Client {
        Client::for_gitlab(&self.url(), variables)
    }
}

impl Script {
    fn next(&mut self, request: &Request) -> Answer {
        let known = self.beginnings.iter_mut().filter(|(known, _)| request.line.starts_with(known.as_str()));
        if let Some((_, answers)) = known.max_by_key(|(known, _)| known.len()) {
            return if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() };
        }
        let fits = |(method, path, _): &&(String, Regex, Answer)| {
            *method == request.method && path.is_match(&request.path)
        };
        let found = self.endings.iter().find(fits).map(|(.., answer)| answer.clone());
        let echoed = || {
            let body = serde_json::from_slice::<Value>(&request.body).ok().filter(Value::is_object)?;
            let mut object = json!({"id": 7_654_321});
            object.as_object_mut()?.extend(body.as_object()?.clone());
            (self.echoes && request.method != "GET").then(|| answer(201, object))
        };
        found.or_else(echoed).unwrap_or_else(|| answer(404, json!({"message": "404 Not Found"})))
    }
}

/// Reads requests of a connection and writes their answers, until it ends.
pub fn exchange(stream: impl Read + Write, mut answers: impl FnMut(&Request) -> Answer) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader) {
        let answer = answers(&request);
        thread::sleep(answer.delay);
        let mut head = format!(
            "HTTP/1.1 {} Said\r\ncontent-type: {}\r\ncontent-length: {}\r\n",
            answer.status,
            answer.content_type,
            answer.body.len()
        );
        if !answer.headers.iter().any(|(name, _)| *name == "date") {
            head += &format!("date: {}\r\n", httpdate::fmt_http_date(SystemTime::now()));
        }
        for (name, value) in &answer.headers {
            head += &format!("{name}: {value}\r\n");
        }
        let body = if request.method == "HEAD" { &[] } else { answer.body.as_slice() };
        let written = [head.as_bytes(), b"\r\n", body].concat();
        let writer = reader.get_mut();
        if writer.write_all(&written).and_then(|()| writer.flush()).is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Request> {
    let line = read_line(reader)?;
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let line = read_line(reader)?.to_lowercase();
        if line.is_empty() {
            break;
        }
        length = line.strip_prefix("content-length: ").map_or(length, |value| value.parse().unwrap());
        head = head + &line + "\n";
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let line = line.trim_end_matches(" HTTP/1.1").to_owned();
    let (method, target) = line.split_once(' ')?;
    let path = target.split('?').next()?.to_owned();
    Some(Request { method: method.to_owned(), path, head, body, line })
}

fn read_line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    Some(line.trim().to_owned())
}
