//! Sources of settings: flags, variables and an optional file, in this order.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::instance::Instance;
use super::instance_table::{InstanceTable, TABLE};
use super::table::{AnySetting, FILE, Row, Setting, TOKEN, URL, is_of_policy, settings};
use crate::untrusted;

/// Aliases of GITLAB_URL whose value is a host, with or without a scheme.
const HOSTS: [&str; 2] = ["GITLAB_HOST", "GL_HOST"];

/// Values from the command line, by setting name.
pub type Flags = BTreeMap<&'static str, String>;

/// Sources of settings, in order of precedence.
pub(super) struct Sources<'a> {
    pub flags: &'a Flags,
    pub lookup: &'a dyn Fn(&str) -> Option<OsString>,
    pub file: Option<SettingsFile>,
}

/// Value with its origin, for error messages.
pub(super) struct FoundValue {
    pub text: String,
    pub origin: String,
}

impl Sources<'_> {
    /// Parses the value of a setting, or its default if it is not set.
    pub(super) fn parse<T: Clone + Sync>(
        &self,
        setting: &'static Setting<T>,
    ) -> Result<Option<T>, ConfigError> {
        let default =
            || setting.default.map(|text| FoundValue::new(text, format!("the default of {}", setting.name)));
        self.find(setting)?.or_else(default).map(|found| self.parse_found(setting, found)).transpose()
    }

    /// Parses a value that was found for a setting.
    pub(super) fn parse_found<T: Clone + Sync>(
        &self,
        setting: &'static Setting<T>,
        FoundValue { text, origin }: FoundValue,
    ) -> Result<T, ConfigError> {
        let accepts = setting.accepts();
        match setting.parse(text.trim()) {
            Some(value) => Ok(value),
            // A setting without a flag is a secret.
            None if setting.flag.is_none() || may_hold_a_secret(&text) => {
                Err(ConfigError::Hidden { origin, accepts })
            }
            None if setting.name == URL.name && lacks_scheme(&text) => {
                Err(ConfigError::NoScheme { origin, given: text.trim().to_owned(), accepts })
            }
            None => Err(ConfigError::Value { origin, given: text, accepts }),
        }
    }

    /// `NO_PROXY` of the environment, in either case of its name, as curl reads it.
    pub(super) fn no_proxy(&self) -> String {
        let values =
            ["no_proxy", "NO_PROXY"].into_iter().filter_map(|name| (self.lookup)(name)?.into_string().ok());
        values.collect::<Vec<_>>().join(",")
    }

    /// Parses the value of a setting that has a default.
    pub(super) fn parse_required<T: Clone + Sync>(
        &self,
        setting: &'static Setting<T>,
    ) -> Result<T, ConfigError> {
        self.parse(setting)?.ok_or(ConfigError::Missing(setting.name))
    }

    /// Parses the paths of a certificate and its key; none if neither is set.
    ///
    /// # Errors
    /// One without the other.
    pub(super) fn key_pair(
        &self,
        certificate: &'static Setting<PathBuf>,
        key: &'static Setting<PathBuf>,
    ) -> Result<Option<(PathBuf, PathBuf)>, ConfigError> {
        match (self.parse(certificate)?, self.parse(key)?) {
            (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
            (None, None) => Ok(None),
            (Some(_), None) => Err(ConfigError::Alone { set: certificate.name, missing: key.name }),
            (None, Some(_)) => Err(ConfigError::Alone { set: key.name, missing: certificate.name }),
        }
    }

    /// Raw value of a setting. Empty counts as not set: clients pass empty values for fields the user left blank.
    pub(super) fn find(&self, setting: &'static dyn AnySetting) -> Result<Option<FoundValue>, ConfigError> {
        let row = setting.row();
        let flag = self.flags.get(row.name).map(|text| FoundValue::new(text, flag_name(row)));
        if let Some(blank) = flag.as_ref().filter(|flag| flag.text.trim().is_empty()) {
            // A flag is written by hand: without its value it would lift what a variable restricts.
            return Err(ConfigError::Blank { origin: blank.origin.clone(), accepts: setting.accepts() });
        }
        let found = match flag {
            Some(flag) => Some(flag),
            None => self.variable(row)?.or_else(|| self.file.as_ref().and_then(|file| file.find(row))),
        };
        match found.filter(|found| !found.text.trim().is_empty()) {
            Some(FoundValue { text, origin }) if is_unexpanded(&text) => {
                Err(ConfigError::Unexpanded { origin, given: text, accepts: setting.accepts() })
            }
            Some(FoundValue { text, origin }) if is_path(row) => match expand_home(&text, self.lookup) {
                Some(text) => Ok(Some(FoundValue { text, origin })),
                None => Err(ConfigError::NoHome { origin, given: text }),
            },
            found => Ok(found),
        }
    }

    fn variable(&self, row: &'static Row) -> Result<Option<FoundValue>, ConfigError> {
        let is_set = |name: &&str| (self.lookup)(name).is_some_and(|value| !value.is_empty());
        // The destination of a token, the token, and the rules for it.
        let is_one = is_of_policy(row.name) || [URL.name, TOKEN.name].contains(&row.name);
        let meaning = |name: &str| {
            let text = (self.lookup)(name).and_then(|value| value.into_string().ok()).unwrap_or_default();
            meant_by(row, name, &text)
        };
        if is_one
            && let Some(first) = row.names().find(is_set)
            && let Some(other) = row
                .names()
                .filter(is_set)
                // glab's, which may be about another GitLab.
                .filter(|name| !HOSTS.contains(name))
                .find(|name| meaning(name) != meaning(first))
        {
            return Err(ConfigError::Contradiction { one: first.to_owned(), other: other.to_owned() });
        }
        for name in row.names() {
            let Some(value) = (self.lookup)(name).filter(|value| !value.is_empty()) else { continue };
            let text = value.into_string().map_err(|_| ConfigError::Encoding(name.to_owned()))?;
            return Ok(Some(FoundValue { text: with_scheme(name, &text), origin: name.to_owned() }));
        }
        Ok(None)
    }
}

/// True for a host that would be an address with `https://` before it.
fn lacks_scheme(text: &str) -> bool {
    let host = text.split(['/', ':']).next().unwrap_or_default();
    let is_host = host.contains('.') || host == "localhost";
    is_host && !text.contains("://") && URL.parse(&format!("https://{}", text.trim())).is_some()
}

/// The value of a variable, of a host as an address.
fn with_scheme(name: &str, text: &str) -> String {
    let text = unquoted(text);
    match HOSTS.contains(&name) && !text.contains("://") && !is_unexpanded(text) {
        true => format!("https://{}", text.trim()),
        false => text.to_owned(),
    }
}

/// The value of a variable, to compare it with another name of the setting: two spellings of an address are one.
fn meant_by(row: &Row, name: &str, text: &str) -> String {
    let text = with_scheme(name, text).trim().to_owned();
    match URL.parse(&text).filter(|_| row.name == URL.name) {
        Some(Instance::At(url)) => url.to_string(),
        Some(Instance::Sandbox) | None => text,
    }
}

impl FoundValue {
    fn new(text: &str, origin: String) -> FoundValue {
        FoundValue { text: text.to_owned(), origin }
    }
}

/// Loads the settings of a file, as text like those of other sources.
pub(super) struct SettingsFile {
    path: PathBuf,
    values: BTreeMap<String, String>,
    /// The tables `[[instance]]`.
    pub(super) instances: Vec<InstanceTable>,
}

impl SettingsFile {
    pub fn load(path: PathBuf) -> Result<SettingsFile, ConfigError> {
        let text = read_file(&path, FILE.name)?;
        let mut table: toml::Table = toml::from_str(&text).map_err(|error| syntax(&path, &text, &error))?;
        let mut values = BTreeMap::new();
        let instances = match table.remove(TABLE) {
            Some(tables) => tables.try_into().map_err(|error: toml::de::Error| ConfigError::Tables {
                file: path.clone(),
                message: error.message().to_owned(),
            })?,
            None => Vec::new(),
        };
        // By settings: the key, and what it says.
        let mut given: BTreeMap<&str, (String, String)> = BTreeMap::new();
        for (key, value) in table {
            // A former name of a setting is one of its aliases.
            let mut rows = settings().map(AnySetting::row);
            let row = rows.find(|row| row.name == key || row.aliases.contains(&&*key));
            let Some(row) = row else { return Err(ConfigError::Unknown { file: path, key }) };
            let Some(text) = plain_text(&value) else {
                return Err(ConfigError::Shape { file: path, key });
            };
            let meaning = meant_by(row, &key, &text);
            if let Some((one, other)) = given.insert(row.name, (key.clone(), meaning.clone()))
                && other != meaning
            {
                return Err(ConfigError::Contradiction { one, other: key });
            }
            values.insert(row.name.to_owned(), with_scheme(&key, &text));
        }
        Ok(SettingsFile { path, values, instances })
    }

    pub(super) fn find(&self, row: &Row) -> Option<FoundValue> {
        let text = self.values.get(row.name)?;
        Some(FoundValue::new(text, format!("{} in {}", row.name, self.path.display())))
    }
}

pub(super) fn syntax(file: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    ConfigError::Syntax { file: file.to_owned(), line, message: error.message().to_owned() }
}

pub(super) fn plain_text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(switch) => Some(switch.to_string()),
        _ => None,
    }
}

pub(super) fn read_file(path: &Path, origin: &str) -> Result<String, ConfigError> {
    let failed = |source| ConfigError::File { origin: origin.to_owned(), path: path.to_owned(), source };
    fs::read_to_string(path).map_err(failed)
}

/// True for a setting whose value is the path of a file or folder.
pub(super) fn is_path(row: &Row) -> bool {
    matches!(row.value, "FILE" | "DIR")
}

/// A path whose leading `~/` is the home folder: where a client starts the server, no shell expands it. None without a
/// home folder.
pub fn expand_home(path: &str, lookup: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    let Some(below) = path.trim().strip_prefix("~/") else { return Some(path.to_owned()) };
    let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let home = lookup(name).map(PathBuf::from).filter(|home| home.is_absolute())?;
    Some(home.join(below).display().to_string())
}

fn flag_name(row: &Row) -> String {
    row.flag.map_or_else(|| row.name.to_owned(), |flag| format!("--{flag}"))
}

/// Detects `${GITLAB_TOKEN}`, `$GITLAB_TOKEN` and `%GITLAB_TOKEN%`, which some clients pass literally.
fn is_unexpanded(text: &str) -> bool {
    let text = text.trim();
    let is_name = |name: &str| {
        name.contains('_')
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    (text.starts_with("${") && text.ends_with('}'))
        || text.strip_prefix('$').is_some_and(is_name)
        || text.strip_prefix('%').and_then(|name| name.strip_suffix('%')).is_some_and(is_name)
}

/// The text between a pair of quotes. A shell removes them; the files of container tools and some clients do not.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// Returns true for a URL with a password, or a token in a setting for something else.
fn may_hold_a_secret(text: &str) -> bool {
    text.contains('@') || untrusted::holds_token(text)
}
