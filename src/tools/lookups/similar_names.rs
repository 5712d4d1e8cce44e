//! The names of a list in which a name was not found, and the one among them that may be meant.

use crate::call::Candidate;
use crate::search::{is_negation, nearest};
use crate::untrusted::{quote, shortened};

/// Maximum number of characters of a title in a hint.
pub const MAX_TITLE_CHARS: usize = 80;

/// The names of the list in which a name was not found.
pub struct OtherNames {
    pub rows: Vec<Candidate>,
    /// The one that may be meant.
    pub near: Option<Candidate>,
    /// True if the list has no further rows.
    pub is_whole: bool,
    /// The words before the names.
    pub heading: &'static str,
}

/// Maximum number of names that an error lists.
const MAX_LISTED: usize = 10;

impl OtherNames {
    /// The names, with the most similar one, else the only one that shares a word.
    pub fn new(name: &str, rows: Vec<Candidate>, is_whole: bool) -> OtherNames {
        let nearest = nearest(name, rows.iter().map(|row| row.name.as_str())).map(str::to_owned);
        let near = match nearest {
            Some(nearest) => rows.iter().find(|row| row.name == nearest),
            None => {
                let is_negated = rows.iter().any(|row| is_negation(name, &row.name));
                let mut sharing = rows.iter().filter(|row| shares_word(name, &row.name));
                sharing.next().filter(|_| is_whole && !is_negated && sharing.next().is_none())
            }
        };
        OtherNames { near: near.cloned(), rows, is_whole, heading: "There are" }
    }

    /// The sentence that lists them, if they are few.
    pub fn list(&self) -> Option<String> {
        let names: Vec<String> =
            self.rows.iter().map(|row| quote(&shortened(&row.name, MAX_TITLE_CHARS))).collect();
        match names.len() {
            0 if self.is_whole => Some("There are none.".to_owned()),
            1..=MAX_LISTED if self.is_whole => Some(format!("{}: {}.", self.heading, names.join(", "))),
            _ => None,
        }
    }
}

/// Least number of letters of a word that two names share.
const MIN_SHARED_LETTERS: usize = 4;

/// True if a word of one name begins a word of the other: `nightly` and `Every night`.
fn shares_word(one: &str, other: &str) -> bool {
    let words = |name: &str| -> Vec<String> {
        let words = name.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| word.chars().count() >= MIN_SHARED_LETTERS).map(str::to_lowercase).collect()
    };
    let others = words(other);
    let begins = |word: &String| {
        others.iter().any(|other| word.starts_with(other.as_str()) || other.starts_with(word.as_str()))
    };
    words(one).iter().any(begins)
}
