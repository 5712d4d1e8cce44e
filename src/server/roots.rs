//! The directories that a client works in (MCP 2025-11-25, roots): asked for once, and again where they change. The
//! era of 2026-07-28 has retired them, and in it nobody is asked.

use std::time::Duration;

use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::Mutex;

/// How long a client may take to name them. Calls wait for it, once.
const WITHIN: Duration = Duration::from_secs(2);

/// Whether they are known.
#[derive(Debug, Default)]
pub(super) struct Roots {
    asked: Mutex<bool>,
}

impl Roots {
    /// What the client names, where it has not been asked yet and can be.
    #[allow(deprecated, reason = "the eras before 2026-07-28 have roots, and only they are asked for them")]
    pub(super) async fn asked(&self, context: &RequestContext<RoleServer>) -> Option<Vec<String>> {
        let names_roots = context.client_capabilities()?.roots.is_some();
        let has_sessions = context.protocol_version().is_none_or(|version| version.has_initialize());
        if !names_roots || !has_sessions {
            return None;
        }
        // Whoever comes meanwhile waits for the same answer.
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

    /// They are others now.
    pub(super) async fn changed(&self) {
        *self.asked.lock().await = false;
    }
}
