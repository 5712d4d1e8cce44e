//! The configured GitLab instances: the one of the plain settings, and the tables `[[instance]]` of the settings file.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use url::Url;

use super::credentials::Login;
use super::error::ConfigError;
use super::instance::Instance;
use super::instance_table::{InstanceTable, TABLE};
use super::sources::{Sources, expand_home, read_file};
use super::table::{AnySetting, CA_FILE, READABLE_PATHS, TOKEN, TOKEN_COMMAND, URL};
use crate::credentials::{Choice, CredentialSettings, GivenToken};
use crate::gitlab::{Secret, Token};
use crate::policy::PathPattern;
use crate::tools::name_of;

/// A GitLab instance, or one of several accounts there.
#[derive(Clone, Debug)]
pub struct InstanceConfig {
    pub name: String,
    pub instance: Instance,
    /// The source of its token.
    pub credentials: Choice,
    /// Projects and groups that this account is for, where several accounts share an instance.
    pub paths: Vec<String>,
    /// Refuses changes here, in addition to GITLAB_READ_ONLY.
    pub read_only: bool,
    /// Text of its own policy file, in place of GITLAB_POLICY.
    pub policy: Option<String>,
    /// Its own root certificates, in place of GITLAB_CA_FILE.
    pub ca_file: Option<PathBuf>,
    /// True if its TLS certificate is not verified.
    pub insecure_tls: bool,
    /// True for the instance of GITLAB_URL, which the other plain settings are for.
    pub is_plain: bool,
}

impl InstanceConfig {
    /// The instance at a root URL, without a credential and a name of its own.
    fn at(url: Url, insecure_tls: bool) -> InstanceConfig {
        InstanceConfig {
            name: name_of(&url),
            instance: Instance::At(url),
            credentials: Choice::default(),
            paths: Vec::new(),
            read_only: false,
            policy: None,
            ca_file: None,
            insecure_tls,
            is_plain: false,
        }
    }

    /// True if the instance is reached over a network without encryption.
    pub fn is_unencrypted(&self) -> bool {
        match &self.instance {
            Instance::At(url) => url.scheme() == "http" && !is_on_this_machine(url),
            Instance::Sandbox => false,
        }
    }
}

/// True for an address on loopback.
pub(super) fn is_on_this_machine(url: &Url) -> bool {
    url.host_str().is_some_and(|host| ["localhost", "127.0.0.1", "[::1]"].contains(&host))
}

impl Sources<'_> {
    /// The default instance and the others. The plain settings are the default if they name a URL or a token, or if there
    /// is no table; else it is that of the first table. A sign-in and GITLAB_CREDENTIALS name no token. `listed` are further roots, of the HTTP server.
    ///
    /// # Errors
    /// An invalid table, or two instances of one name.
    pub(super) fn instances(
        &self,
        plain: InstanceConfig,
        listed: &[Url],
        time_limit: Duration,
        login: &Login,
    ) -> Result<(InstanceConfig, Vec<InstanceConfig>), ConfigError> {
        let insecure_tls = plain.insecure_tls;
        let mut tables = VecDeque::new();
        for table in self.file.iter().flat_map(|file| &file.instances) {
            tables.push_back(self.configured(table, time_limit, login)?);
        }
        let is_plain_set = plain.credentials.is_given() || self.find(&URL)?.is_some();
        let default = if is_plain_set { plain } else { tables.pop_front().unwrap_or(plain) };
        let mut others = Vec::from(tables);
        for url in listed {
            let is_known = |one: &InstanceConfig| one.instance == Instance::At(url.clone());
            if !std::iter::once(&default).chain(&others).any(is_known) {
                others.push(InstanceConfig::at(url.clone(), insecure_tls));
            }
        }
        let mut names = BTreeSet::from([default.name.to_ascii_lowercase()]);
        if let Some(twice) = others.iter().find(|one| !names.insert(one.name.to_ascii_lowercase())) {
            return Err(ConfigError::TwoInstances(twice.name.clone()));
        }
        // `--instance` and a URL would mean two instances by one word.
        let all = || std::iter::once(&default).chain(&others);
        let host = |one: &InstanceConfig| match &one.instance {
            Instance::At(url) => name_of(url).to_ascii_lowercase(),
            Instance::Sandbox => String::new(),
        };
        let is_of_other = |named: &&InstanceConfig| {
            let name = named.name.to_ascii_lowercase();
            host(named) != name && all().any(|other| host(other) == name)
        };
        if let Some(named) = all().find(is_of_other) {
            return Err(ConfigError::NamedAsHost(named.name.clone()));
        }
        Ok((default, others))
    }

    fn configured(
        &self,
        table: &InstanceTable,
        time_limit: Duration,
        login: &Login,
    ) -> Result<InstanceConfig, ConfigError> {
        let invalid = |key, accepts| ConfigError::Instance { name: table.name.clone(), key, accepts };
        let is_name = !table.name.is_empty()
            && table.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !is_name {
            return Err(invalid("name", "letters, digits, `-`, `_` and `.`".to_owned()));
        }
        let instance = URL.parse(&table.url).ok_or_else(|| invalid("url", URL.accepts()))?;
        if table.paths.iter().any(|path| PathPattern::parse(path).is_none()) {
            return Err(invalid("paths", READABLE_PATHS.accepts()));
        }
        let ca_file = match &table.ca_file {
            Some(path) => {
                let readable = CA_FILE.parse(&self.below_home(path).to_string_lossy());
                Some(readable.ok_or_else(|| invalid("ca_file", CA_FILE.accepts()))?)
            }
            None => None,
        };
        let read = |path: &PathBuf| read_file(&self.below_home(path), &origin(table, "policy"));
        Ok(InstanceConfig {
            name: table.name.clone(),
            credentials: self.credentials_of(table, &instance, time_limit, login)?,
            instance,
            paths: table.paths.clone(),
            read_only: table.read_only,
            policy: table.policy.as_ref().map(read).transpose()?,
            ca_file,
            insecure_tls: table.insecure_tls,
            is_plain: false,
        })
    }

    /// A path of a table, with the home folder in place of a leading `~/` if it is known.
    fn below_home(&self, path: &Path) -> PathBuf {
        expand_home(&path.to_string_lossy(), self.lookup).map_or_else(|| path.to_owned(), PathBuf::from)
    }

    /// The source of the token of a table: what the table names, else the sign-in, else glab and git where
    /// GITLAB_CREDENTIALS names them.
    fn credentials_of(
        &self,
        table: &InstanceTable,
        instance: &Instance,
        time_limit: Duration,
        login: &Login,
    ) -> Result<Choice, ConfigError> {
        let invalid = |key, accepts| ConfigError::Instance { name: table.name.clone(), key, accepts };
        let mut settings = CredentialSettings {
            helpers: self.helpers()?,
            login_file: login.file.clone(),
            time_limit,
            ..CredentialSettings::default()
        };
        let given = |key: &str, text: &str| -> Result<GivenToken, ConfigError> {
            let origin = origin(table, key);
            match TOKEN.parse(text) {
                Some(text) => Ok(GivenToken { origin, token: Token::guess(Secret::new(text)) }),
                None => Err(ConfigError::Hidden { origin, accepts: TOKEN.accepts() }),
            }
        };
        if let Some(path) = &table.token_file {
            let path = self.below_home(path);
            let text = read_file(&path, &origin(table, "token_file"))?;
            settings.token_file = Some((path, given("token_file", &text)?));
        }
        if let Some(variable) = &table.token_env {
            let value = (self.lookup)(variable).filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| {
                invalid("token_env", "the name of an environment variable that is set".to_owned())
            })?;
            let text = value.into_string().map_err(|_| ConfigError::Encoding(variable.clone()))?;
            settings.variables.push(given("token_env", &text)?);
        }
        if let Some(command) = &table.token_command {
            let line = TOKEN_COMMAND.parse(command);
            let line = line.ok_or_else(|| invalid("token_command", TOKEN_COMMAND.accepts()))?;
            settings.command = Some(self.command(origin(table, "token_command"), line)?);
        }
        match instance {
            Instance::At(base) => Ok(settings.choose(base)?),
            Instance::Sandbox => Ok(settings.choose_token()),
        }
    }
}

/// The name of a key in messages.
fn origin(table: &InstanceTable, key: &str) -> String {
    format!("{key} of [[{TABLE}]] {}", table.name)
}

/// The name of the instance of the plain settings.
pub(super) fn plain_name(instance: &Instance) -> String {
    match instance {
        Instance::At(url) => name_of(url),
        Instance::Sandbox => "sandbox".to_owned(),
    }
}
