//! Streaming consumers of response bodies. The body as a whole is never held in memory.

use std::fmt::Debug;

use reqwest::Response;

use super::body;

/// Consumer of a body, chunk by chunk.
pub trait BodySink: Debug + Send {
    /// Starts a body. Discards the chunks of an earlier attempt.
    fn begin(&mut self);

    fn take(&mut self, bytes: &[u8]);

    /// Ends a body. `whole` is false if it was cut off at the size limit.
    fn end(&mut self, whole: bool);
}

/// Streams a body into `sink` and returns its number of bytes. Stops after the chunk that exceeds `limit`.
pub(super) async fn stream_into(
    response: &mut Response,
    limit: u64,
    sink: &mut (dyn BodySink + '_),
) -> Result<u64, reqwest::Error> {
    let mut came = 0;
    sink.begin();
    while let Some(chunk) = response.chunk().await? {
        came += body::size(&chunk);
        sink.take(&chunk);
        if came > limit {
            sink.end(false);
            return Ok(came);
        }
    }
    sink.end(true);
    Ok(came)
}
