//! Roots of a client, its working directories (MCP 2025-11-25, roots): requested once, and again after a change.
//! MCP 2026-07-28 has retired them: no request is sent.

use std::time::Duration;

use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::Mutex;

/// Timeout of the roots/list request. Calls wait for it once.
const WITHIN: Duration = Duration::from_secs(2);

/// State of the roots.
#[derive(Debug, Default)]
pub(super) struct ClientRoots {
    asked: Mutex<bool>,
}

impl ClientRoots {
    /// Requests the roots if the client supports them and they are unknown.
    #[allow(deprecated, reason = "the eras before 2026-07-28 have roots, and only they are asked for them")]
    pub(super) async fn request_roots(&self, context: &RequestContext<RoleServer>) -> Option<Vec<String>> {
        let names_roots = context.client_capabilities()?.roots.is_some();
        let has_sessions = context.protocol_version().is_none_or(|version| version.has_initialize());
        if !names_roots || !has_sessions {
            return None;
        }
        // Concurrent calls wait for the same response.
        let mut asked = self.asked.lock().await;
        if std::mem::replace(&mut *asked, true) {
            return None;
        }
        match tokio::time::timeout(WITHIN, context.peer.list_roots()).await {
            Ok(Ok(named)) => Some(named.roots.into_iter().map(|root| root.uri).collect()),
            Ok(Err(error)) => {
                tracing::debug!(%error, "the client names no roots");
                None
            }
            Err(_) => {
                tracing::debug!("the client has not named its roots in time");
                None
            }
        }
    }

    /// Marks the roots as changed.
    pub(super) async fn changed(&self) {
        *self.asked.lock().await = false;
    }
}
