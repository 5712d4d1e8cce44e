//! The generator: GitLab's OpenAPI file, its GraphQL schema, `catalog/curation` and `catalog/rules.toml` to `catalog/actions`,
//! `catalog/fragments.graphql`, `catalog/types.txt` and `catalog/SOURCE.toml`.
//! Byte-identical on every run; `--check` fails with a diff where what is committed has drifted.

mod actions;
mod curation;
mod graphql;
mod naming;
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
mod untrained;

use std::io::{BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use gitlab_mcp::catalog::Catalog;
use gitlab_mcp::search::Tokenizer;

/// Writes `catalog/actions`, `catalog/fragments.graphql` and `catalog/SOURCE.toml` from GitLab's OpenAPI file, its
/// GraphQL schema, `catalog/curation` and `catalog/rules.toml`.
#[derive(Parser)]
#[command(name = "catalog_gen", version)]
struct Arguments {
    /// GitLab's OpenAPI document (`doc/api/openapi/openapi_v3.yaml` of its repository).
    #[arg(long, value_name = "FILE", required_unless_present_any = ["tokens", "vectors"])]
    openapi: Option<PathBuf>,
    /// GitLab's GraphQL schema, as SDL.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["tokens", "vectors"])]
    graphql: Option<PathBuf>,
    /// The catalog's folder.
    #[arg(long, value_name = "DIR", default_value = "catalog")]
    catalog: PathBuf,
    /// The GitLab version the OpenAPI document belongs to, written to SOURCE.toml. Kept as it was where not given.
    #[arg(long, value_name = "VERSION")]
    gitlab_version: Option<String>,
    /// The OpenAPI document's date, written to SOURCE.toml. Kept as it was where not given.
    #[arg(long, value_name = "DATE")]
    dated: Option<String>,
    /// The same two of the GraphQL schema.
    #[arg(long, value_name = "VERSION")]
    graphql_version: Option<String>,
    #[arg(long, value_name = "DATE")]
    graphql_dated: Option<String>,
    /// Write nothing; fail with a diff where the committed files differ from what would be written.
    #[arg(long, conflicts_with = "stats")]
    check: bool,
    /// Write nothing; print what the catalog holds.
    #[arg(long)]
    stats: bool,
    /// Write nothing; print each summary of the OpenAPI document as a request with its operations, as
    /// `gitlab-mcp eval` reads cases.
    #[arg(long, conflicts_with_all = ["stats", "check"])]
    requests: bool,
    /// Write nothing; print the encoder's input for each line of standard input. catalog/training/train.py trains with it.
    #[arg(long, exclusive = true)]
    tokens: bool,
    /// Give each action that no training knows a vector of its own texts, in learned/untrained.bin. It takes the actions
    /// that this program was built with.
    #[arg(long, conflicts_with_all = ["openapi", "graphql", "stats", "check", "requests", "tokens"])]
    vectors: bool,
}

/// Why nothing was generated. Each names the file, operation or id that is wrong and what would mend it.
#[derive(Debug, thiserror::Error)]
pub enum GeneratorError {
    #[error("{path}: cannot be read")]
    Read { path: String, source: std::io::Error },
    #[error("{path}: cannot be written")]
    Write { path: String, source: std::io::Error },
    #[error("{path}: {reason}")]
    Malformed { path: String, reason: String },
    #[error("{} faults in the catalog:\n{}", .0.len(), .0.join("\n"))]
    Faults(Vec<String>),
    #[error("the texts cannot be tokenized: {0}")]
    Tokens(String),
    #[error("no vectors for actions that no training knows: {0}")]
    Vectors(String),
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(drifted) => ExitCode::from(u8::from(drifted)),
        Err(error) => {
            output::complain(&error);
            ExitCode::from(2)
        }
    }
}

/// A file that clap requires unless `--tokens` is given.
fn given(file: &Option<PathBuf>) -> &Path {
    file.as_deref().unwrap_or(Path::new(""))
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

/// Whether the committed catalog has drifted; always false unless `--check` asks.
fn run(arguments: &Arguments) -> Result<bool, GeneratorError> {
    if arguments.tokens {
        tokenize().map_err(|error| GeneratorError::Tokens(error.to_string()))?;
        return Ok(false);
    }
    if arguments.vectors {
        let count = untrained::write(&arguments.catalog)?;
        let _ = writeln!(
            std::io::stdout(),
            "{count} actions that no training knows have a vector of their texts"
        );
        return Ok(false);
    }
    if arguments.requests {
        // A reader that closes the pipe has read enough.
        let _ = std::io::stdout().write_all(openapi::requests(given(&arguments.openapi))?.as_bytes());
        return Ok(false);
    }
    let document = openapi::read(given(&arguments.openapi))?;
    let curation = curation::read(&arguments.catalog.join("curation"))?;
    let sdl = graphql::Sdl::read(given(&arguments.graphql))?;
    let mut found = graphql::find(&sdl, &curation);
    let fragments = std::mem::take(&mut found.fragments);
    let types = std::mem::take(&mut found.types);
    let schema = output::Schema::new(&sdl, &found);
    let used_names = graphql::used_names(&sdl, &curation);
    let mut actions = actions::build(&document.operations, found, &used_names, &curation)?;
    rules::read(&arguments.catalog.join("rules.toml"))?.apply(&mut actions)?;
    if arguments.stats {
        stats::print(&document, &schema, &actions, &curation);
        return Ok(false);
    }
    let source = output::source(&arguments.catalog, &document, schema, arguments)?;
    let files = output::render(&actions, (&fragments, &types), &curation, &source);
    if arguments.check {
        return output::check(&arguments.catalog, &files);
    }
    output::write(&arguments.catalog, &files)?;
    Ok(false)
}
