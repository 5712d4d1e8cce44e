//! Parser of GitLab's error bodies, which have many shapes, into one readable line.

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use serde_json::{Map, Value};

use crate::untrusted::{Secrets, cleaned, mask_tokens, one_line, shortened};

/// Maximum number of bytes read of an error body.
pub(super) const MAX_BODY: u64 = 64 * 1024;

/// Maximum length of a message in characters.
const MAX_CHARS: usize = 500;

/// Maximum numbers of lines and bytes that are collected from a body, and bytes of the name of a field.
const MAX_LINES: usize = 50;
const MAX_BYTES: usize = 8 * 1024;
const LONGEST_FIELD: usize = 200;

/// Maximum number of scopes listed, and the length of one.
const MAX_SCOPES: usize = 20;
const MAX_SCOPE: usize = 64;

/// A parsed error body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RefusalBody {
    pub message: String,
    /// The token is expired or revoked.
    pub expired: bool,
    /// GitLab's error code (`error_code`): `conflict`, `empty`.
    pub code: Option<String>,
    /// True if the body is a web page.
    pub is_page: bool,
    /// The scopes of which the token needs one; empty if the body names none.
    pub missing_scope: Option<Vec<String>>,
}

impl RefusalBody {
    /// Adds the scopes of the `WWW-Authenticate` challenge if the body names none (RFC 6750, 3: `Bearer
    /// error="insufficient_scope", scope="api read_api"`).
    pub(super) fn with_scopes(mut self, headers: &HeaderMap, secrets: &Secrets) -> RefusalBody {
        let challenges = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        for challenge in challenges.filter(|challenge| challenge.contains("insufficient_scope")) {
            let scopes = challenge.split_once("scope=\"").and_then(|(_, rest)| rest.split_once('"'));
            let named = self.missing_scope.get_or_insert_default();
            if named.is_empty() {
                named.extend(plain_scopes(scopes.map_or("", |(scopes, _)| scopes), secrets));
            }
        }
        self
    }
}

/// Parses a body: GitLab's JSON, the title of an HTML page, or plain text. For an empty body the status' reason phrase
/// is used.
pub(super) fn parse(status: StatusCode, text: &str, secrets: &Secrets) -> RefusalBody {
    let json = serde_json::from_str::<Value>(text).ok();
    let said = match &json {
        Some(Value::Object(object)) => from_object(object),
        Some(Value::Null) => String::new(),
        Some(value) => {
            let mut said = MessageLines::default();
            said.add("", value);
            said.lines.join("; ")
        }
        None if looks_like_html(text) => html_title(text).unwrap_or_default(),
        None => text.to_owned(),
    };
    let mut message = tidy(&said, secrets);
    if message.is_empty() {
        message = status.canonical_reason().unwrap_or("no message").to_owned();
    }
    let field = |name: &str| json.as_ref().and_then(|json| json.get(name)?.as_str());
    // `insufficient_scope`, and `insufficient_granular_scope` of fine-grained tokens.
    let code = field("error").unwrap_or_default();
    let lacks_scope = code.starts_with("insufficient") && code.ends_with("scope");
    let scopes = plain_scopes(field("scope").unwrap_or_default(), secrets);
    let lower = message.to_lowercase();
    RefusalBody {
        code: field("error_code").map(|code| tidy(code, secrets)).filter(|code| !code.is_empty()),
        is_page: json.is_none() && looks_like_html(text),
        expired: ["expired", "revoked"].iter().any(|word| lower.contains(word)),
        missing_scope: lacks_scope.then_some(scopes),
        message,
    }
}

/// The title of a page as one readable line.
pub(super) fn page_title(text: &str, secrets: &Secrets) -> Option<String> {
    html_title(text).map(|title| tidy(&title, secrets)).filter(|title| !title.is_empty())
}

/// The readable parts of an object, or the object itself if there are none.
fn from_object(object: &Map<String, Value>) -> String {
    let mut said = MessageLines::default();
    let oauth = object.get("error").and_then(Value::as_str).zip(object.get("error_description"));
    if let Some((code, Value::String(description))) = oauth {
        said.push(&format!("{code}:"), description);
    }
    for key in ["message", "error", "errors", "reason", "detail"] {
        if key == "error" && !said.lines.is_empty() {
            continue;
        }
        if let Some(value) = object.get(key) {
            said.add("", value);
        }
    }
    if said.lines.is_empty() {
        // GraphQL's top level and unknown shapes.
        return Value::Object(object.clone()).to_string();
    }
    said.lines.join("; ")
}

/// The lines of a message, up to a number and a size.
#[derive(Default)]
struct MessageLines {
    lines: Vec<String>,
    bytes: usize,
}

impl MessageLines {
    fn is_full(&self) -> bool {
        self.lines.len() >= MAX_LINES || self.bytes >= MAX_BYTES
    }

    /// Adds every text in a value, prefixed with its field's name: `title can't be blank`.
    fn add(&mut self, field: &str, value: &Value) {
        if self.is_full() {
            return;
        }
        match value {
            Value::Null => {}
            Value::String(text) => self.push(field, text),
            Value::Array(items) => items.iter().for_each(|item| self.add(field, item)),
            Value::Object(object) => match object.get("message") {
                // A GraphQL error: its locations and extensions are left out.
                Some(message @ Value::String(_)) => self.add(field, message),
                _ => {
                    for (name, value) in object {
                        if self.is_full() {
                            return;
                        }
                        self.add(&qualify_field(field, name), value);
                    }
                }
            },
            other => self.push(field, &other.to_string()),
        }
    }

    /// Adds a line unless it is already present.
    fn push(&mut self, field: &str, text: &str) {
        let separator = if field.is_empty() { "" } else { " " };
        let line = format!("{field}{separator}{text}");
        if !self.lines.contains(&line) {
            self.bytes += line.len();
            self.lines.push(line);
        }
    }
}

/// Qualified field name of a nested message. Rails calls the whole record `base`.
fn qualify_field(field: &str, name: &str) -> String {
    match (field, name) {
        (_, "base" | "error" | "errors" | "message") => field.to_owned(),
        ("", _) => clipped(name).to_owned(),
        _ => clipped(&format!("{field}.{name}")).to_owned(),
    }
}

/// The name of a field up to its maximum length.
fn clipped(name: &str) -> &str {
    name.char_indices().nth(LONGEST_FIELD).and_then(|(at, _)| name.get(..at)).unwrap_or(name)
}

fn looks_like_html(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(14).collect::<String>().to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<head")
}

/// The `<title>` of a page, with common entities decoded.
fn html_title(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let open = lower.find("<title")?;
    let start = open + lower.get(open..)?.find('>')? + 1;
    let end = start + lower.get(start..)?.find("</title")?;
    let mut title = text.get(start..end)?.to_owned();
    for (entity, plain) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
        title = title.replace(entity, plain);
    }
    Some(title)
}

/// The items of a list that have the form of a scope and contain no secret.
fn plain_scopes(scopes: &str, secrets: &Secrets) -> Vec<String> {
    let is_plain = |scope: &&str| {
        scope.len() <= MAX_SCOPE
            && scope.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b':'))
    };
    let is_shown = |scope: &&str| secrets.redact(scope) == *scope && mask_tokens(scope) == *scope;
    let scopes = scopes.split_ascii_whitespace().filter(is_plain).filter(is_shown);
    scopes.take(MAX_SCOPES).map(str::to_owned).collect()
}

/// Redacts secrets and shortens to one line. Secrets are masked both after terminal codes are removed and after line
/// feeds are: a secret may contain either.
fn tidy(text: &str, secrets: &Secrets) -> String {
    let line = one_line(&secrets.redact(&cleaned(text)));
    shortened(&mask_tokens(&secrets.redact(&line)), MAX_CHARS)
}
