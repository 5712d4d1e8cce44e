//! Vectors for actions added after the last training: the mean of the embeddings of their own texts, as long as its
//! cosine with a trained vector is on average. A longer one would be nearer to every query than trained vectors are.

use std::path::Path;

use gitlab_mcp::catalog::{Action, Catalog};
use gitlab_mcp::search::Tokenizer;
use gitlab_mcp::search::{Vectors, read_vectors};

use crate::error::GeneratorError;
use crate::files;

/// Paths within the catalog of the trained vectors and of the untrained ones.
const TRAINED: &str = "learned/actions.bin";
const UNTRAINED: &str = "learned/untrained.bin";

/// One in so many trained actions is compared with the mean of its texts.
const SAMPLED: usize = 20;

/// Writes a vector for each ranked action without a trained one; returns their number.
pub fn write(catalog: &Path, actions: &[Action]) -> Result<usize, GeneratorError> {
    let path = catalog.join(TRAINED);
    let trained = std::fs::read(&path)
        .map_err(|source| GeneratorError::Read { path: path.display().to_string(), source })?;
    let failed = |reason: &dyn std::fmt::Display| GeneratorError::Vectors(reason.to_string());
    let (trained, _) = read_vectors(&trained).map_err(|_| failed(&"learned/actions.bin is invalid"))?;
    let embedded = Catalog::embedded().map_err(|error| failed(&error))?;
    let tokenizer = Tokenizer::open(&embedded).map_err(|error| failed(&error))?;
    let encode = |action: &Action| tokenizer.vector(&own_texts(action)).map_err(|error| failed(&error));
    let offered = || actions.iter().filter(|action| action.is_offered());
    let new: Vec<&Action> = offered().filter(|action| of_action(&trained, action).is_none()).collect();
    let mut cosines = Vec::new();
    for action in offered().step_by(SAMPLED).filter(|_| !new.is_empty()) {
        if let Some(vector) = of_action(&trained, action) {
            cosines.push(dot(&encode(action)?, &vector));
        }
    }
    let length = cosines.iter().sum::<f32>() / cosines.len().max(1) as f32;
    let mut vectors: Vec<(String, Vec<f32>)> = Vec::new();
    for action in new {
        let vector = encode(action)?.iter().map(|value| value * length).collect();
        vectors.push((action.id.clone(), vector));
    }
    files::write(&catalog.join(UNTRAINED), bytes(&vectors))?;
    Ok(vectors.len())
}

/// Texts of an action as in training (`own_texts` in catalog/training/texts.py): the summary, the id and the aliases as
/// words, the phrases.
fn own_texts(action: &Action) -> Vec<String> {
    let names = std::iter::once(&action.id).chain(&action.aliases);
    let names = names.map(|name| name.replace(['.', '_'], " "));
    std::iter::once(action.summary.clone()).chain(names).chain(action.phrases.iter().cloned()).collect()
}

/// The trained vector of an action, by its id or an alias.
fn of_action(trained: &Vectors<'_>, action: &Action) -> Option<Vec<f32>> {
    let mut names = std::iter::once(&action.id).chain(&action.aliases);
    names.find_map(|name| decode_vector(trained, name))
}

fn decode_vector(trained: &Vectors<'_>, name: &str) -> Option<Vec<f32>> {
    let (scale, components) = trained.get(name)?;
    let scale = f32::from_le_bytes(*scale.first_chunk()?);
    Some(components.iter().map(|value| f32::from(value.cast_signed()) * scale).collect())
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Serializes vectors in the format of catalog/training/model.py: count, width, length of the names, the names by line,
/// a scale for each, and 8-bit components.
fn bytes(vectors: &[(String, Vec<f32>)]) -> Vec<u8> {
    const MAX_QUANTIZED: f32 = 127.0;
    let names: Vec<&str> = vectors.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join("\n");
    let width = vectors.first().map_or(0, |(_, vector)| vector.len());
    let sizes = [vectors.len(), width, names.len()].map(|size| size as u32);
    let mut bytes: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
    bytes.extend(names.as_bytes());
    let scale = |vector: &[f32]| {
        vector.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs())) / MAX_QUANTIZED
    };
    bytes.extend(vectors.iter().flat_map(|(_, vector)| scale(vector).to_le_bytes()));
    for (_, vector) in vectors {
        let scale = scale(vector);
        bytes.extend(vector.iter().flat_map(|value| ((value / scale).round() as i8).to_le_bytes()));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::{bytes, decode_vector, read_vectors};

    #[test]
    fn vectors_are_written_as_they_are_parsed() {
        let written = bytes(&[("a.b".to_owned(), vec![0.5, -0.25]), ("c.d".to_owned(), vec![0.0, 0.1])]);
        let (parsed, _) = read_vectors(&written).unwrap();
        for (name, expected) in [("a.b", [0.5, -0.25]), ("c.d", [0.0, 0.1])] {
            let vector = decode_vector(&parsed, name).unwrap();
            let close = vector.iter().zip(expected).all(|(value, expected)| (value - expected).abs() < 0.01);
            assert!(close, "{name}: {vector:?}");
        }
    }
}
