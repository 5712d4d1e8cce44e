//! A proxy that breaks every tenth response, in front of a GitLab that keeps what it is sent: what the answers claim is
//! compared with what is there at the end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use gitlab_mcp::documentation::start_sandbox;
use gitlab_mcp_sandbox::TOKEN;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::PATIENT;
use crate::support::client::{Client, execute};

/// Labels that are created, changed and deleted, with reads between.
const LABELS: usize = 60;

/// The writes that reached GitLab, each with its number.
type Writes = Arc<Mutex<BTreeMap<String, usize>>>;

/// One request of a connection as its head and its body.
async fn request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break at + 4;
        }
        let mut buffer = [0; 4096];
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = |line: &str| line.to_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok();
    let length = head.lines().find_map(length).unwrap_or_default();
    let mut body = bytes.split_off(end);
    while body.len() < length {
        let mut buffer = [0; 4096];
        let read = stream.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        body.extend_from_slice(&buffer[..read]);
    }
    Some((head, body))
}

/// Passes the requests of a connection on. Of every tenth the response is lost, after the sandbox has done what it says.
async fn pass_on(mut stream: TcpStream, to: String, count: Arc<AtomicUsize>, writes: Writes) {
    let http = reqwest::Client::new();
    while let Some((head, body)) = request(&mut stream).await {
        let mut words = head.split_whitespace();
        let (method, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
        if method != "GET" {
            let text = format!("{method} {path} {}", String::from_utf8_lossy(&body));
            *writes.lock().unwrap().entry(text).or_default() += 1;
        }
        let has_token = head.to_lowercase().contains("\nprivate-token: ");
        let sent = http
            .request(method.parse().unwrap(), format!("{to}{path}"))
            .header("PRIVATE-TOKEN", if has_token { TOKEN } else { "" })
            .header("Content-Type", "application/json")
            .body(body);
        let answer = sent.send().await.unwrap();
        let mut response = format!("HTTP/1.1 {} Said\r\n", answer.status().as_u16());
        for (name, value) in answer.headers() {
            if !["transfer-encoding", "content-length", "connection"].contains(&name.as_str()) {
                response.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap_or_default()));
            }
        }
        let body = answer.bytes().await.unwrap();
        let whole = [format!("{response}content-length: {}\r\n\r\n", body.len()).as_bytes(), &body].concat();
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        let kept = match (number % 10, number / 10 % 3) {
            (0, 0) => 0,
            (0, 1) => whole.len().min(12),
            (0, _) => whole.len() - body.len() / 2 - 1,
            _ => whole.len(),
        };
        if stream.write_all(&whole[..kept]).await.is_err() || kept < whole.len() {
            return;
        }
    }
}

/// The claim of an answer: done, not done, or not known.
fn claim(reply: &crate::support::client::Reply) -> Option<bool> {
    let error = &reply.structured["error"];
    match (reply.is_error, error["applied"].as_str()) {
        // Its answer was lost, and the object is as it was to become.
        (false, _) | (true, Some("yes")) => Some(true),
        (true, Some("unknown")) => None,
        (true, _) => Some(false),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_claim_is_wrong_behind_a_proxy_that_breaks_every_tenth_response() {
    // Another test of this process may have set it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let sandbox = start_sandbox(None, None).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (count, writes) = (Arc::new(AtomicUsize::new(0)), Writes::default());
    let (url, counted, seen) = (sandbox.url().to_string(), count.clone(), writes.clone());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(pass_on(
                stream,
                url.trim_end_matches('/').to_owned(),
                counted.clone(),
                seen.clone(),
            ));
        }
    });
    let claims = tokio::task::spawn_blocking(move || {
        let url = format!("http://{address}");
        let mut client =
            Client::connect(&[], &[("GITLAB_URL", url.as_str()), ("GITLAB_TOKEN", TOKEN), PATIENT]);
        let mut claims: Vec<[Option<bool>; 3]> = Vec::new();
        for number in 0..LABELS {
            let name = format!("oil-{number}");
            let params =
                json!({"fullPath": "acme/widget", "name": name, "color": "#112233", "scope": "project"});
            let made = claim(&execute(&mut client, "label.create", params));
            execute(&mut client, "issue.list", json!({"fullPath": "acme/widget"}));
            let params =
                json!({"fullPath": "acme/widget", "name": name, "description": "Oil", "scope": "project"});
            let changed = claim(&execute(&mut client, "label.update", params));
            let params = json!({"fullPath": "acme/widget", "name": name, "scope": "project"});
            let call = json!({"action": "label.delete", "params": params, "confirm": true});
            let deleted = match number % 2 {
                0 => claim(&client.call("gitlab_execute_action", call)),
                _ => Some(false),
            };
            claims.push([made, changed, deleted]);
        }
        client.close().well();
        claims
    });
    let claims = claims.await.unwrap();
    let list = format!("{}/api/v4/projects/1/labels?per_page=100", sandbox.url());
    let labels = reqwest::Client::new().get(list).header("PRIVATE-TOKEN", TOKEN).send().await.unwrap();
    let labels: Value = labels.json().await.unwrap();
    let found = |name: &str| labels.as_array().unwrap().iter().find(|label| label["name"] == name).cloned();
    let mut unknown = 0;
    for (number, [made, changed, deleted]) in claims.into_iter().enumerate() {
        let name = format!("oil-{number}");
        let label = found(&name);
        unknown += [made, changed, deleted].iter().filter(|claim| claim.is_none()).count();
        if deleted == Some(true) {
            assert!(label.is_none(), "{name} was deleted");
        }
        if deleted == Some(false) {
            assert!(made != Some(true) || label.is_some(), "{name} was created");
            assert!(made != Some(false) || label.is_none(), "{name} was not created");
            let is_changed = label.as_ref().is_some_and(|label| label["description"] == "Oil");
            assert!(changed.is_none() || changed == Some(is_changed), "{name}: {changed:?} {label:?}");
        }
    }
    for (write, times) in writes.lock().unwrap().iter() {
        assert_eq!(*times, 1, "sent {times} times: {write}");
    }
    let broken = count.load(Ordering::SeqCst) / 10;
    assert!(broken >= 20, "{broken} responses were broken");
    assert!(unknown < broken, "{unknown} outcomes of {broken} broken responses are not known");
}
