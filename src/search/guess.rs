//! Misspelt words to words that are known: bounded edit distance, and words run together.

use super::lexicon::Lexicon;
use super::profile::Vocabulary;

/// Shorter words are names or abbreviations as often as slips.
const SHORTEST: usize = 4;
/// How many letters a stem may have lost in the middle of two words run together: `merg` in `mergerequest`.
const LOST: usize = 1;
/// From this length on two slips are forgiven.
const LONG: usize = 8;

/// The word that a misspelt one most likely is, or the two it runs together; nothing where none is near.
pub fn words(word: &str, stem: &str, vocabulary: &Vocabulary<'_>, lexicon: &Lexicon) -> Vec<String> {
    if stem.len() < SHORTEST || !stem.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Vec::new();
    }
    if let Some((first, second)) = run_together(word, vocabulary) {
        return vec![first.to_owned(), second.to_owned()];
    }
    let counted = vocabulary
        .words()
        .iter()
        .enumerate()
        .map(|(id, word)| (*word, u16::try_from(id).map_or(0, |id| vocabulary.count(id))));
    let phrases = lexicon.phrases().map(|phrase| (phrase, 1));
    let near = counted.chain(phrases).filter_map(|(word, count)| {
        let distance = distance(stem, word)?;
        Some((distance, !same_start(stem, word), std::cmp::Reverse(count), word))
    });
    near.min().map(|(_, _, _, word)| vec![word.to_owned()]).unwrap_or_default()
}

fn run_together<'v>(joined: &str, vocabulary: &Vocabulary<'v>) -> Option<(&'v str, &'v str)> {
    let start = joined.get(..2)?;
    let from = vocabulary.words().partition_point(|word| *word < start);
    let alike = vocabulary.words().iter().skip(from).take_while(|word| word.starts_with(start));
    alike.filter_map(|word| word.split_once('_')).find(|(first, second)| {
        let length = first.len() + second.len();
        (length..=length + LOST).contains(&joined.len())
            && joined.starts_with(first)
            && joined.ends_with(second)
    })
}

fn same_start(one: &str, other: &str) -> bool {
    one.chars().next() == other.chars().next()
}

/// The edit distance with swapped neighbours as one slip, where it is small enough to be a slip.
fn distance(stem: &str, word: &str) -> Option<usize> {
    let most = if stem.len() >= LONG { 2 } else { 1 };
    let near = word.len() >= SHORTEST && word.len().abs_diff(stem.len()) <= most;
    if !near || !share_letters(stem, word, most) || word.contains(['_', ' ']) {
        return None;
    }
    Some(strsim::osa_distance(stem, word)).filter(|distance| *distance <= most)
}

/// Whether so many letters are the same that the distance may be small: each slip changes two at most.
fn share_letters(one: &str, other: &str, most: usize) -> bool {
    (letters(one) ^ letters(other)).count_ones() as usize <= 2 * most
}

fn letters(word: &str) -> u32 {
    word.bytes().filter(u8::is_ascii_lowercase).fold(0, |set, letter| set | 1 << (letter - b'a'))
}
