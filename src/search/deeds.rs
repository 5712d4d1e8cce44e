//! Which kind of deed the words of a request ask for: what each word, and each two neighbours, say for and against each
//! kind, from `catalog/deeds.txt`. Words that no list has as verbs speak too, those that say nothing of the thing
//! among them: `nobody uses it any more`. The build script includes this file by path.

use serde::{Deserialize, Serialize};

/// What one step of a weight in the table is worth, in the logarithm of the odds.
const STEP: f32 = 1.0 / 16.0;

/// How many times less likely than the likeliest a deed is whose value is -1: e to this.
const FAR: f32 = 4.0;

/// How many bytes a key has.
const KEY: usize = 4;

/// What words say of deeds, read in place.
#[derive(Debug, Serialize, Deserialize)]
pub struct Deeds<'a> {
    /// What the deeds are called, in the order of the weights.
    #[serde(borrow)]
    pub names: Vec<&'a str>,
    /// The [`key`] of each word and pair, sorted, its lowest byte last.
    pub keys: &'a [u8],
    /// A signed byte for each deed, of each key.
    pub weights: &'a [u8],
}

/// A word or pair of a request that says something of deeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Telling {
    /// The position of the word in the request; of a pair, that of its second.
    pub at: usize,
    /// Its place in the table.
    row: usize,
}

impl Deeds<'_> {
    /// What the stems of a request tell, each given with its position: each word and each pair of neighbours once.
    pub fn telling<'t>(&self, stems: impl Iterator<Item = (usize, &'t str)>) -> Vec<Telling> {
        let mut found: Vec<Telling> = Vec::new();
        let mut before = START;
        for (at, stem) in stems.chain([(usize::MAX - 1, END)]) {
            for key in [key(&[stem]), key(&[before, stem])] {
                let row = self.row(key).filter(|row| found.iter().all(|known| known.row != *row));
                found.extend(row.map(|row| Telling { at, row }));
            }
            before = stem;
        }
        found
    }

    /// What that asks for: 0 for the likeliest deed, down to -1.
    pub fn asked(&self, telling: impl Iterator<Item = Telling>) -> Vec<f32> {
        let mut sums = vec![0_i32; self.names.len()];
        for Telling { row, .. } in telling {
            let start = row * self.names.len();
            let weights = self.weights.get(start..).unwrap_or_default();
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += i32::from(weight.cast_signed()));
        }
        let most = sums.iter().copied().max().unwrap_or_default();
        sums.into_iter().map(|sum| ((sum - most) as f32 * STEP / FAR).max(-1.0)).collect()
    }

    fn row(&self, key: u32) -> Option<usize> {
        place(self.keys, key)
    }
}

/// Stand before the first word and after the last.
const START: &str = "^";
const END: &str = "$";

/// Where a key stands among sorted ones, each with its lowest byte last.
pub fn place(keys: &[u8], key: u32) -> Option<usize> {
    let (keys, _) = keys.as_chunks::<KEY>();
    keys.binary_search(&key.to_be_bytes()).ok()
}

/// The number that a word, or two, are found by (FNV-1a); the build script sees to it that no two share one.
pub fn key(words: &[&str]) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    for byte in words.join(" ").bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    hash
}
