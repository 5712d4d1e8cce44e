//! WordPiece tokenizer: splits tokens into the longest pieces of the encoder's vocabulary.

/// Maximum length of a word in bytes; a longer one is cut off.
const LONGEST_WORD: usize = 64;

/// Prefix of a piece that continues a word.
const CONTINUATION: &str = "##";

/// The pieces of the vocabulary, sorted, one per line.
#[derive(Debug)]
pub struct Pieces<'w> {
    pieces: Vec<&'w str>,
    unknown: usize,
    first: usize,
    last: usize,
}

impl<'w> Pieces<'w> {
    /// Parses sorted pieces, one per line, including `[CLS]`, `[SEP]` and `[UNK]`.
    pub fn new(text: &'w str) -> Pieces<'w> {
        let pieces: Vec<&str> = text.lines().collect();
        let of = |piece: &str| pieces.binary_search(&piece).unwrap_or_default();
        let (unknown, first, last) = (of("[UNK]"), of("[CLS]"), of("[SEP]"));
        Pieces { pieces, unknown, first, last }
    }

    /// True if a word is a single piece.
    pub fn contains(&self, word: &str) -> bool {
        self.pieces.binary_search(&word).is_ok()
    }

    /// The ids of the pieces of tokens, at most `most`, between `[CLS]` and `[SEP]`.
    pub fn split(&self, tokens: &[String], most: usize) -> Vec<usize> {
        let mut numbers = vec![self.first];
        for token in tokens {
            self.push_word(token, &mut numbers);
            if numbers.len() >= most {
                break;
            }
        }
        numbers.truncate(most.saturating_sub(1));
        numbers.push(self.last);
        numbers
    }

    /// Splits a word into its longest pieces; if a part has none, the word is unknown.
    fn push_word(&self, word: &str, numbers: &mut Vec<usize>) {
        let start = numbers.len();
        let mut rest = word.get(..word.floor_char_boundary(LONGEST_WORD)).unwrap_or_default();
        let mut piece = String::new();
        while !rest.is_empty() {
            let prefix = if numbers.len() > start { CONTINUATION } else { "" };
            let mut ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let found = ends.find_map(|end| {
                piece.clear();
                piece.push_str(prefix);
                piece.push_str(rest.get(..end)?);
                Some((end, self.pieces.binary_search(&piece.as_str()).ok()?))
            });
            let Some((end, number)) = found else {
                numbers.truncate(start);
                numbers.push(self.unknown);
                return;
            };
            numbers.push(number);
            rest = rest.get(end..).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pieces;

    fn pieces(words: &[&str], most: usize) -> Vec<&'static str> {
        const TEXT: &str = "##e\n##es\n##s\n[CLS]\n[SEP]\n[UNK]\n[quote]\nissu\nlist";
        let names: Vec<&str> = TEXT.lines().collect();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Pieces::new(TEXT).split(&words, most).into_iter().map(|number| names[number]).collect()
    }

    #[test]
    fn words_are_cut_into_their_longest_pieces() {
        assert_eq!(pieces(&["list", "issues"], 9), ["[CLS]", "list", "issu", "##es", "[SEP]"]);
        assert_eq!(pieces(&["[quote]", "listen"], 9), ["[CLS]", "[quote]", "[UNK]", "[SEP]"]);
    }

    #[test]
    fn a_long_input_is_cut_and_ends_as_every_input() {
        assert_eq!(pieces(&["list", "list", "list"], 4), ["[CLS]", "list", "list", "[SEP]"]);
        assert_eq!(pieces(&[], 4), ["[CLS]", "[SEP]"]);
    }
}
