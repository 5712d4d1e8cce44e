//! What words mean beside how they are spelt, from `catalog/senses.txt`: a vector for each word that people use when
//! they ask for something, and one for each action. A request is the sum of its words' vectors and of what [`Units`] add
//! to each between its neighbours, and the action meant lies where it points. Words that say nothing of a thing count as
//! well: `who may`, `no longer`. The build script includes this file by path; everything is read in place.
//!
//! [`Units`]: super::units::Units

use serde::{Deserialize, Serialize};

use super::deeds::{key, place};

/// How many components a vector has.
pub const DIMENSIONS: usize = 128;

/// How many units listen to each word, to the one before it and to the one behind it.
pub const UNITS: usize = 64;

/// To how many words in a row a unit listens, the word itself in their midst.
pub const SPAN: usize = 3;

/// A vector in bytes: its scale, then two components in each, the earlier one in the lower half.
pub const ROW: usize = 1 + DIMENSIONS / 2;

/// A scale in one byte is a power of this, times the least.
const SCALE_STEP: f64 = 1.05;
const SCALE_LEAST: f64 = 0.001;

/// The vectors, read in place.
#[derive(Debug, Serialize, Deserialize)]
pub struct Senses<'a> {
    /// The [`key`] of each word, sorted, its lowest byte last.
    pub keys: &'a [u8],
    /// A row a word.
    pub words: &'a [u8],
    /// A row an action, in catalog order; all zero for one that is not ranked.
    pub actions: &'a [u8],
    /// Where requests lie that have nothing to do with GitLab: a row for each of their topics.
    pub nothing: &'a [u8],
    /// What each unit listens for: a row for each word of its span.
    pub listens: &'a [u8],
    /// What each unit adds: a row a unit.
    pub adds: &'a [u8],
    /// What one step of each component is worth, in the order of [`Part`].
    pub steps: [Vec<f32>; PARTS],
}

/// The parts of the table.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    Words,
    Actions,
    Listens,
    Adds,
}

pub const PARTS: usize = 4;

/// A vector in plain numbers.
pub type Vector = [f32; DIMENSIONS];

/// A word that has a sense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Word {
    /// Its position in the request.
    pub at: usize,
    /// Its row among the words.
    pub row: usize,
}

/// A word of a request as it is meant between its neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    pub word: Word,
    /// What it counts, 1 for a word of the request's own.
    pub worth: f32,
    pub means: Vector,
}

impl Senses<'_> {
    /// The word of a request, if it has a sense.
    pub fn word(&self, at: usize, stem: &str) -> Option<Word> {
        Some(Word { at, row: self.row(stem)? })
    }

    /// Whether people use the word when they ask for something.
    pub fn is_known(&self, stem: &str) -> bool {
        self.row(stem).is_some()
    }

    fn row(&self, stem: &str) -> Option<usize> {
        place(self.keys, key(&[stem]))
    }

    /// A vector of the table; all zero where there is none.
    pub fn vector(&self, part: Part, row: usize) -> Vector {
        let mut vector = [0.0; DIMENSIONS];
        let Some((scale, parts)) = self.row_of(part, row).split_first() else { return vector };
        let scale = scale_of(*scale);
        let (pairs, _) = vector.as_chunks_mut::<2>();
        for ([first, second], byte) in pairs.iter_mut().zip(parts) {
            *first = scale * lower(*byte) as f32;
            *second = scale * upper(*byte) as f32;
        }
        vector.iter_mut().zip(self.steps(part)).for_each(|(component, step)| *component *= step);
        vector
    }

    /// The rows of a part.
    pub fn rows(&self, part: Part) -> &[u8] {
        match part {
            Part::Words => self.words,
            Part::Actions => self.actions,
            Part::Listens => self.listens,
            Part::Adds => self.adds,
        }
    }

    /// One of them; empty where there is none.
    pub fn row_of(&self, part: Part, row: usize) -> &[u8] {
        self.rows(part).get(row * ROW..(row + 1) * ROW).unwrap_or_default()
    }

    /// What one step of each component of a part is worth.
    pub fn steps(&self, part: Part) -> &[f32] {
        self.steps.get(part as usize).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The component in the lower half of a byte, from -7 to 7.
fn lower(byte: u8) -> i32 {
    i32::from((byte << 4).cast_signed() >> 4)
}

/// The one in the upper half.
fn upper(byte: u8) -> i32 {
    i32::from(byte.cast_signed() >> 4)
}

/// A scale that was packed; that of a vector of nothing is nothing.
pub fn scale_of(packed: u8) -> f32 {
    SCALES.get(usize::from(packed)).copied().unwrap_or_default()
}

/// Each scale that a byte can stand for.
static SCALES: [f32; 256] = {
    let mut scales = [0.0; 256];
    let mut scale = SCALE_LEAST;
    let [_, powers @ ..] = &mut scales;
    let mut left: &mut [f32] = powers;
    while let [power, behind @ ..] = left {
        scale *= SCALE_STEP;
        *power = scale as f32;
        left = behind;
    }
    scales
};
