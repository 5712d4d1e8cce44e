//! Redaction of this process's own secrets (the token, values of extra headers) in texts: verbatim, escaped, or with
//! invisible characters in between.

use std::borrow::Cow;
use std::fmt;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::{Map, Value};

use super::escape::{MAX_BACKSLASHES, parse_escape};
use super::is_invisible;
use super::tokens::is_random;

/// Replacement of a redacted secret.
const REDACTED: &str = "[redacted]";

/// Minimum length of a secret. A shorter value, or a plain word, would redact ordinary text.
const MIN_SECRET_CHARACTERS: usize = 8;
const LONGEST_WORD: usize = 15;

/// Maximum number of secrets that are remembered after the start.
const MAX_LATER: usize = 64;

/// Minimum length of a part of a header's value that is a secret by itself.
const SHORTEST_PART: usize = 12;

/// Maximum length of a label of a host name that is taken for one; a longer one may be a token.
const LONGEST_LABEL: usize = 30;

/// Parts of the names of headers whose values are always secrets.
const CREDENTIAL_HEADERS: [&str; 7] = ["auth", "token", "secret", "key", "pass", "cookie", "session"];

/// Names and prefixes of headers that carry no credentials.
const PUBLIC_HEADERS: [&str; 3] = ["host", "user-agent", "forwarded"];
const PUBLIC_PREFIXES: [&str; 2] = ["x-forwarded-", "accept"];

/// Values that no text may show, with a redacted `Debug`.
#[derive(Clone, Default)]
pub struct Secrets {
    fixed: Vec<Vec<char>>,
    /// Secrets that came later; none where none can come.
    later: Option<Arc<RwLock<Later>>>,
}

/// Secrets that came after the start.
#[derive(Default)]
struct Later {
    /// The longest first, each with its number.
    known: Vec<(u64, Vec<char>)>,
    /// Number of the next secret.
    next: u64,
}

impl Later {
    fn contains(&self, secret: &[char]) -> bool {
        self.known.iter().any(|(_, known)| known == secret)
    }

    /// Adds a secret; of many, the oldest is forgotten.
    fn add(&mut self, secret: Vec<char>) {
        if self.known.len() >= MAX_LATER {
            let oldest = self.known.iter().map(|(number, _)| *number).min();
            self.known.retain(|(number, _)| Some(*number) != oldest);
        }
        self.known.push((self.next, secret));
        self.next += 1;
        self.known.sort_by_key(|(_, secret)| std::cmp::Reverse(secret.len()));
    }
}

impl Secrets {
    /// No secrets.
    pub const NONE: &Secrets = &Secrets { fixed: Vec::new(), later: None };

    /// Collects secrets from values, of which each is one.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Secrets {
        let mut secrets = Secrets::default();
        values.into_iter().for_each(|value| secrets.add(value));
        secrets
    }

    /// No secrets yet; [`Secrets::remember`] adds them.
    pub fn growing() -> Secrets {
        Secrets { fixed: Vec::new(), later: Some(Arc::default()) }
    }

    /// Adds a secret to those of [`Secrets::growing`]. Of many, the oldest is forgotten.
    pub fn remember(&self, value: &str) {
        let (Some(later), Some(secret)) = (&self.later, as_secret(value)) else { return };
        if later.read().unwrap_or_else(PoisonError::into_inner).contains(&secret) {
            return;
        }
        later.write().unwrap_or_else(PoisonError::into_inner).add(secret);
    }

    /// Adds the secrets of a header: its value, and each part of it that looks random (`Basic dXNlcjpwYXNz`,
    /// `Cookie: session=…; other=…`). Values that name a host, a format or an environment are none.
    pub fn add_header(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        let value = value.trim();
        let is_credential = CREDENTIAL_HEADERS.iter().any(|part| name.contains(part));
        if !is_credential && (is_public_header(&name) || is_address(value) || is_plain_word(value)) {
            return;
        }
        self.add(value);
        let last = value.split_whitespace().last().unwrap_or_default();
        self.add(last);
        let parts = value.split(|c: char| c.is_whitespace() || matches!(c, ';' | '=' | ',' | '"'));
        parts
            .filter(|part| part.len() >= SHORTEST_PART && is_random(part) && !is_address(part))
            .for_each(|part| self.add(part));
    }

    fn add(&mut self, value: &str) {
        if let Some(secret) = as_secret(value).filter(|secret| !self.fixed.contains(secret)) {
            self.fixed.push(secret);
            self.fixed.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.later.is_none()
    }

    /// Returns the text without secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        let mut remove = |secret: &Vec<char>| {
            if let Some(redacted) = remove_secret(&text, secret) {
                text = Cow::Owned(redacted);
            }
        };
        self.fixed.iter().for_each(&mut remove);
        if let Some(later) = &self.later {
            let later = later.read().unwrap_or_else(PoisonError::into_inner);
            later.known.iter().for_each(|(_, secret)| remove(secret));
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
        if self.is_empty() {
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
        write!(f, "Secrets({})", self.fixed.len())
    }
}

/// The characters of a secret; none for a value that would redact ordinary text.
fn as_secret(value: &str) -> Option<Vec<char>> {
    let secret: Vec<char> = value.trim().chars().filter(|c| !is_invisible(*c)).collect();
    let is_word = secret.len() <= LONGEST_WORD && secret.iter().skip(1).all(|c| c.is_lowercase());
    (secret.len() >= MIN_SECRET_CHARACTERS && !is_word).then_some(secret)
}

fn is_public_header(name: &str) -> bool {
    PUBLIC_HEADERS.contains(&name) || PUBLIC_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns true for a host name, an IP address or a URL without credentials or a query.
fn is_address(value: &str) -> bool {
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    if let Some(rest) = rest {
        return !rest.contains(['@', '?', '#']) && !rest.contains(char::is_whitespace);
    }
    if value.parse::<IpAddr>().is_ok() || value.parse::<SocketAddr>().is_ok() {
        return true;
    }
    let (host, port) = value.split_once(':').unwrap_or((value, "0"));
    let is_label = |label: &str| {
        let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=LONGEST_LABEL).contains(&label.len()) && label.bytes().all(is_part)
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    host.contains('.')
        && host.split('.').all(is_label)
        && last.bytes().all(|byte| byte.is_ascii_lowercase())
        && port.parse::<u16>().is_ok()
}

/// Returns true for a short word of letters and digits, such as the name of an environment.
fn is_plain_word(value: &str) -> bool {
    value.len() < SHORTEST_PART && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Removes a secret from a text. Returns `None` if the text does not contain it.
fn remove_secret(text: &str, secret: &[char]) -> Option<String> {
    let first = First::classify(*secret.first()?);
    let mut out: Option<String> = None;
    let mut end = 0;
    let mut at = 0;
    while let Some(start) = first.next(text.as_bytes(), at) {
        match matched(text.get(start..)?, secret) {
            Some(length) => {
                let out = out.get_or_insert_with(String::new);
                out.push_str(text.get(end..start)?);
                out.push_str(REDACTED);
                end = start + length;
                at = end;
            }
            None => at = start + 1,
        }
    }
    let mut out = out?;
    out.push_str(text.get(end..)?);
    Some(out)
}

/// The first byte of a secret, searched verbatim and as the beginning of an escape. Most lookalikes of an escape are
/// rejected here by their next bytes: a text may consist of nothing else.
struct First(u8);

impl First {
    fn classify(c: char) -> First {
        let mut bytes = [0; 4];
        First(c.encode_utf8(&mut bytes).bytes().next().unwrap_or_default())
    }

    /// The first position at or after `at` where the secret may begin, always at the beginning of a character.
    fn next(&self, bytes: &[u8], mut at: usize) -> Option<usize> {
        loop {
            let is_start = |byte: &u8| *byte == self.0 || matches!(byte, b'\\' | b'%' | b'&');
            at += bytes.get(at..)?.iter().position(is_start)?;
            let rest = bytes.get(at..)?;
            let after = rest.get(1).copied().unwrap_or_default();
            let may_begin = match rest.first()? {
                byte if *byte == self.0 => true,
                b'\\' => {
                    let run = rest.iter().take_while(|byte| **byte == b'\\').count();
                    let too_many = run.saturating_sub(MAX_BACKSLASHES);
                    at += too_many;
                    let after = rest.get(run).copied().unwrap_or_default();
                    if !matches!(after, b'u' | b'x') && after != self.0 {
                        at += run - too_many;
                        continue;
                    }
                    true
                }
                b'%' => after.is_ascii_hexdigit(),
                _ => after == b'#' || after.is_ascii_alphabetic(),
            };
            if may_begin {
                return Some(at);
            }
            at += 1;
        }
    }
}

/// Length in bytes of a secret at the start of a text, each character verbatim or escaped. One space may precede a
/// character, as a text in one line has it in place of a control character.
fn matched(text: &str, secret: &[char]) -> Option<usize> {
    let mut rest = text;
    for wanted in secret {
        if let Some(after) = rest.strip_prefix(*wanted) {
            rest = after;
            continue;
        }
        rest = rest.trim_start_matches(is_invisible);
        if *wanted != ' ' && rest.len() < text.len() {
            rest = rest.strip_prefix(' ').unwrap_or(rest);
        }
        rest = rest.strip_prefix(*wanted).or_else(|| unescaped(rest, *wanted))?;
    }
    Some(text.len() - rest.len())
}

/// Strips one escaped character from the start of a text. A backslash may precede any character of a secret.
fn unescaped(text: &str, wanted: char) -> Option<&str> {
    if let Some((_, length)) = parse_escape(text).filter(|(character, _)| *character == wanted) {
        return text.get(length..);
    }
    let backslashes = text.bytes().take(MAX_BACKSLASHES).take_while(|byte| *byte == b'\\').count();
    text.get(backslashes..).filter(|_| backslashes > 0)?.strip_prefix(wanted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKEN: &str = "glpat-own-token-0123";

    #[test]
    fn the_newest_secrets_are_remembered_each_once() {
        let secrets = Secrets::growing();
        let secret = |number: usize| format!("secret-0123-{number:04}");
        (0..MAX_LATER).for_each(|number| secrets.remember(&secret(number)));
        // A secret that is known takes no room from another.
        (0..MAX_LATER).for_each(|_| secrets.remember(&secret(1)));
        assert_ne!(secrets.redact(&secret(0)), secret(0));
        secrets.remember(&secret(MAX_LATER));
        assert_eq!(secrets.redact(&secret(0)), secret(0), "the oldest makes room");
        assert_ne!(secrets.redact(&secret(MAX_LATER)), secret(MAX_LATER));
    }

    #[test]
    fn a_short_value_of_a_header_is_a_secret_unless_it_is_a_plain_word() {
        let mut secrets = Secrets::default();
        secrets.add_header("X-Gate", "k7:p2/Q9w");
        secrets.add_header("X-Env", "Staging42");
        assert_ne!(secrets.redact("it is k7:p2/Q9w"), "it is k7:p2/Q9w");
        assert_eq!(secrets.redact("it is Staging42"), "it is Staging42");
        // The credential behind a scheme is one by itself, however it looks.
        secrets.add_header("Authorization", "Bearer correcthorsebattery");
        assert_ne!(secrets.redact("it is correcthorsebattery"), "it is correcthorsebattery");
        assert_eq!(secrets.redact("a Bearer of news"), "a Bearer of news");
    }

    #[test]
    fn a_secret_is_found_in_every_spelling() {
        let mut secrets = Secrets::new([TOKEN]);
        secrets.add_header("Authorization", "Basic dXNlcjpwYXNz");
        for spelling in [
            TOKEN.to_owned(),
            TOKEN.replace('-', "\\u002d"),
            TOKEN.replace('-', "\\u002D"),
            TOKEN.replace('-', "\\\\u002d"),
            TOKEN.replace('-', "%2d"),
            TOKEN.replace('-', "&#45;"),
            TOKEN.replace('-', "&#x2d;"),
            TOKEN.replace('-', "%252d"),
            TOKEN.replace('-', "&amp;#45;"),
            TOKEN.replace('g', "\\g"),
            TOKEN.replace('g', "\\u0067"),
            TOKEN.replace("own", "o\u{200b}w\u{ad}n"),
            TOKEN.replace("own", "o w\u{7}n"),
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
    fn each_part_of_a_header_is_a_secret() {
        let mut secrets = Secrets::default();
        secrets.add_header("Cookie", "sess=aB3dE6gH9jK2; theme=production; id=0123456789abcdef");
        let redacted =
            secrets.redact("the session aB3dE6gH9jK2 of 0123456789abcdef in production").into_owned();
        assert_eq!(redacted, format!("the session {REDACTED} of {REDACTED} in production"));
    }

    #[test]
    fn addresses_and_public_headers_are_no_secrets() {
        let mut secrets = Secrets::default();
        for (name, value) in [
            ("X-Forwarded-Host", "gitlab.example.com"),
            ("X-Original", "gitlab.example.com:8443"),
            ("X-Base", "https://gitlab.example.com/group"),
            ("X-Node", "10.11.12.13:8080"),
            ("Host", "GitLab.Example.com"),
            ("Accept-Language", "de-DE,de;q=0.9"),
            ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64)"),
            ("X-Env", "Staging42"),
        ] {
            secrets.add_header(name, value);
            assert!(secrets.is_empty(), "{name}: {value}");
        }
        for (name, value) in [
            ("X-Api-Key", "Staging42"),
            ("X-Access", "cf-secret-0123456789"),
            ("X-Sig", "https://x.example.com/?sig=aB3dE6gH9jK2"),
            ("X-Upstream", "https://bot:hunter2@git.example.com/a.git"),
            ("X-Jwt", "eyJhbGciOi.eyJzdWIiOiIx.SflKxwRJSMeKKF"),
        ] {
            let mut secrets = Secrets::default();
            secrets.add_header(name, value);
            assert!(!secrets.is_empty(), "{name}: {value}");
        }
    }

    #[test]
    fn runs_of_escapes_take_linear_time() {
        let secrets = Secrets::new([TOKEN]);
        let start = std::time::Instant::now();
        for run in ["\\", "&", "%", "g ", "g\u{200b}"] {
            let text = run.repeat(2_000_000);
            assert!(matches!(secrets.redact(&text), Cow::Borrowed(_)));
        }
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
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

    #[test]
    fn secrets_that_come_later_are_redacted_too() {
        let secrets = Secrets::growing();
        assert_eq!(secrets.redact("glpat-first"), "glpat-first");
        for token in ["glpat-first", "glpat-second", "glpat-first", "short"] {
            secrets.remember(token);
        }
        assert_eq!(secrets.redact("glpat-first, glpat-second, short"), "[redacted], [redacted], short");
        let mut value = serde_json::json!({"glpat-first": "x"});
        secrets.redact_value(&mut value);
        assert_eq!(value, serde_json::json!({"[redacted]": "x"}));
        assert!(!format!("{secrets:?}").contains("glpat"));
        // A clone, as another part of the program has it, knows those that come after it.
        let other = secrets.clone();
        secrets.remember("glpat-third");
        assert_eq!(other.redact("glpat-third"), "[redacted]");
        (0..1000).for_each(|number| secrets.remember(&format!("glpat-number-{number}")));
        assert_eq!(secrets.redact("glpat-number-999"), "[redacted]");
        assert_eq!(secrets.redact("glpat-number-0"), "glpat-number-0");
        // The longest first, whichever came first.
        for token in ["glpat-short", "glpat-short-and-more"] {
            secrets.remember(token);
        }
        assert_eq!(secrets.redact("glpat-short-and-more"), "[redacted]");
    }
}
