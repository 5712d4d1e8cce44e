//! Masks secrets in an answer before anything else is done with it, by the name of a field (in GraphQL, the selected
//! field and not its alias), the fields next to it, and the shapes of tokens.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use serde_json::{Map, Value};
use url::Url;

use super::ContentKind;
use crate::catalog::SECRET_NAMES;
use crate::untrusted::{is_token, mask as masked, mask_tokens};

/// The fields that a GraphQL document selects, by their paths in the response where an alias renames them.
pub type FieldNames = BTreeMap<String, BTreeSet<String>>;

/// A masked part of a URL, as GitLab masks user and password in one.
const HIDDEN_PART: &str = "*****";

/// Name of a field that stands for any field with variables of CI/CD.
const VARIABLES: &str = "variables";

/// Fields in which the answer to a call that makes a token has it.
const MADE: [&str; 4] = ["token", "secret", "secret_token", "ephemeral_authentication_token"];

/// Length in bytes up to which a text is searched for secret parts of a URL.
const MAX_URL_BYTES: usize = 8_192;

/// Length in bytes up to which paths are distinguished, unless a longer one is asked for.
const LONGEST_PATH: usize = 500;

/// Length in bytes of the end of a name that is compared.
const LONGEST_NAME: usize = 200;

/// Maximum number of paths of masked fields that are kept.
const MAX_NAMED: usize = 100;

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
pub fn mask(value: &mut Value, kind: ContentKind, asked: &[String], names: Option<&FieldNames>) -> Masked {
    let asked: Vec<String> = asked.iter().map(|path| path.replace("[]", "")).collect();
    let compared = asked.iter().chain(names.into_iter().flat_map(FieldNames::keys)).map(String::len);
    let longest = compared.max().unwrap_or_default().max(LONGEST_PATH);
    let holders = if kind.variables { holders_of(VARIABLES) } else { 0 };
    let mut walk = Walk { kind, asked, names, longest, masked: Masked::default() };
    walk.value(value, &mut String::new(), Around { holders, ..Around::default() });
    walk.masked
}

/// Masks the tokens in a text that is a whole answer.
pub fn mask_text(text: String) -> (String, Masked) {
    if let Cow::Owned(shown) = mask_tokens(&text) {
        return (shown, Masked { hidden: vec!["a token in the text".to_owned()], made: Vec::new() });
    }
    (text, Masked::default())
}

/// Masks a whole text that is secret.
pub fn mask_all(text: &str) -> (String, Masked) {
    (masked(text), Masked { hidden: vec!["the file".to_owned()], made: Vec::new() })
}

struct Walk<'n> {
    kind: ContentKind,
    asked: Vec<String>,
    names: Option<&'n FieldNames>,
    /// Length in bytes up to which paths are distinguished.
    longest: usize,
    masked: Masked,
}

/// Properties of a value that follow from the fields around it.
#[derive(Clone, Copy, Default)]
struct Around {
    is_secret: bool,
    /// The call made it.
    is_made: bool,
    /// Rows of [`SECRET_NAMES`] whose holder is around it, a bit each.
    holders: u64,
}

impl Walk<'_> {
    fn value(&mut self, value: &mut Value, path: &mut String, around: Around) {
        match value {
            Value::String(text) => {
                if let Some(shown) = hidden(text, around.is_secret) {
                    self.replace(text, shown, path, around);
                }
            }
            // A PIN is a secret as well.
            Value::Number(number) if around.is_secret => {
                let mut text = number.to_string();
                let shown = masked(&text);
                self.replace(&mut text, shown, path, around);
                *value = Value::String(text);
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, path, around)),
            Value::Object(map) => self.object(map, path, around),
            _ => {}
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>, path: &mut String, around: Around) {
        let length = path.len();
        let names: Vec<Vec<String>> = map
            .keys()
            .map(|key| {
                self.push(path, key);
                let names = self.fields(key, path);
                path.truncate(length);
                names
            })
            .collect();
        let is_variable = is_variable(map, &names);
        for ((key, value), names) in map.iter_mut().zip(names) {
            self.push(path, key);
            let below = around_field(&names, value, around);
            let of_variable = is_variable && names.iter().any(|name| name == "value");
            let is_made = self.kind.made && names.iter().any(|name| MADE.contains(&name.as_str()));
            self.value(value, path, Around { is_secret: below.is_secret || of_variable, is_made, ..below });
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
        if path.len() > self.longest {
            return;
        }
        if !path.is_empty() {
            path.push('.');
        }
        let room = (self.longest + 1).saturating_sub(path.len());
        path.push_str(key.get(..key.ceil_char_boundary(room)).unwrap_or(key));
    }

    /// Names of a response field: its key, and the fields that the document selected under that alias.
    fn fields(&self, key: &str, path: &str) -> Vec<String> {
        let selected = self.names.and_then(|names| names.get(path));
        [snake(key)].into_iter().chain(selected.into_iter().flatten().map(|name| snake(name))).collect()
    }

    fn replace(&mut self, text: &mut String, shown: String, path: &str, around: Around) {
        if self.asked.iter().any(|asked| asked == path) {
            return;
        }
        let told = if around.is_made {
            &mut self.masked.made
        } else {
            *text = shown;
            &mut self.masked.hidden
        };
        if told.len() < MAX_NAMED && !told.iter().any(|known| known == path) {
            told.push(path.to_owned());
        }
    }
}

/// Properties of the value of a field with these names.
fn around_field(names: &[String], value: &Value, around: Around) -> Around {
    // The number of tokens is no secret.
    let is_count = |name: &String| value.is_number() && name.ends_with("token");
    let is_named = names.iter().any(|name| is_secret(name) && !is_count(name));
    // `{"password": {"value": …}}`, as Terraform writes it: the value is the secret.
    let as_variables = if is_named && value.is_object() { holders_of(VARIABLES) } else { 0 };
    let is_held = SECRET_NAMES
        .held
        .iter()
        .enumerate()
        .any(|(row, field)| around.holders & bit(row) != 0 && names.iter().any(|name| field.fits(name)));
    // The name of a header is no secret. An alias does not make one: `name: value`.
    let own = if let [_, selected @ ..] = names
        && !selected.is_empty()
    {
        selected
    } else {
        names
    };
    let is_name = own.iter().all(|name| matches!(name.as_str(), "key" | "name"));
    let is_secret = is_named && !value.is_object() || (is_held || around.is_secret) && !is_name;
    let holders = names.iter().fold(around.holders | as_variables, |known, name| known | holders_of(name));
    Around { is_secret, is_made: false, holders }
}

/// The rows of [`SECRET_NAMES`] whose holder has that name, a bit each.
fn holders_of(name: &str) -> u64 {
    let rows = SECRET_NAMES.held.iter().enumerate().filter(|(_, field)| field.is_held_by(name));
    rows.fold(0, |known, (row, _)| known | bit(row))
}

fn bit(row: usize) -> u64 {
    u32::try_from(row).ok().and_then(|row| 1_u64.checked_shl(row)).unwrap_or_default()
}

/// A variable of CI/CD: a key, a value, and how it is kept; or a value with a mark that it is a secret.
fn is_variable(map: &Map<String, Value>, names: &[Vec<String>]) -> bool {
    let has = |wanted: &str| names.iter().flatten().any(|name| name == wanted);
    let is_marked = || SECRET_NAMES.marks.iter().any(|mark| map.get(*mark) == Some(&Value::Bool(true)));
    has("value")
        && ((has("key") && SECRET_NAMES.beside_value.iter().any(|beside| has(beside))) || is_marked())
}

/// A text without its secrets; none if it has none.
fn hidden(text: &str, is_secret: bool) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    if is_secret || is_token(text) {
        return Some(masked(text));
    }
    let url = without_secrets_in_url(text);
    match mask_tokens(url.as_deref().unwrap_or(text)) {
        Cow::Owned(shown) => Some(shown),
        Cow::Borrowed(_) => url,
    }
}

/// A text that is a URL, without user and password, the secret end of its path, and secret parameters of its query;
/// none if it has none of them.
fn without_secrets_in_url(text: &str) -> Option<String> {
    let mut shown: Option<String> = None;
    for remove in [without_user_info, without_secret_path, without_secret_query] {
        shown = remove(shown.as_deref().unwrap_or(text)).or(shown);
    }
    shown
}

/// `https://hooks.slack.com/services/…`: who knows the path may post.
fn without_secret_path(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("://").filter(|_| is_short_url(text))?;
    let lower = rest.to_ascii_lowercase();
    let end = SECRET_NAMES.urls.iter().find_map(|url| {
        let at = lower.find(url)?;
        let host = lower.get(..at)?;
        (host.is_empty() || host.ends_with('.') && !host.contains('/')).then_some(at + url.len())
    })?;
    let secret = rest.get(end..).filter(|secret| !secret.is_empty())?;
    Some(format!("{}{}", text.strip_suffix(secret)?, masked(secret)))
}

/// `/acme/widget.atom?feed_token=…`, also of another host.
fn without_secret_query(text: &str) -> Option<String> {
    let (before, rest) = text.split_once('?').filter(|_| is_short_url(text))?;
    let (query, fragment) = rest.split_at(rest.find('#').unwrap_or(rest.len()));
    let hide = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let name_in_rest = snake(name);
        let is_named = is_secret(&name_in_rest) || SECRET_NAMES.query.contains(&name_in_rest.as_str());
        (is_named && is_open(value)).then(|| format!("{name}={HIDDEN_PART}"))
    };
    let parts: Vec<Cow<'_, str>> =
        query.split('&').map(|part| hide(part).map_or(Cow::Borrowed(part), Cow::Owned)).collect();
    let is_changed = parts.iter().any(|part| matches!(part, Cow::Owned(_)));
    is_changed.then(|| format!("{before}?{}{fragment}", parts.join("&")))
}

fn is_short_url(text: &str) -> bool {
    text.len() <= MAX_URL_BYTES
        && (text.starts_with('/') || text.contains("://"))
        && !text.contains(char::is_whitespace)
}

/// False for what GitLab masked itself: asterisks, or nothing.
fn is_open(part: &str) -> bool {
    part.chars().any(|c| c != '*')
}

/// A text that is a URL with a password, or with a user of HTTP, which may be a token: the URL with both masked. None
/// if there is nothing to mask: GitLab masks user info with asterisks.
fn without_user_info(text: &str) -> Option<String> {
    let mut url = Url::parse(text).ok().filter(|_| text.contains('@'))?;
    let has_user = matches!(url.scheme(), "http" | "https") && is_open(url.username());
    let has_password = url.password().is_some_and(is_open);
    if !has_user && !has_password {
        return None;
    }
    url.set_username(HIDDEN_PART).ok()?;
    url.set_password(url.password().is_some().then_some(HIDDEN_PART)).ok()?;
    Some(url.into())
}

/// True for a name that holds a secret, or ends as those of secrets do.
fn is_secret(name: &str) -> bool {
    let ends_with = |ending: &&str| {
        name.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    let is_named = SECRET_NAMES.names.contains(&name) || SECRET_NAMES.endings.iter().any(ends_with);
    is_named && !SECRET_NAMES.cursors.iter().any(ends_with)
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
