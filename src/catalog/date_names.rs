//! Parameters of type string that hold a date or time by their name.

use super::locates::split_words;

/// True if a parameter of type string of this name holds a date or time by its name.
pub fn is_called_a_date(name: &str) -> bool {
    match date_words(name).as_slice() {
        [] => false,
        [only] => only == "date",
        [.., last] => ["date", "at", "on", "before", "after"].contains(&last.as_str()),
    }
}

/// True for the name of a day, which takes no time: `due_date`, `dueDateFixed`, `expires_on`.
pub fn is_called_a_day(name: &str) -> bool {
    date_words(name).last().is_some_and(|last| ["date", "on"].contains(&last.as_str()))
}

/// The words of a parameter's own name, without that of a date which is set apart from the inherited one.
fn date_words(name: &str) -> Vec<String> {
    let mut words = split_words(name.rsplit('.').next().unwrap_or(name));
    words.pop_if(|last| last == "fixed");
    words
}
