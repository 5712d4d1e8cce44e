//! Extensions of a request over HTTP: the turns of its finds, and the name of its client.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Semaphores of which a find needs a turn while it computes, in this order; none for a session of its own. They are
/// an extension of the request.
#[derive(Clone, Debug, Default)]
pub(super) struct FindTurns(pub(super) Vec<Arc<Semaphore>>);

/// Name of the client by its request, where it gives none in the protocol. An extension of the request.
#[derive(Clone, Debug)]
pub(super) struct ClientName(pub(super) String);

impl FindTurns {
    pub(super) async fn take(&self) -> Vec<OwnedSemaphorePermit> {
        let mut taken = Vec::new();
        for semaphore in &self.0 {
            // The semaphore is never closed.
            taken.extend(Arc::clone(semaphore).acquire_owned().await.ok());
        }
        taken
    }
}
