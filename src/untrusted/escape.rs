//! Escapes of one character in JSON, Markdown, URLs and HTML, also where an escape was escaped again.

/// Maximum number of backslashes in an escape: each level of quotation doubles them.
pub const MAX_BACKSLASHES: usize = 8;

/// Maximum number of times that an escape was escaped again: `%252d`, `&amp;#45;`.
const MAX_ESCAPE_LAYERS: usize = 4;

/// Maximum number of digits of a numeric character reference in HTML.
const MAX_ESCAPE_DIGITS: usize = 7;

/// Named character references of HTML for the characters of tokens that are no letters or digits.
const REFERENCES: [(&str, char); 6] = [
    ("hyphen;", '-'),
    ("dash;", '-'),
    ("lowbar;", '_'),
    ("UnderBar;", '_'),
    ("period;", '.'),
    ("equals;", '='),
];

/// Parses the escape at the start of a text: its character, and its length in bytes.
pub fn parse_escape(text: &str) -> Option<(char, usize)> {
    match text.as_bytes().first()? {
        b'\\' => parse_backslashes(text),
        b'%' => parse_percent(text),
        b'&' => parse_reference(text),
        _ => None,
    }
}

/// `\-`, `\u002d`, `\u{2d}`, `\x2d`, and `\\u002d` where a JSON text was quoted once more. A backslash before another
/// letter is no escape of that letter: `\n`.
fn parse_backslashes(text: &str) -> Option<(char, usize)> {
    let backslashes = text.bytes().take(MAX_BACKSLASHES + 1).take_while(|byte| *byte == b'\\').count();
    let after = text.get(backslashes..).filter(|_| backslashes <= MAX_BACKSLASHES)?;
    let escaped = after.chars().next()?;
    let digits = after.get(1..)?;
    let (character, length) = match escaped {
        'u' if digits.starts_with('{') => {
            let end = digits.bytes().take(MAX_ESCAPE_DIGITS + 2).position(|byte| byte == b'}')?;
            (hexadecimal(digits.get(1..end)?)?, end + 2)
        }
        'u' => (hexadecimal(digits.get(..4)?)?, 5),
        'x' => (hexadecimal(digits.get(..2)?)?, 3),
        letter if letter.is_alphanumeric() => return None,
        other => (other, other.len_utf8()),
    };
    Some((character, backslashes + length))
}

/// `%2d`, and `%252d` where a URL was encoded once more.
fn parse_percent(text: &str) -> Option<(char, usize)> {
    let code = |start: usize| text.get(start..start + 2).and_then(hexadecimal);
    let mut character = code(1)?;
    let mut end = 3;
    for _ in 0..MAX_ESCAPE_LAYERS {
        let Some(next) = code(end).filter(|_| character == '%') else { break };
        (character, end) = (next, end + 2);
    }
    Some((character, end))
}

/// `&#45;`, `&#x2d;`, `&hyphen;`, and `&amp;#45;` where a page was escaped once more. Browsers read a number without its
/// semicolon as well.
fn parse_reference(text: &str) -> Option<(char, usize)> {
    let mut rest = text.get(1..)?;
    for _ in 0..MAX_ESCAPE_LAYERS {
        rest = rest.strip_prefix("amp;").unwrap_or(rest);
    }
    let length = |rest: &str| text.len() - rest.len();
    if let Some((name, character)) = REFERENCES.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((*character, length(rest) + name.len()));
    }
    let number = rest.strip_prefix('#')?;
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let count = digits.chars().take(MAX_ESCAPE_DIGITS).take_while(|digit| digit.is_digit(radix)).count();
    let code = u32::from_str_radix(digits.get(..count)?, radix).ok()?;
    let after = digits.get(count..)?;
    Some((char::from_u32(code)?, length(after.strip_prefix(';').unwrap_or(after))))
}

fn hexadecimal(digits: &str) -> Option<char> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| is_number)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_read_in_each_spelling_and_nothing_behind_it() {
        for escape in [
            "\\-",
            "\\\\-",
            "\\u002d",
            "\\u002D",
            "\\\\\\\\u002d",
            "\\u{2d}",
            "\\x2d",
            "%2d",
            "%2D",
            "%252d",
            "%25252D",
            "&#45;",
            "&#045;",
            "&#x2d;",
            "&#X2D;",
            "&amp;#45;",
            "&amp;amp;#x2d;",
            "&hyphen;",
            "&dash;",
        ] {
            for after in ["", "x", "-", "é"] {
                let text = format!("{escape}{after}");
                assert_eq!(parse_escape(&text), Some(('-', escape.len())), "{text}");
            }
        }
        assert_eq!(parse_escape("&#45x"), Some(('-', 4)));
        assert_eq!(parse_escape("%25"), Some(('%', 3)));
        for plain in
            ["", "-", "\\", "\\n", "%", "%2", "%+2", "&", "&amp", "&lt;", "&#;", "\\u002", "\\u{", "x\\-"]
        {
            assert_eq!(parse_escape(plain), None, "{plain}");
        }
    }
}
