//! What a call waits for, as notifications of progress to a client that asked for them (MCP 2025-11-25, progress).

use std::future::Future;

use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::mpsc;

use crate::tools::Event;

/// A listener for the events of one call, and what sends them on. The latter never ends: it is dropped with the
/// call, as nothing may be said of a call that is over.
pub(super) fn progress(
    context: &RequestContext<RoleServer>,
) -> (impl Fn(Event) + Send + Sync + 'static, impl Future<Output = ()>) {
    let wanted = context.meta.get_progress_token();
    let peer = context.peer.clone();
    let (sender, mut events) = mpsc::unbounded_channel();
    let is_wanted = wanted.is_some();
    let listener = move |event: Event| {
        // Only a call that is over has nobody at the other end.
        let _ = is_wanted.then(|| sender.send(event));
    };
    let forward = async move {
        let mut count = 0_u32;
        while let (Some(event), Some(token)) = (events.recv().await, &wanted) {
            // How far a call is nobody knows; the number has to grow, and the message says what there is to say.
            count += 1;
            let told = ProgressNotificationParam::new(token.clone(), f64::from(count))
                .with_message(event.to_string());
            if let Err(error) = peer.notify_progress(told).await {
                tracing::debug!(%error, "cannot send a progress notification");
            }
        }
        std::future::pending().await
    };
    (listener, forward)
}
