//! A GitLab that misbehaves as the path asks for: a server on TCP, a thread a connection, and below HTTP wherever
//! HTTP would be too kind.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::net::TcpSocket;

use crate::support::client::{HANG_GUARD, wait_until};

/// Longer than any test waits.
const FOR_EVER: Duration = Duration::from_secs(2 * HANG_GUARD.as_secs());

/// Behavior of the server for a request.
pub type Behaviour = fn(&mut TcpStream, turn: usize);

/// The same with state that a test shares with it.
pub type SharedBehaviour = Box<dyn Fn(&mut TcpStream, usize) + Send + Sync>;

/// The requests that came, by the case that they are about.
type Seen = Arc<Mutex<HashMap<String, Vec<Request>>>>;

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    pub line: String,
    pub head: String,
    pub at: Instant,
}

pub struct Misbehaving {
    pub address: SocketAddr,
    seen: Seen,
    connections: Arc<AtomicUsize>,
}

impl Misbehaving {
    /// Serves these cases; a request of no case gets a version.
    pub fn start(cases: &[(&'static str, Behaviour)]) -> Misbehaving {
        let boxed = cases.iter().map(|(case, behave)| (*case, Box::new(*behave) as SharedBehaviour));
        Misbehaving::sharing(boxed.collect())
    }

    /// The same of cases that share something with the test.
    pub fn sharing(cases: Vec<(&'static str, SharedBehaviour)>) -> Misbehaving {
        let cases: Arc<[_]> = cases.into();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Seen::default();
        let connections = Arc::new(AtomicUsize::new(0));
        let (requests, opened) = (seen.clone(), connections.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                opened.fetch_add(1, Ordering::SeqCst);
                let (seen, cases) = (requests.clone(), cases.clone());
                thread::spawn(move || serve(stream, &cases, &seen));
            }
        });
        Misbehaving { address, seen, connections }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Waits until there are so many requests about a case.
    #[track_caller]
    pub fn wait_for(&self, case: &str, requests: usize) {
        wait_until("the request", || self.requests(case).len() >= requests);
    }

    /// The requests about a case so far.
    pub fn requests(&self, case: &str) -> Vec<Request> {
        self.seen.lock().unwrap().get(case).cloned().unwrap_or_default()
    }
}

thread_local! {
    /// True if the connection of this thread is closed after the answer.
    static CLOSES: Cell<bool> = const { Cell::new(false) };
}

/// Answers one request after the other, until a case has done with the connection.
fn serve(mut stream: TcpStream, cases: &[(&str, SharedBehaviour)], seen: &Seen) {
    while let Some(line) = read_line(&mut stream) {
        let about = |case: &str| {
            line.contains(&format!("fault%2F{case}/")) || line.contains(&format!("fault%2F{case} "))
        };
        let Some((case, behave)) = cases.iter().find(|(case, _)| about(case)) else {
            read_rest(&mut stream);
            CLOSES.set(false);
            version(&mut stream);
            continue;
        };
        // A connection that is closed on what it has not read is reset.
        let head = if *case == "reset" { String::new() } else { read_rest(&mut stream) };
        let turn = {
            let mut seen = seen.lock().unwrap();
            let requests = seen.entry((*case).to_owned()).or_default();
            requests.push(Request { line: line.clone(), head, at: Instant::now() });
            requests.len()
        };
        CLOSES.set(!goes_on(case));
        behave(&mut stream, turn);
        if !goes_on(case) {
            return;
        }
    }
}

/// The cases whose answer leaves the connection in order.
fn goes_on(case: &str) -> bool {
    case.starts_with("kept-")
}

fn read_line(stream: &mut TcpStream) -> Option<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => line.push(byte[0]),
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// The rest of the head, and the body that it announces.
fn read_rest(stream: &mut TcpStream) -> String {
    let mut head = String::new();
    let mut length = 0;
    while let Some(line) = read_line(stream).filter(|line| !line.is_empty()) {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
        head.push('\n');
    }
    let mut body = vec![0; length];
    let _ = stream.read_exact(&mut body);
    head
}

fn version(stream: &mut TcpStream) {
    answer(
        stream,
        "200 OK",
        "content-type: application/json\r\n",
        r#"{"version": "18.0.0", "revision": "0"}"#,
    );
}

/// One whole answer.
pub fn answer(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    // Without the header the client may send its next request on a connection that is about to be closed.
    let close = if CLOSES.get() { "connection: close\r\n" } else { "" };
    let head = format!("HTTP/1.1 {status}\r\n{headers}{close}content-length: {}\r\n\r\n", body.len());
    send(stream, head.as_bytes());
    send(stream, body.as_bytes());
}

/// Sends bytes unchanged; ignores a closed connection.
pub fn send(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

/// Reads on, without a word, until the other side has had enough; says whether it has.
pub fn wait_for_end(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(FOR_EVER)).unwrap();
    let mut chunk = [0; 1024];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

/// The same bytes over and over until the other side has had enough.
pub fn drip(stream: &mut TcpStream, bytes: &[u8], pause: Duration) {
    let start = Instant::now();
    while start.elapsed() < FOR_EVER && stream.write_all(bytes).is_ok() {
        thread::sleep(pause);
    }
}

/// Compresses this number of mebibytes of zeros.
pub fn packed_zeros(mebibytes: usize) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..mebibytes {
        packer.write_all(&vec![0; 1024 * 1024]).unwrap();
    }
    packer.finish().unwrap()
}

/// A port without a listener. It stays bound: a server of a test beside this one would get the port that was freed.
pub fn nowhere() -> u16 {
    static BOUND: OnceLock<TcpSocket> = OnceLock::new();
    let bound = BOUND.get_or_init(|| {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        socket
    });
    bound.local_addr().unwrap().port()
}
