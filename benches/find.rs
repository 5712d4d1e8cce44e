//! How long a find takes inside the ranker, and how long opening it takes. Each request's answer is asserted
//! before it is timed.
//!
//! `cargo bench --bench find`; with ten times the actions, nine of ten renamed:
//! `GITLAB_MCP_CATALOG_TIMES=10 cargo bench --bench find`

use std::hint::black_box;
use std::time::{Duration, Instant};

use gitlab_mcp::catalog::Catalog;
use gitlab_mcp::search::{Query, Ranker, Ranking};

/// Requests of every kind, with the first answer.
const REQUESTS: [(&str, &str); 12] = [
    ("list merge requests", "merge_request.list"),
    ("create an issue", "issue.create"),
    ("approve a merge request", "merge_request.approve"),
    ("rerun the pipeline", "pipeline.retry"),
    ("show the log of a job", "job.log"),
    ("rotate a project access token", "project_access_token.rotate"),
    ("merge requst lsit", "merge_request.list"),
    ("create new issue with labels and milestone", "issue.create"),
    ("issue.list", "issue.list"),
    ("GET /projects/:id/issues", "issue.list"),
    ("https://gitlab.com/acme/widget/-/merge_requests/7", "merge_request.get"),
    ("block @alice", "user.block"),
];

const ROUNDS: usize = 500;
const OPENINGS: usize = 50;

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let catalog = Catalog::embedded()?;
    let ranker = Ranker::open(&catalog)?;
    for (request, id) in REQUESTS {
        let found = find(&catalog, &ranker, request)?;
        let first = found.hits.first().map(|hit| hit.action.id.as_str());
        assert_eq!(first, Some(id), "{request}");
    }
    let before = resident();
    report("open", &mut opened(&catalog)?);
    println!("{} actions; resident {:.1} MiB", catalog.len(), before);
    for (request, _) in REQUESTS {
        report(request, &mut timed(&catalog, &ranker, &[request])?);
    }
    let all: Vec<&str> = REQUESTS.iter().map(|(request, _)| *request).collect();
    report("all requests", &mut timed(&catalog, &ranker, &all)?);
    Ok(())
}

fn find(catalog: &Catalog, ranker: &Ranker, words: &str) -> Result<Ranking, Box<dyn std::error::Error>> {
    Ok(ranker.rank(catalog, &Query { words, limit: 5, domain: None, allow: &|_| true, explain: false })?)
}

fn timed(
    catalog: &Catalog,
    ranker: &Ranker,
    requests: &[&str],
) -> Result<Vec<Duration>, Box<dyn std::error::Error>> {
    let mut times = Vec::with_capacity(ROUNDS * requests.len());
    for _ in 0..ROUNDS {
        for request in requests {
            let start = Instant::now();
            black_box(find(catalog, ranker, request)?);
            times.push(start.elapsed());
        }
    }
    Ok(times)
}

/// A ranker needs the words of a fresh catalog, so both are opened.
fn opened(catalog: &Catalog) -> Result<Vec<Duration>, Box<dyn std::error::Error>> {
    let actions = catalog.len();
    let mut times = Vec::with_capacity(OPENINGS);
    for _ in 0..OPENINGS {
        let start = Instant::now();
        let fresh = Catalog::embedded()?;
        black_box(Ranker::open(&fresh)?);
        times.push(start.elapsed());
        assert_eq!(fresh.len(), actions);
    }
    Ok(times)
}

/// Of this process, in MiB, with the catalog and the ranker open; 0 where the system does not say.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().split(' ').next());
    kib.and_then(|kib| kib.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

#[allow(clippy::print_stdout)]
fn report(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
    println!("{what:<55} p50 {:>9.1?}  p99 {:>9.1?}", at(0.5), at(0.99));
}
