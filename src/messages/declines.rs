//! Calls that a person declined. Each is refused for some time, whatever consent comes with it and however it is spelled.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use url::Url;

use crate::call::{Body, Call, Location};
use crate::catalog::Method;
use crate::messages::token::{TOKEN_LIFETIME, digest};
use crate::text::plain_text;

/// Time for which a decline holds: as long as a person's consent would have counted.
pub const DECLINE_LIFETIME: Duration = TOKEN_LIFETIME;

/// Declines that are kept of a caller. Only a person makes one, so that no flood reaches it.
const MAX_DECLINES: usize = 1_000;

/// Digest of a request to an instance, independent of how the call was spelled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallDigest(String);

/// The declines of one caller, whatever limits it asks for.
#[derive(Debug, Default)]
pub struct Declines {
    expiries: Mutex<BTreeMap<CallDigest, Instant>>,
}

impl CallDigest {
    /// Digest of a request to the instance at `base`: method, path, query and body. Parameters that are not `counted` are no
    /// part of it: the state of the object, which the server adds to some calls, and what GitLab does not read. Nor are
    /// any of a deletion. The id of a project or group counts as its path, which `locate` finds.
    pub fn of_call(
        base: &Url,
        call: &Call,
        counted: impl Fn(&str) -> bool,
        locate: impl Fn(&Location) -> Option<Location>,
    ) -> CallDigest {
        let deletes = call.method() == Method::Delete;
        let mut params: Vec<(String, String)> = Vec::new();
        if !deletes {
            params.extend(
                call.query()
                    .iter()
                    .filter(|(name, _)| counted(name))
                    .map(|(name, value)| (name.clone(), canonical_text(value))),
            );
            match call.body() {
                Body::Json(Value::Object(body)) => {
                    let body = body.iter().filter(|(name, _)| counted(name));
                    body.for_each(|(name, value)| flatten(name.clone(), value, &mut params));
                }
                Body::Json(body) => flatten(String::new(), body, &mut params),
                Body::Empty => {}
                other => params.push((String::new(), format!("{other:?}"))),
            }
        }
        params.retain(|(_, value)| !value.is_empty());
        params.sort();
        let path = canonical_path(call, locate);
        CallDigest::of(&json!([base.as_str(), call.method().name(), path, params]))
    }

    /// Digest of a request as it would be sent, with the state of the object that the question shows.
    pub fn of_request(base: &Url, call: &Call, state: &Map<String, Value>) -> CallDigest {
        let body = format!("{:?}", call.body());
        CallDigest::of(&json!([base.as_str(), call.method().name(), call.path(), call.query(), body, state]))
    }

    /// Digest of an action whose request is not known beforehand.
    pub fn of_params(base: &Url, action: &str, params: &Map<String, Value>) -> CallDigest {
        let mut call = json!([base.as_str(), action, params]);
        call.sort_all_objects();
        CallDigest::of(&call)
    }

    fn of(subject: &Value) -> CallDigest {
        CallDigest(URL_SAFE_NO_PAD.encode(digest(&subject.to_string())))
    }
}

/// The texts of a parameter by the names that a form gives them: a place in query or body, a number or its text make no other
/// parameter (Grape coerces both).
fn flatten(name: String, value: &Value, params: &mut Vec<(String, String)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flatten(format!("{name}[]"), item, params)),
        Value::Object(fields) => {
            fields.iter().for_each(|(field, value)| flatten(format!("{name}[{field}]"), value, params));
        }
        Value::Null => {}
        scalar => params.push((name, canonical_text(&plain_text(scalar)))),
    }
}

/// A text, or the number in it: `+5`, `05` and ` 5` are 5.
fn canonical_text(text: &str) -> String {
    text.trim().parse::<i64>().map_or_else(|_| text.to_owned(), |number| number.to_string())
}

impl Declines {
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.expiries.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Adds a declined call. Of too many, the oldest ends early.
    pub fn add(&self, call: CallDigest) {
        let mut expiries = self.expiries.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        expiries.retain(|_, expires| *expires > now);
        expiries.insert(call, now + DECLINE_LIFETIME);
        while expiries.len() > MAX_DECLINES {
            let oldest = expiries.iter().min_by_key(|(_, expires)| **expires).map(|(call, _)| call.clone());
            let Some(oldest) = oldest else { return };
            expiries.remove(&oldest);
        }
    }

    /// Time for which a call is still declined.
    pub fn remaining(&self, call: &CallDigest) -> Option<Duration> {
        let expiries = self.expiries.lock().unwrap_or_else(PoisonError::into_inner);
        expiries.get(call)?.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }
}

/// The path, with one spelling of the project or group in it. GitLab ignores the case of their paths.
fn canonical_path(call: &Call, locate: impl Fn(&Location) -> Option<Location>) -> String {
    // Grape takes the format of the answer as an ending.
    let path = call.path().strip_suffix(".json").unwrap_or_else(|| call.path());
    let mut segments: Vec<String> = path.split('/').map(str::to_owned).collect();
    let holder = segments.iter().position(|segment| ["projects", "groups"].contains(&segment.as_str()));
    if let Some(segment) = holder.and_then(|at| segments.get_mut(at + 1)) {
        let spelled = canonical_text(&percent_decode_str(segment).decode_utf8_lossy());
        let ids = call.effects().places().iter().map(|place| &place.location);
        let mut ids =
            ids.filter(|location| matches!(location, Location::Id { id, .. } if id.to_string() == spelled));
        let path = match ids.find_map(locate) {
            Some(Location::Path(path)) => path.to_string(),
            _ => spelled,
        };
        *segment = path.to_lowercase();
    }
    let decoded = segments.iter().map(|segment| percent_decode_str(segment).decode_utf8_lossy());
    decoded.map(|segment| canonical_text(&segment)).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Risk;

    fn base() -> Url {
        Url::parse("https://gitlab.example.com/").unwrap()
    }

    fn digest_of(method: Method, path: &str, query: &[(&str, &str)], body: Value) -> CallDigest {
        let call = Call::for_test(Risk::Destructive, method, path, query, Body::Json(body));
        CallDigest::of_call(&base(), &call, |name| name != "unread", |_| None)
    }

    #[test]
    fn a_digest_is_of_one_request_however_it_is_written() {
        let (path, query) = ("/api/v4/projects/acme%2Fwidget/issues/1", [("a", "1"), ("b", "2")]);
        let plain = digest_of(Method::Put, path, &query, json!({"a": 1, "b": {"c": 2, "d": 3}}));
        let other_order =
            digest_of(Method::Put, path, &[query[1], query[0]], json!({"b": {"d": 3, "c": 2}, "a": 1}));
        assert_eq!(plain, other_order);
        let other_case = "/api/v4/projects/Acme%2fWidget/issues/1";
        assert_eq!(plain, digest_of(Method::Put, other_case, &query, json!({"a": 1, "b": {"c": 2, "d": 3}})));
        for other in [
            digest_of(Method::Post, path, &query, json!({"a": 1, "b": {"c": 2, "d": 3}})),
            digest_of(
                Method::Put,
                "/api/v4/projects/acme%2Fwidget/issues/2",
                &query,
                json!({"a": 1, "b": {"c": 2, "d": 3}}),
            ),
            digest_of(Method::Put, path, &[("a", "1")], json!({"a": 1, "b": {"c": 2, "d": 3}})),
            digest_of(Method::Put, path, &query, json!({"a": 1, "b": {"c": 2, "d": 4}})),
        ] {
            assert_ne!(plain, other);
        }
        let unread = [query[0], query[1], ("unread", "x")];
        let body = json!({"a": 1, "b": {"c": 2, "d": 3}, "unread": true});
        assert_eq!(plain, digest_of(Method::Put, "/api/v4/projects/acme%2Fwidget/issues/01", &unread, body));
        for spelled in
            ["/api/v4/projects/acme%2Fwidget/issues/1.json", "/api/v4/projects/ACME%2Fwidget/issues/001"]
        {
            let body = json!({"a": 1, "b": {"c": 2, "d": 3}});
            assert_eq!(plain, digest_of(Method::Put, spelled, &query, body), "{spelled}");
        }
        // A deletion is the same with any parameters.
        let deletion =
            |path: &str, query: &[(&str, &str)]| digest_of(Method::Delete, path, query, json!({"x": 1}));
        assert_eq!(deletion(path, &[]), deletion(path, &[("a", "1")]));
        assert_ne!(deletion(path, &[]), deletion("/api/v4/projects/acme%2Fwidget/issues/10", &[]));
    }

    /// Grape takes an empty date or number for none.
    #[test]
    fn a_declined_call_is_the_same_with_parameters_that_say_nothing() {
        let path = "/api/v4/projects/acme%2Fwidget/members";
        let plain = digest_of(Method::Post, path, &[], json!({"user_id": 5}));
        let more = json!({"user_id": 5, "expires_at": "", "member_role_id": null});
        assert_eq!(plain, digest_of(Method::Post, path, &[("invite_source", "")], more));
    }

    #[test]
    fn declines_are_bounded_and_the_oldest_goes_first() {
        let declines = Declines::default();
        let call = |at: usize| CallDigest::of_params(&base(), &at.to_string(), &Map::new());
        assert!(declines.is_empty());
        for at in 0..=MAX_DECLINES {
            declines.add(call(at));
        }
        assert_eq!(declines.remaining(&call(0)), None);
        assert!(declines.remaining(&call(MAX_DECLINES)).is_some_and(|left| left <= DECLINE_LIFETIME));
    }
}
