//! Credentials of glab and git, by git's credential protocol (<https://git-scm.com/docs/git-credential>). They are
//! asked for one host, and nothing is stored in them: no file of another program is written.

use std::time::Duration;

use url::Url;

use super::issued::{from_unix, parse_token};
use super::process::{self, Program, ProgramError};
use crate::gitlab::{CredentialError, IssuedToken, Secret, Token};

/// A program that has credentials of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    /// GitLab's command line: `glab auth git-credential get`. It renews its sign-ins itself.
    Glab,
    /// The credential helpers of git: `git credential fill`.
    Git,
}

impl Helper {
    pub const ALL: [Helper; 2] = [Helper::Glab, Helper::Git];

    pub fn name(self) -> &'static str {
        match self {
            Helper::Glab => "glab",
            Helper::Git => "git",
        }
    }

    /// The helper of a name.
    pub fn parse(name: &str) -> Option<Helper> {
        Helper::ALL.into_iter().find(|helper| helper.name().eq_ignore_ascii_case(name))
    }

    /// The host of an instance as git writes it: with its port unless it is the scheme's own.
    pub fn host(base: &Url) -> String {
        host(base)
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Helper::Glab => &["auth", "git-credential", "get"],
            Helper::Git => &["credential", "fill"],
        }
    }

    /// How the user signs in to the program.
    pub fn remedy(self, host: &str) -> String {
        match self {
            Helper::Glab => format!("Run `glab auth login --hostname {host}`."),
            Helper::Git => format!("Sign in to {host} by git's credential helper."),
        }
    }
}

/// Variables with which git does not prompt. An empty GIT_ASKPASS also keeps git from the programs that are configured.
const UNATTENDED: [(&str, &str); 4] =
    [("GIT_TERMINAL_PROMPT", "0"), ("GCM_INTERACTIVE", "never"), ("GIT_ASKPASS", ""), ("NO_PROMPT", "true")];

/// Variables with secrets, those that would make glab answer for every host with the same token, and those that would make
/// git read another repository's configuration.
const REMOVED: [&str; 14] = [
    "GITLAB_TOKEN",
    "GITLAB_JOB_TOKEN",
    "GITLAB_TOKEN_COMMAND",
    "GITLAB_EXTRA_HEADERS",
    "GITLAB_MCP_CONFIRM_KEY",
    "GITLAB_ACCESS_TOKEN",
    "OAUTH_TOKEN",
    "CI_JOB_TOKEN",
    "GITLAB_HOST",
    "GL_HOST",
    "GITLAB_URI",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_CONFIG_PARAMETERS",
];

/// Directory in which there is no configuration of a repository.
const NEUTRAL_DIRECTORY: &str = "/";

/// Asks the programs in turn for a token for the instance. None if they have none for its host.
pub(super) async fn ask(
    helpers: &[Helper],
    base: &Url,
    time_limit: Duration,
) -> Result<Option<IssuedToken>, CredentialError> {
    let mut failed = None;
    for helper in helpers {
        match ask_one(*helper, base, time_limit).await {
            Ok(Some(issued)) => return Ok(Some(issued)),
            Ok(None) => {}
            Err(error) => failed = Some(error),
        }
    }
    failed.map_or(Ok(None), Err)
}

async fn ask_one(
    helper: Helper,
    base: &Url,
    time_limit: Duration,
) -> Result<Option<IssuedToken>, CredentialError> {
    let host = host(base);
    let input = format!("protocol={}\nhost={host}\n\n", base.scheme());
    let program = Program {
        name: helper.name(),
        arguments: helper.arguments(),
        input: &input,
        variables: &UNATTENDED,
        removed: &REMOVED,
        directory: Some(NEUTRAL_DIRECTORY),
        time_limit,
    };
    match process::run(program).await {
        Ok(output) => match parse_answer(&output, base.scheme(), &host) {
            HelperAnswer::Issued(issued) => Ok(Some(issued)),
            HelperAnswer::None => Ok(None),
            HelperAnswer::OtherHost => Err(CredentialError {
                what: format!("{} answered for another host than {host}", helper.name()),
                hint: format!("Leave {} out of GITLAB_CREDENTIALS, or set GITLAB_TOKEN.", helper.name()),
            }),
        },
        // Both programs fail if they have no credential for the host.
        Err(ProgramError::Failed { .. } | ProgramError::Missing(_)) => Ok(None),
        Err(error) => Err(CredentialError {
            what: error.to_string(),
            hint: format!("Run `{} {}` in a terminal.", helper.name(), helper.arguments().join(" ")),
        }),
    }
}

/// The host as git writes it: with its port unless it is the scheme's own.
pub(super) fn host(base: &Url) -> String {
    match (base.host_str().unwrap_or_default(), base.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    }
}

enum HelperAnswer {
    Issued(IssuedToken),
    None,
    OtherHost,
}

fn parse_answer(output: &str, protocol: &str, host: &str) -> HelperAnswer {
    let field = |name: &str| {
        let mut lines = output.lines().filter_map(|line| line.split_once('='));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let is_same = |name: &str, own: &str| field(name).is_none_or(|value| value.eq_ignore_ascii_case(own));
    let Some(password) = field("password").and_then(parse_token) else { return HelperAnswer::None };
    if !is_same("host", host) || !is_same("protocol", protocol) {
        return HelperAnswer::OtherHost;
    }
    let expires_at = field("password_expiry_utc").and_then(|text| text.parse().ok()).and_then(from_unix);
    // By its name, this user of git has an OAuth token, unless the token's prefix says otherwise.
    let is_oauth = field("username") == Some("oauth2") && !password.contains("glpat-");
    let token = match Token::guess(Secret::new(password)) {
        Token::Private(secret) if is_oauth => Token::OAuth(secret),
        token => token,
    };
    HelperAnswer::Issued(IssuedToken { token, expires_at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_for_another_host_is_not_used() {
        let parsed = |output: &str| match parse_answer(output, "https", "gitlab.example.com") {
            HelperAnswer::Issued(issued) => {
                format!("issued {:?}", issued.expires_at.map(super::super::issued::to_unix))
            }
            HelperAnswer::None => "none".to_owned(),
            HelperAnswer::OtherHost => "other host".to_owned(),
        };
        let with = |lines: &str| parsed(&format!("username=oauth2\npassword=glpat-1\n{lines}"));
        assert_eq!(with(""), "issued None");
        assert_eq!(with("password_expiry_utc=5000\n"), "issued Some(5000)");
        assert_eq!(with("protocol=https\nhost=gitlab.example.com\n"), "issued None");
        assert_eq!(with("protocol=https\nhost=gitlab.example.com.evil.test\n"), "other host");
        assert_eq!(with("protocol=http\nhost=gitlab.example.com\n"), "other host");
        assert_eq!(parsed("username=me\n"), "none");
        assert_eq!(parsed("password=\n"), "none");
    }

    #[test]
    fn the_user_oauth2_has_an_oauth_token() {
        let kind = |lines: &str| match parse_answer(lines, "https", "gitlab.example.com") {
            HelperAnswer::Issued(IssuedToken { token: Token::OAuth(_), .. }) => "oauth",
            HelperAnswer::Issued(IssuedToken { token: Token::Private(_), .. }) => "private",
            _ => "other",
        };
        assert_eq!(kind("username=oauth2\npassword=abc.def\n"), "oauth");
        assert_eq!(kind("username=oauth2\npassword=glpat-1\n"), "private");
        assert_eq!(kind("username=alice\npassword=abc.def\n"), "private");
    }

    #[test]
    fn a_host_has_its_port_unless_it_is_the_usual_one() {
        let of = |url: &str| host(&Url::parse(url).unwrap());
        assert_eq!(of("https://gitlab.example.com/"), "gitlab.example.com");
        assert_eq!(of("https://gitlab.example.com:443/x/"), "gitlab.example.com");
        assert_eq!(of("http://localhost:8080/"), "localhost:8080");
    }
}
