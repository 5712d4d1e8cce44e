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

/// The first two bytes of every prefix.
const STARTS: [&[u8]; 2] = [b"gl", b"GR"];

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
    let mut run = Run::default();
    let starts = text.as_bytes().windows(2).enumerate().skip(from).filter(|(_, pair)| STARTS.contains(pair));
    starts.map(|(start, _)| start).find_map(|start| {
        let token = text.get(start..)?;
        let prefix = PREFIXES.iter().find(|prefix| token.starts_with(**prefix))?;
        let after = start + prefix.len();
        // Prefixes in a row share one run: reading it again for each would take quadratic time.
        if after > run.end {
            run = Run::at(text, after);
        }
        (run.trimmed.saturating_sub(after) >= SHORTEST && after <= run.last_random)
            .then_some(start..run.trimmed)
    })
}

/// A run of characters that a token may have after its prefix.
#[derive(Default)]
struct Run {
    /// End of the run, and its end without full stops: a full stop ends the sentence, not the token.
    end: usize,
    trimmed: usize,
    /// Last position from which the rest of the run is random (see [`is_random`]).
    last_random: usize,
}

impl Run {
    fn at(text: &str, start: usize) -> Run {
        let bytes = text.as_bytes().get(start..).unwrap_or_default();
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let length = bytes.iter().take_while(is_part).count();
        let run = bytes.get(..length).unwrap_or_default();
        let trimmed = run.iter().rposition(|byte| *byte != b'.').map_or(0, |last| last + 1);
        let mut last = KINDS.map(|is_kind| run.iter().rposition(is_kind).map_or(0, |last| start + last));
        last.sort_unstable();
        let [_, last_random, _] = last;
        Run { end: start + length, trimmed: start + trimmed, last_random }
    }
}

/// Kinds of characters that random text mixes.
const KINDS: [fn(&u8) -> bool; 3] = [u8::is_ascii_digit, u8::is_ascii_lowercase, u8::is_ascii_uppercase];

/// Returns true if a text has two of digits, lower case and upper case, as random characters do. Placeholders such as
/// `xxxxxxxxxxxxxxxxxxxx` have one. A digit alone decides nothing: of random tokens with 20 characters, 3 % have none.
pub(super) fn is_random(text: &str) -> bool {
    KINDS.iter().filter(|is_kind| text.as_bytes().iter().any(is_kind)).count() >= 2
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

    #[test]
    fn a_token_is_found_among_prefixes_in_a_row() {
        for (text, masked) in [
            ("glpat-glpat-0123456789abcdefXYZ_", "(masked: 32 characters)"),
            ("glpat-1glpat-aaaaaaaaaaaaaaaaaaaa.", "(masked: 33 characters)."),
            ("glpat-glpat-glpat-aaaaaaaaaaaaaaaa", "glpat-glpat-glpat-aaaaaaaaaaaaaaaa"),
            ("glpat-glpat-aaaaaaaaaaaaaaaaaa1..", "(masked: 31 characters).."),
            (
                "glpat-aaaaaaaaaaaaaaaaa glrt-Aaaaaaaaaaaaaaaaaaa",
                "glpat-aaaaaaaaaaaaaaaaa (masked: 24 characters)",
            ),
        ] {
            assert_eq!(mask_tokens(text), masked);
        }
    }

    #[test]
    fn every_prefix_has_a_known_start() {
        assert!(
            PREFIXES.iter().all(|prefix| STARTS.iter().any(|start| prefix.as_bytes().starts_with(start)))
        );
    }

    #[test]
    fn runs_of_prefixes_take_linear_time() {
        let start = std::time::Instant::now();
        for run in ["glpat-", "GR1348941", "glpat-.", "g", "glpat-0123456789abcdefABCD "] {
            mask_tokens(&run.repeat(500_000));
        }
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
    }

    /// The same, a candidate at a time.
    fn slow_token(text: &str, from: usize) -> Option<Range<usize>> {
        (from..text.len()).find_map(|start| {
            let token = text.get(start..)?;
            let prefix = PREFIXES.iter().find(|prefix| token.starts_with(**prefix))?;
            let after = token.get(prefix.len()..)?;
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            let end = after.find(|c| !is_part(c)).unwrap_or(after.len());
            let after = after.get(..end)?.trim_end_matches('.');
            (after.len() >= SHORTEST && is_random(after)).then(|| start..start + prefix.len() + after.len())
        })
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn a_shared_run_changes_no_match(text in "(glpat-|glrt-|GR1348941|[a-c]{1,9}|[0-2]|[A-C]{1,9}|\\.| |é){0,12}") {
            proptest::prop_assert_eq!(next_token(&text, 0), slow_token(&text, 0));
        }
    }
}
