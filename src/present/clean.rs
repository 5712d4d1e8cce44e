//! Text that strangers wrote, without the characters that hide, reorder or imitate: control characters, zero-width
//! and bidirectional marks, tag characters.

use serde_json::Value;

/// The text without what a reader cannot see. Terminal colours go, a carriage return starts no line over.
pub fn cleaned(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' => skip_escape(&mut characters),
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            _ if is_hidden(c) => {}
            _ => out.push(c),
        }
    }
    out
}

/// An ANSI escape sequence (ECMA-48): `ESC [`, parameters, a final letter.
fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if characters.next_if_eq(&'[').is_none() {
        return;
    }
    for c in characters.by_ref() {
        if ('\u{40}'..='\u{7e}').contains(&c) {
            return;
        }
    }
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A key stands at the beginning of a line, so it is one line.
fn cleaned_key(key: &str) -> String {
    cleaned(key).replace(['\n', '\t'], " ")
}

/// Every text in a value, keys included.
pub fn cleaned_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(cleaned(&text)),
        Value::Array(items) => items.into_iter().map(cleaned_value).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (cleaned_key(&key), cleaned_value(value))).collect()
        }
        other => other,
    }
}
