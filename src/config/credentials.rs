//! Settings of credentials: the sources of a token, and the file of sign-ins.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::ConfigError;
use super::instance::Instance;
use super::job::{JOB_VARIABLES, JobCredentials};
use super::sources::{FoundValue, Sources, read_file};
use super::table::{
    AnySetting, CLIENT_ID, CREDENTIALS, FILE, JOB_TOKEN, LOGIN_FILE, OAUTH_TOKEN, Setting, TOKEN,
    TOKEN_COMMAND, TOKEN_FILE, settings,
};
use crate::credentials::{
    Choice, CommandLine, CredentialSettings, GivenCommand, GivenToken, Helper, NESTED_VARIABLE,
};
use crate::gitlab::{Secret, Token};

/// Name of the file of sign-ins in the user's state directory.
const FILE_NAME: &str = "gitlab-mcp/sign-ins.json";

/// Prefix of the sandbox's tokens.
const SANDBOX_TOKENS: &str = "glpat-sandbox";

/// Settings of `gitlab-mcp auth`.
#[derive(Clone, Debug)]
pub struct Login {
    /// The file of sign-ins; none if the user has no home directory.
    pub file: Option<PathBuf>,
    /// Id of the OAuth application.
    pub client_id: Option<String>,
}

impl Sources<'_> {
    pub(super) fn login(&self) -> Result<Login, ConfigError> {
        let file = self.parse(&LOGIN_FILE)?.or_else(|| self.default_login_file());
        Ok(Login { file, client_id: self.parse(&CLIENT_ID)? })
    }

    /// Chooses the source of the token. On the sandbox, only a sandbox token is used, so that a first run does not depend
    /// on variables set for another GitLab. `job` is none if it belongs to another instance.
    pub(super) fn credentials(
        &self,
        instance: &Instance,
        job: Option<&JobCredentials>,
        time_limit: Duration,
        login: &Login,
    ) -> Result<Choice, ConfigError> {
        type Make = fn(Secret) -> Token;
        let ways: [(&'static Setting<String>, Make); 3] =
            [(&TOKEN, Token::guess), (&OAUTH_TOKEN, Token::OAuth), (&JOB_TOKEN, Token::Job)];
        let is_sandbox = *instance == Instance::Sandbox;
        let is_usable = |text: &str| !is_sandbox || text.starts_with(SANDBOX_TOKENS);
        let command = match self.find(&TOKEN_COMMAND)? {
            Some(found) => {
                let origin = found.origin.clone();
                Some(self.command(origin, self.parse_found(&TOKEN_COMMAND, found)?)?)
            }
            None => None,
        };
        let mut settings = CredentialSettings {
            command,
            helpers: self.helpers()?,
            login_file: login.file.clone(),
            time_limit,
            ..CredentialSettings::default()
        };
        if let Some(found) = self.find(&TOKEN_FILE)? {
            let path = PathBuf::from(&found.text);
            let text = read_file(Path::new(&found.text), &found.origin)?;
            let (text, origin) = checked(&TOKEN_FILE, FoundValue { text, origin: found.origin })?;
            settings.token_file = is_usable(&text)
                .then(|| (path, GivenToken { origin, token: Token::guess(Secret::new(text)) }));
        }
        for (setting, make) in ways {
            let Some(found) = self.find(setting)? else { continue };
            let (text, origin) = checked(setting, found)?;
            if is_usable(&text) {
                settings.variables.push(GivenToken { origin, token: make(Secret::new(text)) });
            }
        }
        if let Some(found) = self.job_variable(&JOB_TOKEN)?.filter(|_| job.is_some()) {
            let (text, origin) = checked(&JOB_TOKEN, found)?;
            settings.job = Some(GivenToken { origin, token: Token::Job(Secret::new(text)) });
        }
        match instance {
            Instance::At(base) => Ok(settings.choose(base)?),
            Instance::Sandbox => Ok(settings.choose_token()),
        }
    }

    /// A command for a token, without the variables that hold tokens or name the command.
    ///
    /// # Errors
    /// This process was itself started by such a command.
    pub(super) fn command(&self, origin: String, line: CommandLine) -> Result<GivenCommand, ConfigError> {
        if self.is_nested() {
            return Err(ConfigError::Nested(origin));
        }
        // A setting without a flag is a secret. The file can name a command, too.
        let rows = settings().map(AnySetting::row);
        let secrets = rows.filter(|row| row.flag.is_none()).chain([&FILE.row]);
        let names = secrets.flat_map(|row| row.aliases.iter().chain([&row.name]));
        let of_job = JOB_VARIABLES.iter().filter(|(row, _)| row.flag.is_none());
        let mut removed: Vec<String> =
            names.chain(of_job.map(|(_, name)| name)).map(|name| (*name).to_owned()).collect();
        let tables = self.file.iter().flat_map(|file| &file.instances);
        removed.extend(tables.filter_map(|table| table.token_env.clone()));
        Ok(GivenCommand { origin, line, removed })
    }

    /// Programs that may be asked for their credentials.
    ///
    /// # Errors
    /// An unknown program, or one that this process was itself started by.
    pub(super) fn helpers(&self) -> Result<Vec<Helper>, ConfigError> {
        let helpers = self.parse(&CREDENTIALS)?.unwrap_or_default();
        match self.find(&CREDENTIALS)? {
            Some(found) if self.is_nested() && !helpers.is_empty() => Err(ConfigError::Nested(found.origin)),
            _ => Ok(helpers),
        }
    }

    /// True if a command for a token of another `gitlab-mcp` started this process: without an end, each would start the
    /// next.
    fn is_nested(&self) -> bool {
        (self.lookup)(NESTED_VARIABLE).is_some()
    }

    /// The file of sign-ins where the system keeps the state of programs.
    fn default_login_file(&self) -> Option<PathBuf> {
        let folder = |name: &str| {
            let path = (self.lookup)(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let state = match () {
            () if cfg!(windows) => folder("LOCALAPPDATA"),
            () if cfg!(target_os = "macos") => {
                folder("HOME").map(|home| home.join("Library/Application Support"))
            }
            () => folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state"))),
        };
        state.map(|state| state.join(FILE_NAME))
    }
}

/// The token of a setting, with the origin of the setting.
fn checked<T: Sync>(
    setting: &'static Setting<T>,
    found: FoundValue,
) -> Result<(String, String), ConfigError> {
    match TOKEN.parse(&found.text) {
        Some(text) => Ok((text, found.origin)),
        None => Err(ConfigError::Hidden { origin: found.origin, accepts: setting.accepts() }),
    }
}
