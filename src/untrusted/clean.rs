//! Removal of terminal codes and invisible characters from a text.

use std::iter::Peekable;
use std::str::Chars;

use super::is_invisible;

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
