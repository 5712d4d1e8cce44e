//! Flags, variables and an optional file, in this order, to one validated [`Config`]. The only reader of
//! environment variables.

mod instance;
mod overrides;
mod table;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use tracing::level_filters::LevelFilter;
use url::Url;

pub use instance::Instance;
use table::{
    ALLOWED_PATHS, AUDIT, AUTOPILOT, CA_FILE, CAPABILITIES, CLIENT_CERT, CLIENT_KEY, CONFIRM, DENIED_ACTIONS,
    DENIED_TOOLS, DOMAINS, EXTRA_HEADERS, FILE, FILES_DIR, FOREIGN_VARIABLES, INSECURE_TLS, JOB_TOKEN,
    LOCAL_HINTS, LOG, MAX_BYTES, MAX_REQUESTS, OAUTH_TOKEN, POLICY, PROJECT, QUICK_ACTIONS, READABLE_PATHS,
    SAFE_MODE, TIMEOUT, TOKEN, TOKEN_FILE, TOOLSETS,
};
pub use table::{
    FLAG_ALIASES, FOREIGN_FLAGS, READ_ONLY, SETTINGS, Setting, URL, render_help, render_markdown_table,
};

use crate::call::QuickActions;
use crate::gitlab::{self, ClientCertificate, ExtraHeader, Secret, Token};
use crate::policy::{self, Confirm, FamilyTool};
use crate::surface::{self, Kind};
use crate::tools::{self, Audit, Capabilities};
use crate::untrusted;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BODY: u64 = 64 * 1024 * 1024;
const RETRIES: u32 = 3;

/// Aliases of GITLAB_URL whose value is a host, with or without a scheme.
const HOSTS: [&str; 2] = ["GITLAB_HOST", "GL_HOST"];

/// Values from the command line, by setting name.
pub type Flags = BTreeMap<&'static str, String>;

/// Invalid configuration. No variant contains a token.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{origin}: expected {accepts}, got {given:?}")]
    Value { origin: String, given: String, accepts: &'static str },
    #[error("{origin}: invalid value (not shown); expected {accepts}")]
    Hidden { origin: String, accepts: &'static str },
    #[error("{origin}: unexpanded variable {given:?}; expected {accepts}")]
    Unexpanded { origin: String, given: String, accepts: &'static str },
    #[error("{0}: the value is not valid UTF-8")]
    Encoding(String),
    #[error("{first} and {second} are both set: set only one")]
    TwoTokens { first: String, second: String },
    #[error("{set} is set and {missing} is not: a client certificate needs its key")]
    Alone { set: &'static str, missing: &'static str },
    #[error("{origin}: cannot read {}", .path.display())]
    File { origin: String, path: PathBuf, source: io::Error },
    /// The line is not shown: it may contain the token.
    #[error("line {line} of {} is not TOML: {message}", .file.display())]
    Syntax { file: PathBuf, line: usize, message: String },
    #[error("{}: unknown setting {key}; expected one of {}", .file.display(), names())]
    Unknown { file: PathBuf, key: String },
    #[error("{}: unknown key {key}; expected the tables tools, actions and params", .file.display())]
    NoTable { file: PathBuf, key: String },
    #[error("{key} in {}: expected a string, a number or a boolean", .file.display())]
    Shape { file: PathBuf, key: String },
    #[error("{0} is not set")]
    Missing(&'static str),
}

/// Validated configuration.
#[derive(Clone, Debug)]
pub struct Config {
    pub instance: Instance,
    pub token: Option<Token>,
    pub policy: policy::Settings,
    /// The handling of quick actions in texts.
    pub quick_actions: QuickActions,
    /// Setting that switches confirmation off, as written, and whether it takes effect.
    pub autopilot: Option<(String, bool)>,
    pub surface: surface::Settings,
    pub project: Option<String>,
    pub timeout: Duration,
    pub max_bytes: usize,
    pub max_requests: usize,
    pub files_dir: Option<PathBuf>,
    pub local_hints: bool,
    pub ca_file: Option<PathBuf>,
    pub client_certificate: Option<ClientCertificate>,
    pub insecure_tls: bool,
    pub extra_headers: Vec<ExtraHeader>,
    pub capabilities: Capabilities,
    pub audit: Audit,
    pub log: LevelFilter,
}

/// The variables of this process's environment.
pub fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

/// A variable of this process's environment.
pub fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

impl Config {
    /// Builds the configuration from flags and variables. Variables are read only through `lookup`; files only if a
    /// setting names them.
    pub fn resolve(flags: &Flags, lookup: impl Fn(&str) -> Option<OsString>) -> Result<Config, ConfigError> {
        let mut sources = Sources { flags, lookup: &lookup, file: None };
        if let Some(path) = sources.read(&FILE, values::path)? {
            sources.file = Some(SettingsFile::load(path)?);
        }
        let instance = sources.need(&URL, values::instance)?;
        let surface = sources.surface()?;
        let confirmation = sources.confirmation()?;
        Ok(Config {
            token: sources.token(&instance)?,
            instance,
            policy: sources.policy(&surface, confirmation.confirm)?,
            quick_actions: sources.need(&QUICK_ACTIONS, values::quick_actions)?,
            autopilot: confirmation.autopilot,
            surface,
            project: sources.read(&PROJECT, values::full_path)?,
            timeout: sources.need(&TIMEOUT, values::seconds)?,
            max_bytes: sources.need(&MAX_BYTES, values::bytes)?,
            max_requests: sources.need(&MAX_REQUESTS, values::requests)?,
            files_dir: sources.read(&FILES_DIR, values::directory)?,
            local_hints: sources.need(&LOCAL_HINTS, values::switch)?,
            ca_file: sources.read(&CA_FILE, values::readable)?,
            client_certificate: sources.client_certificate()?,
            insecure_tls: sources.need(&INSECURE_TLS, values::switch)?,
            extra_headers: sources.read(&EXTRA_HEADERS, values::headers)?.unwrap_or_default(),
            capabilities: sources.need(&CAPABILITIES, values::capabilities)?,
            audit: sources.need(&AUDIT, values::audit)?,
            log: sources.need(&LOG, values::level)?,
        })
    }

    /// Returns true if destructive actions run without confirmation.
    pub fn is_unconfirmed(&self) -> bool {
        !self.policy.confirm.asks()
    }

    /// Warning about confirmation that is switched off.
    pub fn confirmation_warnings(&self) -> Vec<String> {
        let warning = self.autopilot.as_ref().map(|(origin, is_effective)| match is_effective {
            true => format!(
                "confirmation is off ({origin}): destructive actions run without a question; GITLAB_CONFIRM=ask turns it \
                 on"
            ),
            false => format!("{origin} has no effect: GITLAB_CONFIRM is set"),
        });
        warning.into_iter().collect()
    }

    /// Hints for variables of other GitLab servers that are set but have no effect here.
    pub fn foreign_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Vec<String> {
        let is_set = |name: &str| lookup(name).is_some_and(|value| !value.is_empty());
        let set = FOREIGN_VARIABLES.iter().filter(|(name, _)| is_set(name));
        set.map(|(name, instead)| format!("{name} is not a setting of gitlab-mcp; {instead}")).collect()
    }

    /// Returns true if the token would be sent unencrypted over a network.
    pub fn exposes_token(&self) -> bool {
        const OWN: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
        match &self.instance {
            Instance::At(url) => {
                (self.token.is_some() || !self.extra_headers.is_empty())
                    && url.scheme() == "http"
                    && !url.host_str().is_some_and(|host| OWN.contains(&host))
            }
            Instance::Sandbox => false,
        }
    }

    /// Settings of the tools, for a GitLab with the root URL `base`.
    pub fn tools(&self, base: Url) -> tools::Settings {
        tools::Settings {
            gitlab: gitlab::Settings {
                base,
                token: self.token.clone(),
                connect_timeout: CONNECT_TIMEOUT,
                timeout: self.timeout,
                max_body: MAX_BODY,
                retries: RETRIES,
                in_flight: self.max_requests,
                ca_file: self.ca_file.clone(),
                client_certificate: self.client_certificate.clone(),
                insecure_tls: self.insecure_tls,
                extra_headers: self.extra_headers.clone(),
            },
            policy: self.policy.clone(),
            quick_actions: self.quick_actions,
            audit: self.audit,
            project: self.project.clone(),
            max_bytes: self.max_bytes,
            files_dir: self.files_dir.clone(),
            capabilities: self.capabilities,
            local_hints: self.local_hints,
        }
    }
}

/// Sources of settings, in order of precedence.
struct Sources<'a> {
    flags: &'a Flags,
    lookup: &'a dyn Fn(&str) -> Option<OsString>,
    file: Option<SettingsFile>,
}

/// Value with its origin, for error messages.
struct Found {
    text: String,
    origin: String,
}

impl Sources<'_> {
    /// Parses the value of a setting, or its default if it is not set.
    fn read<T>(
        &self,
        setting: &'static Setting,
        parse: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        let default =
            || setting.default.map(|text| Found::new(text, format!("the default of {}", setting.name)));
        let Some(Found { text, origin }) = self.find(setting)?.or_else(default) else {
            return Ok(None);
        };
        let accepts = setting.accepts;
        match parse(text.trim()) {
            Some(value) => Ok(Some(value)),
            // A setting without a flag is a secret.
            None if setting.flag.is_none() || may_hold_a_secret(&text) => {
                Err(ConfigError::Hidden { origin, accepts })
            }
            None => Err(ConfigError::Value { origin, given: text, accepts }),
        }
    }

    /// Parses the value of a setting that has a default.
    fn need<T>(&self, setting: &'static Setting, parse: fn(&str) -> Option<T>) -> Result<T, ConfigError> {
        self.read(setting, parse)?.ok_or(ConfigError::Missing(setting.name))
    }

    /// Raw value of a setting. Empty counts as not set: clients pass empty values for fields the user left blank.
    fn find(&self, setting: &'static Setting) -> Result<Option<Found>, ConfigError> {
        let flag = self.flags.get(setting.name).map(|text| Found::new(text, flag_name(setting)));
        let found = match flag {
            Some(flag) => Some(flag),
            None => {
                self.variable(setting)?.or_else(|| self.file.as_ref().and_then(|file| file.find(setting)))
            }
        };
        match found.filter(|found| !found.text.trim().is_empty()) {
            Some(Found { text, origin }) if is_unexpanded(&text) => {
                Err(ConfigError::Unexpanded { origin, given: text, accepts: setting.accepts })
            }
            found => Ok(found),
        }
    }

    fn variable(&self, setting: &'static Setting) -> Result<Option<Found>, ConfigError> {
        for name in [setting.name].iter().chain(setting.aliases) {
            let Some(value) = (self.lookup)(name).filter(|value| !value.is_empty()) else { continue };
            let mut text = value.into_string().map_err(|_| ConfigError::Encoding((*name).to_owned()))?;
            if HOSTS.contains(name) && !text.contains("://") && !is_unexpanded(&text) {
                text = format!("https://{}", text.trim());
            }
            return Ok(Some(Found { text, origin: (*name).to_owned() }));
        }
        Ok(None)
    }

    /// Confirmation mode. GITLAB_CONFIRM takes precedence over the aliases that switch confirmation off, as a shell
    /// may export some of those for another program.
    fn confirmation(&self) -> Result<Confirmation, ConfigError> {
        let is_set = self.find(&CONFIRM)?.is_some();
        let confirm = self.need(&CONFIRM, values::confirm)?;
        let origin = self.find(&AUTOPILOT)?.map(|found| found.origin);
        let autopilot = self.need(&AUTOPILOT, values::switch)?;
        Ok(Confirmation {
            confirm: if autopilot && !is_set { Confirm::NEVER } else { confirm },
            autopilot: origin
                .filter(|_| autopilot)
                .map(|origin| (origin, confirm == Confirm::NEVER || !is_set)),
        })
    }

    /// Policy settings, as written.
    fn policy(&self, surface: &surface::Settings, confirm: Confirm) -> Result<policy::Settings, ConfigError> {
        let file = self.read(&POLICY, values::path)?.map(|path| read_file(&path, POLICY.name)).transpose()?;
        Ok(policy::Settings {
            read_only: self.need(&READ_ONLY, values::switch)?,
            safe_mode: self.need(&SAFE_MODE, values::switch)?,
            confirm,
            denied_actions: self.read(&DENIED_ACTIONS, values::list)?.unwrap_or_default(),
            denied_tools: self.read(&DENIED_TOOLS, values::text)?,
            family_tool: match (surface.kind, surface.split) {
                (Kind::Meta, false) => Some(surface::family_tool as FamilyTool),
                (Kind::Meta, true) => Some(surface::split_tool),
                _ => None,
            },
            toolsets: self.read(&TOOLSETS, values::list)?.unwrap_or_default(),
            domains: self.read(&DOMAINS, values::list)?.unwrap_or_default(),
            allowed_paths: self.read(&ALLOWED_PATHS, values::list)?.unwrap_or_default(),
            readable_paths: self.read(&READABLE_PATHS, values::list)?.unwrap_or_default(),
            file,
        })
    }

    fn client_certificate(&self) -> Result<Option<ClientCertificate>, ConfigError> {
        let certificate = self.read(&CLIENT_CERT, values::readable)?;
        let key = self.read(&CLIENT_KEY, values::readable)?;
        match (certificate, key) {
            (Some(certificate), Some(key)) => Ok(Some(ClientCertificate { certificate, key })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(ConfigError::Alone { set: CLIENT_CERT.name, missing: CLIENT_KEY.name }),
            (None, Some(_)) => Err(ConfigError::Alone { set: CLIENT_KEY.name, missing: CLIENT_CERT.name }),
        }
    }

    /// Loads the token from whichever setting has it. On the sandbox, only a sandbox token is used, so that a first
    /// run does not depend on variables set for another GitLab.
    fn token(&self, instance: &Instance) -> Result<Option<Token>, ConfigError> {
        type Make = fn(Secret) -> Token;
        let ways: [(&'static Setting, Make); 4] = [
            (&TOKEN, Token::guess),
            (&TOKEN_FILE, Token::guess),
            (&OAUTH_TOKEN, Token::OAuth),
            (&JOB_TOKEN, Token::Job),
        ];
        let mut chosen: Option<(Found, &'static Setting, Make)> = None;
        for (setting, make) in ways {
            let Some(found) = self.find(setting)? else { continue };
            if let Some((first, ..)) = chosen {
                return Err(ConfigError::TwoTokens { first: first.origin, second: found.origin });
            }
            chosen = Some((found, setting, make));
        }
        let Some((found, setting, make)) = chosen else { return Ok(None) };
        let text = read_token(found, setting)?;
        let is_foreign = *instance == Instance::Sandbox && !text.starts_with(SANDBOX_TOKENS);
        Ok((!is_foreign).then(|| make(Secret::new(text))))
    }
}

/// Confirmation mode.
struct Confirmation {
    confirm: Confirm,
    /// Setting that switches confirmation off, and whether it takes effect.
    autopilot: Option<(String, bool)>,
}

impl Found {
    fn new(text: &str, origin: String) -> Found {
        Found { text: text.to_owned(), origin }
    }
}

/// Loads the settings of a file, as text like those of other sources.
struct SettingsFile {
    path: PathBuf,
    values: BTreeMap<String, String>,
}

impl SettingsFile {
    fn load(path: PathBuf) -> Result<SettingsFile, ConfigError> {
        let text = read_file(&path, FILE.name)?;
        let table: toml::Table = toml::from_str(&text).map_err(|error| syntax(&path, &text, &error))?;
        let mut values = BTreeMap::new();
        for (key, value) in table {
            // A former name of a setting is one of its aliases.
            let setting =
                SETTINGS.iter().find(|setting| setting.name == key || setting.aliases.contains(&&*key));
            let Some(setting) = setting else { return Err(ConfigError::Unknown { file: path, key }) };
            let Some(text) = plain_text(&value) else {
                return Err(ConfigError::Shape { file: path, key });
            };
            values.insert(setting.name.to_owned(), text);
        }
        Ok(SettingsFile { path, values })
    }

    fn find(&self, setting: &Setting) -> Option<Found> {
        let text = self.values.get(setting.name)?;
        Some(Found::new(text, format!("{} in {}", setting.name, self.path.display())))
    }
}

fn syntax(file: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    ConfigError::Syntax { file: file.to_owned(), line, message: error.message().to_owned() }
}

fn plain_text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(switch) => Some(switch.to_string()),
        _ => None,
    }
}

/// Prefix of the sandbox's tokens.
const SANDBOX_TOKENS: &str = "glpat-sandbox";

fn read_token(found: Found, setting: &'static Setting) -> Result<String, ConfigError> {
    let text = if setting.name == TOKEN_FILE.name {
        read_file(Path::new(&found.text), &found.origin)?
    } else {
        found.text
    };
    let hidden = ConfigError::Hidden { origin: found.origin, accepts: setting.accepts };
    values::token(&text).ok_or(hidden)
}

fn read_file(path: &Path, origin: &str) -> Result<String, ConfigError> {
    let failed = |source| ConfigError::File { origin: origin.to_owned(), path: path.to_owned(), source };
    fs::read_to_string(path).map_err(failed)
}

fn flag_name(setting: &Setting) -> String {
    setting.flag.map_or_else(|| setting.name.to_owned(), |flag| format!("--{flag}"))
}

/// Detects `${GITLAB_TOKEN}`, which some clients pass literally if the variable does not exist.
fn is_unexpanded(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("${") && text.ends_with('}')
}

/// Returns true for a URL with a password, or a token in a setting for something else.
fn may_hold_a_secret(text: &str) -> bool {
    text.contains('@') || untrusted::holds_token(text)
}

fn names() -> String {
    SETTINGS.iter().map(|setting| setting.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
