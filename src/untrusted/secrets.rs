//! Redaction of this process's own secrets (the token, values of extra headers) in texts: verbatim, escaped, or with
//! invisible characters in between.

use std::borrow::Cow;
use std::fmt;
use std::mem;

use serde_json::{Map, Value};

use super::is_invisible;

/// Replacement of a redacted secret.
const REDACTED: &str = "[redacted]";

/// Minimum length of a secret. A shorter value, or a plain word, would redact ordinary text.
const SHORTEST: usize = 8;
const LONGEST_WORD: usize = 15;

/// Maximum number of backslashes in an escape: each level of quotation doubles them.
const MOST_BACKSLASHES: usize = 8;

/// Values that no text may show, with a redacted `Debug`.
#[derive(Clone, Default)]
pub struct Secrets(Vec<Vec<char>>);

impl Secrets {
    /// No secrets.
    pub const NONE: &Secrets = &Secrets(Vec::new());

    /// Collects secrets from header values. In `Basic dXNlcjpwYXNz` the second word is a secret by itself.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Secrets {
        let mut secrets: Vec<Vec<char>> = Vec::new();
        for value in values {
            let value = value.trim();
            let last = value.split_whitespace().last();
            for text in [Some(value), last].into_iter().flatten() {
                let secret: Vec<char> = text.chars().filter(|c| !is_invisible(*c)).collect();
                let is_word = secret.len() <= LONGEST_WORD && secret.iter().skip(1).all(|c| c.is_lowercase());
                if secret.len() >= SHORTEST && !is_word && !secrets.contains(&secret) {
                    secrets.push(secret);
                }
            }
        }
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Secrets(secrets)
    }

    /// Returns the text without secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.0 {
            if let Some(redacted) = without(&text, secret) {
                text = Cow::Owned(redacted);
            }
        }
        text
    }

    /// Redacts a text in place. Returns true if it contained a secret.
    pub fn redact_string(&self, text: &mut String) -> bool {
        match self.redact(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(redacted) => {
                *text = redacted;
                true
            }
        }
    }

    /// Redacts every text of a value in place, keys included.
    pub fn redact_value(&self, value: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        match value {
            Value::String(text) => drop(self.redact_string(text)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(map) => self.redact_map(map),
            _ => {}
        }
    }

    /// Redacts the fields of an object in place.
    pub fn redact_map(&self, map: &mut Map<String, Value>) {
        map.values_mut().for_each(|value| self.redact_value(value));
        if map.keys().any(|key| matches!(self.redact(key), Cow::Owned(_))) {
            *map = mem::take(map)
                .into_iter()
                .map(|(key, value)| (self.redact(&key).into_owned(), value))
                .collect();
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

/// Removes a secret from a text. Returns `None` if the text does not contain it.
fn without(text: &str, secret: &[char]) -> Option<String> {
    let first = *secret.first()?;
    let mut out: Option<String> = None;
    let mut end = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..)?.find([first, '\\', '%', '&']) {
        let start = at + found;
        let rest = text.get(start..)?;
        match matched(rest, secret) {
            Some(length) => {
                let out = out.get_or_insert_with(String::new);
                out.push_str(text.get(end..start)?);
                out.push_str(REDACTED);
                end = start + length;
                at = end;
            }
            None => at = start + rest.chars().next()?.len_utf8(),
        }
    }
    let mut out = out?;
    out.push_str(text.get(end..)?);
    Some(out)
}

/// Length in bytes of a secret at the start of a text, each character verbatim or escaped.
fn matched(text: &str, secret: &[char]) -> Option<usize> {
    let mut rest = text;
    for wanted in secret {
        rest = rest.trim_start_matches(is_invisible);
        rest = rest.strip_prefix(*wanted).or_else(|| unescaped(rest, *wanted))?;
    }
    Some(text.len() - rest.len())
}

/// Strips one escaped character (JSON, Markdown, URL or HTML escapes) from the start of a text.
fn unescaped(text: &str, wanted: char) -> Option<&str> {
    let code = u32::from(wanted);
    let is_it = |digits: &str| u32::from_str_radix(digits, 16) == Ok(code);
    // `\\u002d`, where a JSON text was quoted once more.
    let after = text.trim_start_matches('\\');
    let backslashes = text.len() - after.len();
    if (1..=MOST_BACKSLASHES).contains(&backslashes) {
        let digits = after.strip_prefix('u').and_then(|after| after.get(..4)).filter(|digits| is_it(digits));
        return if digits.is_some() { after.get(5..) } else { after.strip_prefix(wanted) };
    }
    if let Some(after) = text.strip_prefix('%') {
        return after.get(..2).filter(|digits| is_it(digits)).and_then(|_| after.get(2..));
    }
    let (entity, after) = text.strip_prefix('&')?.split_once(';').filter(|(entity, _)| entity.len() <= 8)?;
    let number = entity.strip_prefix('#')?;
    let is_number = match number.strip_prefix(['x', 'X']) {
        Some(digits) => is_it(digits),
        None => number.parse() == Ok(code),
    };
    is_number.then_some(after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKEN: &str = "glpat-own-token-0123";

    #[test]
    fn a_secret_is_found_in_every_spelling() {
        let secrets = Secrets::new([TOKEN, "Basic dXNlcjpwYXNz"]);
        for spelling in [
            TOKEN.to_owned(),
            TOKEN.replace('-', "\\u002d"),
            TOKEN.replace('-', "\\u002D"),
            TOKEN.replace('-', "\\\\u002d"),
            TOKEN.replace('-', "%2d"),
            TOKEN.replace('-', "&#45;"),
            TOKEN.replace('-', "&#x2d;"),
            TOKEN.replace('g', "\\u0067"),
            TOKEN.replace("own", "o\u{200b}w\u{ad}n"),
            "dXNlcjpwYXNz".to_owned(),
        ] {
            let text = format!("gg\\{spelling} and g{spelling}");
            let redacted = secrets.redact(&text);
            assert_eq!(redacted.matches(REDACTED).count(), 2, "{redacted}");
            assert!(redacted.ends_with(REDACTED), "{redacted}");
        }
        assert_eq!(secrets.redact("glpat-own-token"), "glpat-own-token");
        assert_eq!(format!("{secrets:?}"), "Secrets(3)");
        assert!(matches!(Secrets::new(["", "abc", "production"]).redact("abc production"), Cow::Borrowed(_)));
    }

    #[test]
    fn keys_are_redacted_as_well() {
        let mut value = serde_json::json!({"a": [{TOKEN: TOKEN}], "n": 1});
        Secrets::new([TOKEN]).redact_value(&mut value);
        assert_eq!(value, serde_json::json!({"a": [{REDACTED: REDACTED}], "n": 1}));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn nothing_else_is_changed(before in "[a-z\\\\%&;é]{0,12}", after in "[a-z\\\\%&;é]{0,12}") {
            let secrets = Secrets::new([TOKEN]);
            let plain = format!("{before}{after}");
            prop_assert_eq!(secrets.redact(&plain), plain.as_str());
            let redacted = format!("{before} {REDACTED} {after}");
            let text = format!("{before} {TOKEN} {after}");
            prop_assert_eq!(secrets.redact(&text), redacted);
        }
    }
}
