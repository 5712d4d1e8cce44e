//! Baseline finders over the same actions, for comparison with the ranking: substring matching and textbook BM25.

use std::collections::BTreeMap;

use gitlab_mcp::catalog::{Action, Audience, Catalog, CatalogError};

/// BM25's usual constants (Robertson and Zaragoza, 2009).
const SATURATION: f64 = 1.2;
const DILUTION: f64 = 0.75;

/// A baseline without fitted parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Number of the request's words that are substrings of the id or the summary.
    Substring,
    /// BM25 over the words of the id and the summary.
    Bm25,
}

impl Baseline {
    pub const ALL: [Baseline; 2] = [Baseline::Substring, Baseline::Bm25];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Baseline::Substring => "substring",
            Baseline::Bm25 => "plain BM25",
        }
    }
}

/// The ranked actions as texts.
pub struct Texts {
    ids: Vec<String>,
    texts: Vec<String>,
    words: Vec<BTreeMap<String, usize>>,
    lengths: Vec<f64>,
    /// Sum of the document lengths.
    all: f64,
    /// Document frequency of each word.
    counts: BTreeMap<String, usize>,
}

impl Texts {
    /// Texts of every ranked action.
    pub fn load(catalog: &Catalog) -> Result<Texts, CatalogError> {
        let mut texts = Texts {
            ids: Vec::new(),
            texts: Vec::new(),
            words: Vec::new(),
            lengths: Vec::new(),
            all: 0.0,
            counts: BTreeMap::new(),
        };
        for action in catalog.actions() {
            let action = action?;
            if action.twin.is_none() && action.audience == Audience::Person {
                texts.add(&action);
            }
        }
        Ok(texts)
    }

    fn add(&mut self, action: &Action) {
        let text = format!("{} {}", action.id, action.summary).to_lowercase();
        let mut counted: BTreeMap<String, usize> = BTreeMap::new();
        for word in words(&text) {
            *counted.entry(word).or_default() += 1;
        }
        for word in counted.keys() {
            *self.counts.entry(word.clone()).or_default() += 1;
        }
        self.ids.push(action.id.clone());
        let length = counted.values().sum::<usize>() as f64;
        self.lengths.push(length);
        self.all += length;
        self.texts.push(text);
        self.words.push(counted);
    }

    /// Ids of the best actions, best first; ties in the order of ids.
    pub fn rank(&self, baseline: Baseline, request: &str, limit: usize) -> Vec<&str> {
        let asked: Vec<String> = words(&request.to_lowercase()).collect();
        let score = |at: usize| match baseline {
            Baseline::Substring => self.substrings(at, &asked),
            Baseline::Bm25 => self.bm25(at, &asked),
        };
        let mut scored: Vec<(f64, &str)> = self
            .ids
            .iter()
            .enumerate()
            .map(|(at, id)| (score(at), id.as_str()))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        scored.into_iter().take(limit).map(|(_, id)| id).collect()
    }

    fn substrings(&self, at: usize, asked: &[String]) -> f64 {
        let text = self.texts.get(at).map(String::as_str).unwrap_or_default();
        asked.iter().filter(|word| text.contains(word.as_str())).count() as f64
    }

    fn bm25(&self, at: usize, asked: &[String]) -> f64 {
        let average = self.all / self.lengths.len().max(1) as f64;
        let length = self.lengths.get(at).copied().unwrap_or_default();
        let norm = SATURATION * (1.0 - DILUTION + DILUTION * length / average.max(1.0));
        let found = asked.iter().filter_map(|word| Some((word, *self.words.get(at)?.get(word)?)));
        found
            .map(|(word, times)| {
                let times = times as f64;
                self.idf(word) * times * (SATURATION + 1.0) / (times + norm)
            })
            .sum()
    }

    fn idf(&self, word: &str) -> f64 {
        let with = self.counts.get(word).copied().unwrap_or_default() as f64;
        (1.0 + (self.ids.len() as f64 - with + 0.5) / (with + 0.5)).ln()
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned)
}
