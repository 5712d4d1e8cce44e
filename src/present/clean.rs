//! Text that strangers wrote, without the characters that hide, reorder or imitate: control characters, zero-width
//! and bidirectional marks, tag characters, variation selectors.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::Value;

use crate::untrusted::{defuse, is_invisible};

/// The text without what a reader cannot see. Terminal codes go; every way to end a line is a line feed.
pub fn cleaned(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' => skip_escape(&mut characters),
            '\u{9b}' => skip_parameters(&mut characters),
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            _ if is_invisible(c) => {}
            _ => out.push(c),
        }
    }
    out
}

/// The text in one line, so that nothing in it can begin another, and without marks.
pub fn line(text: &str) -> String {
    defuse(&cleaned(text).replace(['\n', '\t'], " ")).into_owned()
}

/// Returns true if cleaning would not change a text.
pub fn is_clean(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '\n' | '\t') || !is_invisible(c))
}

fn is_plain_line(text: &str) -> bool {
    text.chars().all(|c| !is_invisible(c))
}

/// Every text in a value, keys included. Keys that come to the same keep the first.
pub fn cleaned_value(value: Value) -> Value {
    match value {
        Value::String(text) if is_clean(&text) => Value::String(text),
        Value::String(text) => Value::String(cleaned(&text)),
        Value::Array(items) => items.into_iter().map(cleaned_value).collect(),
        Value::Object(map) => {
            let key = |key: String| if is_plain_line(&key) { key } else { line(&key) };
            map.into_iter().map(|(name, value)| (key(name), cleaned_value(value))).collect()
        }
        other => other,
    }
}

/// How many characters of a text are not seen and carry no colour or line: whoever writes the cleaned text back
/// loses them.
pub fn hidden(text: &str) -> usize {
    text.chars().filter(|c| is_invisible(*c) && !c.is_control()).count()
}

/// The same of every text in a value, but for what makes emojis: titles and labels are full of it, and nobody
/// writes them back byte for byte.
pub fn hidden_in(value: &Value) -> usize {
    let emojis = |text: &str| text.chars().filter(|c| matches!(c, '\u{200d}' | '\u{fe0f}')).count();
    let of = |text: &str| hidden(text) - emojis(text);
    match value {
        Value::String(text) => of(text),
        Value::Array(items) => items.iter().map(hidden_in).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| of(key) + hidden_in(value)).sum(),
        _ => 0,
    }
}

/// What comes after ESC (ECMA-48): `[` and parameters to a final letter; a string of the system's (a title, a link)
/// to its end; or a few characters that switch something.
fn skip_escape(characters: &mut Peekable<Chars<'_>>) {
    match characters.peek() {
        Some('[') => {
            characters.next();
            skip_parameters(characters);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(characters),
        Some('\u{20}'..='\u{2f}') => {
            while characters.next_if(|c| ('\u{20}'..='\u{2f}').contains(c)).is_some() {}
            characters.next_if(|c| ('\u{30}'..='\u{7e}').contains(c));
        }
        Some('\u{30}'..='\u{7e}') => {
            characters.next();
        }
        _ => {}
    }
}

/// A sequence that is broken off ends where no part of it can stand, so that it swallows nothing else.
fn skip_parameters(characters: &mut Peekable<Chars<'_>>) {
    while characters.next_if(|c| ('\u{20}'..='\u{3f}').contains(c)).is_some() {}
    characters.next_if(|c| ('\u{40}'..='\u{7e}').contains(c));
}

/// To BEL or ESC `\`; one without an end is over with its line.
fn skip_string(characters: &mut Peekable<Chars<'_>>) {
    while let Some(c) = characters.next_if(|c| !matches!(c, '\n' | '\r')) {
        if c == '\u{7}' || c == '\u{9c}' {
            return;
        }
        if c == '\u{1b}' {
            characters.next_if_eq(&'\\');
            return;
        }
    }
}
