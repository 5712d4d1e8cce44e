//! The commands that need no GitLab: the catalog, the finder's measurements, completions.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::{Arguments, EvalArguments, Failure, Offline};
use crate::catalog::Catalog;
use crate::eval::{self, Baseline, Comparison, EvalError, Report};
use crate::gitlab;
use crate::search::{Model, Ranker, SearchError};
use crate::tools::{self, FindRequest, Tools};
use url::Url;

/// Runs one of them.
pub fn run(command: Offline, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        Offline::Catalog { view } => super::catalog::run(view, out),
        Offline::Agents { out: folder, client } => super::agents::run(client, &folder, out),
        Offline::Eval(arguments) => evaluate(arguments, out),
        Offline::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::grammar(), "gitlab-mcp", &mut script);
            Ok(out.write_all(&script)?)
        }
    }
}

fn evaluate(arguments: EvalArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let catalog = Catalog::embedded()?;
    let model = match &arguments.model {
        Some(path) => Model::parse(&fs::read_to_string(path)?),
        None => Model::embedded(),
    };
    let model = model.map_err(SearchError::from).map_err(EvalError::Search)?;
    let ranker = Ranker::open_with(&catalog, model.clone()).map_err(EvalError::Search)?;
    let tools = Tools::new(unconnected()?)?;
    let bytes = |query: &str| answer_bytes(&tools, query);
    let options = eval::Options {
        cases: arguments.cases,
        baselines: if arguments.beside { Baseline::ALL.to_vec() } else { Vec::new() },
        answer_bytes: Some(&bytes),
    };
    if arguments.fit {
        return Ok(write!(out, "{}", eval::fit(&catalog, &eval::read(&options)?, model)?)?);
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
    match arguments.baseline {
        Some(saved) => compare(&saved, &report, arguments.json, out),
        None => Ok(()),
    }
}

/// What moved since a saved run; an error where a figure fell. Beside JSON only the error is said.
fn compare(saved: &Path, report: &Report, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let comparison = Comparison::new(&eval::saved(saved)?, report);
    if !json {
        write!(out, "\n{comparison}")?;
    }
    let falls = comparison.falls();
    if falls.is_empty() { Ok(()) } else { Err(EvalError::Fell(falls).into()) }
}

/// The bytes of text that a model would get for a request, at the defaults.
fn answer_bytes(tools: &Tools, query: &str) -> usize {
    let request = FindRequest { query: query.to_owned(), ..FindRequest::default() };
    tools.find(&request).map_or_else(|error| error.text().len(), |answer| answer.text.len())
}

/// Tools that find and never execute.
fn unconnected() -> Result<tools::Settings, Failure> {
    let nowhere = Url::parse("http://localhost").map_err(Failure::Address)?;
    Ok(tools::Settings {
        gitlab: gitlab::Settings::new(nowhere),
        policy: Default::default(),
        quick_actions: Default::default(),
        project: None,
        max_bytes: usize::MAX,
        audit: tools::Audit::Off,
        files_dir: None,
        capabilities: tools::Capabilities::Minimal,
        local_hints: true,
    })
}
