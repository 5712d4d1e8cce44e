//! Spelling correction: misspelt words to known ones by bounded edit distance, and words run together.

use std::cmp::Ordering;

use super::profile::{Vocabulary, WordId};

/// Shorter words are names or abbreviations as often as slips.
const SHORTEST: usize = 4;
/// How many letters a stem may have lost in the middle of two words run together: `merg` in `mergerequest`.
const LOST: usize = 1;
/// From this length on two slips are forgiven.
const LONG: usize = 8;

/// Every word that a misspelt one may be, each with its letters, so that most are passed over at a glance.
#[derive(Debug, Default)]
pub struct Spellings {
    /// The words one after the other: a string for each would take more memory than all else of the language.
    text: String,
    words: Vec<Spelling>,
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

/// Shorter words are no misspelt nouns or verbs.
const SHORTEST_TERM: usize = 3;
/// From this length on two slips in a noun or verb are forgiven wherever it stands.
const TWO_SLIPS: usize = 6;
/// What a slip costs, and one in the first letter besides.
const SLIP_COST: f32 = 4.0;
const START_COST: f32 = 2.0;
/// Up to this length a name is as near: the first letter has to be right.
const SHORT_TERM: usize = 4;

#[derive(Debug)]
struct Spelling {
    start: u32,
    length: u8,
    count: u16,
    letters: u32,
}

impl Spellings {
    /// Of the words of the index, those that the language knows beside them, and nouns of two words.
    pub fn new<'w>(
        vocabulary: &Vocabulary<'_>,
        others: impl Iterator<Item = &'w String>,
        terms: Vec<Term>,
        compounds: impl Iterator<Item = (WordId, WordId)>,
    ) -> Spellings {
        let text = |word: WordId| vocabulary.words().get(usize::from(word)).map(|text| (*text).to_owned());
        let mut compounds: Vec<(String, String)> =
            compounds.filter_map(|(first, second)| text(first).zip(text(second))).collect();
        compounds.sort();
        let mut spellings = Spellings { compounds, terms, ..Spellings::default() };
        for (word, id) in vocabulary.words().iter().zip(0..) {
            spellings.add(word, vocabulary.count(id));
        }
        others.for_each(|word| spellings.add(word, 1));
        spellings.text.shrink_to_fit();
        spellings.words.shrink_to_fit();
        spellings
    }

    fn add(&mut self, word: &str, count: u16) {
        if word.len() < SHORTEST || word.contains(['_', ' ']) {
            return;
        }
        let place = u32::try_from(self.text.len()).ok().zip(u8::try_from(word.len()).ok());
        if let Some((start, length)) = place {
            self.text.push_str(word);
            self.words.push(Spelling { start, length, count, letters: letters(word) });
        }
    }

    fn word(&self, spelling: &Spelling) -> &str {
        let start = spelling.start as usize;
        self.text.get(start..start + usize::from(spelling.length)).unwrap_or_default()
    }

    /// The word that a misspelt one most likely is, or the two it runs together; nothing where none is near.
    pub fn guess(&self, word: &str, stem: &str) -> Vec<String> {
        if word.len() < SHORTEST || !stem.bytes().all(|b| b.is_ascii_alphabetic()) {
            return Vec::new();
        }
        if let Some((first, second)) = self.run_together(word) {
            return vec![first.clone(), second.clone()];
        }
        let bits = letters(stem);
        let near = self.words.iter().filter(|_| stem.len() >= SHORTEST).filter_map(|known| {
            let text = self.word(known);
            let slips = distance(slips_in(stem), (stem, bits), (text, known.letters))?;
            Some((cost(slips, (stem, text), known.count), text))
        });
        let most = if word.len() >= TWO_SLIPS { 2 } else { 1 };
        let terms = [false, true].into_iter().filter_map(|verb| self.nearest_term(word, verb, most));
        near.chain(terms).min_by(cheapest).map(|(_, word)| vec![word.to_owned()]).unwrap_or_default()
    }

    /// The stem of the noun, or of the verb, that a word most likely is with at most so many slips in it.
    pub fn guess_term(&self, word: &str, verb: bool, most: usize) -> Option<&str> {
        let most = if word.len() < SHORTEST { 1 } else { most };
        self.nearest_term(word, verb, most).map(|(_, stem)| stem)
    }

    /// The stem of the nearest noun or verb with at most so many slips in it, and what they cost.
    fn nearest_term(&self, word: &str, verb: bool, most: usize) -> Option<(f32, &str)> {
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
            (is_left && is_alike).then_some((cost, term.stem.as_str()))
        });
        near.min_by(cheapest)
    }

    fn run_together(&self, joined: &str) -> Option<&(String, String)> {
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

/// How many slips a word of this length may have wherever it stands.
fn slips_in(word: &str) -> usize {
    if word.len() >= LONG { 2 } else { 1 }
}

/// Of a noisy channel: each slip makes a word so much less likely, and each doubling of the actions that have the word
/// a little more.
fn cost(slips: usize, (word, known): (&str, &str), count: u16) -> f32 {
    let start = if same_start(word, known) { 0.0 } else { START_COST };
    SLIP_COST * slips as f32 + start - f32::from(count.max(1)).ln()
}

fn cheapest(one: &(f32, &str), other: &(f32, &str)) -> Ordering {
    one.0.total_cmp(&other.0).then_with(|| one.1.cmp(other.1))
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
