//! The commands that need no GitLab: the catalog, the finder's measurements, completions.

use std::io::Write;

use super::{Arguments, EvalArguments, Failure, Offline, catalog};
use crate::eval;

/// Runs one of them.
pub fn run(command: Offline, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        Offline::Catalog { view } => catalog::run(view, out),
        Offline::Eval(arguments) => Ok(eval::run(&options(arguments), out)?),
        Offline::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::grammar(), "gitlab-mcp", &mut script);
            Ok(out.write_all(&script)?)
        }
    }
}

fn options(arguments: EvalArguments) -> eval::Options {
    eval::Options { cases: arguments.cases, openapi: arguments.openapi, json: arguments.json }
}
