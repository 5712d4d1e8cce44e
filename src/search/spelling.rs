//! Spelling correction of GitLab's nouns and verbs by bounded edit distance, including two words run together.

use std::cmp::Ordering;

use gitlab_mcp_embed::search::profile::{Vocabulary, WordId};

/// Maximum number of letters that a stem may lack inside two words run together: `merg` in `mergerequest`.
const LOST: usize = 1;
/// Minimum length of corrected words, and of those split in two.
const SHORTEST_TERM: usize = 3;
const SHORTEST_PAIR: usize = 6;
/// Minimum length of a word that may have two edits; shorter ones may have one.
const TWO_SLIPS: usize = 7;
/// Maximum length of a word whose first letter must be correct.
const SHORT_TERM: usize = 4;
/// Cost of an edit, and the extra cost of one in the first letter.
const SLIP_COST: f32 = 4.0;
const START_COST: f32 = 2.0;

/// Candidates for the correction of misspelt words.
#[derive(Debug, Default)]
pub struct Spellings {
    /// Pairs of stems that are one noun.
    compounds: Vec<(String, String)>,
    /// Words of nouns and verbs as people spell them.
    terms: Vec<Term>,
}

/// A word of a GitLab noun, or a verb.
#[derive(Debug)]
pub struct Term {
    pub spelt: String,
    pub stem: String,
    pub verb: bool,
    /// Number of actions with the word.
    pub count: u16,
    letters: u32,
}

impl Term {
    pub fn new(spelt: &str, stem: String, verb: bool, count: u16) -> Term {
        Term { spelt: spelt.to_owned(), stem, verb, count, letters: letters(spelt) }
    }
}

impl Spellings {
    /// Creates it from GitLab's nouns and verbs, and from nouns of two words.
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

    /// The most likely noun or verb for a misspelt word.
    pub fn guess(&self, word: &str) -> Option<&Term> {
        let most = if word.len() >= TWO_SLIPS { 2 } else { 1 };
        let terms = [false, true].into_iter().filter_map(|verb| self.nearest_term(word, verb, most));
        terms.min_by(cheapest).map(|(_, term)| term)
    }

    /// The most likely noun, or verb, within `most` edits.
    pub fn guess_term(&self, word: &str, verb: bool, most: usize) -> Option<&Term> {
        let most = if word.len() < SHORT_TERM { 1 } else { most };
        self.nearest_term(word, verb, most).map(|(_, term)| term)
    }

    /// The nearest noun or verb within `most` edits, and the cost of the edits.
    fn nearest_term(&self, word: &str, verb: bool, most: usize) -> Option<(f32, &Term)> {
        if word.len() < SHORTEST_TERM || !word.bytes().all(|b| b.is_ascii_lowercase()) {
            return None;
        }
        let singular = word.strip_suffix('s').filter(|singular| singular.len() >= SHORTEST_TERM);
        let near = self.terms.iter().filter(|term| term.verb == verb).filter_map(|term| {
            let slips = |word: &str| distance(most, (word, letters(word)), (&term.spelt, term.letters));
            let slips = slips(word).into_iter().chain(singular.and_then(slips)).min()?;
            // Edits in half of a word leave too little of it.
            let is_left = term.spelt.len() > 2 * slips;
            let is_alike = word.len() > SHORT_TERM || same_start(word, &term.spelt);
            let cost = cost(slips, (word, &term.spelt), term.count);
            (is_left && is_alike).then_some((cost, term))
        });
        near.min_by(cheapest)
    }

    /// Splits two stems run together: `mergerequest`.
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

/// Cost in a noisy-channel model: each edit makes a word less likely by a constant factor, and each doubling of its
/// number of actions a little more likely.
fn cost(slips: usize, (word, known): (&str, &str), count: u16) -> f32 {
    let start = if same_start(word, known) { 0.0 } else { START_COST };
    SLIP_COST * slips as f32 + start - f32::from(count.max(1)).ln()
}

fn cheapest(one: &(f32, &Term), other: &(f32, &Term)) -> Ordering {
    one.0.total_cmp(&other.0).then_with(|| one.1.spelt.cmp(&other.1.spelt))
}

/// Edit distance with transpositions (optimal string alignment), up to `most`.
fn distance(most: usize, (word, letters): (&str, u32), (known, of_known): (&str, u32)) -> Option<usize> {
    // An edit changes at most two letters.
    let is_alike = (letters ^ of_known).count_ones() as usize <= 2 * most;
    if !is_alike || known.len().abs_diff(word.len()) > most {
        return None;
    }
    Some(strsim::osa_distance(word, known)).filter(|distance| *distance <= most)
}

fn letters(word: &str) -> u32 {
    word.bytes().filter(u8::is_ascii_lowercase).fold(0, |set, letter| set | 1 << (letter - b'a'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_word_may_have_two_edits_and_no_third() {
        let term = Term::new("repository", "repositori".to_owned(), false, 5);
        let known = Spellings { compounds: Vec::new(), terms: vec![term] };
        let guess = |word: &str| known.guess(word).map(|term| term.spelt.as_str());
        for (word, edits) in [
            ("repository", 0),
            ("repositpry", 1),
            ("rpeosiotry", 2),
            ("repositxyz", 3),
            ("reposit", 3),
            ("repxyztory", 3),
        ] {
            assert_eq!(strsim::osa_distance(word, "repository"), edits, "{word}");
            assert_eq!(guess(word), (edits <= 2).then_some("repository"), "{word}");
        }
    }
}
