//! A GitLab of a test's own: it answers what it is told, and can be told otherwise while it runs.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// What a request is answered.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    /// Before it is answered.
    pub delay: Duration,
}

pub fn answer(status: u16, body: Value) -> Answer {
    Answer { status, headers: Vec::new(), body: body.to_string(), delay: Duration::ZERO }
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

/// The answers by what a request begins with (`GET /api/v4/projects/acme`), the longest beginning first; each for its
/// turn, the last one for ever.
type Script = Arc<Mutex<Vec<(String, VecDeque<Answer>)>>>;

pub struct Gitlab {
    pub address: SocketAddr,
    script: Script,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Gitlab {
    pub fn start() -> Gitlab {
        Gitlab::on(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    pub fn on(listener: TcpListener) -> Gitlab {
        let gitlab = Gitlab {
            address: listener.local_addr().unwrap(),
            script: Script::default(),
            seen: Arc::default(),
        };
        let (script, seen) = (gitlab.script.clone(), gitlab.seen.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (script, seen) = (script.clone(), seen.clone());
                thread::spawn(move || serve(stream, &script, &seen));
            }
        });
        gitlab
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers requests that begin so, in turn.
    pub fn says(&self, request: &str, answers: impl IntoIterator<Item = Answer>) -> &Gitlab {
        let mut script = self.script.lock().unwrap();
        script.retain(|(known, _)| known != request);
        script.push((request.to_owned(), answers.into_iter().collect()));
        self
    }

    /// The requests that came, each as `GET /path`.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, script: &Script, seen: &Mutex<Vec<String>>) {
    exchange(stream, |request| {
        seen.lock().unwrap().push(request.to_owned());
        next(script, request)
    });
}

fn next(script: &Script, request: &str) -> Answer {
    let mut script = script.lock().unwrap();
    let known = script.iter_mut().filter(|(known, _)| request.starts_with(known.as_str()));
    match known.max_by_key(|(known, _)| known.len()) {
        Some((_, answers)) if answers.len() > 1 => answers.pop_front().unwrap(),
        Some((_, answers)) => answers[0].clone(),
        None => answer(404, serde_json::json!({"message": "404 Not Found"})),
    }
}

/// Reads requests of a connection and writes their answers, until it ends.
pub fn exchange(stream: impl Read + Write, mut answers: impl FnMut(&str) -> Answer) {
    let mut reader = BufReader::new(stream);
    while let Some((line, length)) = head(&mut reader) {
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let answer = answers(line.trim_end_matches(" HTTP/1.1"));
        thread::sleep(answer.delay);
        let headers: String =
            answer.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let written = format!(
            "HTTP/1.1 {} Said\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{}",
            answer.status,
            answer.body.len(),
            answer.body
        );
        let writer = reader.get_mut();
        if writer.write_all(written.as_bytes()).and_then(|()| writer.flush()).is_err() {
            return;
        }
    }
}

fn head(reader: &mut impl BufRead) -> Option<(String, usize)> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim().to_lowercase() {
            end if end.is_empty() => return Some((first.trim().to_owned(), length)),
            line => {
                length = line.strip_prefix("content-length: ").map_or(length, |value| value.parse().unwrap())
            }
        }
    }
}
