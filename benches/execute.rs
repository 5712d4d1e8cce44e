//! What an execute costs over the bare HTTP call: the same read of the sandbox by the tools and by a plain HTTP
//! client, one after the other. The answers are asserted to be the same before they are timed.
//!
//! `cargo bench --bench execute`

// A bench that is wrong may stop where it is wrong.
#![allow(clippy::indexing_slicing)]

use std::time::{Duration, Instant};

use gitlab_mcp::documentation::start_sandbox;
use gitlab_mcp::gitlab::{self, Secret, Token};
use gitlab_mcp::tools::{Audit, ExecuteRequest, ToolSettings, Tools, View};
use gitlab_mcp_sandbox::Sandbox;
use serde_json::{Value, json};
use url::Url;

const ROUNDS: usize = 500;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn tools(url: &str) -> Outcome<Tools> {
    let mut settings = gitlab::ClientSettings::new(Url::parse(url)?);
    settings.credential = Some(Token::Private(Secret::new(Sandbox::TOKEN.to_owned())).into());
    let settings = ToolSettings {
        gitlab: settings,
        policy: Default::default(),
        quick_actions: Default::default(),
        project: None,
        ssh_host: None,
        audit_file: None,
        audit_user: false,
        max_bytes: 1_000_000,
        audit: Audit::Off,
        files_dir: None,
        capabilities: Default::default(),
        local_hints: true,
        read_tool: false,
        confirm_key: None,
    };
    Ok(Tools::new(settings)?)
}

async fn bare(http: &reqwest::Client, url: &str) -> Outcome<Value> {
    let url = format!("{url}/api/v4/projects/acme%2Fwidget/issues/7");
    let response = http.get(url).header("PRIVATE-TOKEN", Sandbox::TOKEN).send().await?;
    Ok(serde_json::from_slice(&response.bytes().await?)?)
}

fn p50(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[allow(clippy::print_stdout)]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let sandbox = start_sandbox(None, None).await?;
    let tools = tools(sandbox.url())?;
    let http = reqwest::Client::builder().no_proxy().build()?;
    let params = json!({"fullPath": "acme/widget", "iid": 7}).as_object().cloned().unwrap_or_default();
    let mut request = ExecuteRequest { action: "issue.get".to_owned(), params, ..ExecuteRequest::default() };

    request.view = Some(View::Full);
    let answer = tools.execute(&request).await?;
    assert_eq!(answer.structured["data"], bare(&http, sandbox.url()).await?);

    request.view = None;
    let (mut through, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        tools.execute(&request).await?;
        through.push(start.elapsed());
        let start = Instant::now();
        bare(&http, sandbox.url()).await?;
        without.push(start.elapsed());
    }
    let (through, without) = (p50(through), p50(without));
    println!(
        "execute p50 {through:.1?}, bare HTTP p50 {without:.1?}, more {:.1?}",
        through.saturating_sub(without)
    );
    Ok(())
}
