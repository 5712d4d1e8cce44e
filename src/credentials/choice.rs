//! The order of the sources, and the choice among them.

use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::command::GivenCommand;
use super::git_helpers::{self, Helper};
use super::login_file::{LoginFile, LoginFileError, SignIn};
use super::renewed::{Origin, RenewedToken};
use super::sign_in_renewal::SignedIn;
use super::token_file::TokenFile;
use crate::gitlab::{self, Credential, HttpClients, Token};

/// Settings of one instance that may lead to a token, in the order in which they are considered.
#[derive(Clone, Debug, Default)]
pub struct CredentialSettings {
    /// GITLAB_TOKEN_FILE, with the token that was in it at the start.
    pub token_file: Option<(PathBuf, GivenToken)>,
    /// Variables with tokens, the first of which is used.
    pub variables: Vec<GivenToken>,
    pub command: Option<GivenCommand>,
    /// Token of the CI/CD job on this instance.
    pub job: Option<GivenToken>,
    /// File of the sign-ins; none if the user has no home directory.
    pub login_file: Option<PathBuf>,
    /// Programs that may be asked for their credentials.
    pub helpers: Vec<Helper>,
    /// Time limit of commands and programs.
    pub time_limit: Duration,
}

/// A token as it was given, with the name of the setting that has it.
#[derive(Clone, Debug)]
pub struct GivenToken {
    pub origin: String,
    pub token: Token,
}

/// The source that was chosen for an instance.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    source: CredentialSource,
    base: Option<Url>,
    time_limit: Duration,
    /// Names of other settings with a token, which are not used.
    unused: Vec<String>,
}

#[derive(Clone, Debug, Default)]
enum CredentialSource {
    File {
        path: PathBuf,
        given: GivenToken,
    },
    Variable(GivenToken),
    Command(GivenCommand),
    /// The sign-in to the instance, else the programs that may be asked. The file is read again when it changes, so
    /// that a later sign-in is used.
    Login {
        file: Option<LoginFile>,
        /// The sign-in at the start.
        found: FoundSignIn,
        helpers: Vec<Helper>,
    },
    #[default]
    None,
}

/// The sign-in to an instance that the file had at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundSignIn {
    None,
    Kept,
    By(Helper),
}

impl CredentialSettings {
    /// Chooses the source for an instance. Only the file of sign-ins is read.
    ///
    /// # Errors
    /// The file of sign-ins cannot be used and is needed.
    pub fn choose(&self, base: &Url) -> Result<Choice, LoginFileError> {
        let mut given = self.given();
        let source = match given.is_empty() {
            false => given.remove(0).1,
            true => self.login(base)?,
        };
        let unused = given.into_iter().map(|(name, _)| name).collect();
        Ok(Choice { source, base: Some(base.clone()), time_limit: self.time_limit, unused })
    }

    /// Chooses among the sources that need no address: a file or a variable.
    pub fn choose_token(&self) -> Choice {
        let mut given = self.given();
        given.retain(|(_, source)| {
            matches!(source, CredentialSource::File { .. } | CredentialSource::Variable(_))
        });
        let source = given.into_iter().next().map(|(_, source)| source).unwrap_or_default();
        Choice { source, base: None, time_limit: self.time_limit, unused: Vec::new() }
    }

    /// Sources that the settings name, with their names.
    fn given(&self) -> Vec<(String, CredentialSource)> {
        let mut given = Vec::new();
        if let Some((path, token)) = &self.token_file {
            given.push((
                token.origin.clone(),
                CredentialSource::File { path: path.clone(), given: token.clone() },
            ));
        }
        let named = |token: &GivenToken| (token.origin.clone(), CredentialSource::Variable(token.clone()));
        given.extend(self.variables.iter().map(named));
        if let Some(command) = &self.command {
            given.push((command.origin.clone(), CredentialSource::Command(command.clone())));
        }
        // The token of a job is there without anybody's doing: it is no mistake that it is not used.
        if let Some(job) = self.job.as_ref().filter(|_| given.is_empty()) {
            given.push(named(job));
        }
        given
    }

    /// The sign-in to the instance, else the programs that may be asked.
    fn login(&self, base: &Url) -> Result<CredentialSource, LoginFileError> {
        let file = self.login_file.clone().map(LoginFile::new);
        let sign_in = file.as_ref().map(|file| file.find(base)).transpose()?.flatten();
        let found = match sign_in {
            None => FoundSignIn::None,
            Some(SignIn::Kept(_)) => FoundSignIn::Kept,
            Some(SignIn::Helper(helper)) => FoundSignIn::By(helper),
        };
        if file.is_none() && self.helpers.is_empty() {
            return Ok(CredentialSource::None);
        }
        Ok(CredentialSource::Login { file, found, helpers: self.helpers.clone() })
    }
}

impl Choice {
    /// The sign-in to an instance that a file has.
    pub fn of_login_file(file: LoginFile, base: &Url, time_limit: Duration) -> Choice {
        let source =
            CredentialSource::Login { file: Some(file), found: FoundSignIn::Kept, helpers: Vec::new() };
        Choice { source, base: Some(base.clone()), time_limit, unused: Vec::new() }
    }

    /// The credential for the client of the instance; none if no token can come, or for another instance.
    pub fn credential(&self, connection: &gitlab::ClientSettings) -> Option<Credential> {
        let (base, time_limit) = (connection.base.clone(), self.time_limit);
        if self.base.as_ref().is_some_and(|own| *own != base) {
            return None;
        }
        let (origin, known, is_missing) = match &self.source {
            CredentialSource::None => return None,
            CredentialSource::Variable(given) => return Some(Credential::Fixed(given.token.clone())),
            CredentialSource::File { path, given } => {
                let file = TokenFile { origin: given.origin.clone(), path: path.clone() };
                (Origin::File(file), Some(given.token.clone()), false)
            }
            CredentialSource::Command(command) => {
                (Origin::Command { command: command.clone(), time_limit }, None, false)
            }
            CredentialSource::Login { file, helpers, .. } => {
                let (file, helpers) = (file.clone(), helpers.clone());
                let clients = HttpClients::new(connection);
                (
                    Origin::Login(Box::new(SignedIn { file, helpers, base, clients, time_limit })),
                    None,
                    self.is_none(),
                )
            }
        };
        Some(Credential::Renewed(std::sync::Arc::new(RenewedToken::new(origin, known, is_missing))))
    }

    /// True if no token is expected.
    pub fn is_none(&self) -> bool {
        match &self.source {
            CredentialSource::None => true,
            CredentialSource::Login { found, helpers, .. } => {
                *found == FoundSignIn::None && helpers.is_empty()
            }
            CredentialSource::File { .. } | CredentialSource::Variable(_) | CredentialSource::Command(_) => {
                false
            }
        }
    }

    /// True if a setting or the CI/CD job names the token.
    pub fn is_given(&self) -> bool {
        matches!(
            self.source,
            CredentialSource::File { .. } | CredentialSource::Variable(_) | CredentialSource::Command(_)
        )
    }

    /// Describes the source, never its value.
    pub fn describe(&self) -> String {
        match &self.source {
            CredentialSource::File { path, given } => format!("{} ({})", given.origin, path.display()),
            CredentialSource::Variable(given) => given.origin.clone(),
            CredentialSource::Command(command) => command.describe(),
            CredentialSource::Login { found: FoundSignIn::None, helpers, .. } if !helpers.is_empty() => {
                let names: Vec<&str> = helpers.iter().map(|helper| helper.name()).collect();
                let host = self.base.as_ref().map(git_helpers::host).unwrap_or_default();
                format!("{} for {host} (GITLAB_CREDENTIALS)", names.join(", then "))
            }
            CredentialSource::Login { file: Some(file), found: FoundSignIn::Kept, .. } => {
                format!("gitlab-mcp auth login ({})", file.path().display())
            }
            CredentialSource::Login { file: Some(file), found: FoundSignIn::By(helper), .. } => {
                format!("{}, by gitlab-mcp auth login ({})", helper.name(), file.path().display())
            }
            CredentialSource::Login { .. } | CredentialSource::None => "none".to_owned(),
        }
    }

    /// Names of other settings with a token, which are not used.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }

    /// The file of sign-ins, if the token comes from it.
    pub fn login_file(&self) -> Option<&LoginFile> {
        match &self.source {
            CredentialSource::Login { file, found: FoundSignIn::Kept | FoundSignIn::By(_), .. } => {
                file.as_ref()
            }
            _ => None,
        }
    }
}
