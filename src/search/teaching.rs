//! Reads `catalog/deeds.txt`, which words were taught by the catalog's texts. Compiled into the build script alone.

use std::collections::BTreeMap;
use std::error::Error;

use super::deeds::{Deeds, key};

/// What the line with the names begins with.
const NAMES: &str = "deeds: ";

/// The table as bytes; its deeds have to be those of the language.
pub fn build(text: &str, known: &[&str]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut names: Vec<&str> = Vec::new();
    let mut rows: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        if let Some(listed) = line.strip_prefix(NAMES) {
            names = listed.split(' ').collect();
            continue;
        }
        let (words, weights) =
            row(line, names.len()).ok_or_else(|| format!("deeds.txt:{}: {line}", at + 1))?;
        if rows.insert(key(&[words]), weights).is_some() {
            return Err(format!("deeds.txt:{}: another has the key of {words}", at + 1).into());
        }
    }
    if names != known {
        return Err(
            "deeds.txt has other deeds than language.toml: make it again with tools/learn/deeds.py".into()
        );
    }
    let keys: Vec<u8> = rows.keys().flat_map(|key| key.to_be_bytes()).collect();
    let weights: Vec<u8> = rows.into_values().flatten().collect();
    Ok(postcard::to_allocvec(&Deeds { names, keys: &keys, weights: &weights })?)
}

/// Weights in hexadecimal, a signed byte each, and the word or the two that they are of.
fn row(line: &str, count: usize) -> Option<(&str, Vec<u8>)> {
    let (digits, words) = line.split_once(' ')?;
    let byte = |at: usize| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok();
    let weights: Vec<u8> = (0..digits.len() / 2).map(byte).collect::<Option<_>>()?;
    (weights.len() == count).then_some((words, weights))
}
