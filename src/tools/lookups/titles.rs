//! Titles that no object has: a search for their words, and the error with what it finds.

use serde_json::json;

use super::similar_names::MAX_TITLE_CHARS;
use crate::call::{Candidate, Checked, Lookup, LookupRequest};
use crate::catalog::Risk;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::NextCall;
use crate::text::list_first;
use crate::tools::state::Tools;
use crate::untrusted::{quote, shortened};

/// The rows that a search for the words of a title finds.
pub struct TitleSearch {
    pub read: LookupRequest,
    pub words: String,
    pub candidates: Vec<Candidate>,
    /// True if the list has further rows.
    pub has_more: bool,
    /// True if the candidates have the words, false if their titles are similar.
    pub is_by_words: bool,
}

/// The parameters of a list with the words that its rows have, and with the fields that have them.
pub const SEARCH: &str = "search";
pub const SEARCH_IN: &str = "in";

/// The words of a title that a search may find: neither stop words nor the nouns of the list's domain.
pub fn title_words(tools: &Tools, list: &str, title: &str) -> String {
    let Ok(words) = tools.catalog.words() else { return title.to_owned() };
    let domain = list.split('.').next().unwrap_or_default();
    let nouns = words.domains.get(domain).map(|domain| domain.nouns.as_slice()).unwrap_or_default();
    let is_noun = |word: &str| nouns.iter().flat_map(|noun| noun.split(' ')).any(|noun| noun == word);
    let is_stopword = |word: &str| words.language.stopwords.iter().any(|stopword| stopword == word);
    let kept = title.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let kept = kept.filter(|word| {
        let word = word.to_lowercase();
        !word.is_empty() && !is_noun(&word) && !is_stopword(&word)
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// Error of a title that no object has: those with its words, and the call with the only one or the list of them.
pub fn untitled(checked: &Checked, question: &Lookup, param: Option<&str>, search: TitleSearch) -> ToolError {
    const MAX_NAMED: usize = 5;
    let param = param.unwrap_or_default();
    let error = ToolError::new(ErrorKind::NotFound, format!("`{param}`: {}", question.missed()));
    let row = |row: &Candidate| format!("{} {}", row.id, quote(&shortened(&row.name, MAX_TITLE_CHARS)));
    let named = list_first(search.candidates.iter().map(row), MAX_NAMED);
    let words = quote(&search.words);
    let (hint, fix) = match search.candidates.as_slice() {
        // A deletion is of nothing but what was named.
        [only] if !search.has_more && checked.action().risk < Risk::Destructive => {
            let mut params = checked.params().clone();
            params.insert(param.to_owned(), json!(only.id));
            let hint = match search.is_by_words {
                true => format!("The only one with {words} in its title: {named}."),
                false => format!("Did you mean {named}?"),
            };
            (hint, NextCall::execute(&checked.action().id, &params))
        }
        [] => {
            let hint = "Nothing like it was found; `fix` lists the latest.".to_owned();
            let mut params = search.read.params.clone();
            for name in [SEARCH, SEARCH_IN, "per_page", "within"] {
                params.shift_remove(name);
            }
            (hint, NextCall::execute(search.read.action, &params))
        }
        rows if !search.is_by_words => {
            let first = list_first(search.candidates.iter().take(MAX_NAMED).map(row), MAX_NAMED);
            let hint = format!("Did you mean one of these? {first}.");
            let mut params = search.read.params.clone();
            params.insert(SEARCH.to_owned(), json!(rows.first().map(|row| row.name.clone())));
            (hint, NextCall::execute(search.read.action, &params))
        }
        _ => {
            let hint = format!("With {words} in the title: {named}.");
            (hint, NextCall::execute(search.read.action, &search.read.params))
        }
    };
    error.hint(hint).fix(fix)
}
