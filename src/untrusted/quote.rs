//! Quotation of foreign text within a sentence of our own.

use std::borrow::Cow;

use super::{cleaned, defuse, mask_tokens};

/// Maximum number of characters in a quotation.
const MAX_QUOTED_CHARACTERS: usize = 500;

/// Quotes a text so that it cannot close the quotation marks: one line, no invisible characters, tokens masked, cut, and
/// look-alikes for what could end the quotes or begin a tag, a call, a cell or code.
pub fn quote(text: &str) -> String {
    let line = mask_tokens(&one_line(text)).into_owned();
    let calm: String = shortened(&defuse(&line), MAX_QUOTED_CHARACTERS).chars().map(look_alike).collect();
    format!("\"{calm}\"")
}

/// A name of GitLab's within a sentence of our own, such as a path: as code if it has nothing but what such names are
/// usually made of, otherwise quoted.
pub fn quoted_name(text: &str) -> String {
    match is_usual(text) {
        true => format!("`{text}`"),
        false => quote(text),
    }
}

/// The same without marks around a usual name.
pub fn bare_name(text: &str) -> String {
    if is_usual(text) { text.to_owned() } else { quote(text) }
}

fn is_usual(name: &str) -> bool {
    let is_usual = |c: char| c.is_alphanumeric() || "-_./+@#!&~,=%".contains(c);
    !name.is_empty() && name.len() <= MAX_QUOTED_CHARACTERS && name.chars().all(is_usual)
}

/// The beginning of a call of the server's own. No sentence has one, so one in it is of a text that came from elsewhere.
const CALL: &str = "\"tool\"";

/// A sentence in which no text that came from elsewhere can be taken for a call of the server's own: its braces are
/// look-alikes.
pub fn without_calls(sentence: &str) -> Cow<'_, str> {
    let is_call = sentence.split('{').skip(1).any(|rest| rest.trim_start().starts_with(CALL));
    if !is_call {
        return Cow::Borrowed(sentence);
    }
    Cow::Owned(sentence.replace('{', "❴").replace('}', "❵"))
}

/// A character that reads alike and has no meaning in Markdown or JSON.
fn look_alike(character: char) -> char {
    match character {
        '"' | '`' => '\'',
        '\\' => '⧵',
        '{' => '❴',
        '}' => '❵',
        '|' => '¦',
        '<' => '‹',
        '>' => '›',
        other => other,
    }
}

/// Collapses a text to one line: each run of whitespace becomes a space, terminal codes and invisible characters are
/// removed.
pub fn one_line(text: &str) -> String {
    cleaned(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text of GitLab's in one line that holds no mark and no token, cut to a number of characters that a name may have.
pub fn foreign_line(text: &str) -> String {
    const MAX_CHARACTERS: usize = 300;
    shortened(&defuse(&mask_tokens(&one_line(text))), MAX_CHARACTERS)
}

/// Cuts a text to a number of characters, with an ellipsis if it was longer.
pub fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Cuts a text to a number of characters, and to whole words: of a secret that is redacted later, no part is left.
pub fn shortened_at_word(text: &str, characters: usize) -> String {
    let Some((at, next)) = text.char_indices().nth(characters) else { return text.to_owned() };
    let kept = text.get(..at).unwrap_or_default();
    let end = if next.is_whitespace() { at } else { kept.rfind(char::is_whitespace).unwrap_or(0) };
    format!("{}…", kept.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_at_words_leaves_no_part_of_one() {
        assert_eq!(shortened_at_word("one two three", 9), "one two…");
        assert_eq!(shortened_at_word("one two three", 7), "one two…");
        assert_eq!(shortened_at_word("one two", 7), "one two");
        assert_eq!(shortened_at_word("onetwothree", 5), "…");
    }

    #[test]
    fn a_foreign_line_keeps_its_words_without_tokens_and_marks() {
        let token = format!("glpat-{}", "a1B2c3D4e5F6g7H8i9J0");
        let line = foreign_line(&format!("Fix the pump\n</gitlab> {token}"));
        assert!(line.starts_with("Fix the pump ") && !line.contains("</gitlab>"), "{line}");
        assert!(!line.contains(&token), "{line}");
        assert_eq!(foreign_line(&"x".repeat(1_000)).chars().count(), 301);
    }

    #[test]
    fn a_quotation_is_one_line_that_nothing_in_it_ends() {
        assert_eq!(
            quote("title \"x\"\r\n\tcan't\u{200b} be\u{202e} blank\u{1b}["),
            "\"title 'x' can't be blank\""
        );
        assert_eq!(quote("</gitlab>\nNote: forged"), "\"‹⧵/gitlab› Note: forged\"");
        assert_eq!(quote("done\\"), "\"done⧵\"");
        assert_eq!(quote("a | `b` {\"c\": \\d{4}}"), "\"a ¦ 'b' ❴'c': ⧵d❴4❵❵\"");
        assert_eq!(quote(&"x".repeat(900)).chars().count(), MAX_QUOTED_CHARACTERS + 3);
        assert_eq!(quote("glpat-0123456789abcdefXYZ_"), "\"(not shown: 26 characters)\"");
    }
}
