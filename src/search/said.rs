//! What a segment says, looked up by the words of the index.

use super::meant::Meant;
use super::profile::WordId;
use super::score::Features;

/// The words of a segment in the index: which concept each belongs to, and what it is worth; what they mean, and which
/// deeds they ask for.
pub struct Said<'s> {
    /// For each word of the vocabulary, one more than its position in `words`; 0 where it was not said.
    pub positions: Vec<u8>,
    pub words: Vec<(usize, f32)>,
    pub mass: f32,
    pub meant: Meant<'s>,
    pub deeds: Vec<f32>,
    /// What features weigh where so much is said.
    pub weights: Features,
}

impl Said<'_> {
    pub fn note(&mut self, word: WordId, concept: usize, weight: f32) {
        let Some(position) = self.positions.get_mut(usize::from(word)) else { return };
        match usize::from(*position).checked_sub(1).and_then(|at| self.words.get_mut(at)) {
            Some(known) if known.1 >= weight => {}
            Some(known) => *known = (concept, weight),
            None => {
                if let Ok(next) = u8::try_from(self.words.len() + 1) {
                    *position = next;
                    self.words.push((concept, weight));
                }
            }
        }
    }

    /// The concept that says a word, and what it is worth.
    pub fn of(&self, word: WordId) -> Option<(usize, f32)> {
        let position = usize::from(*self.positions.get(usize::from(word))?);
        self.words.get(position.checked_sub(1)?).copied()
    }
}

/// What of a line was said.
pub struct Matched {
    /// By how much its words tell.
    pub share: f32,
    /// The concepts that say it, a bit each.
    pub concepts: u64,
}

impl Matched {
    pub fn has(&self, concept: usize) -> bool {
        self.concepts & (1 << concept.min(63)) != 0
    }
}
