//! A list without rows: the filters that were applied, and the same call without the narrowest of them.

use serde_json::{Value, json};

use crate::catalog::{Action, ListWords, Place, Words};
use crate::gitlab::{Content, Reply};
use crate::messages::request::{Answer, ExecuteRequest, NextCall};

/// A list without rows.
#[derive(Debug)]
pub struct EmptyList {
    filters: Vec<String>,
    wider: NextCall,
}

impl EmptyList {
    /// The filters of a call that was answered with an empty list; none if it has rows or no filter.
    pub fn of(
        reply: &Reply,
        request: &ExecuteRequest,
        action: &Action,
        lists: &ListWords,
    ) -> Option<EmptyList> {
        let Content::Json(Value::Array(rows)) = &reply.content else { return None };
        if !rows.is_empty() || reply.page.page.is_some_and(|page| page > 1) || action.direct().is_some() {
            return None;
        }
        let own = |name: &str| action.row_filters.iter().find(|filter| filter.param == name);
        // The server added it for a filter of its own; with another value, the call has it.
        let is_sent = |name: &str| {
            action.row_filters.iter().any(|filter| {
                let value = request.params.get(&filter.param);
                filter.sends.as_deref() == Some(name) && value.is_some() && request.params.get(name) == value
            })
        };
        let is_cursor = |name: &str| {
            lists.graphql_cursors.iter().any(|cursor| cursor == name)
                && action.operations.iter().all(|operation| operation.graphql.is_some())
        };
        let is_filter = |name: &&String| {
            if own(name).is_some() {
                return true;
            }
            let of_query =
                action.param(name).is_some_and(|param| param.place == Place::Query && !param.required);
            of_query && !is_sent(name) && !is_cursor(name) && !lists.keeps_rows(name)
        };
        let filters: Vec<String> = request.params.keys().filter(is_filter).cloned().collect();
        let narrowest = filters
            .iter()
            .find(|name| lists.narrowest.contains(name))
            .or_else(|| filters.iter().rfind(|name| !lists.wide.contains(name)))
            .or(filters.last())?;
        let mut params = request.params.clone();
        params.shift_remove(narrowest);
        if let Some(sent) =
            own(narrowest).and_then(|filter| filter.sends.as_ref()).filter(|sent| is_sent(sent))
        {
            params.shift_remove(sent);
        }
        let is_limited = !action.answer_note_without.iter().any(|name| request.params.contains_key(name));
        if is_limited && !action.wider.is_empty() {
            params = request.params.clone();
            params.extend(action.wider.iter().map(|(name, value)| (name.clone(), json!(value))));
        }
        let wider = ExecuteRequest { params, ..request.clone() };
        let wider = NextCall::for_request(&wider);
        Some(EmptyList { wider, filters })
    }

    /// Adds the filters and the wider call to an answer.
    pub fn add_to(self, mut answer: Answer) -> Answer {
        let filters = self.filters.join(", ");
        answer.text = match answer.text.strip_prefix(NOTHING) {
            Some(rest) => format!("Nothing found with {filters}.\nWider: {}{rest}", self.wider),
            None => format!("{}Wider: {}\n", answer.text, self.wider),
        };
        answer.structured.insert("filters".to_owned(), json!(self.filters));
        answer.structured.insert("wider".to_owned(), json!(self.wider));
        answer
    }
}

/// Names what an empty list would have held: `Nothing found: no issue note.`
pub fn name_missing(mut answer: Answer, action: &Action, words: &Words) -> Answer {
    let noun = match action.verb().strip_prefix("list") {
        Some("") => words.domains.get(action.domain()).and_then(|domain| domain.nouns.first()).cloned(),
        Some(rest) => Some(rest.trim_start_matches('_').replace('_', " ")),
        None => None,
    };
    if let Some((noun, rest)) = noun.zip(answer.text.strip_prefix(NOTHING)) {
        answer.text = format!("{}: no {noun}.{rest}", NOTHING.trim_end_matches('.'));
    }
    answer
}

/// The text of a list without rows.
const NOTHING: &str = "Nothing found.";
