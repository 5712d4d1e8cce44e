//! Writing half of the stdio transport, with backpressure.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Notify};

/// Queue length from which no further message is read and no further call started.
const QUEUED: usize = 64;

/// Writing half of the transport. Messages are written in FIFO order.
pub(super) struct ServerOutput<W> {
    writer: Arc<Mutex<Option<W>>>,
    queue: Arc<Queue>,
}

/// Maximum number of messages that wait to be written.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: AtomicUsize,
    shorter: Notify,
}

impl Queue {
    /// Waits until the queue is below its limit.
    pub(super) async fn wait_for_room(&self) {
        loop {
            let mut shorter = pin!(self.shorter.notified());
            // Registered first, so that no notification is missed.
            shorter.as_mut().enable();
            if self.waiting.load(Ordering::Relaxed) < QUEUED {
                return;
            }
            shorter.await;
        }
    }
}

/// Slot in the queue, released when the message is written or dropped.
struct Queued(Arc<Queue>);

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.shorter.notify_waiters();
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> ServerOutput<W> {
    pub(super) fn new(writer: W, queue: Arc<Queue>) -> ServerOutput<W> {
        ServerOutput { writer: Arc::new(Mutex::new(Some(writer))), queue }
    }

    pub(super) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Queues a line to be written.
    pub(super) fn write(&self, mut line: Vec<u8>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        line.push(b'\n');
        self.queue.waiting.fetch_add(1, Ordering::Relaxed);
        let queued = Queued(Arc::clone(&self.queue));
        let writer = Arc::clone(&self.writer);
        async move {
            let _queued = queued;
            let mut writer = writer.lock().await;
            let Some(writer) = writer.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    /// Closes the stream after the queued messages are written.
    pub(super) async fn close(&self) {
        drop(self.writer.lock().await.take());
    }
}
