//! Errors with their sources.

use std::error::Error;

/// The message of an error, then those of its sources, separated by `: `; a message that is already there is left out.
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        if !text.contains(&message) {
            text.push_str(&format!(": {message}"));
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot read the file: gone")]
    struct Repeating(#[source] io::Error);

    #[derive(Debug, thiserror::Error)]
    #[error("cannot start")]
    struct Outer(#[source] Repeating);

    #[test]
    fn each_message_is_there_once() {
        let error = Outer(Repeating(io::Error::other("gone")));
        assert_eq!(error_chain(&error), "cannot start: cannot read the file: gone");
    }
}
