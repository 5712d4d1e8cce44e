//! Look-up of rare parameter names and enum values. Loaded only if a request has a word that looks like one.

use std::io::Read;

use flate2::read::DeflateDecoder;
use gitlab_mcp_embed::search::profile::one_word;

use super::error::SearchError;

static PARAMS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_params.bin"));

/// Maximum number of words of a request that may be the name of a parameter.
const MAX_WORDS: usize = 5;

/// The actions with a parameter or value that the request names: as `snake_case` or `camelCase` anywhere, or in words
/// that are nothing else. With `is_request`, plain words are not looked up.
pub fn find(request: &str, is_request: bool) -> Result<Vec<usize>, SearchError> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let mut names: Vec<String> = request
        .split_whitespace()
        .map(bare)
        .filter(|word| is_identifier(word))
        .map(|word| one_word(&word))
        .collect();
    let words = request.split_whitespace().count();
    if !is_request && words <= MAX_WORDS {
        names.push(one_word(request));
    }
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::new();
    DeflateDecoder::new(PARAMS).read_to_end(&mut bytes)?;
    let params: Vec<(&str, Vec<u16>)> = postcard::from_bytes(&bytes).map_err(SearchError::Embedded)?;
    let of = |name: &String| {
        let at = params.binary_search_by(|(known, _)| (*known).cmp(name.as_str())).ok()?;
        params.get(at).map(|(_, actions)| actions.clone())
    };
    let mut actions: Vec<usize> = names.iter().filter_map(of).flatten().map(usize::from).collect();
    actions.sort_unstable();
    actions.dedup();
    Ok(actions)
}

/// True for an identifier: `created_by_me`, `createdByMe`, `CREATED_DESC`.
fn is_identifier(word: &str) -> bool {
    let is_name = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_camel = word.starts_with(|c: char| c.is_ascii_lowercase());
    is_name && (word.contains('_') || (is_camel && word.contains(|c: char| c.is_ascii_uppercase())))
}
