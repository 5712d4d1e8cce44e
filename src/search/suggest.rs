//! Suggestions for a query without results: the actions that share words with it, else the most common ones.

use std::cmp::Reverse;

use gitlab_mcp_embed::search::normalise::split;
use gitlab_mcp_embed::search::profile::{Profile, ProfileKind, WordId};

use crate::catalog::Catalog;

use super::error::SearchError;
use super::ranker::Ranker;
use super::types::Query;

/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 6;

/// Minimum length of a word whose spelling is corrected. A shorter one is near to too many others.
const SHORTEST_CORRECTED: usize = 5;

/// Ids to suggest: allowed, and of the query's domain if it names one.
pub fn suggest(ranker: &Ranker, catalog: &Catalog, query: &Query<'_>) -> Result<Vec<String>, SearchError> {
    let mut suggestions = Suggestions { catalog, query, ids: Vec::new() };
    for number in by_shared_words(ranker, catalog, &content_words(ranker, query.words)) {
        suggestions.add(number)?;
    }
    if !suggestions.ids.is_empty() {
        return Ok(suggestions.ids);
    }
    for id in &catalog.words()?.language.suggested {
        if let Some(number) = catalog.number(id) {
            suggestions.add(number)?;
        }
    }
    for number in by_usage(ranker) {
        suggestions.add_for_domain(number)?;
    }
    Ok(suggestions.ids)
}

struct Suggestions<'s> {
    catalog: &'s Catalog,
    query: &'s Query<'s>,
    ids: Vec<String>,
}

impl Suggestions<'_> {
    /// Adds an action, unless it is filtered or there are enough.
    fn add(&mut self, number: usize) -> Result<(), SearchError> {
        let Some(id) = self.catalog.id(number).filter(|_| self.ids.len() < MAX_SUGGESTIONS) else {
            return Ok(());
        };
        let is_of_domain = self.query.domain.is_none_or(|domain| domain_of(id) == domain);
        if !is_of_domain || self.ids.iter().any(|known| known == id) {
            return Ok(());
        }
        let action = self.catalog.action(number)?;
        if action.is_offered() && (self.query.allow)(&action) {
            self.ids.push(action.id);
        }
        Ok(())
    }

    /// Adds an action if its domain has none yet. A query that names a domain may have several of it.
    fn add_for_domain(&mut self, number: usize) -> Result<(), SearchError> {
        let domain = self.catalog.id(number).map(domain_of);
        let is_there = self.ids.iter().any(|known| Some(domain_of(known)) == domain);
        if is_there && self.query.domain.is_none() { Ok(()) } else { self.add(number) }
    }
}

fn domain_of(id: &str) -> &str {
    id.split_once('.').map_or(id, |(domain, _)| domain)
}

/// The query's words in the index, without stop words and generic verbs. Unknown words are corrected.
fn content_words(ranker: &Ranker, query: &str) -> Vec<WordId> {
    let (lexicon, vocabulary) = (&ranker.lexicon, &ranker.profiles.vocabulary);
    let is_generic_verb = |stem: &str| {
        let verb = lexicon.entry(stem).and_then(|entry| entry.verb.as_ref());
        verb.is_some_and(|asked| asked.generic)
    };
    let mut words = Vec::new();
    for word in split(query) {
        let stem = lexicon.stemmer.stem(&word).0;
        let is_function_word = lexicon.stopwords.contains(&word) || lexicon.prepositions.contains(&word);
        if is_function_word || is_generic_verb(&stem) {
            continue;
        }
        let corrected = || {
            let term = lexicon.spellings.guess(&word).filter(|_| word.len() >= SHORTEST_CORRECTED)?;
            vocabulary.id(&term.stem)
        };
        let id = vocabulary.id(&stem).or_else(corrected).filter(|id| !lexicon.is_generic(*id));
        words.extend(id.filter(|id| !words.contains(id)));
    }
    words
}

/// The actions whose id or nouns have some of the words, those with the rarest words first; then those whose domain has
/// them, then by usage.
fn by_shared_words(ranker: &Ranker, catalog: &Catalog, words: &[WordId]) -> Vec<usize> {
    let (profiles, stemmer) = (&ranker.profiles, &ranker.lexicon.stemmer);
    let known = |word: &String| profiles.vocabulary.id(&stemmer.stem(word).0);
    let weigh = |is_shared: &dyn Fn(WordId) -> bool| -> f32 {
        words.iter().filter(|word| is_shared(**word)).map(|word| profiles.vocabulary.idf(*word)).sum()
    };
    let mut scored: Vec<(f32, f32, u8, usize)> = Vec::new();
    for (number, action) in profiles.actions.iter().enumerate().filter(|(_, action)| action.usage > 0) {
        let domain = profiles.domains.get(usize::from(action.domain));
        let has_domain = |word: WordId| {
            domain.is_some_and(|domain| domain.name.contains(&word) || domain.nouns.concat().contains(&word))
        };
        let id = catalog.id(number).unwrap_or_default();
        let id: Vec<WordId> = split(id).iter().filter_map(known).collect();
        let has = |word: WordId| id.contains(&word) || has_domain(word);
        let score = weigh(&has);
        if score > 0.0 {
            scored.push((score, weigh(&has_domain), action.usage, number));
        }
    }
    scored.sort_by(|one, other| {
        let by_words = other.0.total_cmp(&one.0).then(other.1.total_cmp(&one.1));
        by_words.then(other.2.cmp(&one.2)).then(one.3.cmp(&other.3))
    });
    scored.into_iter().map(|(.., number)| number).collect()
}

/// The actions that list or get something, the most used first.
fn by_usage(ranker: &Ranker) -> Vec<usize> {
    let is_read =
        |action: &Profile| matches!(action.kind, ProfileKind::List | ProfileKind::Get) && action.usage > 0;
    let actions = ranker.profiles.actions.iter().enumerate();
    let mut reads: Vec<(u8, usize)> = actions
        .filter(|(_, action)| is_read(action))
        .map(|(number, action)| (action.usage, number))
        .collect();
    reads.sort_by_key(|(usage, number)| (Reverse(*usage), *number));
    reads.into_iter().map(|(_, number)| number).collect()
}
