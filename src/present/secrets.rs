//! Secrets that GitLab sends along, masked before anything else is done with an answer: what a field is called
//! tells, what stands beside it, and how GitLab's own tokens begin.

use serde_json::{Map, Value};

use super::{Kind, cleaned};

/// The last words of a field that holds a secret: `runners_token`, `client_secret`, `X-Gitlab-Token`.
const ENDINGS: [&str; 7] =
    ["token", "password", "secret", "passphrase", "private_key", "api_key", "access_key"];

/// Fields whose names end otherwise.
const NAMES: [&str; 3] = ["authorization", "create_note_email", "incoming_email"];

/// Objects of which each value is a secret, whatever its key.
const HOLDERS: [&str; 3] = ["custom_headers", "url_variables", "webhook_headers"];

/// What stands beside the `value` of a variable of CI/CD.
const BESIDE_VALUE: [&str; 6] =
    ["variable_type", "masked", "hidden", "protected", "environment_scope", "raw"];

/// How GitLab's tokens begin. <https://docs.gitlab.com/security/tokens/#token-prefixes>
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

/// What a call that makes a token answers it under.
const MADE: [&str; 4] = ["token", "secret", "secret_token", "ephemeral_authentication_token"];

/// What was done to secrets, by the paths of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Masked {
    /// Those that are not shown.
    pub hidden: Vec<String>,
    /// Those that the call made: nobody will see them again.
    pub made: Vec<String>,
}

/// Masks what is secret in a value. A field that `asked` names by its exact path is shown, and so is a token that
/// was made just now.
pub fn mask(value: &mut Value, kind: Kind, asked: &[String]) -> Masked {
    let asked = asked.iter().map(|path| path.replace("[]", "")).collect();
    let mut walk = Walk { kind, asked, masked: Masked::default() };
    walk.value(value, &mut String::new(), false);
    walk.masked
}

/// A secret without what it says.
pub fn masked(secret: &str) -> String {
    format!("(masked: {} characters)", cleaned(secret).chars().count())
}

struct Walk {
    kind: Kind,
    asked: Vec<String>,
    masked: Masked,
}

impl Walk {
    fn value(&mut self, value: &mut Value, path: &mut String, secret: bool) {
        match value {
            Value::String(text) if !text.is_empty() && (secret || is_token(text)) => self.text(text, path),
            // A PIN is a secret as well.
            Value::Number(number) if secret => {
                let mut text = number.to_string();
                self.text(&mut text, path);
                *value = Value::String(text);
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, path, secret)),
            Value::Object(map) => self.object(map, path, secret),
            _ => {}
        }
    }

    fn object(&mut self, map: &mut Map<String, Value>, path: &mut String, all: bool) {
        let is_variable = self.kind.variables || is_variable(map);
        for (key, value) in map.iter_mut() {
            let name = snake(key);
            let length = path.len();
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(key);
            let of_variable = name == "value" && is_variable;
            // How many tokens there may be is no secret.
            let named = is_secret(&name) && !value.is_object() && !value.is_number();
            let held = HOLDERS.contains(&name.as_str());
            // Which header it is may be known.
            let inner = all && !matches!(name.as_str(), "key" | "name");
            self.value(value, path, of_variable || named || held || inner);
            path.truncate(length);
        }
    }

    fn text(&mut self, text: &mut String, path: &str) {
        let last = snake(path.rsplit('.').next().unwrap_or_default());
        if self.asked.iter().any(|asked| asked == path) {
            return;
        }
        let told = if self.kind.made && MADE.contains(&last.as_str()) {
            &mut self.masked.made
        } else {
            *text = masked(text);
            &mut self.masked.hidden
        };
        if !told.iter().any(|known| known == path) {
            told.push(path.to_owned());
        }
    }
}

fn is_secret(name: &str) -> bool {
    let ends_with = |ending: &str| {
        name.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    NAMES.contains(&name) || ENDINGS.iter().any(|ending| ends_with(ending))
}

/// A variable of CI/CD: a key, a value, and how it is kept.
fn is_variable(map: &Map<String, Value>) -> bool {
    let has = |wanted: &str| map.keys().any(|key| snake(key) == wanted);
    has("key") && has("value") && BESIDE_VALUE.iter().any(|beside| has(beside))
}

/// A text that is one of GitLab's tokens and nothing else.
fn is_token(text: &str) -> bool {
    let rest = PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix));
    rest.is_some_and(|rest| {
        rest.len() >= 16 && rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    })
}

/// `runnersToken` and `X-Gitlab-Token` as GitLab's REST interface would write them.
pub fn snake(name: &str) -> String {
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
