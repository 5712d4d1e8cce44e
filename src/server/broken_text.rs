//! Texts in a message that no Unicode text can hold: half of a surrogate pair, which clients send that cut an emoji in
//! two, and bytes that are no UTF-8 (RFC 8259, 8.1 and 8.2).

/// The fault of a message's text in words; none if it has none.
pub(super) fn text_fault(message: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(message) {
        Ok(text) => text,
        Err(error) => return Some(format!("the text is not UTF-8 from byte {} on", error.valid_up_to())),
    };
    let half = half_pair(text)?;
    Some(format!(
        "the escape \\u{half} is half of a character (a surrogate without its pair): send whole characters"
    ))
}

/// The hexadecimal digits of the first surrogate that has no pair.
fn half_pair(text: &str) -> Option<&str> {
    let escape = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        let unit = u16::from_str_radix(digits, 16).ok()?;
        Some((digits, unit))
    };
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += next;
        at += match escape(at) {
            Some((_, 0xD800..=0xDBFF)) if matches!(escape(at + 6), Some((_, 0xDC00..=0xDFFF))) => 12,
            Some((digits, 0xD800..=0xDFFF)) => return Some(digits),
            Some(_) => 6,
            // An escaped backslash begins no other escape.
            None => 2,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_an_emoji_and_bytes_that_are_no_text_are_named() {
        let fault = |message: &[u8]| text_fault(message).unwrap_or_default();
        assert!(fault(br#"{"a":"x \ud83d"}"#).contains("\\ud83d is half"));
        assert!(fault(br#"{"a":"\ude00 x"}"#).contains("\\ude00 is half"));
        assert!(fault(br#"{"a":"\ud83d\ud83d\ude00"}"#).contains("\\ud83d is half"));
        assert!(fault(b"{\"a\":\"\xff\"}").contains("byte 6"));
        assert_eq!(fault(br#"{"a":"\ud83d\ude00 \\ud83d \u00e9"}"#), "");
        assert_eq!(fault("{\"a\":\"é\\".as_bytes()), "");
    }
}
