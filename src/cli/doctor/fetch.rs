//! Requests of `doctor` to GitLab.

use serde_json::Map;

use crate::gitlab::{GitlabError, Reply};
use crate::tools::{ErrorKind, ReadError, Tools};

/// Fetches the state of GitLab or of the token. The outer error is a denial by the policy.
pub async fn fetch(tools: &Tools, action: &str) -> Result<Result<Reply, GitlabError>, String> {
    match tools.read_unrendered(action, Map::new()).await {
        Ok(reply) => Ok(Ok(reply)),
        Err(ReadError::Gitlab(error)) => Ok(Err(error)),
        Err(ReadError::NotSent(error)) if error.kind == ErrorKind::Denied => Err(error.message),
        // A catalog action without parameters: only a bug in this program leads here.
        Err(ReadError::NotSent(error)) => Ok(Err(GitlabError::Setup { what: error.message, source: None })),
    }
}
