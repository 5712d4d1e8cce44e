//! Misspelt words to words that are known: bounded edit distance, and words run together.

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
}

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
        compounds: impl Iterator<Item = (WordId, WordId)>,
    ) -> Spellings {
        let text = |word: WordId| vocabulary.words().get(usize::from(word)).map(|text| (*text).to_owned());
        let mut compounds: Vec<(String, String)> =
            compounds.filter_map(|(first, second)| text(first).zip(text(second))).collect();
        compounds.sort();
        let mut spellings = Spellings { compounds, ..Spellings::default() };
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
        if stem.len() < SHORTEST || !stem.bytes().all(|b| b.is_ascii_alphabetic()) {
            return Vec::new();
        }
        if let Some((first, second)) = self.run_together(word) {
            return vec![first.clone(), second.clone()];
        }
        let letters = letters(stem);
        let near = self.words.iter().filter_map(|known| {
            let word = self.word(known);
            let distance = distance((stem, letters), (word, known.letters))?;
            Some((distance, !same_start(stem, word), std::cmp::Reverse(known.count), word))
        });
        near.min().map(|(_, _, _, word)| vec![word.to_owned()]).unwrap_or_default()
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

/// The edit distance with swapped neighbours as one slip, where it is small enough to be a slip.
fn distance((stem, letters): (&str, u32), (known, of_known): (&str, u32)) -> Option<usize> {
    let most = if stem.len() >= LONG { 2 } else { 1 };
    // Each slip changes two letters at most.
    let alike = (letters ^ of_known).count_ones() as usize <= 2 * most;
    if !alike || known.len().abs_diff(stem.len()) > most {
        return None;
    }
    Some(strsim::osa_distance(stem, known)).filter(|distance| *distance <= most)
}

fn letters(word: &str) -> u32 {
    word.bytes().filter(u8::is_ascii_lowercase).fold(0, |set, letter| set | 1 << (letter - b'a'))
}
