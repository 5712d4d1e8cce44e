//! Tokens as commands write them: a line, or JSON with an expiry.

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::gitlab::{IssuedToken, Secret, Token};

/// Longest time before its expiry at which a token is renewed.
pub(super) const MARGIN: Duration = Duration::from_secs(60);

/// A token in use.
#[derive(Debug)]
pub(super) struct HeldToken {
    pub issued: IssuedToken,
    /// Time from which it should be renewed; none if it has no known expiry.
    renew_at: Option<SystemTime>,
}

impl HeldToken {
    /// A token that was just issued. It is renewed a minute before its expiry, or in the last fifth of its life.
    pub fn new(issued: IssuedToken, now: SystemTime) -> HeldToken {
        let renew_at = issued.expires_at.map(|end| {
            let left = end.duration_since(now).unwrap_or_default();
            end.checked_sub(MARGIN.min(left / 5)).unwrap_or(end)
        });
        HeldToken { issued, renew_at }
    }

    pub fn is_due(&self, now: SystemTime) -> bool {
        self.renew_at.is_some_and(|at| at <= now)
    }
}

pub(super) fn is_expired(issued: &IssuedToken, now: SystemTime) -> bool {
    issued.expires_at.is_some_and(|end| end <= now)
}

/// Parses a token: printable ASCII on one line.
pub fn parse_token(text: &str) -> Option<String> {
    let token = text.trim();
    let is_plain = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    is_plain.then(|| token.to_owned())
}

/// Parses the output of a command: a token on one line, or a JSON object with `token` or `access_token` and, if the
/// token expires, `expires_at` (RFC 3339 or Unix time) or `expires_in` (seconds).
pub(super) fn parse_output(text: &str, now: SystemTime) -> Option<IssuedToken> {
    if !text.trim_start().starts_with('{') {
        let token = Token::guess(Secret::new(parse_token(text)?));
        return Some(IssuedToken { token, expires_at: None });
    }
    let fields: Map<String, Value> = serde_json::from_str(text).ok()?;
    let text_of = |name: &str| fields.get(name).and_then(Value::as_str).and_then(parse_token);
    let is_bearer = text_of("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"));
    let token = match (text_of("token"), text_of("access_token")) {
        (Some(token), _) if !is_bearer => Token::guess(Secret::new(token)),
        (Some(token), _) | (None, Some(token)) => Token::OAuth(Secret::new(token)),
        (None, None) => return None,
    };
    let is_set = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    let expires_at = match (is_set("expires_at"), is_set("expires_in")) {
        (true, _) => Some(parse_time(fields.get("expires_at")?)?),
        (false, true) => Some(expiry(now, Duration::from_secs(fields.get("expires_in")?.as_u64()?))?),
        (false, false) => None,
    };
    Some(IssuedToken { token, expires_at })
}

/// Parses RFC 3339, or Unix time in seconds.
fn parse_time(value: &Value) -> Option<SystemTime> {
    match value {
        Value::String(text) => {
            let parsed = OffsetDateTime::parse(text, &Rfc3339).ok()?;
            from_unix(u64::try_from(parsed.unix_timestamp()).ok()?)
        }
        Value::Number(number) => from_unix(number.as_u64()?),
        _ => None,
    }
}

/// Time of a Unix timestamp; none after the year 9999, which RFC 3339 cannot express.
pub(super) fn from_unix(seconds: u64) -> Option<SystemTime> {
    let end = OffsetDateTime::from_unix_timestamp(i64::try_from(seconds).ok()?).ok()?;
    Some(end.into())
}

/// Time at which a token with this remaining lifetime expires; none after the year 9999.
pub(super) fn expiry(now: SystemTime, left: Duration) -> Option<SystemTime> {
    let end = now.checked_add(left)?;
    from_unix(to_unix(end)).map(|_| end)
}

pub(super) fn to_unix(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        from_unix(seconds).unwrap()
    }

    #[test]
    fn output_is_a_line_or_json_with_an_expiry() {
        let now = at(1_000);
        let parsed = |text: &str| {
            parse_output(text, now).map(|issued| {
                let kind = match &issued.token {
                    Token::Private(_) => "private",
                    Token::OAuth(_) => "oauth",
                    Token::Job(_) => "job",
                };
                (kind, issued.expires_at.map(to_unix))
            })
        };
        for (text, expected) in [
            (" glpat-1 \n", ("private", None)),
            ("glcbt-64_x", ("job", None)),
            (r#"{"token": "glpat-1"}"#, ("private", None)),
            (r#"{"token": "glpat-1", "expires_at": null}"#, ("private", None)),
            (r#"{"token": "abc", "token_type": "Bearer", "expires_in": 60}"#, ("oauth", Some(1_060))),
            (r#"{"access_token": "abc", "expires_in": 7200, "refresh_token": "x"}"#, ("oauth", Some(8_200))),
            (r#"{"token": "glpat-1", "expires_at": 5000}"#, ("private", Some(5_000))),
            (r#"{"token": "glpat-1", "expires_at": "1970-01-01T01:00:00+01:00"}"#, ("private", Some(0))),
        ] {
            assert_eq!(parsed(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "two words",
            "two\nlines",
            "{}",
            "{\"token\": 5}",
            "{\"token\": \"glpat-1\"",
            "{\"token\": \"glpat-1\", \"expires_at\": \"tomorrow\"}",
            "{\"token\": \"glpat-1\", \"expires_in\": -1}",
            "{\"token\": \"glpat-1\", \"expires_at\": 1766000000000}",
            "{\"token\": \"glpat-1\", \"expires_at\": \"9999-12-31T23:59:59-01:00\"}",
            "{\"token\": \"glpat-1\", \"expires_in\": 1766000000000}",
        ] {
            assert!(parse_output(text, now).is_none(), "{text}");
        }
    }

    #[test]
    fn a_token_is_renewed_a_minute_or_a_fifth_of_its_life_before_its_end() {
        let held = |end: u64| {
            let token = Token::guess(Secret::new("glpat-1".to_owned()));
            HeldToken::new(IssuedToken { token, expires_at: Some(at(end)) }, at(1_000))
        };
        assert!(!held(8_200).is_due(at(8_139)) && held(8_200).is_due(at(8_140)));
        assert!(!held(1_100).is_due(at(1_079)) && held(1_100).is_due(at(1_080)));
        assert!(held(900).is_due(at(1_000)));
    }
}
