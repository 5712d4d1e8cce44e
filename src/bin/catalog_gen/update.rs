//! Updates to a new GitLab version: the generated files, the vectors of new actions, and a report.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use crate::api_files::ApiFiles;
use crate::error::GeneratorError;
use crate::files::load_toml;
use crate::generated::Generated;
use crate::kept::{Kept, KeptSources};
use crate::older::OlderFiles;
use crate::versions::Versions;
use crate::{changes, documentation, graphql, kept, openapi, output, rules, vectors, work_list};

/// Generates, embeds new actions, and prints what changed and the remaining tasks. With a new version, additions to the
/// catalog are marked as introduced after the old one.
pub fn run(
    catalog: &Path,
    files: &ApiFiles,
    versions: &Versions,
    keep: Option<&OlderFiles>,
    is_preview: bool,
) -> Result<(), GeneratorError> {
    let before = output::load_actions(catalog)?;
    let known = output::gitlab_version(catalog)?;
    let written = openapi::load(&files.openapi(catalog)?)?.version;
    let version = written.as_ref().or(versions.gitlab_version.as_ref());
    let version = version.and_then(|written| written.parse().ok());
    let is_newer = version.is_some_and(|version| version != known);
    let mut kept = Kept::load(catalog)?;
    if let Some(older) = keep {
        let sources = KeptSources {
            openapi: &files.openapi(catalog)?,
            graphql: &kept.schema(&files.graphql(catalog)?)?,
            version: version.unwrap_or(known),
            older,
        };
        let rules = load_toml::<rules::Rules>(&catalog.join("rules.toml"))?.into_build();
        kept = kept::extend(&kept, &sources, &rules.graphql)?;
        if !is_preview {
            output::write_over(catalog, &kept.files())?;
        }
    }
    let older = is_newer.then_some((before.as_slice(), known));
    let mut out = std::io::stdout().lock();
    let generated = match Generated::build_over(catalog, files, &kept, older) {
        // Curation of removed operations is a fault; the report lists the operations.
        Err(GeneratorError::Faults(faults)) => {
            for line in changes::operations(&before, &operation_names(catalog, files, &kept)?) {
                writeln!(out, "{line}")?;
            }
            return Err(GeneratorError::Faults(faults));
        }
        generated => generated?,
    };
    let todo = work_list::tables(&generated.actions, &generated.curation, &generated.descriptions);
    for line in changes::actions(&before, &generated.actions).into_iter().chain(todo) {
        writeln!(out, "{line}")?;
    }
    if is_preview {
        return Ok(());
    }
    let source = generated.source(catalog, versions)?;
    output::write(catalog, &generated.render(&source))?;
    documentation::write(catalog, &source.figures())?;
    let embedded = vectors::write(catalog, &generated.actions)?;
    writeln!(out, "{embedded} actions that the training does not know have a vector")?;
    Ok(())
}

/// Names of all operations in GitLab's files.
fn operation_names(
    catalog: &Path,
    files: &ApiFiles,
    kept: &Kept,
) -> Result<BTreeSet<String>, GeneratorError> {
    let rules = load_toml::<rules::Rules>(&catalog.join("rules.toml"))?.into_build();
    let document = openapi::load(&files.openapi(catalog)?)?;
    let own = kept.operations()?;
    let rest =
        document.operations.iter().chain(&own).map(|raw| format!("{} {}", raw.method.name(), raw.path));
    let sdl = kept.schema(&files.graphql(catalog)?)?;
    Ok(rest.chain(graphql::operation_names(&sdl, &rules.graphql)).collect())
}
