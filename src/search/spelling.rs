//! Spelling correction of GitLab's nouns and verbs by bounded edit distance, and of two of them run together. What
//! other words may be is left to the index's fuzzy terms.

use std::cmp::Ordering;

use gitlab_mcp_embed::search::profile::{Vocabulary, WordId};

/// How many letters a stem may have lost in the middle of two words run together: `merg` in `mergerequest`.
const LOST: usize = 1;
/// The shortest words that are corrected, and those that may be two run together.
const SHORTEST_TERM: usize = 3;
const SHORTEST_PAIR: usize = 6;
/// Shorter words may have one slip, longer ones two.
const TWO_SLIPS: usize = 7;
/// Up to this length the first letter has to be right.
const SHORT_TERM: usize = 4;
/// What a slip costs, and one in the first letter besides.
const SLIP_COST: f32 = 4.0;
const START_COST: f32 = 2.0;

/// The words that a misspelt one may be.
#[derive(Debug, Default)]
pub struct Spellings {
    /// Two stems that are one noun.
    compounds: Vec<(String, String)>,
    /// The words of nouns and verbs as people spell them.
    terms: Vec<Term>,
}

/// A word of a noun of GitLab's, or a verb.
#[derive(Debug)]
pub struct Term {
    pub spelt: String,
    pub stem: String,
    pub verb: bool,
    /// How many actions have it.
    pub count: u16,
    letters: u32,
}

impl Term {
    pub fn new(spelt: &str, stem: String, verb: bool, count: u16) -> Term {
        Term { spelt: spelt.to_owned(), stem, verb, count, letters: letters(spelt) }
    }
}

impl Spellings {
    /// Of GitLab's nouns and verbs, and of nouns of two words.
    pub fn new(
        vocabulary: &Vocabulary<'_>,
        terms: Vec<Term>,
        compounds: impl Iterator<Item = (WordId, WordId)>,
    ) -> Spellings {
        let text = |word: WordId| vocabulary.words().get(usize::from(word)).map(|text| (*text).to_owned());
        let mut compounds: Vec<(String, String)> =
            compounds.filter_map(|(first, second)| text(first).zip(text(second))).collect();
        compounds.sort();
        Spellings { compounds, terms }
    }

    /// The noun or verb that a misspelt word most likely is.
    pub fn guess(&self, word: &str) -> Option<&Term> {
        let most = if word.len() >= TWO_SLIPS { 2 } else { 1 };
        let terms = [false, true].into_iter().filter_map(|verb| self.nearest_term(word, verb, most));
        terms.min_by(cheapest).map(|(_, term)| term)
    }

    /// The noun, or the verb, that a word most likely is with at most so many slips in it.
    pub fn guess_term(&self, word: &str, verb: bool, most: usize) -> Option<&Term> {
        let most = if word.len() < SHORT_TERM { 1 } else { most };
        self.nearest_term(word, verb, most).map(|(_, term)| term)
    }

    /// The nearest noun or verb with at most so many slips in it, and what they cost.
    fn nearest_term(&self, word: &str, verb: bool, most: usize) -> Option<(f32, &Term)> {
        if word.len() < SHORTEST_TERM || !word.bytes().all(|b| b.is_ascii_lowercase()) {
            return None;
        }
        let singular = word.strip_suffix('s').filter(|singular| singular.len() >= SHORTEST_TERM);
        let near = self.terms.iter().filter(|term| term.verb == verb).filter_map(|term| {
            let slips = |word: &str| distance(most, (word, letters(word)), (&term.spelt, term.letters));
            let slips = slips(word).into_iter().chain(singular.and_then(slips)).min()?;
            // Slips in half of a word leave nothing of it.
            let is_left = term.spelt.len() > 2 * slips;
            let is_alike = word.len() > SHORT_TERM || same_start(word, &term.spelt);
            let cost = cost(slips, (word, &term.spelt), term.count);
            (is_left && is_alike).then_some((cost, term))
        });
        near.min_by(cheapest)
    }

    /// The two stems that a word runs together: `mergerequest`.
    pub fn run_together(&self, joined: &str) -> Option<&(String, String)> {
        if joined.len() < SHORTEST_PAIR {
            return None;
        }
        self.compounds.iter().find(|(first, second)| {
            let length = first.len() + second.len();
            (length..=length + LOST).contains(&joined.len())
                && joined.starts_with(first)
                && joined.ends_with(second)
        })
    }
}

fn same_start(one: &str, other: &str) -> bool {
    one.chars().next() == other.chars().next()
}

/// Of a noisy channel: each slip makes a word so much less likely, and each doubling of the actions that have the word
/// a little more.
fn cost(slips: usize, (word, known): (&str, &str), count: u16) -> f32 {
    let start = if same_start(word, known) { 0.0 } else { START_COST };
    SLIP_COST * slips as f32 + start - f32::from(count.max(1)).ln()
}

fn cheapest(one: &(f32, &Term), other: &(f32, &Term)) -> Ordering {
    one.0.total_cmp(&other.0).then_with(|| one.1.spelt.cmp(&other.1.spelt))
}

/// The edit distance with swapped neighbours as one slip (optimal string alignment), at most so large.
fn distance(most: usize, (word, letters): (&str, u32), (known, of_known): (&str, u32)) -> Option<usize> {
    // Each slip changes two letters at most.
    let is_alike = (letters ^ of_known).count_ones() as usize <= 2 * most;
    if !is_alike || known.len().abs_diff(word.len()) > most {
        return None;
    }
    Some(strsim::osa_distance(word, known)).filter(|distance| *distance <= most)
}

fn letters(word: &str) -> u32 {
    word.bytes().filter(u8::is_ascii_lowercase).fold(0, |set, letter| set | 1 << (letter - b'a'))
}
