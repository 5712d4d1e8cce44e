//! Scopes and expiry date of the token, requested from GitLab once: actions that its scopes do not allow are not
//! offered, and an answer warns of a token that is about to expire.

use std::sync::PoisonError;
use std::time::Duration;

use serde_json::{Map, Value, json};
use time::{Date, OffsetDateTime, macros::format_description};
use tokio::time::Instant;

use crate::gitlab::{Content, Token};
use crate::policy::Scopes;
use crate::tools::own_reads;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::own_reads::locate;
use crate::tools::state::Tools;

/// The action by which a token looks at itself (GitLab: personal access tokens, which project and group tokens are
/// as well).
const SELF: &str = "personal_access_token.get_self";

/// Maximum time that a write waits for the scopes, and an audited call for its user.
const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum time that finds wait for the scopes, counted from the first find.
const FIND_WAIT: Duration = Duration::from_secs(1);

/// Days before the expiry date from which answers warn.
const SOON: i64 = 7;

/// Asks, once for all callers; those who come meanwhile wait with the first.
pub async fn learn(tools: &Tools) {
    tools.token_info.asked.get_or_init(|| async { store_token(tools, fetch_token(tools).await) }).await;
    tools.token_info.ended.send_replace(true);
}

/// Waits until the scopes are known, for a short time only: a find must not depend on a GitLab that does not answer.
/// The request itself is [`learn`]'s, which goes on after the wait has ended.
pub async fn wait_for_scopes(tools: &Tools) {
    if !tools.describes_itself {
        return;
    }
    let deadline = *tools.token_info.deadline.get_or_init(|| Instant::now() + FIND_WAIT);
    let mut ended = tools.token_info.ended.subscribe();
    // Past the deadline, a find does without the scopes.
    let _ = tokio::time::timeout_at(deadline, ended.wait_for(|ended| *ended)).await;
}

/// Fetches the token's description of itself; none if that fails.
async fn fetch_token(tools: &Tools) -> Option<Map<String, Value>> {
    if !tools.describes_itself {
        return None;
    }
    let call = locate::ready_call(tools, SELF, Map::new())?;
    let asked = async {
        match tools.client.token().await {
            Ok(Some(Token::Private(_))) => {}
            Ok(Some(Token::OAuth(_))) => return describe_oauth_token(tools).await,
            _ => return None,
        }
        match own_reads::send(tools, call, Purpose::TokenScopes).await.ok()?.content {
            Content::Json(Value::Object(token)) => Some(token),
            _ => None,
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.ok()?
}

/// The description of an OAuth token, in the form of the others. Its expiry is none to warn of: it is renewed.
async fn describe_oauth_token(tools: &Tools) -> Option<Map<String, Value>> {
    let description = tools.client.describe_token().await.ok()??;
    Some(Map::from_iter([("scopes".to_owned(), json!(description.scopes))]))
}

impl Tools {
    /// Asks GitLab once for the user of the token, if the audit is to name it.
    pub(crate) async fn learn_audited_user(&self) {
        if !self.audits_user || self.is_anonymous() {
            return;
        }
        let fetched = async {
            let asked = self.read_unrendered("current_user.get", Map::new());
            let reply = tokio::time::timeout(PATIENCE, asked).await.ok()?.ok()?;
            let Content::Json(user) = reply.content else { return None };
            Some(user.get("username")?.as_str()?.to_owned())
        };
        self.auditor.learn_user(fetched).await;
    }
}

fn store_token(tools: &Tools, token: Option<Map<String, Value>>) {
    let Some(token) = token else { return };
    tools.token_info.accept();
    if let Some(Value::Array(scopes)) = token.get("scopes") {
        let names = scopes.iter().filter_map(Value::as_str).map(str::to_owned);
        tools.policy.learn(Scopes::new(names.collect()));
    }
    let expiry = token.get("expires_at").and_then(Value::as_str);
    let expiry = expiry.and_then(|day| expiry_warning(day, tools.client.has_callers_token()));
    *tools.token_info.news.lock().unwrap_or_else(PoisonError::into_inner) = expiry;
}

/// The warning of an expiry date within the next days.
fn expiry_warning(day: &str, is_callers: bool) -> Option<String> {
    let date = Date::parse(day, format_description!("[year]-[month]-[day]")).ok()?;
    let left = (date - OffsetDateTime::now_utc().date()).whole_days();
    let when = match left {
        0 => "today".to_owned(),
        1 => "tomorrow".to_owned(),
        left => format!("in {left} days"),
    };
    let remedy = match is_callers {
        true => "it is the one that this client sends: give the client a new one",
        false => "set a new one in GITLAB_TOKEN",
    };
    (0..=SOON).contains(&left).then(|| format!("the token expires {when} ({date}); {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_day_is_told() {
        let today = OffsetDateTime::now_utc().date();
        let note = |days: i64| expiry_warning(&(today + time::Duration::days(days)).to_string(), false);
        assert!(note(0).unwrap().contains("today") && note(1).unwrap().contains("tomorrow"));
        assert!(note(7).unwrap().contains("7 days"));
        assert_eq!((note(8), note(-1), expiry_warning("never", false)), (None, None, None));
        let of_caller = expiry_warning(&today.to_string(), true).unwrap();
        assert!(
            of_caller.contains("this client sends") && !of_caller.contains("GITLAB_TOKEN"),
            "{of_caller}"
        );
    }
}
