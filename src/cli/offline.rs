//! The commands that need no GitLab: the catalog, the finder's measurements, completions.

use std::io::{self, Write};

use super::{Arguments, EvalArguments, Failure, Offline};
use crate::catalog::Catalog;
use crate::eval::{self, EvalError};
use crate::search::Ranker;

/// Runs one of them.
pub fn run(command: Offline, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        Offline::Catalog { view } => super::catalog::run(view, out),
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
    let ranker = Ranker::open(&catalog).map_err(EvalError::Search)?;
    let options = eval::Options { cases: arguments.cases, openapi: arguments.openapi, answer_bytes: None };
    let report = eval::run(&catalog, &ranker, &options)?;
    if arguments.json {
        serde_json::to_writer(&mut *out, &report).map_err(io::Error::other)?;
        writeln!(out)?;
    } else {
        write!(out, "{report}")?;
    }
    Ok(())
}
