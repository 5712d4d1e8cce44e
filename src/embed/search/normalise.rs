//! Text normalization: lower case, split at separators and camelCase, plurals and verb endings removed. The build
//! script includes this file by path, so that index and queries are normalized alike.

use std::borrow::Cow;
use std::collections::HashSet;

/// Inflection removed by the stemmer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    /// `issues`, `branches`, or a verb's `lists`.
    pub plural: bool,
    /// `closed`, `protected`: a state rather than a request.
    pub past: bool,
}

/// Stemmer exceptions: `settings` is not a form of `set`.
#[derive(Clone, Debug, Default)]
pub struct Stemmer {
    never_stem: HashSet<String>,
}

impl Stemmer {
    pub fn new(never_stem: &[String]) -> Stemmer {
        Stemmer { never_stem: never_stem.iter().cloned().collect() }
    }

    /// The stem of a lower-case word, and the endings removed.
    pub fn stem<'a>(&self, word: &'a str) -> (Cow<'a, str>, Endings) {
        if self.keeps(word) {
            return (Cow::Borrowed(word), Endings::default());
        }
        let singular = singular(word);
        let plural = singular.len() != word.len();
        if self.keeps(&singular) {
            return (singular, Endings { plural, past: false });
        }
        let (bare, past) = without_verb_ending(singular);
        (without_final_e(bare), Endings { plural, past })
    }

    /// The stems of a text in order.
    pub fn words(&self, text: &str) -> Vec<String> {
        split(text).iter().map(|word| self.stem(word).0.into_owned()).collect()
    }

    fn keeps(&self, word: &str) -> bool {
        !word.is_ascii() || word.len() < 3 || self.never_stem.contains(word)
    }
}

/// Lower-case words of a text: split at every character that is not a letter or digit, and within `camelCase`.
pub fn split(text: &str) -> Vec<String> {
    let pieces = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    pieces.map(uncontracted).flat_map(split_camel_case).filter(|word| !word.is_empty()).collect()
}

/// Contractions: `we're` is not `were`. `n't` is kept, as in `don't`.
const CONTRACTED: [&str; 6] = ["s", "re", "ll", "ve", "d", "m"];

fn uncontracted(word: &str) -> &str {
    let word = word.trim_matches(['\'', '’']);
    let parted = word.rsplit_once(['\'', '’']);
    parted.filter(|(_, end)| CONTRACTED.contains(end)).map_or(word, |(word, _)| word)
}

/// Splits `fullPath` and `MergeRequest` into lower-case parts. A name such as `GitLab` or `OAuth` is one word.
fn split_camel_case(piece: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut after_lower = false;
    for c in piece.chars().filter(|c| c.is_alphanumeric()) {
        if parts.is_empty() || (c.is_uppercase() && after_lower) {
            parts.push(String::new());
        }
        after_lower = c.is_lowercase();
        if let Some(part) = parts.last_mut() {
            part.extend(c.to_lowercase());
        }
    }
    let pascal = piece.starts_with(char::is_uppercase);
    if pascal && parts.iter().any(|part| part.len() < 4) { vec![parts.concat()] } else { parts }
}

fn singular(word: &str) -> Cow<'_, str> {
    let borrowed = |stem: &'_ str| word.get(..stem.len()).map_or(Cow::Borrowed(word), Cow::Borrowed);
    match word.strip_suffix('s') {
        None => Cow::Borrowed(word),
        Some(stem) if stem.ends_with(['s', 'u', 'i']) => Cow::Borrowed(word),
        Some(stem) if stem.len() > 3 && stem.ends_with("ie") => {
            Cow::Owned(format!("{}y", stem.trim_end_matches("ie")))
        }
        Some(stem) if ["sse", "che", "she", "xe", "zze"].iter().any(|ending| stem.ends_with(ending)) => {
            borrowed(stem.trim_end_matches('e'))
        }
        Some(stem) => borrowed(stem),
    }
}

fn without_verb_ending(word: Cow<'_, str>) -> (Cow<'_, str>, bool) {
    let bare = |ending: &str, least: usize| {
        let stem = word.strip_suffix(ending).filter(|stem| stem.len() >= least)?;
        (stem.contains(['a', 'e', 'i', 'o', 'u', 'y']) && !stem.ends_with('e'))
            .then(|| undoubled(stem).to_owned())
    };
    if let Some(stem) = bare("ed", 3) {
        return (Cow::Owned(stem), true);
    }
    match bare("ing", 3) {
        Some(stem) => (Cow::Owned(stem), false),
        None => (word, false),
    }
}

/// Removes a doubled final consonant: `starr` to `star`, but not in `install` and `access`.
fn undoubled(stem: &str) -> &str {
    let mut ends = stem.chars().rev();
    match (ends.next(), ends.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 'l' | 's' | 'z') => {
            stem.strip_suffix(last).unwrap_or(stem)
        }
        _ => stem,
    }
}

/// Removes a final `e`, so that `merge` and `merged` have the stem `merg`. Short words and `tree` keep it.
fn without_final_e(word: Cow<'_, str>) -> Cow<'_, str> {
    if word.len() < 5 || word.ends_with("ee") || !word.ends_with('e') {
        return word;
    }
    match word {
        Cow::Borrowed(word) => Cow::Borrowed(word.strip_suffix('e').unwrap_or(word)),
        Cow::Owned(mut word) => {
            word.pop();
            Cow::Owned(word)
        }
    }
}
