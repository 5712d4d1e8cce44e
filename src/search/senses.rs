//! What words mean beside how they are spelt: a vector for each word of the catalog's texts, from `catalog/senses.txt`.
//! A text is the sum of its words' vectors, and two texts are as alike as their directions. The build script, which
//! includes this file by path, measures the actions' texts; everything is read in place.

use std::cell::Cell;

use serde::{Deserialize, Serialize};

use super::profile::{Lines, WordId};

/// How many components a vector has.
pub const DIMENSIONS: usize = 64;

/// A length in one byte is a power of this, so that none is wrong by more than 1.3 in a hundred; 0 is no length.
const LENGTH_STEP: f32 = 1.025;
/// The length before the first. A word's own is about two hundred, a line's at most some thousands.
const LENGTH_LEAST: f32 = 16.0;

/// One over each of these lengths.
const INVERSE_LENGTHS: [f32; 256] = inverse_lengths();

/// What a word that is worth 1 is multiplied with, so that whole numbers do.
const WHOLE: f32 = 16.0;

/// Stands for a word that was not compared yet; no product is that small.
const UNKNOWN: i32 = i32::MIN;

/// The vectors, and what the actions' lines sum up to.
#[derive(Debug, Serialize, Deserialize)]
pub struct Senses<'a> {
    /// Of each word of the vocabulary, [`DIMENSIONS`] signed bytes; all zero for one without a sense.
    pub vectors: &'a [u8],
    /// The length of each line of each action, in catalog order, packed.
    pub lengths: &'a [u8],
    /// Of each action, the number of its first line.
    pub starts: Vec<u32>,
    /// Of each action, how nearly its lines point one way, of 255.
    pub unities: &'a [u8],
}

/// How alike a request is to an action's lines, each between -1 and 1; 0 where that cannot be told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alike {
    /// To the nearest of them.
    pub nearest: f32,
    /// To all of them together.
    pub gist: f32,
}

/// A request's direction, and what was compared with it so far.
pub struct Meant<'s> {
    senses: &'s Senses<'s>,
    vector: [i32; DIMENSIONS],
    length: f32,
    /// For each word of the vocabulary, its product with the request.
    products: Vec<Cell<i32>>,
}

impl Senses<'_> {
    /// What words mean together, each with what it is worth, at most 1; those without a sense say nothing.
    pub fn meant(&self, words: impl Iterator<Item = (WordId, f32)>) -> Meant<'_> {
        let mut vector = [0; DIMENSIONS];
        for (word, worth) in words {
            add(&mut vector, vector_of(self.vectors, word), (worth * WHOLE).round() as i32);
        }
        let known = self.vectors.len() / DIMENSIONS;
        Meant { senses: self, vector, length: length(&vector), products: vec![Cell::new(UNKNOWN); known] }
    }
}

impl Meant<'_> {
    /// How alike it is to an action, given by its number and its lines.
    pub fn alike(&self, action: usize, lines: &Lines) -> Alike {
        let Senses { starts, lengths, unities, .. } = self.senses;
        let start = starts.get(action).map_or(usize::MAX, |start| *start as usize);
        let lengths = lengths.get(start..).unwrap_or_default();
        let (mut nearest, mut sum, mut count) = (f32::MIN, 0.0, 0.0);
        for (line, packed) in lines.iter().zip(lengths).filter(|(_, packed)| **packed > 0) {
            let product: i32 = line.iter().map(|word| self.product(*word)).sum();
            let cosine = product as f32 * inverse_length(*packed);
            nearest = nearest.max(cosine);
            sum += cosine;
            count += 1.0;
        }
        let unity = unities.get(action).map_or(0.0, |unity| f32::from(*unity) / 255.0);
        if count * unity * self.length == 0.0 {
            return Alike::default();
        }
        let share = |product: f32| (product / self.length).clamp(-1.0, 1.0);
        Alike { nearest: share(nearest), gist: share(sum / count / unity) }
    }

    fn product(&self, word: WordId) -> i32 {
        let Some(known) = self.products.get(usize::from(word)) else { return 0 };
        if known.get() == UNKNOWN {
            let parts = vector_of(self.senses.vectors, word).iter().zip(&self.vector);
            known.set(parts.map(|(one, other)| i32::from(one.cast_signed()) * other).sum());
        }
        known.get()
    }
}

/// The vector of a word, as bytes.
pub fn vector_of(vectors: &[u8], word: WordId) -> &[u8] {
    let start = usize::from(word) * DIMENSIONS;
    vectors.get(start..start + DIMENSIONS).unwrap_or_default()
}

/// Adds a word's vector so many times.
pub fn add(sum: &mut [i32; DIMENSIONS], vector: &[u8], times: i32) {
    sum.iter_mut().zip(vector).for_each(|(sum, part)| *sum += times * i32::from(part.cast_signed()));
}

/// How long a vector is.
pub fn length(vector: &[i32; DIMENSIONS]) -> f32 {
    vector.iter().map(|part| (*part as f32).powi(2)).sum::<f32>().sqrt()
}

/// A length in one byte.
#[allow(dead_code)] // The build script packs, the ranker reads.
pub fn packed(length: f32) -> u8 {
    if length == 0.0 {
        return 0;
    }
    ((length / LENGTH_LEAST).ln() / LENGTH_STEP.ln()).round().clamp(1.0, 255.0) as u8
}

/// One over a length that was packed.
fn inverse_length(packed: u8) -> f32 {
    INVERSE_LENGTHS.get(usize::from(packed)).copied().unwrap_or_default()
}

const fn inverse_lengths() -> [f32; 256] {
    let mut inverse = [0.0; 256];
    let mut length = LENGTH_LEAST;
    let mut rest = inverse.as_mut_slice();
    while let Some((first, others)) = rest.split_first_mut() {
        *first = 1.0 / length;
        length *= LENGTH_STEP;
        rest = others;
    }
    inverse
}
