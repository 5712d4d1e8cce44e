//! The HTTP server under load: two hundred callers, each with its own token, against a GitLab that answers in 20 ms.
//! Every call is answered with what it asked for; memory is read before, at the end, and after more of the same. Then
//! finds of one caller are measured beside floods: of another caller, of its narrowings, of made-up tokens, of
//! unfinished bodies and of connections. Memory is read from `/proc` and so on Linux alone.
//!
//! `GITLAB_MCP_BIN=target/measured cargo bench --bench http`, of a copy of the release; `GITLAB_MCP_LOAD=2000` for fewer
//! calls than 50,000, `GITLAB_MCP_LOAD=0` for the floods alone.

// A bench that is wrong may stop where it is wrong.
#![allow(clippy::indexing_slicing, clippy::print_stdout)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::any;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

const CALLERS: usize = 200;
const CALLS: usize = 50_000;
/// Time that the scripted GitLab takes for an answer.
const LATENCY: Duration = Duration::from_millis(20);
/// Calls of all callers together in a second: about two thirds of what two cores serve with the load itself beside it.
const PACE: f64 = 400.0;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(gitlab: &str, rate: &str) -> Outcome<Server> {
        let binary = std::env::var("GITLAB_MCP_BIN").unwrap_or(env!("CARGO_BIN_EXE_gitlab-mcp").to_owned());
        let mut child = Command::new(binary)
            .args([
                "serve",
                "--http",
                "127.0.0.1:0",
                "--auth",
                "token",
                "--caller-rate",
                rate,
                "--audit",
                "off",
            ])
            .env_clear()
            .env("GITLAB_URL", gitlab)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().ok_or("no standard error")?);
        let mut line = String::new();
        lines.read_line(&mut line)?;
        let (_, address) = line.trim().split_once("listening address=").ok_or("it does not listen")?;
        let url = format!("http://{address}/mcp");
        std::thread::spawn(move || lines.lines().for_each(drop));
        Ok(Server { child, url })
    }

    /// The resident set in MiB.
    fn resident(&self) -> Outcome<f64> {
        self.memory("VmRSS")
    }

    /// The largest resident set so far in MiB.
    fn peak(&self) -> Outcome<f64> {
        self.memory("VmHWM")
    }

    fn memory(&self, name: &str) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with(name)).ok_or("no such figure")?;
        Ok(line.split_whitespace().nth(1).ok_or("no figure")?.parse::<f64>()? / 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One caller, on connections of its own.
#[derive(Clone)]
struct Caller {
    client: reqwest::Client,
    url: Arc<str>,
    token: Arc<str>,
}

impl Caller {
    fn new(url: &str, number: usize) -> Outcome<Caller> {
        let client = reqwest::Client::builder().no_proxy().build()?;
        Ok(Caller { client, url: url.into(), token: format!("glpat-caller-{number}").into() })
    }

    /// Calls a tool; the time it took. The answer has to contain a text.
    async fn call(&self, tool: &str, arguments: Value, expected: &str) -> Outcome<Duration> {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}});
        let started = Instant::now();
        let response = self
            .client
            .post(&*self.url)
            .header("private-token", &*self.token)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(message.to_string())
            .send()
            .await?;
        let (status, text) = (response.status(), response.text().await?);
        if status != 200 || !text.contains(expected) {
            return Err(format!("{tool}: {status} {text}").into());
        }
        Ok(started.elapsed())
    }

    async fn execute(&self) -> Outcome<Duration> {
        let arguments = json!({"action": "project.list", "params": {"search": &*self.token}});
        // The scripted GitLab answers with the token that it was sent.
        self.call("gitlab_execute_action", arguments, &format!("of {}", self.token.replace("glpat-", "")))
            .await
    }

    async fn find(&self, number: usize) -> Outcome<Duration> {
        const QUERIES: [(&str, &str); 4] = [
            ("list open issues of a project", "issue.list"),
            ("who approved this merge request", "merge_request.get_approvals"),
            ("retry a failed job", "job.retry"),
            ("create a branch from main", "branch.create"),
        ];
        let (query, expected) = QUERIES[number % QUERIES.len()];
        self.call("gitlab_find_action", json!({"query": query}), expected).await
    }
}

/// A GitLab that answers every list with one row that names the token.
async fn gitlab() -> Outcome<String> {
    let answer = any(|request: axum::extract::Request| async move {
        tokio::time::sleep(LATENCY).await;
        let token =
            request.headers().get("private-token").and_then(|token| token.to_str().ok()).unwrap_or("nobody");
        // Not as a token, which the answer would mask.
        let row = json!([{"id": 1, "path_with_namespace": "a/b", "name": format!("of {token}").replace("glpat-", "")}]);
        ([("content-type", "application/json")], row.to_string())
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    Ok(url)
}

fn percentile(times: &mut [Duration], share: f64) -> f64 {
    times.sort();
    let at = ((times.len() as f64 - 1.0) * share) as usize;
    times.get(at).copied().unwrap_or_default().as_secs_f64() * 1000.0
}

/// Runs the callers until `calls` executes are made; the times of executes and of the finds beside them.
async fn load(callers: &[Caller], calls: usize) -> Outcome<(Vec<Duration>, Vec<Duration>)> {
    let made = Arc::new(AtomicUsize::new(0));
    let pause = Duration::from_secs_f64(callers.len() as f64 / PACE);
    let tasks: Vec<_> = callers
        .iter()
        .enumerate()
        .map(|(number, caller)| {
            let (caller, made) = (caller.clone(), Arc::clone(&made));
            tokio::spawn(async move {
                tokio::time::sleep(pause.mul_f64(number as f64 / CALLERS as f64)).await;
                let (mut executes, mut finds) = (Vec::new(), Vec::new());
                while made.fetch_add(1, Ordering::Relaxed) < calls {
                    let started = Instant::now();
                    // One call in ten is a find.
                    match made.load(Ordering::Relaxed) % 10 {
                        0 => finds.push(caller.find(number).await?),
                        _ => executes.push(caller.execute().await?),
                    }
                    tokio::time::sleep(pause.saturating_sub(started.elapsed())).await;
                }
                Outcome::Ok((executes, finds))
            })
        })
        .collect();
    let (mut executes, mut finds) = (Vec::new(), Vec::new());
    for task in tasks {
        let (more_executes, more_finds) = task.await??;
        executes.extend(more_executes);
        finds.extend(more_finds);
    }
    Ok((executes, finds))
}

/// A load that runs beside the finds of another caller.
#[derive(Clone, Copy, Debug)]
enum Flood {
    /// Finds of one token.
    OneCaller,
    /// Finds of one token under 60 values of `X-MCP-Toolsets`.
    Narrowings,
    /// Finds, each under another token that GitLab has never seen.
    MadeUpTokens,
}

/// Time for which finds are made beside a load, where they are slow.
const MAX_MEASURED: Duration = Duration::from_secs(20);

/// Connections of a flood.
const FLOOD_CONNECTIONS: usize = 60;

/// Values of `X-MCP-Toolsets`: each pair is another narrowing.
fn narrowings() -> Vec<String> {
    const TOOLSETS: [&str; 12] = [
        "access",
        "analytics",
        "epics",
        "groups",
        "incidents",
        "issues",
        "merge_requests",
        "packages",
        "pipelines",
        "projects",
        "releases",
        "runners",
    ];
    let pairs = TOOLSETS
        .iter()
        .enumerate()
        .flat_map(|(at, first)| TOOLSETS.iter().skip(at + 1).map(move |second| format!("{first},{second}")));
    pairs.collect()
}

/// A flood in a program of its own with the lowest priority: what is measured is the server's time, not that which the
/// load itself takes from it.
struct FloodProgram(Child);

impl FloodProgram {
    fn start(url: &str, flood: Flood) -> Outcome<FloodProgram> {
        let mut program = Command::new("nice");
        program.args(["-n", "19"]).arg(std::env::current_exe()?).args([FLOOD, url, &format!("{flood:?}")]);
        Ok(FloodProgram(program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?))
    }

    /// What it says of its requests.
    fn stop(mut self) -> Outcome<String> {
        drop(self.0.stdin.take());
        let output = self.0.wait_with_output()?;
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }
}

/// First argument of a program that is a flood: its server and its kind follow.
const FLOOD: &str = "flood";

/// Floods a server until the standard input ends; says how many requests were made and how many accepted.
async fn flood(url: &str, flood: Flood) -> Outcome<String> {
    let (done, accepted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let made = Arc::new(AtomicUsize::new(0));
    let narrowings = narrowings();
    let floods: Vec<_> = (0..FLOOD_CONNECTIONS)
        .map(|number| {
            let (done, accepted, made) = (Arc::clone(&done), Arc::clone(&accepted), Arc::clone(&made));
            let (url, toolsets) = (url.to_owned(), narrowings[number].clone());
            tokio::spawn(async move {
                let client = reqwest::Client::builder().no_proxy().build()?;
                for turn in 0.. {
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                    let token = match flood {
                        Flood::MadeUpTokens => format!("glpat-made-up-{number}-{turn}"),
                        _ => "glpat-flooding".to_owned(),
                    };
                    let mut request = client.post(&url).header("private-token", token);
                    if matches!(flood, Flood::Narrowings) {
                        request = request.header("x-mcp-toolsets", &toolsets);
                    }
                    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
                        {"name": "gitlab_find_action", "arguments": {"query": "close an issue that is a duplicate"}}});
                    let request = request
                        .header("content-type", "application/json")
                        .header("accept", "application/json, text/event-stream")
                        .body(body.to_string());
                    made.fetch_add(1, Ordering::Relaxed);
                    // A refusal is an answer; so is the end of a connection that made room.
                    if request.send().await.is_ok_and(|response| response.status() == 200) {
                        accepted.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Outcome::Ok(())
            })
        })
        .collect();
    tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await?;
    done.store(true, Ordering::Relaxed);
    for flood in floods {
        flood.await??;
    }
    Ok(format!("{} requests, {} accepted", made.load(Ordering::Relaxed), accepted.load(Ordering::Relaxed)))
}

/// Finds of one caller beside a flood; with the requests of the flood.
async fn finds_beside(url: &str, flood: Option<Flood>) -> Outcome<(Vec<Duration>, String)> {
    let other = Caller::new(url, 1)?;
    // GitLab accepts the token of the caller that is measured.
    other.execute().await?;
    let program = flood.map(|flood| FloodProgram::start(url, flood)).transpose()?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (mut times, started) = (Vec::new(), Instant::now());
    for number in (0..50).take_while(|_| started.elapsed() < MAX_MEASURED) {
        times.push(other.find(number).await?);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok((times, program.map_or(Ok(String::new()), FloodProgram::stop)?))
}

/// Finds of one caller beside connections that have sent this much and then wait.
async fn finds_beside_waiting(
    server: &Server,
    count: usize,
    sent: impl Fn(usize) -> Vec<u8>,
) -> Outcome<Vec<Duration>> {
    let address = server.url.trim_start_matches("http://").trim_end_matches("/mcp");
    let other = Caller::new(&server.url, 1)?;
    let mut waiting = Vec::new();
    for number in 0..count {
        let mut stream = tokio::net::TcpStream::connect(address).await?;
        // The server may close the connection before all is sent.
        let sending = stream.write_all(&sent(number)).await;
        waiting.push((stream, sending));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (mut times, started) = (Vec::new(), Instant::now());
    for number in (0..50).take_while(|_| started.elapsed() < MAX_MEASURED) {
        times.push(other.find(number).await?);
    }
    Ok(times)
}

/// The beginning of a request with a body of `size` bytes, all but the last of it.
fn unfinished(number: usize, size: usize) -> Vec<u8> {
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nPRIVATE-TOKEN: glpat-unfinished-{number}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {size}\r\n\r\n"
    );
    [head.into_bytes(), vec![b' '; size - 1]].concat()
}

fn print_finds(what: &str, times: &mut [Duration], server: &Server) -> Outcome<()> {
    let (half, most) = (percentile(times, 0.5), percentile(times, 0.99));
    let (resident, peak) = (server.resident()?, server.peak()?);
    println!("{what}: find p50 {half:.1} ms, p99 {most:.1} ms; {resident:.0} MiB, at most {peak:.0}");
    Ok(())
}

/// Finds of one caller beside each flood, each on a server of its own with the default rate.
async fn floods(gitlab: &str) -> Outcome<()> {
    for flood in [None, Some(Flood::OneCaller), Some(Flood::Narrowings), Some(Flood::MadeUpTokens)] {
        let server = Server::start(gitlab, "50")?;
        let (mut times, made) = finds_beside(&server.url, flood).await?;
        print_finds(&format!("{flood:?}, {made}"), &mut times, &server)?;
    }
    let server = Server::start(gitlab, "50")?;
    let mut times = finds_beside_waiting(&server, 1_000, |_| b"POST /mcp HTTP/1.1\r\nHo".to_vec()).await?;
    print_finds("1,000 half-open heads", &mut times, &server)?;
    let server = Server::start(gitlab, "50")?;
    let mut times = finds_beside_waiting(&server, 1_000, |number| unfinished(number, 30_000)).await?;
    print_finds("1,000 unfinished bodies of 30 kB", &mut times, &server)?;
    let server = Server::start(gitlab, "50")?;
    let mut times = finds_beside_waiting(&server, 50, |number| unfinished(number, 6 * 1024 * 1024)).await?;
    print_finds("50 unfinished bodies of 6 MiB", &mut times, &server)?;
    Ok(())
}

#[tokio::main]
async fn main() -> Outcome<()> {
    // The client's TLS needs a provider, although nothing here is encrypted.
    rustls::crypto::ring::default_provider().install_default().map_err(|_| "a second provider")?;
    let arguments: Vec<_> = std::env::args().collect();
    if let [_, first, url, kind] = &arguments[..]
        && first == FLOOD
    {
        let kinds = [Flood::OneCaller, Flood::Narrowings, Flood::MadeUpTokens];
        let kind = kinds.into_iter().find(|flood| format!("{flood:?}") == *kind).ok_or("no such flood")?;
        println!("{}", flood(url, kind).await?);
        return Ok(());
    }
    let calls = std::env::var("GITLAB_MCP_LOAD").map_or(Ok(CALLS), |calls| calls.parse())?;
    let gitlab = gitlab().await?;
    floods(&gitlab).await?;
    if calls == 0 {
        return Ok(());
    }
    let server = Server::start(&gitlab, "10000")?;
    let callers = (0..CALLERS).map(|number| Caller::new(&server.url, number)).collect::<Outcome<Vec<_>>>()?;
    let mut alone = Vec::new();
    for number in 0..100 {
        alone.push(callers[0].find(number).await?);
    }
    let before = server.resident()?;
    println!(
        "find alone: p50 {:.1} ms, p99 {:.1} ms",
        percentile(&mut alone, 0.5),
        percentile(&mut alone, 0.99)
    );
    let started = Instant::now();
    let (mut executes, mut finds) = load(&callers, calls).await?;
    let took = started.elapsed().as_secs_f64();
    let (middle, made) = (server.resident()?, executes.len() + finds.len());
    println!("{made} calls of {CALLERS} callers in {took:.0} s");
    println!(
        "execute: p50 {:.1} ms, p99 {:.1} ms",
        percentile(&mut executes, 0.5),
        percentile(&mut executes, 0.99)
    );
    println!("find: p50 {:.1} ms, p99 {:.1} ms", percentile(&mut finds, 0.5), percentile(&mut finds, 0.99));
    load(&callers, calls / 5).await?;
    let after = server.resident()?;
    println!("resident: {before:.1} MiB before, {middle:.1} MiB after, {after:.1} MiB after a fifth more");
    let (mut beside, flood) = finds_beside(&server.url, Some(Flood::OneCaller)).await?;
    print_finds(&format!("Without a limit of calls in a second, {flood}"), &mut beside, &server)?;
    if after > middle * 1.15 {
        return Err(format!("memory grows: {middle:.1} to {after:.1} MiB").into());
    }
    Ok(())
}
