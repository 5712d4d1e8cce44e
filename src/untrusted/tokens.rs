//! Token shapes: the list of GitLab's token prefixes that masking goes by.

use std::borrow::Cow;
use std::ops::Range;

use super::escape::parse_escape;

/// Prefixes of GitLab's tokens, and the name of the cookie of its sessions.
/// <https://docs.gitlab.com/security/tokens/#token-prefixes>
const PREFIXES: [&str; 15] = [
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
    "_gitlab_session=",
];

/// The first two characters of every prefix.
const STARTS: [[char; 2]; 3] = [['g', 'l'], ['G', 'R'], ['_', 'g']];

/// Minimum number of characters after a prefix: `glpat-…` in prose has fewer.
const MIN_TOKEN_CHARACTERS: usize = 16;

/// Returns true if a text is exactly one token.
pub fn is_token(text: &str) -> bool {
    next_token(text, 0).is_some_and(|found| found == (0..text.len()))
}

/// Returns true if a text contains the prefix of a token. Stricter than [`mask_tokens`]: for values that are withheld
/// as a whole if they might contain a secret.
pub fn holds_token(text: &str) -> bool {
    prefixes(text, 0).next().is_some()
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
    format!("(not shown: {} characters)", secret.chars().count())
}

/// The first token that begins at or after a byte.
fn next_token(text: &str, from: usize) -> Option<Range<usize>> {
    let mut run = Run::default();
    prefixes(text, from).find_map(|prefix| {
        // Prefixes in a row share one run: reading it again for each would take quadratic time.
        if prefix.end > run.end {
            run = Run::at(text, prefix.end);
        }
        let is_long = run.trimmed.saturating_sub(prefix.end) >= MIN_TOKEN_CHARACTERS;
        (is_long && prefix.end <= run.last_random).then_some(prefix.start..run.trimmed)
    })
}

/// The prefixes that begin at or after a byte, verbatim or with escaped characters.
fn prefixes(text: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let may_start = |byte: &u8| matches!(byte, b'g' | b'G' | b'_' | b'\\' | b'%' | b'&');
    let starts = text.as_bytes().iter().enumerate().skip(from).filter(move |(_, byte)| may_start(byte));
    starts.filter_map(|(start, _)| Some(start..prefix_end(text, start)?))
}

/// The end of the prefix that begins at a byte.
fn prefix_end(text: &str, start: usize) -> Option<usize> {
    let (first, after_first) = character_at(text, start)?;
    let (second, after_second) = character_at(text, after_first)?;
    let rest_end = |prefix: &&str| {
        let mut characters = prefix.chars();
        let is_start = [first, second].iter().all(|character| characters.next() == Some(*character));
        is_start.then_some(())?;
        characters.try_fold(after_second, |at, wanted| {
            character_at(text, at).filter(|(character, _)| *character == wanted).map(|(_, end)| end)
        })
    };
    PREFIXES.iter().filter(|_| STARTS.contains(&[first, second])).find_map(rest_end)
}

/// The character at a byte, verbatim or escaped, and where the next one begins.
fn character_at(text: &str, at: usize) -> Option<(char, usize)> {
    let rest = text.get(at..)?;
    let verbatim = || rest.chars().next().map(|character| (character, character.len_utf8()));
    let (character, length) = parse_escape(rest).or_else(verbatim)?;
    Some((character, at + length))
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
        let (mut end, mut trimmed) = (start, start);
        let mut last = [0; KINDS.len()];
        while let Some((character, next)) =
            character_at(text, end).filter(|(character, _)| is_part(*character))
        {
            let Ok(byte) = u8::try_from(character) else { break };
            for (last, is_kind) in last.iter_mut().zip(KINDS) {
                *last = if is_kind(&byte) { end } else { *last };
            }
            trimmed = if character == '.' { trimmed } else { next };
            end = next;
        }
        last.sort_unstable();
        let [_, last_random, _] = last;
        Run { end, trimmed, last_random }
    }
}

fn is_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
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
            masked.starts_with("export TOKEN=(not shown: 26 characters)\n")
                && masked.ends_with("acme-(not shown: 26 characters).")
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
            ("glpat-glpat-0123456789abcdefXYZ_", "(not shown: 32 characters)"),
            ("glpat-1glpat-aaaaaaaaaaaaaaaaaaaa.", "(not shown: 33 characters)."),
            ("glpat-glpat-glpat-aaaaaaaaaaaaaaaa", "glpat-glpat-glpat-aaaaaaaaaaaaaaaa"),
            ("glpat-glpat-aaaaaaaaaaaaaaaaaa1..", "(not shown: 31 characters).."),
            (
                "glpat-aaaaaaaaaaaaaaaaa glrt-Aaaaaaaaaaaaaaaaaaa",
                "glpat-aaaaaaaaaaaaaaaaa (not shown: 24 characters)",
            ),
        ] {
            assert_eq!(mask_tokens(text), masked);
        }
    }

    #[test]
    fn a_token_with_each_of_gitlabs_prefixes_is_masked() {
        for prefix in PREFIXES {
            let token = format!("{prefix}0123456789abcdefXYZ_");
            let masked = format!("a {} b", mask(&token));
            assert_eq!(mask_tokens(&format!("a {token} b")), masked);
            assert!(is_token(&token) && holds_token(prefix), "{token}");
        }
    }

    #[test]
    fn a_token_is_masked_in_every_spelling() {
        for prefix in PREFIXES {
            let token = format!("{prefix}0123456789-abc_ef.XYZ");
            let first = prefix.chars().next().map(u32::from).unwrap();
            let spellings = [
                token.replace('-', "%2D"),
                token.replace('-', "%252d"),
                token.replace('-', "&#45;"),
                token.replace('-', "&#x2d;").replace('_', "&lowbar;"),
                token.replace('-', "&amp;#45;"),
                token.replace('-', "\\u002d"),
                token.replace('-', "\\\\u002D"),
                token.replace('-', "\\-").replace('_', "\\_"),
                token.replace('=', "%3D"),
                format!("\\u{first:04x}{}", token.get(1..).unwrap()),
                format!("%{first:02x}{}", token.get(1..).unwrap()),
                format!("&#{first};{}", token.get(1..).unwrap()),
            ];
            for spelling in spellings {
                let text = format!("see \\n{spelling}\\n and \"{spelling}\"");
                let masked = format!("see \\n{0}\\n and \"{0}\"", mask(&spelling));
                assert_eq!(mask_tokens(&text), masked, "{text}");
                assert!(holds_token(&text));
            }
        }
    }

    #[test]
    fn what_only_begins_like_a_token_is_left() {
        for text in [
            "glpat%2D",
            "gl&#112;at&#45;short",
            "%67%6C",
            "_gitlab_session=short",
            "glpat\\u002dxxxxxxxxxxxxxxxxxxxx",
            "\\glpat_",
        ] {
            assert_eq!(mask_tokens(text), text);
        }
    }

    #[test]
    fn every_prefix_has_a_known_start() {
        let start = |prefix: &str| prefix.chars().take(2).collect::<Vec<char>>();
        assert!(PREFIXES.iter().all(|prefix| STARTS.iter().any(|known| start(prefix) == known)));
    }

    #[test]
    fn runs_of_prefixes_take_linear_time() {
        let start = std::time::Instant::now();
        for run in [
            "glpat-",
            "GR1348941",
            "glpat-.",
            "g",
            "gl",
            "glpat-0123456789abcdefABCD ",
            "glpat%2D",
            "&#103;",
            "\\",
            "%25",
            "&amp;",
            "\\u0067\\u006c",
        ] {
            mask_tokens(&run.repeat(500_000));
        }
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
    }

    /// The same, a candidate at a time.
    fn slow_token(text: &str, from: usize) -> Option<Range<usize>> {
        (from..text.len()).filter(|start| text.is_char_boundary(*start)).find_map(|start| {
            let after = prefix_end(text, start)?;
            let mut plain = String::new();
            let (mut at, mut end) = (after, after);
            while let Some((character, next)) =
                character_at(text, at).filter(|(character, _)| is_part(*character))
            {
                plain.push(character);
                (at, end) = (next, if character == '.' { end } else { next });
            }
            (end - after >= MIN_TOKEN_CHARACTERS && is_random(&plain)).then_some(start..end)
        })
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn a_shared_run_changes_no_match(text in "(glpat-|glrt-|GR1348941|glpat%2d|&#45;|\\\\|[a-c]{1,9}|[0-2]|[A-C]{1,9}|\\.| |é){0,12}") {
            proptest::prop_assert_eq!(next_token(&text, 0), slow_token(&text, 0));
        }
    }
}
