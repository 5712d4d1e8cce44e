//! Masks secrets in an answer before anything else is done with it, by the name of a field (in GraphQL, the selected
//! field and not its alias), the fields next to it, and the shapes of tokens.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use serde_json::{Map, Value};
use url::Url;

use super::Kind;
use crate::untrusted::{is_token, mask as masked, mask_tokens};

/// The fields that a GraphQL document selects, by their paths in the response where an alias renames them.
pub type FieldNames = BTreeMap<String, BTreeSet<String>>;

/// The last words of a field that holds a secret: `runners_token`, `client_secret`, `X-Gitlab-Token`.
const ENDINGS: [&str; 7] =
    ["token", "password", "secret", "passphrase", "private_key", "api_key", "access_key"];

/// Fields whose names end otherwise.
const NAMES: [&str; 3] = ["authorization", "create_note_email", "incoming_email"];

/// Fields whose names end like those of secrets, but that are cursors of lists.
const CURSORS: [&str; 2] = ["page_token", "continuation_token"];

/// Objects of which each value is a secret, under any key.
const HOLDERS: [&str; 3] = ["custom_headers", "url_variables", "webhook_headers"];

/// User and password in a URL, as GitLab masks them.
const HIDDEN_USER: &str = "*****";

/// Fields next to the `value` of a CI/CD variable.
const BESIDE_VALUE: [&str; 6] =
    ["variable_type", "masked", "hidden", "protected", "environment_scope", "raw"];

/// Fields in which the answer to a call that makes a token has it.
const MADE: [&str; 4] = ["token", "secret", "secret_token", "ephemeral_authentication_token"];

/// Length in bytes up to which paths are distinguished, unless a longer one is asked for.
const LONGEST_PATH: usize = 500;

/// Length in bytes of the end of a name that is compared.
const LONGEST_NAME: usize = 200;

/// Maximum number of paths of masked fields that are kept.
const MOST_NAMED: usize = 100;

/// Paths of masked and shown secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Masked {
    /// Fields that are masked.
    pub hidden: Vec<String>,
    /// Secrets that the call made, which GitLab will not show again.
    pub made: Vec<String>,
}

/// Masks the secrets in a value. A field that `asked` names by its exact path is shown, and so is a token that this
/// call made.
pub fn mask(value: &mut Value, kind: Kind, asked: &[String], names: Option<&FieldNames>) -> Masked {
    let asked: Vec<String> = asked.iter().map(|path| path.replace("[]", "")).collect();
    let compared = asked.iter().chain(names.into_iter().flat_map(FieldNames::keys)).map(String::len);
    let longest = compared.max().unwrap_or_default().max(LONGEST_PATH);
    let mut walk = Walk { kind, asked, names, longest, masked: Masked::default() };
    walk.value(value, &mut String::new(), false);
    walk.masked
}

/// Masks the tokens in a text that is a whole answer.
pub fn mask_text(text: String) -> (String, Masked) {
    let masked = match mask_tokens(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(masked) => Some(masked),
    };
    match masked {
        Some(shown) => (shown, Masked { hidden: vec!["a token in the text".to_owned()], made: Vec::new() }),
        None => (text, Masked::default()),
    }
}

/// Masks a whole text that is secret.
pub fn mask_all(text: &str) -> (String, Masked) {
    (masked(text), Masked { hidden: vec!["the file".to_owned()], made: Vec::new() })
}

struct Walk<'n> {
    kind: Kind,
    asked: Vec<String>,
    names: Option<&'n FieldNames>,
    /// Length in bytes up to which paths are distinguished.
    longest: usize,
    masked: Masked,
}

impl Walk<'_> {
    fn value(&mut self, value: &mut Value, path: &mut String, secret: bool) {
        match value {
            Value::String(text) if !text.is_empty() && (secret || is_token(text)) => {
                self.text(text, path, masked);
            }
            Value::String(text) if without_user_info(text).is_some() => {
                self.text(text, path, |text| {
                    let shown = without_user_info(text).unwrap_or_default();
                    mask_tokens(&shown).into_owned()
                });
            }
            Value::String(text) if matches!(mask_tokens(text), Cow::Owned(_)) => {
                self.text(text, path, |text| mask_tokens(text).into_owned());
            }
            // A PIN is a secret as well.
            Value::Number(number) if secret => {
                let mut text = number.to_string();
                self.text(&mut text, path, masked);
                *value = Value::String(text);
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, path, secret)),
            Value::Object(map) => self.object(map, path, secret),
            _ => {}
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>, path: &mut String, all: bool) {
        let is_variable = self.kind.variables || self.is_variable(map, path);
        for (key, value) in map.iter_mut() {
            let length = path.len();
            self.push(path, key);
            let names = self.fields(key, path);
            let is_called = |is: &dyn Fn(&str) -> bool| names.iter().any(|name| is(name));
            let of_variable = is_variable && is_called(&|name| name == "value");
            // The number of tokens is no secret.
            let named = is_called(&is_secret) && !value.is_object() && !value.is_number();
            let held = is_called(&|name| HOLDERS.contains(&name));
            // The name of a header is no secret.
            let inner = all && !is_called(&|name| matches!(name, "key" | "name"));
            self.value(value, path, of_variable || named || held || inner);
            path.truncate(length);
        }
        if map.keys().any(|key| matches!(mask_tokens(key), Cow::Owned(_))) {
            *map = mem::take(map)
                .into_iter()
                .map(|(key, value)| (mask_tokens(&key).into_owned(), value))
                .collect();
        }
    }

    /// Adds a key to a path. A path that is too long is cut one byte after the compared length, so that it equals no
    /// other: values below a key of a megabyte must not copy it each time.
    fn push(&self, path: &mut String, key: &str) {
        if self.is_cut(path) {
            return;
        }
        if !path.is_empty() {
            path.push('.');
        }
        let room = (self.longest + 1).saturating_sub(path.len());
        path.push_str(key.get(..key.ceil_char_boundary(room)).unwrap_or(key));
    }

    fn is_cut(&self, path: &str) -> bool {
        path.len() > self.longest
    }

    /// Names of a response field: its key, and the fields that the document selected under that alias.
    fn fields(&self, key: &str, path: &str) -> Vec<String> {
        let selected = self.names.and_then(|names| names.get(path));
        [snake(key)].into_iter().chain(selected.into_iter().flatten().map(|name| snake(name))).collect()
    }

    /// A variable of CI/CD: a key, a value, and how it is kept.
    fn is_variable(&self, map: &Map<String, Value>, path: &str) -> bool {
        let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let names: Vec<String> = match self.names {
            Some(_) => map.keys().flat_map(|key| self.fields(key, &below(key))).collect(),
            None if map.contains_key("key") && map.contains_key("value") => {
                map.keys().map(|key| snake(key)).collect()
            }
            None => return false,
        };
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        let is_among_variables = || {
            let steps = path.split('.').scan(String::new(), |so_far, step| {
                if !so_far.is_empty() {
                    so_far.push('.');
                }
                so_far.push_str(step);
                Some((step.to_owned(), so_far.clone()))
            });
            steps
                .flat_map(|(step, so_far)| self.fields(&step, &so_far))
                .any(|name| name.ends_with("variables"))
        };
        let is_kept = BESIDE_VALUE.iter().any(|beside| has(beside));
        // A step that was cut off may have been the one that ends in `variables`.
        has("value") && ((has("key") && is_kept) || self.is_cut(path) || is_among_variables())
    }

    fn text(&mut self, text: &mut String, path: &str, hide: impl Fn(&str) -> String) {
        let last = snake(path.rsplit('.').next().unwrap_or_default());
        if self.asked.iter().any(|asked| asked == path) {
            return;
        }
        let told = if self.kind.made && MADE.contains(&last.as_str()) {
            &mut self.masked.made
        } else {
            *text = hide(text);
            &mut self.masked.hidden
        };
        if told.len() < MOST_NAMED && !told.iter().any(|known| known == path) {
            told.push(path.to_owned());
        }
    }
}

/// A text that is a URL with a password, or with a user of HTTP, which may be a token: the URL with both masked. None
/// if there is nothing to mask: GitLab masks user info with asterisks.
fn without_user_info(text: &str) -> Option<String> {
    let mut url = Url::parse(text).ok().filter(|_| text.contains('@'))?;
    let is_open = |part: &str| part.chars().any(|c| c != '*');
    let has_user = matches!(url.scheme(), "http" | "https") && is_open(url.username());
    let has_password = url.password().is_some_and(is_open);
    if !has_user && !has_password {
        return None;
    }
    url.set_username(HIDDEN_USER).ok()?;
    url.set_password(url.password().is_some().then_some(HIDDEN_USER)).ok()?;
    Some(url.into())
}

fn is_secret(name: &str) -> bool {
    let ends_with = |ending: &str| {
        name.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    if CURSORS.iter().any(|ending| ends_with(ending)) {
        return false;
    }
    NAMES.contains(&name) || ENDINGS.iter().any(|ending| ends_with(ending))
}

/// `runnersToken` and `X-Gitlab-Token` as GitLab's REST interface would write them. Only the end of a longer name,
/// which is no name of GitLab's, but may end as a secret does.
pub fn snake(name: &str) -> String {
    let start = name.ceil_char_boundary(name.len().saturating_sub(LONGEST_NAME));
    let name = name.get(start..).unwrap_or(name);
    let mut out = String::with_capacity(name.len() + 4);
    let mut follows_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && follows_lower {
            out.push('_');
        }
        follows_lower = c.is_lowercase() || c.is_ascii_digit();
        out.extend(if c == '-' || c == ' ' { '_' } else { c }.to_lowercase());
    }
    out
}
