//! Progress notifications for calls with a progress token (MCP 2025-11-25, progress).

use std::future::Future;

use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::mpsc;

use crate::tools::Event;

/// Creates the listener for events of one call, and the future that sends them. The future never completes: it is
/// dropped with the call, as MCP forbids progress notifications after the response.
pub(super) fn progress(
    context: &RequestContext<RoleServer>,
) -> (impl Fn(Event) + Send + Sync + 'static, impl Future<Output = ()>) {
    let wanted = context.meta.get_progress_token();
    let peer = context.peer.clone();
    let (sender, mut events) = mpsc::unbounded_channel();
    let is_wanted = wanted.is_some();
    let listener = move |event: Event| {
        // The receiver is dropped only when the call is over.
        let _ = (is_wanted && event != Event::SendingChange).then(|| sender.send(event));
    };
    let forward = async move {
        let mut count = 0_u32;
        while let (Some(event), Some(token)) = (events.recv().await, &wanted) {
            // Total is unknown; MCP requires `progress` to increase.
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
