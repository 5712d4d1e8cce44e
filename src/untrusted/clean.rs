//! Removal of terminal codes and invisible characters from a text.

use std::iter::Peekable;
use std::str::Chars;

/// The text without invisible characters. Terminal codes go; every way to end a line is a line feed.
pub fn cleaned(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut before = None;
    while let Some(c) = characters.next() {
        let stays = is_joiner(c, before.replace(c), characters.peek().copied());
        match c {
            _ if stays => out.push(c),
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

/// Number of invisible characters that belong to the writing: see [`is_joiner`].
pub fn joiners(text: &str) -> usize {
    let mut before = None;
    let mut characters = text.chars().peekable();
    let mut count = 0;
    while let Some(c) = characters.next() {
        count += usize::from(is_joiner(c, before.replace(c), characters.peek().copied()));
    }
    count
}

/// True for a joiner or non-joiner between letters of a script that is spelt with them, such as Persian and Hindi, and
/// for the joiners and selectors of emojis. One alone: several in a row would carry hidden text.
fn is_joiner(c: char, before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}') = (before, c) else { return false };
    let joins = |is_part: fn(char) -> bool| is_part(before) && after.is_some_and(is_part);
    match c {
        '\u{fe0e}' | '\u{fe0f}' => is_emoji(before) || after == Some('\u{20e3}'),
        '\u{200d}' if before == '\u{fe0f}' => after.is_some_and(is_emoji),
        '\u{200d}' => joins(is_emoji) || joins(is_spelt_with_joiners),
        _ => joins(is_spelt_with_joiners),
    }
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{2bff}' | '\u{3030}'..='\u{303d}' | '\u{3297}'..='\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
        && !is_invisible(c)
}

/// Arabic with its extensions, the scripts of South Asia, Myanmar, Khmer and Mongolian.
fn is_spelt_with_joiners(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}' | '\u{1820}'..='\u{18aa}' | '\u{fb50}'..='\u{fdff}')
        && !is_invisible(c)
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
/// are invisible, and text can be hidden in them. Those that [`joiners`] counts stay in a text all the same.
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
