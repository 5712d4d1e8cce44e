//! Ranking metadata of actions, available without decoding them. The build script writes it and includes this file by
//! path.

use serde::{Deserialize, Serialize};

/// The number of a word in the [`Vocabulary`].
pub type WordId = u16;

/// Separator between two of an action's [`Lines`]; no word has this number.
const END: [u8; 2] = WordId::MAX.to_le_bytes();

/// Ranking metadata apart from the index.
#[derive(Debug, Serialize, Deserialize)]
pub struct Profiles<'a> {
    #[serde(borrow)]
    pub vocabulary: Vocabulary<'a>,
    /// One per action, in catalog order.
    pub actions: Vec<Profile>,
    /// Short texts of each action, in the same order.
    #[serde(borrow)]
    pub lines: Vec<Lines<'a>>,
    /// One per domain, in the order of the actions.
    pub domains: Vec<DomainProfile>,
}

/// Words of the index, sorted, with their document frequencies.
#[derive(Debug, Serialize, Deserialize)]
pub struct Vocabulary<'a> {
    #[serde(borrow)]
    words: Vec<&'a str>,
    counts: Vec<u16>,
    /// Number of actions that have each word, for its idf.
    idfs: Vec<f32>,
}

impl<'a> Vocabulary<'a> {
    /// Creates it from sorted words, their counts, and the number of actions.
    #[allow(dead_code)] // The build script makes it, the ranker reads it.
    pub fn new(words: Vec<&'a str>, counts: Vec<u16>, actions: u16) -> Vocabulary<'a> {
        let idf = |count: &u16| {
            let count = f32::from(*count);
            (1.0 + (f32::from(actions) - count + 0.5) / (count + 0.5)).ln()
        };
        Vocabulary { words, idfs: counts.iter().map(idf).collect(), counts }
    }

    pub fn id(&self, word: &str) -> Option<WordId> {
        let found = self.words.binary_search_by(|known| (*known).cmp(word)).ok()?;
        WordId::try_from(found).ok()
    }

    /// Document frequency of a word.
    pub fn count(&self, id: WordId) -> u16 {
        self.counts.get(usize::from(id)).copied().unwrap_or_default()
    }

    /// Idf of a word; 0 if it is unknown.
    pub fn idf(&self, id: WordId) -> f32 {
        self.idfs.get(usize::from(id)).copied().unwrap_or_default()
    }

    pub fn words(&self) -> &[&'a str] {
        &self.words
    }

    pub fn word_count(&self) -> usize {
        self.words.len()
    }
}

/// Ranking metadata of an action.
#[derive(Debug, Serialize, Deserialize)]
pub struct Profile {
    /// The position of its domain in [`Profiles::domains`].
    pub domain: u16,
    /// First word of the id's verb.
    pub verb: WordId,
    pub kind: ProfileKind,
    /// Usage level, from 0 (used by machines and internals only) to [`MAX_USED`] (used daily by most).
    pub usage: u8,
    /// Bit set of the scopes it works in: see [`scope`].
    pub scopes: u8,
}

/// Usage level of actions that most people use daily.
pub const MAX_USED: u8 = 4;

impl Profile {
    /// Usage prior, from 0 to 1.
    #[allow(dead_code)] // The ranker asks, the build script does not.
    pub fn usage(&self) -> f32 {
        f32::from(self.usage) / f32::from(MAX_USED)
    }
}

/// The id, summary, phrases and aliases of an action: short texts that resemble a request. They are read in place, two
/// bytes per word; as vectors they would take more memory than all other data about an action.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Lines<'a>(pub &'a [u8]);

impl Lines<'_> {
    /// Borrows serialized lines.
    #[allow(dead_code)] // The build script writes them, the ranker reads them.
    pub fn pack(lines: &[Vec<WordId>]) -> Vec<u8> {
        let bytes = |line: &Vec<WordId>| line.iter().flat_map(|word| word.to_le_bytes()).collect();
        lines.iter().map(bytes).collect::<Vec<Vec<u8>>>().join(END.as_slice())
    }

    /// The words of each line.
    pub fn iter(&self) -> impl Iterator<Item = impl Iterator<Item = WordId>> {
        let (words, _) = self.0.as_chunks::<2>();
        let lines = words.split(|word| *word == END);
        lines.map(|line| line.iter().map(|word| WordId::from_le_bytes(*word)))
    }
}

/// Nouns of a domain.
#[derive(Debug, Serialize, Deserialize)]
pub struct DomainProfile {
    /// The words of its name.
    pub name: Vec<WordId>,
    /// Its nouns, each as words.
    pub nouns: Vec<Vec<WordId>>,
}

/// CRUD class of an action, from its method and verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProfileKind {
    List,
    Get,
    Create,
    Update,
    Delete,
    /// Any other verb: approve, retry, rebase.
    Act,
}

/// Bits of [`Profile::scopes`].
pub mod scope {
    pub const PROJECT: u8 = 1;
    pub const GROUP: u8 = 2;
    pub const INSTANCE: u8 = 4;
    pub const USER: u8 = 8;
    pub const CURRENT: u8 = 16;
}

/// Pseudo-methods of a [`ProfileRoute`] that is not a REST call: a GraphQL field; a page of a project, of a group, or of
/// neither. A group has the pages of projects as well.
pub mod route {
    pub const FIELD: &str = "FIELD";
    pub const PROJECT: &str = "PROJECT";
    pub const GROUP: &str = "GROUP";
    pub const INSTANCE: &str = "INSTANCE";
}

/// A method and path with the number of its action, for path look-up.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProfileRoute<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub action: u16,
}

/// Normalizes a name: `squash_commit_message`, `squashCommitMessage` and `squash commit message` become one word.
pub fn one_word(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
