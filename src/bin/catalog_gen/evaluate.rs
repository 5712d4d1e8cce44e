//! The `eval` command: figures of the finder on written cases, compared with a saved run.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use gitlab_mcp::catalog::Catalog;
use gitlab_mcp::gitlab;
use gitlab_mcp::search::{Model, Ranker, SearchError};
use gitlab_mcp::tools::{self, FindRequest, Tools};
use url::Url;

use crate::error::GeneratorError;
use crate::eval::{self, Baseline, Comparison, EvalError, Report};

/// Arguments of `eval`.
#[derive(Debug, Args)]
pub struct EvalArguments {
    /// File of cases: a request, a tab, and the right operations separated by `|`; or, with the extension .jsonl, JSON
    /// lines with `request`, `right`, `kind`, `nothing` and `harmless`
    #[arg(long, value_name = "FILE", required = true)]
    pub cases: Vec<PathBuf>,
    /// Also measure two baselines: substring matching and plain BM25
    #[arg(long)]
    pub with_baselines: bool,
    /// Compare with a run saved by --json; fail if a figure fell by more than a point
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Print only the figures, not the missed requests
    #[arg(long)]
    pub figures: bool,
    /// Fit the ranking's weights to the cases and cross-validate them
    #[arg(long, conflicts_with_all = ["baseline", "with_baselines", "json"])]
    pub fit: bool,
    /// Rank with this model instead of the embedded one: a file like `catalog/learned/ranker.toml`
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}

/// Evaluates the finder, compares it with a saved run, or fits the weights.
pub fn run(arguments: &EvalArguments, out: &mut dyn Write) -> Result<(), GeneratorError> {
    let catalog = Catalog::embedded().map_err(EvalError::from)?;
    let model = match &arguments.model {
        Some(path) => Model::parse(&fs::read_to_string(path)?),
        None => Model::embedded(),
    };
    let model = model.map_err(SearchError::from).map_err(EvalError::Search)?;
    let ranker = Ranker::open_with(&catalog, model.clone()).map_err(EvalError::Search)?;
    let tools = Tools::new(unconnected()?).map_err(|error| GeneratorError::Finder(error.to_string()))?;
    let bytes = |query: &str| answer_bytes(&tools, query);
    let options = eval::Options {
        cases: arguments.cases.clone(),
        baselines: if arguments.with_baselines { Baseline::ALL.to_vec() } else { Vec::new() },
        answer_bytes: Some(&bytes),
    };
    if arguments.fit {
        return Ok(write!(out, "{}", eval::fit(&catalog, &eval::load_cases(&options)?, model)?)?);
    }
    let mut report = eval::run(&catalog, &ranker, &options)?;
    if arguments.figures {
        report.forget_requests();
    }
    if arguments.json {
        serde_json::to_writer(&mut *out, &report).map_err(io::Error::other)?;
        writeln!(out)?;
    } else {
        write!(out, "{report}")?;
    }
    match &arguments.baseline {
        Some(saved) => compare(saved, &report, arguments.json, out),
        None => Ok(()),
    }
}

/// Compares with a saved run and prints the differences; fails if a figure fell. With JSON it prints no differences.
fn compare(saved: &Path, report: &Report, json: bool, out: &mut dyn Write) -> Result<(), GeneratorError> {
    let comparison = Comparison::new(&eval::saved(saved)?, report);
    if !json {
        write!(out, "\n{comparison}")?;
    }
    let falls = comparison.falls();
    if falls.is_empty() { Ok(()) } else { Err(EvalError::Fell(falls).into()) }
}

/// Size in bytes of the response to a request at default settings.
fn answer_bytes(tools: &Tools, query: &str) -> usize {
    let request = FindRequest { query: query.to_owned(), ..FindRequest::default() };
    tools.find(&request).map_or_else(|error| error.text().len(), |answer| answer.text.len())
}

/// Creates tools that find but never execute.
fn unconnected() -> Result<tools::ToolSettings, GeneratorError> {
    let nowhere =
        Url::parse("http://localhost").map_err(|error| GeneratorError::Finder(error.to_string()))?;
    Ok(tools::ToolSettings {
        gitlab: gitlab::ClientSettings::new(nowhere),
        policy: Default::default(),
        quick_actions: Default::default(),
        project: None,
        ssh_host: None,
        audit_file: None,
        audit_user: false,
        max_bytes: usize::MAX,
        audit: tools::Audit::Off,
        files_dir: None,
        capabilities: tools::Capabilities::Minimal,
        local_hints: true,
        read_tool: false,
        confirm_key: None,
    })
}
