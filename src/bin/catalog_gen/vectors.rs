//! Vectors for actions added after the last training: the normalized mean of the embeddings of their own texts.

use std::collections::BTreeSet;
use std::path::Path;

use gitlab_mcp::catalog::{Action, Catalog};
use gitlab_mcp::search::Tokenizer;

use crate::error::GeneratorError;

/// Paths within the catalog of the trained vectors and of the untrained ones.
const TRAINED: &str = "learned/actions.bin";
const UNTRAINED: &str = "learned/untrained.bin";

/// Writes a vector for each ranked action without a trained one; returns their number.
pub fn write(catalog: &Path, actions: &[Action]) -> Result<usize, GeneratorError> {
    let path = catalog.join(TRAINED);
    let trained = std::fs::read(&path)
        .map_err(|source| GeneratorError::Read { path: path.display().to_string(), source })?;
    let failed = |reason: &dyn std::fmt::Display| GeneratorError::Vectors(reason.to_string());
    let trained = names(&trained).ok_or_else(|| failed(&"learned/actions.bin has no names"))?;
    let embedded = Catalog::embedded().map_err(|error| failed(&error))?;
    let tokenizer = Tokenizer::open(&embedded).map_err(|error| failed(&error))?;
    let mut vectors: Vec<(String, Vec<f32>)> = Vec::new();
    for action in actions.iter().filter(|action| action.is_offered()) {
        let mut names = std::iter::once(&action.id).chain(&action.aliases);
        if !names.any(|name| trained.contains(name.as_str())) {
            let vector = tokenizer.vector(&own_texts(action)).map_err(|error| failed(&error))?;
            vectors.push((action.id.clone(), vector));
        }
    }
    let path = catalog.join(UNTRAINED);
    std::fs::write(&path, bytes(&vectors))
        .map_err(|source| GeneratorError::Write { path: path.display().to_string(), source })?;
    Ok(vectors.len())
}

/// Texts of an action as in training (`own_texts` in catalog/training/texts.py): the summary, the id and the aliases as
/// words, the phrases.
fn own_texts(action: &Action) -> Vec<String> {
    let names = std::iter::once(&action.id).chain(&action.aliases);
    let names = names.map(|name| name.replace(['.', '_'], " "));
    std::iter::once(action.summary.clone()).chain(names).chain(action.phrases.iter().cloned()).collect()
}

/// The names in a file of vectors; empty if the file is invalid.
fn names(bytes: &[u8]) -> Option<BTreeSet<&str>> {
    let size = u32::from_le_bytes(*bytes.get(8..12)?.first_chunk()?);
    let text = bytes.get(12..)?.get(..usize::try_from(size).ok()?)?;
    Some(std::str::from_utf8(text).ok()?.lines().collect())
}

/// Serializes vectors in the format of catalog/training/model.py: count, width, length of the names, the names by line,
/// a scale for each, and 8-bit components.
fn bytes(vectors: &[(String, Vec<f32>)]) -> Vec<u8> {
    const LARGEST: f32 = 127.0;
    let names: Vec<&str> = vectors.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join("\n");
    let width = vectors.first().map_or(0, |(_, vector)| vector.len());
    let sizes = [vectors.len(), width, names.len()].map(|size| size as u32);
    let mut bytes: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
    bytes.extend(names.as_bytes());
    let scale =
        |vector: &[f32]| vector.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs())) / LARGEST;
    bytes.extend(vectors.iter().flat_map(|(_, vector)| scale(vector).to_le_bytes()));
    for (_, vector) in vectors {
        let scale = scale(vector);
        bytes.extend(vector.iter().flat_map(|value| ((value / scale).round() as i8).to_le_bytes()));
    }
    bytes
}
