//! Commands for maintainers: the generator (from GitLab's OpenAPI document, its GraphQL schema, `catalog/curation` and
//! `catalog/rules.toml` to `catalog/actions`, `catalog/fragments.graphql`, `catalog/types.txt` and
//! `catalog/SOURCE.toml`), the vectors of new actions, and the evaluation of the finder. Generated files are
//! byte-identical on every run.

mod action_ids;
mod actions;
mod answers;
mod api_files;
mod base_risk;
mod changes;
mod curate;
mod curation;
mod documentation;
mod duplicate_risk;
mod error;
mod eval;
mod evaluate;
mod files;
mod generated;
mod graphql;
mod install_links;
mod kept;
mod member;
mod naming;
mod older;
mod openapi;
mod output;
mod own_params;
mod packages;
mod paths;
mod place_rules;
mod references;
mod risk_rules;
mod rule_params;
mod rule_target;
mod rules;
mod shapes;
mod stats;
mod summary;
#[cfg(test)]
mod tests;
mod update;
mod vectors;
mod versions;
mod work_list;

use std::io::{BufRead, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use gitlab_mcp::catalog::{Audience, Catalog, example};
use gitlab_mcp::search::Tokenizer;
use serde_json::json;

use crate::api_files::ApiFiles;
use crate::error::GeneratorError;
use crate::eval::EvalError;
use crate::evaluate::EvalArguments;
use crate::generated::Generated;
use crate::versions::Versions;

/// Maintains the catalog and measures the finder
#[derive(Parser)]
#[command(name = "catalog_gen", version)]
struct Arguments {
    /// The catalog's folder
    #[arg(long, value_name = "DIR", default_value = "catalog", global = true)]
    catalog: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the generated files of the catalog
    Generate {
        #[command(flatten)]
        files: ApiFiles,
        #[command(flatten)]
        versions: Versions,
        /// Write nothing; exit with 1 and a diff if the committed files are out of date
        #[arg(long)]
        check: bool,
    },
    /// Update to a new GitLab version: generate, embed new actions, and report added and removed ids
    Update {
        #[command(flatten)]
        files: ApiFiles,
        #[command(flatten)]
        versions: Versions,
        /// Files of an older GitLab: operations that only they have stay in the catalog, by `catalog/kept`
        #[arg(long, value_name = "VERSION=FOLDER")]
        keep: Option<older::OlderFiles>,
        /// Print the list of remaining tasks and write nothing
        #[arg(long)]
        preview: bool,
    },
    /// Write changed texts of `catalog/curation` into the generated files, without GitLab's files
    Curate {
        /// Write nothing; exit with 1 if the texts differ
        #[arg(long)]
        check: bool,
    },
    /// Write the manifests of the packages in `.release`, and the installation links of the documentation
    Packages {
        /// Write nothing; exit with 1 and a diff if the committed files are out of date
        #[arg(long)]
        check: bool,
    },
    /// Print figures of the catalog
    Stats {
        #[command(flatten)]
        files: ApiFiles,
    },
    /// Print each summary of the OpenAPI document as a request with its operations, in the case format of `eval`
    Requests {
        #[command(flatten)]
        files: ApiFiles,
    },
    /// Print the encoder's input for each line of standard input; catalog/training/train.py trains with it
    Tokens,
    /// Embed the texts of actions without a trained vector, into learned/untrained.bin
    Vectors,
    /// Print the example call of each ranked action, one JSON object per line
    Examples,
    /// Evaluate the finder on written cases
    Eval(EvalArguments),
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(is_same) => ExitCode::from(u8::from(!is_same)),
        Err(error) => {
            error::print_error(&error);
            ExitCode::from(if matches!(error, GeneratorError::Eval(EvalError::Fell(_))) { 1 } else { 2 })
        }
    }
}

/// Runs a command; false if `--check` found a difference.
fn run(arguments: &Arguments) -> Result<bool, GeneratorError> {
    let catalog = &arguments.catalog;
    match &arguments.command {
        Command::Generate { files, versions, check } => {
            let generated = Generated::build(catalog, files)?;
            let source = generated.source(catalog, versions)?;
            let files = generated.render(&source);
            if *check {
                let is_documented = documentation::check(catalog, &source.figures())?;
                return Ok(output::check(catalog, &files)? && is_documented);
            }
            output::write(catalog, &files)?;
            documentation::write(catalog, &source.figures())?;
        }
        Command::Update { files, versions, keep, preview } => {
            update::run(catalog, files, versions, keep.as_ref(), *preview)?;
        }
        Command::Curate { check } => return curate::run(catalog, *check),
        Command::Packages { check } => return packages::run(catalog, *check),
        Command::Stats { files } => {
            let generated = Generated::build(catalog, files)?;
            stats::print(&generated.document, &generated.schema, &generated.actions, &generated.curation);
        }
        Command::Requests { files } => {
            std::io::stdout().write_all(openapi::requests(&files.openapi(catalog)?)?.as_bytes())?;
        }
        Command::Tokens => tokenize().map_err(|error| GeneratorError::Tokens(error.to_string()))?,
        Command::Vectors => {
            let count = vectors::write(catalog, &output::load_actions(catalog)?)?;
            writeln!(std::io::stdout(), "{count} actions that the training does not know have a vector")?;
        }
        Command::Examples => print_examples().map_err(|error| GeneratorError::Finder(error.to_string()))?,
        Command::Eval(arguments) => evaluate::run(arguments, &mut std::io::stdout().lock())?,
    }
    Ok(true)
}

/// Prints the encoder's input for each line of standard input.
fn tokenize() -> Result<(), Box<dyn std::error::Error>> {
    let tokenizer = Tokenizer::open(&Catalog::embedded()?)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        writeln!(out, "{}", tokenizer.encoder_tokens(&line?).join(" "))?;
    }
    Ok(out.flush()?)
}

/// Prints `{"action": …, "params": …}` for each ranked action of the embedded catalog.
fn print_examples() -> Result<(), Box<dyn std::error::Error>> {
    let catalog = Catalog::embedded()?;
    let words = catalog.words()?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    for action in catalog.actions() {
        let action = action?;
        if action.is_offered() && action.audience == Audience::Person {
            writeln!(out, "{}", json!({"action": action.id, "params": example(&action, words)}))?;
        }
    }
    Ok(out.flush()?)
}
