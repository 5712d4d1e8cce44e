//! Files in the bodies of requests, with progress events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::body::size;
use super::progress::{Event, EventListener, PROGRESS_STEP, listener};

/// Bytes of a frame, of which the connection asks for the next when it can send more.
const FRAME: usize = 64 * 1024;

/// The body of a file. A large one reports its progress to the current task's listener.
pub(super) fn body(bytes: &Bytes) -> reqwest::Body {
    match listener().filter(|_| size(bytes) > PROGRESS_STEP) {
        Some(listener) => reqwest::Body::wrap(UploadBody { rest: bytes.clone(), all: size(bytes), listener }),
        None => reqwest::Body::from(bytes.clone()),
    }
}

/// A body whose progress is reported. The connection reads it in a task of its own, so that it has its listener.
struct UploadBody {
    rest: Bytes,
    all: u64,
    listener: EventListener,
}

impl Body for UploadBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let before = self.all - size(&self.rest);
        let length = self.rest.len().min(FRAME);
        let frame = self.rest.split_to(length);
        let bytes = before + size(&frame);
        if bytes / PROGRESS_STEP > before / PROGRESS_STEP || self.rest.is_empty() {
            (self.listener)(Event::Sent { bytes, of: self.all });
        }
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(size(&self.rest))
    }
}
