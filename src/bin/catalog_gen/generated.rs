//! The catalog as generated from GitLab's files, curation and rules.

use std::collections::BTreeMap;
use std::path::Path;

use gitlab_mcp::catalog::{Action, Version};

use crate::api_files::ApiFiles;
use crate::error::GeneratorError;
use crate::files::load_toml;
use crate::kept::Kept;
use crate::versions::Versions;
use crate::{actions, curation, graphql, kept, older, openapi, output, rules};

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
    /// GitLab's description of each operation, for the maintainer's eyes only.
    pub descriptions: BTreeMap<String, String>,
}

impl Generated {
    pub fn build(catalog: &Path, files: &ApiFiles) -> Result<Generated, GeneratorError> {
        Generated::build_over(catalog, files, &Kept::load(catalog)?, None)
    }

    /// Marks operations missing from an older version as introduced after it.
    pub fn build_over(
        catalog: &Path,
        files: &ApiFiles,
        kept: &Kept,
        before: Option<(&[Action], Version)>,
    ) -> Result<Generated, GeneratorError> {
        let document = openapi::load(&files.openapi(catalog)?)?;
        let curation = curation::load(catalog)?;
        let sdl =
            kept.schema(&files.graphql(catalog)?)?.with_inputs(&curation.rules.graphql.deprecated_fields);
        let mut found = graphql::find(&sdl, &curation);
        let fragments = std::mem::take(&mut found.fragments);
        let types = std::mem::take(&mut found.types);
        let mut descriptions = std::mem::take(&mut found.descriptions);
        let rest = |raw: &openapi::RawOperation| format!("{} {}", raw.method.name(), raw.path);
        descriptions.extend(document.operations.iter().map(|raw| (rest(raw), raw.summary.clone())));
        let schema = output::Schema::new(&sdl, &found);
        let used_names = graphql::used_names(&sdl, &curation);
        let formats = kept.formats()?;
        let mut operations: Vec<_> = document.operations.iter().cloned().chain(kept.operations()?).collect();
        operations.iter_mut().for_each(|raw| kept::apply_formats(raw, &formats));
        let mut actions = actions::build(&operations, found, &used_names, &curation)?;
        let mut since = older::load(catalog)?;
        if !files.also.is_empty() {
            since.extend(older::compare(&actions, &files.also, &curation.rules.graphql)?);
        }
        // Before the rules, which drop marks of versions before the oldest.
        if let Some((before, version)) = before {
            since.extend(older::compare_actions(&actions, before, version));
        }
        older::apply(&mut actions, &since);
        load_toml::<rules::Rules>(&catalog.join("rules.toml"))?.apply(&mut actions)?;
        Ok(Generated { document, schema, curation, actions, fragments, types, since, descriptions })
    }

    pub fn source(&self, catalog: &Path, versions: &Versions) -> Result<output::Source, GeneratorError> {
        output::source(catalog, &self.document, &self.schema, &self.actions, versions)
    }

    pub fn render(&self, source: &output::Source) -> output::Files {
        let mut files = output::render(&self.actions, (&self.fragments, &self.types), &self.curation, source);
        files.insert("since.toml".to_owned(), older::render(&self.since));
        files
    }
}
