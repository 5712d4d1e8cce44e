//! Token shapes: the only list of GitLab's token prefixes.

use std::borrow::Cow;
use std::ops::Range;

/// Prefixes of GitLab's tokens. <https://docs.gitlab.com/security/tokens/#token-prefixes>
const PREFIXES: [&str; 14] = [
    "glpat-",
    "gloas-",
    "gldt-",
    "glrt-",
    "glrtr-",
    "glcbt-",
    "glptt-",
    "glft-",
    "glimt-",
    "glagent-",
    "glwt-",
    "glsoat-",
    "glffct-",
    "GR1348941",
];

/// Minimum number of characters after a prefix: `glpat-…` in prose has fewer.
const SHORTEST: usize = 16;

/// Returns true if a text is exactly one token.
pub fn is_token(text: &str) -> bool {
    next_token(text, 0).is_some_and(|found| found == (0..text.len()))
}

/// Returns true if a text contains the prefix of a token. Stricter than [`mask_tokens`]: for values that are withheld
/// as a whole if they might contain a secret.
pub fn holds_token(text: &str) -> bool {
    PREFIXES.iter().any(|prefix| text.contains(prefix))
}

/// Masks every token in a text and changes nothing else.
pub fn mask_tokens(text: &str) -> Cow<'_, str> {
    let Some(first) = next_token(text, 0) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    let mut next = Some(first);
    while let Some(found) = next {
        out.push_str(text.get(end..found.start).unwrap_or_default());
        out.push_str(&mask(text.get(found.clone()).unwrap_or_default()));
        end = found.end;
        next = next_token(text, end);
    }
    out.push_str(text.get(end..).unwrap_or_default());
    Cow::Owned(out)
}

/// Replacement of a masked secret.
pub fn mask(secret: &str) -> String {
    format!("(masked: {} characters)", secret.chars().count())
}

/// The first token that begins at or after a byte.
fn next_token(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    rest.match_indices(['g', 'G']).find_map(|(at, _)| {
        let start = from + at;
        let token = text.get(start..)?;
        let prefix = PREFIXES.iter().find(|prefix| token.starts_with(**prefix))?;
        let after = token.get(prefix.len()..)?;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let length = after.bytes().take_while(is_part).count();
        // A full stop ends the sentence, not the token.
        let after = after.get(..length)?.trim_end_matches('.');
        let length = after.len();
        (length >= SHORTEST && is_random(after)).then(|| start..start + prefix.len() + length)
    })
}

/// Returns true if a text has two of digits, lower case and upper case, as random characters do. Placeholders such as
/// `xxxxxxxxxxxxxxxxxxxx` have one. A digit alone decides nothing: of random tokens with 20 characters, 3 % have none.
pub(super) fn is_random(text: &str) -> bool {
    let kinds: [fn(&u8) -> bool; 3] = [u8::is_ascii_digit, u8::is_ascii_lowercase, u8::is_ascii_uppercase];
    kinds.iter().filter(|is_kind| text.as_bytes().iter().any(is_kind)).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_masked_wherever_it_stands_in_a_text() {
        let token = "glpat-0123456789abcdefXYZ_";
        assert!(is_token(token) && !is_token(&format!("{token} ")) && !is_token("glpat-… is a prefix"));
        let text = format!("export TOKEN={token}\nhttps://oauth2:{token}@host/ ends with acme-{token}.");
        let masked = mask_tokens(&text);
        assert!(!masked.contains("0123456789"), "{masked}");
        assert!(
            masked.starts_with("export TOKEN=(masked: 26 characters)\n")
                && masked.ends_with("acme-(masked: 26 characters).")
        );
        assert_eq!(mask_tokens("glpat-short and GR1348941"), "glpat-short and GR1348941");
        for placeholder in
            ["glpat-xxxxxxxxxxxxxxxxxxxx", "glpat-your-personal-access-token", "glrt-00000000000000000000"]
        {
            assert_eq!(mask_tokens(placeholder), placeholder);
        }
        assert!(holds_token("acme-glrt-x"));
    }
}
