//! The one gate for requests that this server makes for itself. Policy decides on each as on a caller's, and one that a
//! rule denies has its line in the audit.

use serde::Serialize;
use serde_json::json;

use crate::call::Call;
use crate::catalog::Action;
use crate::gitlab::{GitlabError, Reply};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::graphql_reply;
use crate::policy::{Permit, Rule};
use crate::tools::error_mapping;
use crate::tools::state::Tools;

/// Purposes of reads that this server makes for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The id behind a name, or which kind of thing a path is.
    LookUp,
    /// The path behind an id, which a rule on paths needs.
    Locate,
    /// The part of a path that a 404 is about.
    Diagnosis,
    /// The object that a change would hit, before it is asked about; its state after a lost write.
    Target,
    /// Rows that belong to an answer.
    Join,
    /// The scopes of the token.
    TokenScopes,
    /// The GitLab version of the instance.
    Version,
    /// Anything else that a command of this program asks: completions, the doctor.
    Command,
}

impl Purpose {
    /// The name in the audit log, such as `look_up`.
    pub fn name(self) -> String {
        json!(self).as_str().unwrap_or_default().to_owned()
    }
}

/// Error of a read that this server makes for itself.
#[derive(Debug)]
pub enum OwnReadError {
    /// A rule denies it; nothing was sent.
    Denied {
        action: String,
        rule: Rule,
    },
    Gitlab(GitlabError),
    /// GraphQL reports its errors with status 200.
    Graphql(ToolError),
}

impl OwnReadError {
    /// The error of the read, by its action, as an error of the call that needed it.
    pub fn explain(self, tools: &Tools, read: &Action) -> ToolError {
        match self {
            OwnReadError::Denied { action, rule } => {
                ToolError::new(ErrorKind::Denied, format!("{action} is denied: {rule}"))
            }
            OwnReadError::Gitlab(error) => error_mapping::from_gitlab(&error, read, tools.token_standing()),
            OwnReadError::Graphql(error) => error,
        }
    }
}

/// Error of a read with its look-ups.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The request was not sent.
    #[error(transparent)]
    NotSent(#[from] ToolError),
    #[error(transparent)]
    Gitlab(#[from] GitlabError),
}

/// Sends a read whose ids are replaced by paths, if policy permits it.
pub async fn send(tools: &Tools, call: Call, purpose: Purpose) -> Result<Reply, OwnReadError> {
    let permit = permit(tools, call, purpose)?;
    let mut reply = tools.client.send(&permit).await.map_err(OwnReadError::Gitlab)?;
    let action = tools.catalog.get(permit.call().action()).ok().flatten();
    if action.is_some_and(|action| action.param("page").is_some()) {
        reply.assume_next_page(permit.call().query());
    }
    let unknown = graphql_reply::unknown_fields(&reply);
    match permit.without_fields(&unknown).filter(|_| !unknown.is_empty()) {
        Some(permit) => tools.client.send(&permit).await.map_err(OwnReadError::Gitlab),
        None => Ok(reply),
    }
}

fn permit(tools: &Tools, call: Call, purpose: Purpose) -> Result<Permit, OwnReadError> {
    let action = call.action().to_owned();
    let permit = match purpose {
        Purpose::Locate => tools.policy.permit_locating_read(call),
        _ => tools.policy.permit_own_read(call),
    };
    permit.map_err(|rule| {
        tools.auditor.denied_own_read(&action, purpose.name());
        OwnReadError::Denied { action, rule }
    })
}
