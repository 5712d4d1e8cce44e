//! What words mean beside how they are spelt, from `catalog/senses.txt`: a vector for each word that people use when
//! they ask for something, and one for each action. A request is the sum of its words' vectors and of what [`Units`] add
//! to each between its neighbours, and the action meant lies where it points. Words that say nothing of a thing count as
//! well: `who may`, `no longer`. The build script includes this file by path; everything is read in place.
//!
//! [`Units`]: super::units::Units

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::deeds::{key, place};

/// How many components a vector has. The first tell actions apart best.
pub const DIMENSIONS: usize = 128;

/// How many units listen to each word, to the one before it and to the one behind it.
pub const UNITS: usize = 64;

/// To how many words in a row a unit listens, the word itself in their midst.
pub const SPAN: usize = 3;

/// A vector in bytes: its scale, then two components in each, the earlier one in the lower half.
pub const ROW: usize = 1 + DIMENSIONS / 2;

/// A scale in one byte is a power of this, times the least.
const SCALE_STEP: f32 = 1.05;
const SCALE_LEAST: f32 = 0.001;

/// How many bytes of each action's vector are compared with every request, and how many of the actions then stay to be
/// compared in full: of five nearest, hardly one in a hundred is lost.
const LEADING: usize = 24;
const SHORTLIST: usize = 128;

/// One in whole numbers, for a component of a request's direction; what [`product`] adds up stays below 2^31.
const WHOLE: f32 = 1_048_576.0;

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
    /// Corrected from a misspelt word.
    pub guessed: bool,
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

/// Where a request points.
pub struct Meant<'s> {
    senses: &'s Senses<'s>,
    /// For each component, what one step of an action's is worth; the cosine is the sum of them.
    direction: [i32; DIMENSIONS],
}

impl Senses<'_> {
    /// The word of a request, if it has a sense.
    pub fn word(&self, at: usize, stem: &str, guessed: bool) -> Option<Word> {
        Some(Word { at, guessed, row: self.row(stem)? })
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
        let rows = match part {
            Part::Words => self.words,
            Part::Actions => self.actions,
            Part::Listens => self.listens,
            Part::Adds => self.adds,
        };
        let mut vector = [0.0; DIMENSIONS];
        let Some((scale, parts)) = row_of(rows, row).split_first() else { return vector };
        let scale = scale_of(*scale);
        let (pairs, _) = vector.as_chunks_mut::<2>();
        for ([first, second], byte) in pairs.iter_mut().zip(parts) {
            *first = scale * lower(*byte) as f32;
            *second = scale * upper(*byte) as f32;
        }
        let steps = self.steps.get(part as usize).into_iter().flatten();
        vector.iter_mut().zip(steps).for_each(|(component, step)| *component *= step);
        vector
    }

    /// What words mean together.
    pub fn meant<'w>(&self, words: impl Iterator<Item = &'w Heard>) -> Meant<'_> {
        let mut sum = [0.0; DIMENSIONS];
        for Heard { means, worth, .. } in words {
            sum.iter_mut().zip(means).for_each(|(sum, part)| *sum += part * worth);
        }
        Meant { senses: self, direction: self.direction(&sum) }
    }

    fn direction(&self, sum: &Vector) -> [i32; DIMENSIONS] {
        let length = sum.iter().map(|part| part * part).sum::<f32>().sqrt();
        let mut direction = [0; DIMENSIONS];
        if length > 0.0 {
            let steps = self.steps.get(Part::Actions as usize).into_iter().flatten();
            for ((part, sum), step) in direction.iter_mut().zip(sum).zip(steps) {
                *part = (sum * step / length * WHOLE).round() as i32;
            }
        }
        direction
    }
}

impl Meant<'_> {
    /// How alike it is to an action: between -1 and 1; 0 where that cannot be told.
    pub fn alike(&self, action: usize) -> f32 {
        self.cosine(row_of(self.senses.actions, action), ROW)
    }

    /// How alike it is to what has nothing to do with GitLab.
    pub fn foreign(&self) -> f32 {
        self.senses.nothing.chunks_exact(ROW).map(|row| self.cosine(row, ROW)).fold(0.0, f32::max)
    }

    /// The actions that it is most like, best first; equal ones in catalog order.
    pub fn nearest(&self, most: usize) -> Vec<usize> {
        let rows = self.senses.actions.chunks_exact(ROW).enumerate();
        let mut found: Vec<(f32, usize)> =
            rows.map(|(action, row)| (self.cosine(row, 1 + LEADING), action)).collect();
        shorten(&mut found, SHORTLIST);
        for (cosine, action) in &mut found {
            *cosine = self.alike(*action);
        }
        shorten(&mut found, most);
        found.sort_unstable_by(by_likeness);
        found.into_iter().filter(|(cosine, _)| *cosine > 0.0).map(|(_, action)| action).collect()
    }

    /// The cosine over the components in the first bytes of a row.
    fn cosine(&self, row: &[u8], bytes: usize) -> f32 {
        let Some((scale, parts)) = row.get(..bytes).and_then(<[u8]>::split_first) else { return 0.0 };
        product(parts, &self.direction) as f32 * scale_of(*scale) / WHOLE
    }
}

fn by_likeness(one: &(f32, usize), other: &(f32, usize)) -> Ordering {
    other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
}

fn shorten(found: &mut Vec<(f32, usize)>, most: usize) {
    if found.len() > most {
        found.select_nth_unstable_by(most, by_likeness);
        found.truncate(most);
    }
}

fn row_of(rows: &[u8], row: usize) -> &[u8] {
    rows.get(row * ROW..(row + 1) * ROW).unwrap_or_default()
}

fn product(parts: &[u8], direction: &[i32; DIMENSIONS]) -> i32 {
    let (pairs, _) = direction.as_chunks::<2>();
    pairs.iter().zip(parts).map(|([first, second], byte)| lower(*byte) * first + upper(*byte) * second).sum()
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
fn scale_of(packed: u8) -> f32 {
    match packed {
        0 => 0.0,
        power => SCALE_LEAST * SCALE_STEP.powi(i32::from(power)),
    }
}
