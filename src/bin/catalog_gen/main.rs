//! Commands for maintainers: the generator (from GitLab's OpenAPI document, its GraphQL schema, `catalog/curation` and
//! `catalog/rules.toml` to `catalog/actions`, `catalog/fragments.graphql`, `catalog/types.txt` and
//! `catalog/SOURCE.toml`), the vectors of new actions, and the evaluation of the finder. Generated files are
//! byte-identical on every run.

mod actions;
mod answers;
mod curate;
mod curation;
mod eval;
mod evaluate;
mod graphql;
mod naming;
mod older;
mod openapi;
mod output;
mod paths;
mod references;
mod risk;
mod rules;
mod shapes;
mod stats;
mod summary;
#[cfg(test)]
mod tests;
mod update;
mod vectors;

use std::io::{BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use gitlab_mcp::catalog::{Action, Audience, Catalog, Version, example};
use gitlab_mcp::search::Tokenizer;
use serde_json::json;

use crate::eval::EvalError;
use crate::evaluate::EvalArguments;

/// Environment variable with the folder of GitLab's two files, if no flag is given.
const FILES_VARIABLE: &str = "GITLAB_API_FILES";

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

/// GitLab's own files.
#[derive(Args)]
struct ApiFiles {
    /// GitLab's OpenAPI document, `doc/api/openapi/openapi_v3.yaml` of its repository [default:
    /// $GITLAB_API_FILES/openapi.yaml]
    #[arg(long, value_name = "FILE")]
    openapi: Option<PathBuf>,
    /// GitLab's GraphQL schema as SDL [default: $GITLAB_API_FILES/schema.graphql]
    #[arg(long, value_name = "FILE")]
    graphql: Option<PathBuf>,
    /// Files of an older GitLab: operations that they lack were introduced later. May be given several times
    #[arg(long, value_name = "VERSION=FOLDER")]
    also: Vec<older::OlderFiles>,
}

impl ApiFiles {
    fn openapi(&self) -> Result<PathBuf, GeneratorError> {
        find_file(&self.openapi, "--openapi", "openapi.yaml")
    }

    fn graphql(&self) -> Result<PathBuf, GeneratorError> {
        find_file(&self.graphql, "--graphql", "schema.graphql")
    }
}

fn find_file(given: &Option<PathBuf>, flag: &'static str, name: &str) -> Result<PathBuf, GeneratorError> {
    let default = || std::env::var_os(FILES_VARIABLE).map(|folder| Path::new(&folder).join(name));
    given.clone().or_else(default).ok_or(GeneratorError::NoFile { flag })
}

/// Versions and dates for SOURCE.toml; a missing one is left unchanged.
#[derive(Args)]
struct Versions {
    /// The GitLab version of the OpenAPI document
    #[arg(long, value_name = "VERSION")]
    gitlab_version: Option<String>,
    /// The date of the OpenAPI document
    #[arg(long, value_name = "DATE")]
    dated: Option<String>,
    /// The GitLab version of the GraphQL schema
    #[arg(long, value_name = "VERSION")]
    graphql_version: Option<String>,
    /// The date of the GraphQL schema
    #[arg(long, value_name = "DATE")]
    graphql_dated: Option<String>,
}

/// Error of a command. Each names the invalid file, operation or id.
#[derive(Debug, thiserror::Error)]
pub enum GeneratorError {
    #[error(
        "GitLab's file is missing: give {flag}, or set {FILES_VARIABLE} to a folder with openapi.yaml and schema.graphql"
    )]
    NoFile { flag: &'static str },
    #[error("{path}: cannot be read")]
    Read { path: String, source: std::io::Error },
    #[error("{path}: cannot be written")]
    Write { path: String, source: std::io::Error },
    #[error("{path}: {reason}")]
    Malformed { path: String, reason: String },
    #[error("{} faults in the catalog:\n{}", .0.len(), .0.join("\n"))]
    Faults(Vec<String>),
    #[error("cannot tokenize: {0}")]
    Tokens(String),
    #[error("cannot embed the texts of new actions: {0}")]
    Vectors(String),
    #[error("the finder cannot be opened: {0}")]
    Finder(String),
    #[error(transparent)]
    Eval(#[from] EvalError),
    #[error("standard output cannot be written")]
    Output(#[from] std::io::Error),
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(is_same) => ExitCode::from(u8::from(!is_same)),
        Err(error) => {
            output::complain(&error);
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
            let files = generated.render(catalog, versions)?;
            if *check {
                return output::check(catalog, &files);
            }
            output::write(catalog, &files)?;
        }
        Command::Update { files, versions, preview } => {
            update::run(catalog, files, versions, *preview)?;
        }
        Command::Curate { check } => return curate::run(catalog, *check),
        Command::Stats { files } => {
            let generated = Generated::build(catalog, files)?;
            stats::print(&generated.document, &generated.schema, &generated.actions, &generated.curation);
        }
        Command::Requests { files } => {
            std::io::stdout().write_all(openapi::requests(&files.openapi()?)?.as_bytes())?;
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

/// The generated catalog.
pub struct Generated {
    pub document: openapi::Document,
    pub schema: output::Schema,
    pub curation: curation::Curation,
    pub actions: Vec<Action>,
    fragments: Vec<String>,
    types: Vec<String>,
    /// The contents of since.toml.
    pub since: older::Marks,
}

impl Generated {
    fn build(catalog: &Path, files: &ApiFiles) -> Result<Generated, GeneratorError> {
        Generated::build_over(catalog, files, None)
    }

    /// Marks operations missing from an older version as introduced after it.
    fn build_over(
        catalog: &Path,
        files: &ApiFiles,
        before: Option<(&[Action], Version)>,
    ) -> Result<Generated, GeneratorError> {
        let document = openapi::load(&files.openapi()?)?;
        let curation = curation::load(catalog)?;
        let sdl = graphql::Sdl::load(&files.graphql()?)?;
        let mut found = graphql::find(&sdl, &curation);
        let fragments = std::mem::take(&mut found.fragments);
        let types = std::mem::take(&mut found.types);
        let schema = output::Schema::new(&sdl, &found);
        let used_names = graphql::used_names(&sdl, &curation);
        let mut actions = actions::build(&document.operations, found, &used_names, &curation)?;
        let mut since = older::load(catalog)?;
        if !files.also.is_empty() {
            since.extend(older::compare(&actions, &files.also, &curation.rules.graphql)?);
        }
        // Before the rules, which drop marks of versions before the oldest.
        if let Some((before, version)) = before {
            since.extend(older::compare_actions(&actions, before, version));
        }
        older::apply(&mut actions, &since);
        rules::load(&catalog.join("rules.toml"))?.apply(&mut actions)?;
        Ok(Generated { document, schema, curation, actions, fragments, types, since })
    }

    fn render(&self, catalog: &Path, versions: &Versions) -> Result<output::Files, GeneratorError> {
        let source = output::source(catalog, &self.document, &self.schema, &self.actions, versions)?;
        let mut files =
            output::render(&self.actions, (&self.fragments, &self.types), &self.curation, &source);
        files.insert("since.toml".to_owned(), older::render(&self.since));
        Ok(files)
    }
}
