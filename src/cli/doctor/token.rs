//! Token checks: source, kind, owner, scopes and expiry date.

use std::time::SystemTime;

use serde_json::Value;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime};

use super::fetch::fetch;
use super::report::Finding;
use crate::config::{Config, Instance, InstanceConfig};
use crate::gitlab::{Content, GitlabError, Reply, Token};
use crate::text::error_chain;
use crate::tools::Tools;

const SOURCE: &str = "credentials";
const CHECK: &str = "token";
const SCOPES: &str = "scopes";
const EXPIRY: &str = "expiry";

/// Number of days before expiry from which `doctor` warns.
const SOON: i64 = 14;

pub(super) const REFUSED_BEFORE: &str = "The answer has no header of GitLab: a firewall or a proxy before it refuses this machine or this program. Ask its \
     administrator; a new token does not help.";

/// Shows where the token comes from, and what else is set and not used.
pub(super) fn source(of: &InstanceConfig) -> Finding {
    let credentials = &of.credentials;
    if of.instance == Instance::Sandbox && credentials.is_none() {
        return Finding::passed(SOURCE, "the sandbox's own token");
    }
    let source = credentials.describe();
    if let Some(file) = credentials.login_file().filter(|file| file.is_exposed()) {
        let path = file.path().display();
        return Finding::warning(
            SOURCE,
            format!("{source}, which other users of this machine can read"),
            format!("Make it private: chmod 600 {path}"),
        );
    }
    match credentials.unused() {
        _ if credentials.is_none() => Finding::unknown(SOURCE, "none"),
        [] => Finding::passed(SOURCE, source),
        unused => Finding::warning(
            SOURCE,
            format!("{source}; {} is set too and not used", unused.join(", ")),
            "Remove the settings that are not used.",
        ),
    }
}

/// Checks the token.
pub(super) async fn findings(tools: &Tools, config: &Config, of: &InstanceConfig) -> Vec<Finding> {
    let is_read_only = config.policy.read_only || of.read_only;
    let issued = match tools.client().issued_token().await {
        Ok(Some(issued)) => issued,
        Ok(None) => {
            return vec![Finding::warning(
                CHECK,
                "not set: only public data is available",
                "Sign in with gitlab-mcp auth login; or make a personal access token with the scope api (or read_api, to \
                 read only) in GitLab under Edit profile → Access tokens, and set it in GITLAB_TOKEN.",
            )];
        }
        Err(error) => return vec![refused(&error)],
    };
    let token = &issued.token;
    if let Token::Job(_) = token {
        return vec![Finding::passed(
            CHECK,
            "a CI/CD job token: valid while its job runs, with the job's permissions",
        )];
    }
    let (user, own) = match (
        fetch(tools, "current_user.get").await,
        fetch(tools, "personal_access_token.get_self").await,
    ) {
        (Ok(user), Ok(own)) => (user, own),
        (Err(denial), _) | (_, Err(denial)) => {
            return vec![Finding::unknown(CHECK, format!("not asked for: {denial}"))];
        }
    };
    match (&user, &own) {
        (_, Ok(own)) => {
            let own = json(own);
            vec![known(token, user.as_ref().ok().map(json), own), scopes(is_read_only, own), expiry(own)]
        }
        (Ok(user), Err(_)) => {
            let who = describe_user(Some(json(user)));
            let mut found = vec![Finding::passed(CHECK, format!("{}{who}", kind(token, Some(json(user)))))];
            found.extend(described(tools, is_read_only, issued.expires_at).await);
            found
        }
        (Err(error), Err(_)) => vec![refused(error)],
    }
}

/// Checks the scopes and the expiry of an OAuth token, which GitLab describes elsewhere.
async fn described(tools: &Tools, is_read_only: bool, expires_at: Option<SystemTime>) -> Vec<Finding> {
    // An instance may not describe it; that is no problem.
    let description = tools.client().describe_token().await.ok().flatten();
    let scopes = match &description {
        Some(description) => judge_scopes(is_read_only, &description.scopes),
        None => Finding::unknown(SCOPES, "GitLab does not report them for this kind of token"),
    };
    let told = description.and_then(|description| description.expires_in);
    let end = expires_at.or_else(|| SystemTime::now().checked_add(told?));
    let Some(end) = end else { return vec![scopes] };
    let left = end.duration_since(SystemTime::now()).unwrap_or_default().as_secs().div_ceil(60);
    let expiry = match expires_at {
        Some(_) => Finding::passed(EXPIRY, format!("in {left} minutes; a new token is fetched before that")),
        None => Finding::warning(
            EXPIRY,
            format!("in {left} minutes"),
            "Sign in with gitlab-mcp auth login, which renews its tokens, or set GITLAB_TOKEN_COMMAND.",
        ),
    };
    vec![scopes, expiry]
}

fn refused(error: &GitlabError) -> Finding {
    let mend = match error {
        GitlabError::Credential(error) => error.hint.as_str(),
        GitlabError::Unauthorized { remedy: Some(remedy), .. } => remedy,
        GitlabError::Unauthorized { expired: true, .. } => {
            "It is expired or revoked: create a new one in GitLab and set it in GITLAB_TOKEN."
        }
        GitlabError::Unauthorized { .. } => {
            "Check that the token in GITLAB_TOKEN is complete, from this GitLab, and not revoked; an OAuth token goes in \
             GITLAB_OAUTH_TOKEN."
        }
        GitlabError::Forbidden { answer, .. } if is_of_account(&answer.message) => {
            "GitLab refuses this user or address, whatever the token: sign in to GitLab in a browser, or ask its administrator."
        }
        error if is_refused_before(error) => REFUSED_BEFORE,
        GitlabError::RateLimited { .. } | GitlabError::RateUsedUp { .. } => {
            "Too many requests came from this token or address: wait a few minutes, and see what else uses it; lower GITLAB_MAX_REQUESTS."
        }
        GitlabError::Forbidden { .. } => {
            "Create a token with the scope api (or read_api, to read only); its user may also be blocked."
        }
        _ => "Try again: GitLab did not respond as expected.",
    };
    Finding::failure(CHECK, error_chain(error), mend)
}

/// True for a 403 without GitLab's own header, which its API sends with every answer, and without its words.
pub(super) fn is_refused_before(error: &GitlabError) -> bool {
    matches!(error, GitlabError::Forbidden { answer, missing_scope: None }
        if answer.request_id.is_none() && !is_of_account(&answer.message))
}

/// True for a refusal that a new token would get as well: a blocked or deactivated account, terms to accept, an IP
/// address (lib/gitlab/auth/user_access_denied_reason.rb).
fn is_of_account(message: &str) -> bool {
    let message = message.to_lowercase();
    let words = [
        "blocked",
        "deactivated",
        "banned",
        "terms",
        "pending approval",
        "confirm",
        "ip address",
        "password",
    ];
    words.iter().any(|word| message.contains(word))
}

fn known(token: &Token, user: Option<&Value>, own: &Value) -> Finding {
    let name = own.get("name").and_then(Value::as_str).unwrap_or_default();
    Finding::passed(CHECK, format!("{} \"{name}\"{}", kind(token, user), describe_user(user)))
}

/// Project and group access tokens belong to bot users.
fn kind(token: &Token, user: Option<&Value>) -> &'static str {
    let is_bot = user.and_then(|user| user.get("bot")).and_then(Value::as_bool) == Some(true);
    match token {
        Token::OAuth(_) => "an OAuth access token",
        Token::Job(_) => "a job token",
        _ if is_bot => "a project or group access token",
        _ => "a personal access token",
    }
}

fn describe_user(user: Option<&Value>) -> String {
    let name = user.and_then(|user| user.get("username")).and_then(Value::as_str);
    name.map(|name| format!(" of {name}")).unwrap_or_default()
}

fn scopes(is_read_only: bool, own: &Value) -> Finding {
    let scopes = own.get("scopes").and_then(Value::as_array).into_iter().flatten();
    let scopes: Vec<String> = scopes.filter_map(Value::as_str).map(str::to_owned).collect();
    judge_scopes(is_read_only, &scopes)
}

fn judge_scopes(is_read_only: bool, scopes: &[String]) -> Finding {
    let has = |scope: &str| scopes.iter().any(|known| known == scope);
    let says = scopes.join(", ");
    match () {
        // A fine-grained token has permissions instead of scopes, and GitLab does not report them.
        () if has("api") || has("granular") => Finding::passed(SCOPES, says),
        () if has("read_api") && is_read_only => Finding::passed(SCOPES, says),
        () if has("read_api") => Finding::warning(
            SCOPES,
            format!("{says}: GitLab will refuse all changes"),
            "Create a token with the scope api, or set GITLAB_READ_ONLY=true.",
        ),
        () => Finding::failure(
            SCOPES,
            format!("{says}: none of them allows API access"),
            "Create a token with the scope api, or read_api to read only.",
        ),
    }
}

fn expiry(own: &Value) -> Finding {
    let Some(text) = own.get("expires_at").and_then(Value::as_str) else {
        return Finding::passed(EXPIRY, "none");
    };
    let Ok(last) = Date::parse(text, format_description!("[year]-[month]-[day]")) else {
        return Finding::unknown(EXPIRY, text);
    };
    let left: Duration = last - OffsetDateTime::now_utc().date();
    let mend = "Rotate it in GitLab before that day, and set the new one in GITLAB_TOKEN.";
    match left.whole_days() {
        days if days <= 0 => Finding::failure(EXPIRY, format!("expired on {text}"), mend),
        days if days <= SOON => Finding::warning(EXPIRY, format!("on {text}, in {days} days"), mend),
        days => Finding::passed(EXPIRY, format!("on {text}, in {days} days")),
    }
}

fn json(reply: &Reply) -> &Value {
    match &reply.content {
        Content::Json(value) => value,
        _ => &Value::Null,
    }
}
