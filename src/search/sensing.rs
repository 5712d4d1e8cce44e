//! Reads `catalog/senses.txt` and measures the actions' texts by it. Compiled into the build script alone.

use std::collections::HashMap;
use std::error::Error;

use super::profile::{Lines, Profiles};
use super::senses::{DIMENSIONS, Senses, add, length, packed, vector_of};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The senses of the words of the vocabulary, as bytes.
pub fn build(text: &str, profiles: &Profiles<'_>) -> Outcome<Vec<u8>> {
    let senses = read(text)?;
    let mut vectors = Vec::new();
    for word in profiles.vocabulary.words() {
        vectors.extend(senses.get(word).copied().unwrap_or([0; DIMENSIONS]));
    }
    let (mut lengths, mut starts, mut unities) = (Vec::new(), Vec::new(), Vec::new());
    for action in &profiles.actions {
        starts.push(u32::try_from(lengths.len())?);
        let unity = measure(&action.lines, &vectors, &mut lengths);
        unities.push((unity * 255.0).round() as u8);
    }
    let senses = Senses { vectors: &vectors, lengths: &lengths, starts, unities: &unities };
    Ok(postcard::to_allocvec(&senses)?)
}

/// Adds the lengths of lines, and says how nearly they point one way: 1 where they all do.
fn measure(lines: &Lines, vectors: &[u8], lengths: &mut Vec<u8>) -> f32 {
    let (mut sum, mut count) = ([0.0_f32; DIMENSIONS], 0.0_f32);
    for line in lines.iter() {
        let mut vector = [0; DIMENSIONS];
        line.iter().for_each(|word| add(&mut vector, vector_of(vectors, *word), 1));
        let length = length(&vector);
        lengths.push(packed(length));
        if length > 0.0 {
            sum.iter_mut().zip(vector).for_each(|(sum, part)| *sum += part as f32 / length);
            count += 1.0;
        }
    }
    sum.iter().map(|part| part * part).sum::<f32>().sqrt() / count.max(1.0)
}

/// The vectors by their words.
fn read(text: &str) -> Outcome<HashMap<&str, [u8; DIMENSIONS]>> {
    let rows = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    rows.map(|(at, line)| row(line).ok_or_else(|| format!("senses.txt:{}: {line}", at + 1).into())).collect()
}

/// A word and its vector: a signed byte in hexadecimal for each component.
fn row(line: &str) -> Option<(&str, [u8; DIMENSIONS])> {
    let (word, digits) = line.split_once(' ')?;
    let byte = |at: usize| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..digits.len() / 2).map(byte).collect::<Option<_>>()?;
    Some((word, bytes.try_into().ok()?))
}
