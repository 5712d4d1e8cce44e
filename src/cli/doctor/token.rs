//! Token checks: kind, owner, scopes and expiry date.

use serde_json::Value;
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime};

use super::fetch::fetch;
use super::report::Finding;
use crate::config::Config;
use crate::gitlab::{Content, GitlabError, Reply, Token};
use crate::text::error_chain;
use crate::tools::Tools;

const CHECK: &str = "token";
const SCOPES: &str = "scopes";
const EXPIRY: &str = "expiry";

/// Number of days before expiry from which `doctor` warns.
const SOON: i64 = 14;

/// Checks the token.
pub(super) async fn findings(tools: &Tools, config: &Config) -> Vec<Finding> {
    let token = match &config.token {
        // The sandbox has its own token.
        None if config.instance != crate::config::Instance::Sandbox => {
            return vec![Finding::warning(
                CHECK,
                "not set: only public data is available",
                "Make a personal access token with the scope api (or read_api, to read only) in GitLab under \
                 Preferences, Access tokens, and set it in GITLAB_TOKEN.",
            )];
        }
        token => token.as_ref(),
    };
    if let Some(Token::Job(_)) = token {
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
            vec![known(token, user.as_ref().ok().map(json), own), scopes(config, own), expiry(own)]
        }
        (Ok(user), Err(_)) => {
            let who = describe_user(Some(json(user)));
            vec![
                Finding::passed(CHECK, format!("{}{who}", kind(token, Some(json(user))))),
                Finding::unknown(SCOPES, "GitLab does not report them for this kind of token"),
            ]
        }
        (Err(error), Err(_)) => vec![refused(error)],
    }
}

fn refused(error: &GitlabError) -> Finding {
    let mend = match error {
        GitlabError::Unauthorized { expired: true, .. } => {
            "It is expired or revoked: create a new one in GitLab and set it in GITLAB_TOKEN."
        }
        GitlabError::Unauthorized { .. } => {
            "Check that the token in GITLAB_TOKEN is complete, from this GitLab, and not revoked; an OAuth token goes in \
             GITLAB_OAUTH_TOKEN."
        }
        GitlabError::Forbidden { .. } => {
            "Create a token with the scope api (or read_api, to read only); its user may also be blocked."
        }
        _ => "Try again: GitLab did not respond as expected.",
    };
    Finding::failure(CHECK, error_chain(error), mend)
}

fn known(token: Option<&Token>, user: Option<&Value>, own: &Value) -> Finding {
    let name = own.get("name").and_then(Value::as_str).unwrap_or_default();
    Finding::passed(CHECK, format!("{} \"{name}\"{}", kind(token, user), describe_user(user)))
}

/// Project and group access tokens belong to bot users.
fn kind(token: Option<&Token>, user: Option<&Value>) -> &'static str {
    let is_bot = user.and_then(|user| user.get("bot")).and_then(Value::as_bool) == Some(true);
    match token {
        Some(Token::OAuth(_)) => "an OAuth access token",
        Some(Token::Job(_)) => "a job token",
        _ if is_bot => "a project or group access token",
        _ => "a personal access token",
    }
}

fn describe_user(user: Option<&Value>) -> String {
    let name = user.and_then(|user| user.get("username")).and_then(Value::as_str);
    name.map(|name| format!(" of {name}")).unwrap_or_default()
}

fn scopes(config: &Config, own: &Value) -> Finding {
    let scopes: Vec<&str> =
        own.get("scopes").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let has = |scope: &str| scopes.contains(&scope);
    let says = scopes.join(", ");
    match () {
        // A fine-grained token has permissions instead of scopes, and GitLab does not report them.
        () if has("api") || has("granular") => Finding::passed(SCOPES, says),
        () if has("read_api") && config.policy.read_only => Finding::passed(SCOPES, says),
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
