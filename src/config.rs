//! Flags, variables and an optional file, in this order, to one validated [`Config`]. The only reader of
//! environment variables.

mod credentials;
mod error;
mod http;
mod instance;
mod instance_table;
mod instances;
mod job;
mod misspelt;
mod overrides;
mod sources;
mod table;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use url::Url;

pub use credentials::Login;
pub use error::ConfigError;
pub use instance::Instance;
use instance_table::TABLE;
pub use instances::InstanceConfig;
use instances::plain_name;
pub use job::JOB_VARIABLES;
pub use sources::Flags;
pub use sources::expand_home;
use sources::{FoundValue, SettingsFile, Sources, is_path, read_file};
use table::is_of_http;
use table::{
    ALLOWED_PATHS, AUDIT, AUDIT_USER, AUTOPILOT, CA_FILE, CAPABILITIES, CLIENT_CERT, CLIENT_KEY, CONFIRM,
    CONFIRM_BY, CONFIRM_KEY, CONFIRM_KEY_FILE, DENIED_ACTIONS, DENIED_TOOLS, DOMAINS, EXTRA_HEADERS, FILE,
    FILES_DIR, FOREIGN_VARIABLES, INSECURE_TLS, INSTANCES, LOCAL_HINTS, LOG, MAX_BYTES, MAX_REQUESTS,
    PLAIN_HTTP, POLICY, QUICK_ACTIONS, READABLE_PATHS, SAFE_MODE, SANDBOX_FILE, SANDBOX_VERSION, SSH_HOST,
    TIMEOUT, TOOLSETS,
};
pub use table::{
    AUDIT_FILE, AnySetting, FLAG_ALIASES, FOREIGN_FLAGS, HTTP, PROJECT, READ_ONLY, Row, Setting,
    TOOL_SURFACE, TOPICS, URL, flag_of, is_of_token, render_help, render_markdown_table, settings,
};

use crate::call::QuickActions;
use crate::gitlab::{self, ClientCertificate, ExtraHeader, Secret};
use crate::policy::{self, Confirm, ConfirmBy};
use crate::server;
use crate::surface;
use crate::tools::Version;
use crate::tools::{self, AllSettings, Audit, Capabilities, InstanceSettings};

/// Validated configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The default instance.
    pub default: InstanceConfig,
    /// The other instances.
    pub others: Vec<InstanceConfig>,
    pub login: Login,
    pub policy: policy::PolicySettings,
    /// Key of the confirmation tokens that several servers share.
    pub confirm_key: Option<Secret>,
    /// The handling of quick actions in texts.
    pub quick_actions: QuickActions,
    /// Setting that switches confirmation off, as written, and whether it takes effect.
    pub autopilot: Option<(String, bool)>,
    pub surface: surface::SurfaceSettings,
    pub project: Option<String>,
    /// GitLab's host for SSH, if that has another name than its URL.
    pub ssh_host: Option<String>,
    /// The environment's hosts that no proxy is used for.
    no_proxy: String,
    pub timeout: Duration,
    pub max_bytes: usize,
    pub max_requests: usize,
    pub files_dir: Option<PathBuf>,
    pub local_hints: bool,
    /// Root certificates for instances without their own.
    pub ca_file: Option<PathBuf>,
    pub client_certificate: Option<ClientCertificate>,
    pub insecure_tls: bool,
    pub extra_headers: Vec<ExtraHeader>,
    pub capabilities: Capabilities,
    /// The HTTP server; none for standard input and output.
    pub http: Option<server::http::HttpSettings>,
    pub audit: Audit,
    /// File in which the audit log is kept too.
    pub audit_file: Option<PathBuf>,
    /// Names users in the audit log.
    pub audit_user: bool,
    /// File in which the sandbox keeps its changes.
    pub sandbox_file: Option<PathBuf>,
    /// Older GitLab version that the sandbox is.
    pub sandbox_version: Option<Version>,
    pub log: LevelFilter,
    /// Lets tokens go over plain http to another machine.
    pub plain_http: bool,
    /// Warnings on variables of the environment that are like a setting.
    pub misspelt: Vec<String>,
}

/// The variables of this process's environment.
pub fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

/// A variable of this process's environment.
pub fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The words that this process was started with, its own name first.
pub fn process_arguments() -> std::env::ArgsOs {
    std::env::args_os()
}

/// The directory that this program was started in, as a URL.
pub fn working_directory() -> Option<Url> {
    // Without one, the client names its directories or there are none.
    Url::from_directory_path(std::env::current_dir().ok()?).ok()
}

/// The settings that flags and the environment give, as a client's configuration of a server has them: no secrets, none of
/// the HTTP server, and paths that hold wherever the client starts it.
pub fn portable_settings(
    flags: &Flags,
    lookup: impl Fn(&str) -> Option<OsString>,
) -> BTreeMap<String, String> {
    let given = |name: &str| lookup(name)?.into_string().ok().filter(|value| !value.is_empty());
    let mut portable = BTreeMap::new();
    for row in settings().map(AnySetting::row).filter(|row| !is_secret(row.name)) {
        let mut names = row.names().filter(|_| !is_of_http(row.name));
        let given = flags.get(row.name).cloned().or_else(|| names.find_map(given));
        let Some(value) = given else { continue };
        // A path that cannot be made absolute is refused by the server, as it is here.
        let absolute = || std::path::absolute(expand_home(&value, &lookup)?).ok();
        let absolute = is_path(row).then(absolute).flatten();
        portable.insert(row.name.to_owned(), absolute.map_or(value, |path| path.display().to_string()));
    }
    portable
}

/// True for the name of a setting with a secret, which has no flag.
pub fn is_secret(name: &str) -> bool {
    let secrets = settings().map(AnySetting::row).filter(|row| row.flag.is_none());
    secrets.flat_map(Row::names).any(|known| known == name)
}

/// Folders in which the shell looks for programs.
pub fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect()
}

/// Files in which git keeps the settings of the user.
pub fn git_settings_files() -> Vec<PathBuf> {
    let folder = |name: &str| environment(name).map(PathBuf::from);
    let home = folder(if cfg!(windows) { "USERPROFILE" } else { "HOME" });
    let shared = folder("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let of_home = home.map(|home| home.join(".gitconfig"));
    of_home.into_iter().chain(shared.map(|shared| shared.join("git/config"))).collect()
}

/// Path of this program.
pub fn executable() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

impl Config {
    /// Builds the configuration from flags and variables. Variables are read only through `lookup`; files only if a
    /// setting names them.
    pub fn resolve(flags: &Flags, lookup: impl Fn(&str) -> Option<OsString>) -> Result<Config, ConfigError> {
        let mut sources = Sources { flags, lookup: &lookup, file: None };
        if let Some(path) = sources.parse(&FILE)? {
            sources.file = Some(SettingsFile::load(path)?);
        }
        let job = sources.job()?;
        let instance = sources.instance(job.as_ref())?;
        let job = job.filter(|job| job.is_on(&instance));
        let (timeout, login) = (sources.parse_required(&TIMEOUT)?, sources.login()?);
        let surface = overrides::surface(&sources)?;
        let confirmation = sources.confirmation()?;
        let insecure_tls = sources.parse_required(&INSECURE_TLS)?;
        let http = sources.http(instance == Instance::Sandbox)?;
        let listed = match http {
            Some(_) => sources.parse(&INSTANCES)?.unwrap_or_default(),
            None => Vec::new(),
        };
        let plain = InstanceConfig {
            name: plain_name(&instance),
            credentials: sources.credentials(&instance, job.as_ref(), timeout, &login)?,
            instance,
            paths: Vec::new(),
            read_only: false,
            policy: None,
            ca_file: sources.parse_in_job(job.as_ref(), &CA_FILE)?,
            insecure_tls,
            is_plain: true,
        };
        let (default, others) = sources.instances(plain, &listed, timeout, &login)?;
        let config = Config {
            default,
            others,
            login,
            policy: sources.policy(confirmation.confirm)?,
            confirm_key: sources.confirm_key()?,
            quick_actions: sources.parse_required(&QUICK_ACTIONS)?,
            autopilot: confirmation.autopilot,
            surface,
            project: sources.parse_in_job(job.as_ref(), &PROJECT)?,
            ssh_host: sources.parse(&SSH_HOST)?,
            no_proxy: sources.no_proxy(),
            timeout,
            max_bytes: sources.parse_required(&MAX_BYTES)?,
            max_requests: sources.parse_required(&MAX_REQUESTS)?,
            files_dir: sources.parse(&FILES_DIR)?,
            local_hints: sources.parse_required(&LOCAL_HINTS)?,
            ca_file: sources.parse(&CA_FILE)?,
            client_certificate: sources
                .key_pair(&CLIENT_CERT, &CLIENT_KEY)?
                .map(|(certificate, key)| ClientCertificate { certificate, key }),
            insecure_tls,
            extra_headers: sources.parse(&EXTRA_HEADERS)?.unwrap_or_default(),
            capabilities: sources.parse_required(&CAPABILITIES)?,
            http,
            audit: sources.parse_required(&AUDIT)?,
            audit_file: sources.parse(&AUDIT_FILE)?,
            audit_user: sources.parse_required(&AUDIT_USER)?,
            sandbox_file: sources.parse(&SANDBOX_FILE)?,
            sandbox_version: sources.parse(&SANDBOX_VERSION)?,
            log: sources.parse_required(&LOG)?,
            plain_http: sources.parse_required(&PLAIN_HTTP)?,
            misspelt: Vec::new(),
        };
        config.refuse_plain_http()?;
        config.refuse_other_than_sandbox()?;
        config.refuse_two_accounts()?;
        Ok(config)
    }

    /// Refuses settings of the sandbox where none is used: what was meant for it would go to a real GitLab.
    fn refuse_other_than_sandbox(&self) -> Result<(), ConfigError> {
        let is_used = self.instances().any(|instance| instance.instance == Instance::Sandbox);
        let given = [
            (SANDBOX_FILE.name, self.sandbox_file.is_some()),
            (SANDBOX_VERSION.name, self.sandbox_version.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) if !is_used => Err(ConfigError::NoSandbox(name)),
            _ => Ok(()),
        }
    }

    /// All instances, the default first.
    pub fn instances(&self) -> impl Iterator<Item = &InstanceConfig> {
        std::iter::once(&self.default).chain(&self.others)
    }

    /// Adds overrides from environment variables, which take precedence over the file.
    ///
    /// # Errors
    /// A description that is not text.
    pub fn customized(
        mut self,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<Config, ConfigError> {
        self.surface.overrides.extend(overrides::from_variables(variables)?);
        Ok(self)
    }

    /// Returns true if destructive actions run without confirmation.
    pub fn is_unconfirmed(&self) -> bool {
        !self.policy.confirm.asks()
    }

    /// Warnings about confirmation that is switched off, or left to the model.
    pub fn confirmation_warnings(&self) -> Vec<String> {
        let warning = self.autopilot.as_ref().map(|(origin, is_effective)| match is_effective {
            true => format!(
                "confirmation is off ({origin}): destructive actions run without a question; GITLAB_CONFIRM=ask turns it \
                 on"
            ),
            false => format!("{origin} has no effect: GITLAB_CONFIRM is set"),
        });
        let by_model = self.policy.confirm.asks() && self.policy.confirm.by == ConfirmBy::Model;
        let by_model = by_model.then(|| {
            format!(
                "the model confirms ({}=model): nobody is asked about a call with `confirm: true`",
                CONFIRM_BY.name
            )
        });
        let by_setting = (warning.is_none() && self.is_unconfirmed()).then(|| {
            "confirmation is off (GITLAB_CONFIRM=never, or a policy file): destructive actions run without a question".to_owned()
        });
        warning.into_iter().chain(by_setting).chain(by_model).collect()
    }

    /// The configuration with warnings on variables of the environment that are no settings and look like one.
    ///
    /// # Errors
    ///
    /// A variable that looks like a restriction: it would not hold.
    pub fn with_misspelt(
        self,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<Config, ConfigError> {
        let set = variables.filter(|(_, value)| !value.is_empty());
        let misspelt = misspelt::warnings(set.filter_map(|(name, _)| name.into_string().ok()))?;
        Ok(Config { misspelt, ..self })
    }

    /// True if the size of an answer is the default, which suits a model.
    pub fn has_default_size(&self) -> bool {
        MAX_BYTES.default.and_then(|default| MAX_BYTES.parse(default)) == Some(self.max_bytes)
    }

    /// Restrictions of the calls of the default instance by settings, as `doctor` shows them; empty if there are none.
    pub fn restrictions(&self) -> Vec<String> {
        let policy = self.tools_policy(&self.default);
        let listed = |what: &str, names: &[String]| {
            (!names.is_empty()).then(|| format!("{what} {}", names.join(", ")))
        };
        let said = |is_set: bool, what: &str| is_set.then(|| what.to_owned());
        [
            said(policy.read_only, "reads only"),
            said(policy.safe_mode, "changes are shown and not sent"),
            listed("changes below", &policy.allowed_paths),
            listed("everything only below", &policy.readable_paths),
            listed("toolsets", &policy.toolsets),
            listed("domains", &policy.domains),
            listed("denied actions", &policy.denied_actions),
            policy.denied_tools.as_ref().map(|pattern| format!("denied tools {pattern}")),
            said(policy.file.is_some(), "rules of a policy file (GITLAB_POLICY)"),
        ]
        .into_iter()
        .flatten()
        .chain(
            self.instances()
                .filter(|one| one.read_only && !one.is_plain)
                .map(|one| format!("{}: reads only", one.name)),
        )
        .collect()
    }

    /// Hints for variables of other GitLab servers that are set but have no effect here.
    pub fn foreign_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Vec<String> {
        let is_set = |name: &str| lookup(name).is_some_and(|value| !value.is_empty());
        let set = FOREIGN_VARIABLES.iter().filter(|(name, _)| is_set(name));
        set.map(|(name, instead)| format!("{name} is not a setting of gitlab-mcp; {instead}")).collect()
    }

    /// The error of an instance to which a token would be sent unencrypted over a network, unless the settings allow it.
    fn refuse_plain_http(&self) -> Result<(), ConfigError> {
        let brings_own = self.http.as_ref().is_some_and(|http| http.auth != server::http::AuthMode::None);
        let is_exposed = |of: &&InstanceConfig| self.exposes_token(of) || (brings_own && of.is_unencrypted());
        let Some(exposed) = self.instances().find(is_exposed).filter(|_| !self.plain_http) else {
            return Ok(());
        };
        let place =
            if exposed.is_plain { URL.name.to_owned() } else { format!("[[{TABLE}]] {}", exposed.name) };
        let https = match &exposed.instance {
            Instance::At(url) => {
                format!("https{}", url.as_str().trim_start_matches("http").trim_end_matches('/'))
            }
            Instance::Sandbox => String::new(),
        };
        Err(ConfigError::PlainHttp { place, https })
    }

    /// The error of two instances at one address where callers bring their tokens: the restrictions of one would not hold.
    fn refuse_two_accounts(&self) -> Result<(), ConfigError> {
        if self.http.as_ref().is_none_or(|http| http.auth == server::http::AuthMode::None) {
            return Ok(());
        }
        let mut seen = Vec::new();
        for one in self.instances() {
            let Instance::At(url) = &one.instance else { continue };
            if seen.contains(&url) {
                return Err(ConfigError::TwoAccounts(url.to_string()));
            }
            seen.push(url);
        }
        Ok(())
    }

    /// Returns true if the token of an instance would be sent unencrypted over a network.
    pub fn exposes_token(&self, of: &InstanceConfig) -> bool {
        let has_headers = of.is_plain && !self.extra_headers.is_empty();
        (!of.credentials.is_none() || has_headers) && of.is_unencrypted()
    }

    /// Settings of the connection to an instance with the root URL `base`, without a credential. Headers belong to the
    /// instance of the plain settings.
    pub fn connection(&self, of: &InstanceConfig, base: Url) -> gitlab::ClientSettings {
        gitlab::ClientSettings {
            timeout: self.timeout,
            in_flight: self.max_requests,
            ca_file: of.ca_file.clone().or_else(|| self.ca_file.clone()),
            client_certificate: self.client_certificate.clone(),
            insecure_tls: of.insecure_tls,
            no_proxy: self.no_proxy.clone(),
            extra_headers: if of.is_plain { self.extra_headers.clone() } else { Vec::new() },
            // The factory of the tools knows the roots of the others.
            ..gitlab::ClientSettings::new(base)
        }
    }

    /// The policy for an instance.
    fn tools_policy(&self, of: &InstanceConfig) -> policy::PolicySettings {
        let mut policy = self.policy.clone();
        if of.read_only && !policy.read_only {
            policy.read_only = true;
            policy.read_only_setting = Some(format!("`read_only` of [[{TABLE}]] {}", of.name));
        }
        if of.policy.is_some() {
            policy.file.clone_from(&of.policy);
        }
        policy
    }

    /// Settings of the tools of every instance; `sandbox` is the root URL of the sandbox. None if the sandbox is
    /// an instance and has no root.
    pub fn all_settings(&self, sandbox: Option<&Url>) -> Option<AllSettings> {
        let of_instance = |one: &InstanceConfig| {
            let root = match &one.instance {
                Instance::At(root) => root.clone(),
                Instance::Sandbox => sandbox?.clone(),
            };
            let tools = self.tools(one, root);
            Some(InstanceSettings {
                name: one.name.clone(),
                paths: one.paths.clone(),
                is_plain: one.is_plain,
                tools,
            })
        };
        Some(AllSettings {
            default: of_instance(&self.default)?,
            others: self.others.iter().map(of_instance).collect::<Option<_>>()?,
            policy: self.policy.clone(),
        })
    }

    /// Settings of the tools of an instance with the root URL `base`. The default project belongs to the default
    /// instance.
    pub fn tools(&self, of: &InstanceConfig, base: Url) -> tools::ToolSettings {
        let connection = self.connection(of, base);
        let credential = of.credentials.credential(&connection);
        tools::ToolSettings {
            gitlab: gitlab::ClientSettings { credential, ..connection },
            policy: self.tools_policy(of),
            quick_actions: self.quick_actions,
            confirm_key: self.confirm_key.clone(),
            audit: self.audit,
            audit_file: self.audit_file.clone(),
            audit_user: self.audit_user,
            project: self.project.clone().filter(|_| self.default.name == of.name),
            ssh_host: self.ssh_host.clone().filter(|_| self.default.name == of.name),
            max_bytes: self.max_bytes,
            files_dir: self.files_dir.clone(),
            capabilities: self.capabilities,
            local_hints: self.local_hints,
            read_tool: self.surface.has_read_tool(),
        }
    }
}

impl Sources<'_> {
    /// Confirmation mode. GITLAB_CONFIRM takes precedence over the aliases that switch confirmation off, as a shell
    /// may export some of those for another program.
    fn confirmation(&self) -> Result<Confirmation, ConfigError> {
        let is_set = self.find(&CONFIRM)?.is_some();
        let confirm = self.parse_required(&CONFIRM)?;
        let origin = self.find(&AUTOPILOT)?.map(|found| found.origin);
        let autopilot = self.parse_required(&AUTOPILOT)?;
        let mut effective = if autopilot && !is_set { Confirm::NEVER } else { confirm };
        effective.by = self.parse_required(&CONFIRM_BY)?;
        Ok(Confirmation {
            confirm: effective,
            autopilot: origin
                .filter(|_| autopilot)
                .map(|origin| (origin, confirm == Confirm::NEVER || !is_set)),
        })
    }

    /// The key of the confirmation tokens, of the file if both are set.
    fn confirm_key(&self) -> Result<Option<Secret>, ConfigError> {
        let found = match self.find(&CONFIRM_KEY_FILE)? {
            Some(FoundValue { text, origin }) => {
                Some(FoundValue { text: read_file(Path::new(text.trim()), &origin)?, origin })
            }
            None => self.find(&CONFIRM_KEY)?,
        };
        found.map(|found| self.parse_found(&CONFIRM_KEY, found)).transpose()
    }

    /// Policy settings, as written.
    fn policy(&self, confirm: Confirm) -> Result<policy::PolicySettings, ConfigError> {
        let file = self.parse(&POLICY)?.map(|path| read_file(&path, POLICY.name)).transpose()?;
        Ok(policy::PolicySettings {
            read_only: self.parse_required(&READ_ONLY)?,
            read_only_setting: None,
            reads_by_tool: false,
            safe_mode: self.parse_required(&SAFE_MODE)?,
            confirm,
            denied_actions: self.parse(&DENIED_ACTIONS)?.unwrap_or_default(),
            denied_tools: self.parse(&DENIED_TOOLS)?,
            tool_names: Some(surface::TOOL_NAMES),
            toolsets: self.parse(&TOOLSETS)?.unwrap_or_default(),
            domains: self.parse(&DOMAINS)?.unwrap_or_default(),
            narrowed_toolsets: Vec::new(),
            allowed_paths: self.parse(&ALLOWED_PATHS)?.unwrap_or_default(),
            readable_paths: self.parse(&READABLE_PATHS)?.unwrap_or_default(),
            file,
        })
    }
}

/// Confirmation mode.
struct Confirmation {
    confirm: Confirm,
    /// Setting that switches confirmation off, and whether it takes effect.
    autopilot: Option<(String, bool)>,
}

#[cfg(test)]
mod tests;
