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
    words: Vec<Spelling>,
    /// Two stems that are one noun.
    compounds: Vec<(String, String)>,
}

#[derive(Debug)]
struct Spelling {
    word: String,
    letters: u32,
    count: u16,
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
        let counted = vocabulary.words().iter().zip(0..).map(|(word, id)| (*word, vocabulary.count(id)));
        let others = others.map(|word| (word.as_str(), 1));
        let is_word = |word: &str| word.len() >= SHORTEST && !word.contains(['_', ' ']);
        let words = counted.chain(others).filter(|(word, _)| is_word(word));
        let spelling =
            |(word, count): (&str, u16)| Spelling { word: word.to_owned(), letters: letters(word), count };
        Spellings { words: words.map(spelling).collect(), compounds }
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
            let distance = distance(stem, letters, known)?;
            Some((distance, !same_start(stem, &known.word), std::cmp::Reverse(known.count), &known.word))
        });
        near.min().map(|(_, _, _, word)| vec![word.clone()]).unwrap_or_default()
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
fn distance(stem: &str, letters: u32, known: &Spelling) -> Option<usize> {
    let most = if stem.len() >= LONG { 2 } else { 1 };
    // Each slip changes two letters at most.
    let alike = (letters ^ known.letters).count_ones() as usize <= 2 * most;
    if !alike || known.word.len().abs_diff(stem.len()) > most {
        return None;
    }
    Some(strsim::osa_distance(stem, &known.word)).filter(|distance| *distance <= most)
}

fn letters(word: &str) -> u32 {
    word.bytes().filter(u8::is_ascii_lowercase).fold(0, |set, letter| set | 1 << (letter - b'a'))
}
