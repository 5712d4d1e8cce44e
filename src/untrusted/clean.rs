//! Removal of terminal codes and invisible characters from a text.

use std::iter::Peekable;
use std::str::Chars;

/// The text without invisible characters. Terminal codes go; every way to end a line is a line feed.
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

/// Skips the rest of an escape sequence after ESC (ECMA-48): `[` and parameters up to a final letter; an operating
/// system command (a title, a link) up to its end; or a few characters that switch a mode.
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

/// Ends a truncated sequence at the first character that cannot belong to it, so that it swallows nothing else.
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

/// True for control characters, and for those that Unicode calls default ignorable, format characters and fillers: they
/// are invisible, and text can be hidden in them. The joiner of an emoji and the selector of its color are among them.
pub fn is_invisible(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}
