//! Overrides of tool, action and parameter descriptions: from a file, and from variables that are named after what they
//! describe.

use std::ffi::OsString;
use std::path::Path;

use super::error::ConfigError;
use super::misspelt::is_setting;
use super::sources::{Sources, plain_text, read_file, syntax};
use super::table::{
    CUSTOMIZE, META_PARAMS, META_SPLIT, READ_TOOL, SCHEMA_MODE, STRUCTURED_CONTENT, TOOL_SURFACE,
};
use crate::surface::{Level, Override, SurfaceSettings};

/// Overrides from environment variables, in the order of their names.
///
/// # Errors
/// A description that is not text.
pub(super) fn from_variables(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Vec<Override>, ConfigError> {
    let mut found = Vec::new();
    for (name, value) in variables {
        // Skip variables whose names are not UTF-8; ours are ASCII.
        let Some(name) = name.to_str() else { continue };
        let level = Level::ALL.iter().find_map(|(level, prefix, _)| {
            Some((*level, *prefix, name.strip_prefix(prefix)?)).filter(|(.., rest)| !rest.is_empty())
        });
        let Some((level, prefix, rest)) = level.filter(|_| !is_setting(name)) else { continue };
        let text = value.into_string().map_err(|_| ConfigError::Encoding(name.to_owned()))?;
        if !text.trim().is_empty() {
            found.push((name.to_owned(), Override::new(level, rest, text, prefix, "")));
        }
    }
    // Sorted, so that precedence does not depend on the order of the environment.
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found.into_iter().map(|(_, change)| change).collect())
}

/// Settings of the surface.
pub(super) fn surface(sources: &Sources<'_>) -> Result<SurfaceSettings, ConfigError> {
    let overrides = match sources.parse(&CUSTOMIZE)? {
        Some(path) => parse_overrides(&path, &read_file(&path, CUSTOMIZE.name)?)?,
        None => Vec::new(),
    };
    Ok(SurfaceSettings {
        kind: sources.parse_required(&TOOL_SURFACE)?,
        params: sources.parse_required(&META_PARAMS)?,
        split: sources.parse_required(&META_SPLIT)?,
        read_tool: sources.parse_required(&READ_TOOL)?,
        structured: sources.parse_required(&STRUCTURED_CONTENT)?,
        mode: sources.parse_required(&SCHEMA_MODE)?,
        overrides,
    })
}

/// Parses the overrides of a file: the tables `tools`, `actions` and `params`.
fn parse_overrides(path: &Path, text: &str) -> Result<Vec<Override>, ConfigError> {
    let whole: toml::Table = toml::from_str(text).map_err(|error| syntax(path, text, &error))?;
    let after = format!(" in {}", path.display());
    let mut found = Vec::new();
    for (table, entries) in whole {
        let level = Level::ALL.iter().find(|(.., name)| *name == table).map(|(level, ..)| *level);
        let (Some(level), toml::Value::Table(entries)) = (level, entries) else {
            return Err(ConfigError::NoTable { file: path.to_owned(), key: table });
        };
        for (name, value) in entries {
            let shape = || ConfigError::Shape { file: path.to_owned(), key: name.clone() };
            let text = plain_text(&value).ok_or_else(shape)?;
            found.push(Override::new(level, &name, text, &format!("[{table}] "), &after));
        }
    }
    Ok(found)
}
