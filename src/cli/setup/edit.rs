//! Changes of a text that only insert, so that they can be taken back to the byte.

use serde::{Deserialize, Serialize};

/// Text inserted at a byte of the original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    pub at: usize,
    pub text: String,
}

/// Place of a piece of inserted text in the changed text, as the record has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditPiece {
    pub at: usize,
    pub bytes: usize,
}

/// Error of finding the place of a change.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigEditError {
    #[error("line {line}: {reason}")]
    Malformed { line: usize, reason: String },
    #[error("{0} is not an object")]
    NotObject(String),
    #[error("{0} is written on one line, in a form that cannot be added to")]
    Inline(String),
}

/// The text with the insertions, which are in the order of their places, and the pieces that they became.
pub fn apply(original: &str, insertions: &[Insertion]) -> (String, Vec<EditPiece>) {
    let (mut text, mut pieces, mut end) = (String::with_capacity(original.len() + 256), Vec::new(), 0);
    for insertion in insertions {
        text.push_str(original.get(end..insertion.at).unwrap_or_default());
        end = insertion.at;
        pieces.push(EditPiece { at: text.len(), bytes: insertion.text.len() });
        text.push_str(&insertion.text);
    }
    text.push_str(original.get(end..).unwrap_or_default());
    (text, pieces)
}

/// The text without pieces, which are in the order of their places; none if one is not within the text.
pub fn cut(text: &str, pieces: &[EditPiece]) -> Option<String> {
    let (mut left, mut end) = (String::with_capacity(text.len()), 0);
    for piece in pieces {
        left.push_str(text.get(end..piece.at)?);
        end = piece.at.checked_add(piece.bytes)?;
    }
    left.push_str(text.get(end..)?);
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_the_pieces_restores_the_text() {
        let original = "{\"ä\": 1}";
        let insertions = [
            Insertion { at: 0, text: "//\n".to_owned() },
            Insertion { at: 8, text: ", \"b\": 2".to_owned() },
        ];
        let (text, pieces) = apply(original, &insertions);
        assert_eq!(text, "//\n{\"ä\": 1, \"b\": 2}");
        assert_eq!(cut(&text, &pieces).unwrap(), original);
        assert_eq!(cut("{", &pieces), None);
    }
}
