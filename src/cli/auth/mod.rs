//! `gitlab-mcp auth`: signs in to GitLab, shows the sign-in, and signs out.

use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use url::Url;

pub use super::auth_error::AuthError;

use super::doctor::fetch;
use super::{AuthCommand, Failure, LoginArguments};
use crate::config::{self, Config, Instance, InstanceConfig};
use crate::credentials::{
    Choice, Helper, LoginFile, SignIn, SignOut, begin_sign_in, finish_sign_in, sign_out, try_helper,
    use_helper,
};
use crate::gitlab::{Content, DeviceAuthorization, HttpClients};
use crate::text::error_chain;
use crate::tools::{self, Tools};
use crate::untrusted::one_line;

/// Id of the application of this program on GitLab.com, given when it is built.
const GITLAB_COM_APPLICATION: Option<&str> = option_env!("GITLAB_MCP_CLIENT_ID");

/// Runs a subcommand. `settings` are those of the tools.
pub async fn run(
    command: AuthCommand,
    config: &Config,
    settings: tools::ToolSettings,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    match command {
        AuthCommand::Login(arguments) => log_in(arguments, config, settings, out).await,
        AuthCommand::Status { json } => show_status(json, config, settings, out).await,
        AuthCommand::Logout => log_out(config, out).await,
    }
}

/// The default instance with its root URL, and the file of sign-ins.
fn default_target(config: &Config) -> Result<(&InstanceConfig, &Url, LoginFile), AuthError> {
    let of = &config.default;
    let Instance::At(base) = &of.instance else { return Err(AuthError::Sandbox) };
    let path = config.login.file.clone().ok_or(AuthError::NoFile)?;
    Ok((of, base, LoginFile::new(path)))
}

async fn log_in(
    arguments: LoginArguments,
    config: &Config,
    settings: tools::ToolSettings,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (of, base, file) = default_target(config)?;
    if of.is_unencrypted() {
        if !config.plain_http {
            return Err(AuthError::PlainHttp.into());
        }
        tracing::warn!("the sign-in travels unencrypted: GITLAB_URL is plain http to another machine");
    }
    let helper = match (arguments.helper, &config.login.client_id) {
        (Some(helper), _) => Some(helper),
        (None, None) if io::stdin().is_terminal() && !is_remembered(&file, base)? => {
            offered_helper(base, config.timeout, out).await?
        }
        (None, _) => None,
    };
    let clients = HttpClients::new(&config.connection(of, base.clone()));
    if let Some(helper) = helper {
        if !try_helper(helper, base, config.timeout).await.map_err(AuthError::from)? {
            return Err(AuthError::NoCredential { helper, host: Helper::host(base) }.into());
        }
        use_helper(helper, &clients, &file, base).await.map_err(AuthError::from)?;
        writeln!(out, "{} is asked for the token of {base} from now on.", helper.name())?;
    } else {
        sign_in_by_browser(&arguments, config, &clients, &file, base, out).await?;
    }
    let choice = Choice::of_login_file(file.clone(), base, config.timeout);
    let credential = choice.credential(&settings.gitlab);
    let mut settings = settings;
    settings.gitlab.credential = credential;
    match user(&Tools::new(settings)?).await {
        Ok(user) => writeln!(out, "Signed in to {base} as {user}.")?,
        Err(reason) => writeln!(out, "Signed in to {base}; the user is not known: {reason}.")?,
    }
    writeln!(out, "The sign-in is kept in {}.", file.path().display())?;
    if config.default.credentials.login_file().is_none() && !config.default.credentials.is_none() {
        writeln!(
            out,
            "It is not used as long as the token comes from {}.",
            config.default.credentials.describe()
        )?;
    }
    Ok(())
}

/// Shows the page at which the user allows the sign-in, and waits for it.
async fn sign_in_by_browser(
    arguments: &LoginArguments,
    config: &Config,
    clients: &HttpClients,
    file: &LoginFile,
    base: &Url,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let client_id = match &config.login.client_id {
        Some(given) => given.clone(),
        // A sign-in that has ended is renewed with the application that it was made with.
        None => known_application(file, base)?.ok_or_else(|| AuthError::NoClientId(base.clone()))?,
    };
    let scope = match (&arguments.scope, config.policy.read_only) {
        (Some(scope), _) => scope.as_str(),
        (None, true) => "read_api",
        (None, false) => "api",
    };
    let begun = begin_sign_in(clients, &client_id, scope).await.map_err(AuthError::from)?;
    let page = sign_in_page(&begun).ok_or_else(|| AuthError::NoPage(base.clone()))?;
    writeln!(out, "Open {page}")?;
    writeln!(
        out,
        "and enter the code {} within {} minutes.",
        one_line(&begun.user_code),
        minutes(begun.expires_in)
    )?;
    // The user needs it now, not when the buffer is full.
    out.flush()?;
    if open_in_browser(&page) {
        writeln!(out, "A browser was started with it; if no page appears, open the address above.")?;
        out.flush()?;
    }
    finish_sign_in(clients, &client_id, &begun, file, base).await.map_err(AuthError::from)?;
    Ok(())
}

/// The application of the last sign-in to this GitLab, or the one that this program was built with for GitLab.com.
fn known_application(file: &LoginFile, base: &Url) -> Result<Option<String>, AuthError> {
    let is_gitlab_com = base.host_str() == Some("gitlab.com");
    Ok(match file.find(base)? {
        Some(SignIn::Kept(kept)) => Some(kept.client_id),
        Some(SignIn::Helper(_)) | None => GITLAB_COM_APPLICATION.filter(|_| is_gitlab_com).map(str::to_owned),
    })
}

/// True if a sign-in to this GitLab through an application is kept, which is made again without a question.
fn is_remembered(file: &LoginFile, base: &Url) -> Result<bool, AuthError> {
    Ok(matches!(file.find(base)?, Some(SignIn::Kept(_))))
}

/// Starts a browser with the page, where a person is at this machine and has one. Whether the page appears is not known;
/// its address is printed in any case.
fn open_in_browser(page: &Url) -> bool {
    let has_desktop = !cfg!(all(unix, not(target_os = "macos")))
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| config::environment(name).is_some());
    let is_person = io::stdin().is_terminal() && io::stdout().is_terminal();
    is_person && has_desktop && webbrowser::open(page.as_str()).is_ok()
}

/// The program whose credential is used from now on: one that may have a sign-in, has one for this GitLab, and that the
/// user agrees to. Looking into it takes consent, too.
async fn offered_helper(
    base: &Url,
    time_limit: Duration,
    out: &mut dyn Write,
) -> Result<Option<Helper>, Failure> {
    let git_settings = config::git_settings_files();
    for helper in possible_helpers(&config::search_path(), &git_settings) {
        if !has_consent(helper, base, &mut io::stdin().lock(), out)? {
            continue;
        }
        if try_helper(helper, base, time_limit).await.map_err(AuthError::from)? {
            return Ok(Some(helper));
        }
        writeln!(out, "{} has no credential for {}.", helper.name(), Helper::host(base))?;
    }
    Ok(None)
}

/// Programs that may have a sign-in: glab where it is installed, git where its settings name a credential helper.
fn possible_helpers(search_path: &[PathBuf], git_settings: &[PathBuf]) -> Vec<Helper> {
    let is_there = |helper: &Helper| {
        let name = file_name(*helper);
        search_path.iter().any(|folder| folder.join(&name).is_file())
    };
    let names_credentials = |file: &PathBuf| {
        fs::read_to_string(file).is_ok_and(|text| text.to_lowercase().contains("[credential"))
    };
    let has_settings =
        |helper: &Helper| *helper == Helper::Glab || git_settings.iter().any(names_credentials);
    Helper::ALL.into_iter().filter(is_there).filter(has_settings).collect()
}

/// Name of the program's file.
fn file_name(helper: Helper) -> String {
    format!("{}{}", helper.name(), if cfg!(windows) { ".exe" } else { "" })
}

/// Asks whether a program that has a sign-in of its own may be used.
fn has_consent(
    helper: Helper,
    base: &Url,
    answers: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let (name, host) = (helper.name(), Helper::host(base));
    write!(out, "Use the sign-in of {name} for {host}, if it has one? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
}

/// The page on which the user enters the code, if possible with the code filled in. None if it is not a web page.
fn sign_in_page(begun: &DeviceAuthorization) -> Option<Url> {
    let candidates = begun.verification_uri_complete.iter().chain([&begun.verification_uri]);
    let mut pages = candidates.filter_map(|text| Url::parse(text).ok());
    pages.find(|page| ["http", "https"].contains(&page.scheme()))
}

fn minutes(time: Duration) -> u64 {
    time.as_secs().div_ceil(60)
}

/// The name of the token's user, or the reason why it is not known.
async fn user(tools: &Tools) -> Result<String, String> {
    let reply = fetch(tools, "current_user.get").await?.map_err(|error| error_chain(&error))?;
    let Content::Json(user) = reply.content else {
        return Err("GitLab did not answer as expected".to_owned());
    };
    let name = user.get("username").and_then(Value::as_str);
    name.map(one_line).ok_or_else(|| "GitLab named no user".to_owned())
}

async fn show_status(
    json: bool,
    config: &Config,
    settings: tools::ToolSettings,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let tools = Tools::new(settings)?;
    let (instance, source) = match &config.default.instance {
        Instance::At(base) => (base.to_string(), config.default.credentials.describe()),
        Instance::Sandbox if config.default.credentials.is_none() => {
            ("sandbox".to_owned(), "the sandbox".to_owned())
        }
        Instance::Sandbox => ("sandbox".to_owned(), config.default.credentials.describe()),
    };
    let unused = config.default.credentials.unused();
    let issued = tools.client().issued_token().await;
    let expires_at = issued.as_ref().ok().and_then(|issued| issued.as_ref()?.expires_at);
    let expires_at = expires_at.and_then(|end| OffsetDateTime::from(end).format(&Rfc3339).ok());
    let user = match issued {
        Ok(Some(_)) => user(&tools).await,
        Ok(None) => Err("there is no token; run gitlab-mcp auth login, or set GITLAB_TOKEN".to_owned()),
        Err(error) => Err(error_chain(&error)),
    };
    let file = config.login.file.clone().map(LoginFile::new);
    let others = file.map(|file| file.instances()).transpose().map_err(AuthError::from)?.unwrap_or_default();
    if json {
        let (name, problem) = (user.as_ref().ok(), user.as_ref().err());
        let status = json!({
            "instance": instance,
            "source": source,
            "unused": unused,
            "user": name,
            "problem": problem,
            "expires_at": expires_at,
            "sign_ins": others,
        });
        writeln!(out, "{status:#}")?;
    } else {
        writeln!(out, "instance  {instance}\nsource    {source}")?;
        if !unused.is_empty() {
            writeln!(out, "not used  {}", unused.join(", "))?;
        }
        match &user {
            Ok(user) => writeln!(out, "user      {user}")?,
            Err(problem) => writeln!(out, "problem   {problem}")?,
        }
        if let Some(end) = expires_at {
            writeln!(out, "expires   {end}; a new token is fetched before that")?;
        }
        for other in others {
            writeln!(out, "sign-in   {other}")?;
        }
    }
    user.map(drop).map_err(|_| Failure::Answered)
}

async fn log_out(config: &Config, out: &mut dyn Write) -> Result<(), Failure> {
    let (of, base, file) = default_target(config)?;
    let clients = HttpClients::new(&config.connection(of, base.clone()));
    match sign_out(&clients, &file, base).await.map_err(AuthError::from)? {
        SignOut::NotSignedIn => writeln!(out, "There is no sign-in to {base}.")?,
        SignOut::Revoked => writeln!(out, "Signed out of {base}: the tokens are revoked.")?,
        SignOut::HelperUnused(helper) => {
            writeln!(out, "{} is no longer asked for the token of {base}.", helper.name())?;
        }
        SignOut::NotRevoked(error) => {
            writeln!(
                out,
                "Signed out of {base} here, but the tokens may still be valid: {}.",
                error_chain(&error)
            )?;
            writeln!(out, "Revoke the application at {base}-/user_settings/applications.")?;
            return Err(Failure::Answered);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_is_used_only_after_a_yes() {
        let base = Url::parse("https://gitlab.example.com/").unwrap();
        for (answer, expected) in [("y\n", true), ("YES\n", true), ("n\n", false), ("\n", false), ("", false)]
        {
            let mut out = Vec::new();
            let given = has_consent(Helper::Glab, &base, &mut answer.as_bytes(), &mut out).unwrap();
            assert_eq!(given, expected, "{answer:?}");
            assert!(String::from_utf8(out).unwrap().contains("glab for gitlab.example.com"));
        }
    }

    #[test]
    fn only_programs_that_may_have_a_sign_in_are_offered() {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join(".gitconfig");
        let offered = || possible_helpers(&[folder.path().to_owned()], std::slice::from_ref(&settings));
        assert_eq!(offered(), []);
        for helper in Helper::ALL {
            fs::write(folder.path().join(file_name(helper)), "").unwrap();
        }
        assert_eq!(offered(), [Helper::Glab], "git has no credential helper");
        fs::write(&settings, "[user]\n\tname = alice\n[credential]\n\thelper = store\n").unwrap();
        assert_eq!(offered(), Helper::ALL);
    }
}
