//! A body that is looked at while it comes, and of which only what is wanted is ever held.

use std::fmt::Debug;

use reqwest::Response;

/// Takes a body piece by piece.
pub trait BodySink: Debug + Send {
    /// A body begins. What came of an earlier attempt counts for nothing.
    fn begin(&mut self);

    fn take(&mut self, bytes: &[u8]);

    /// It is over: at its end, or where the most that is read of one answer was reached.
    fn end(&mut self, whole: bool);
}

/// Reads a body through; gives how many bytes of it came, of which none is kept here.
pub(super) async fn read(
    response: &mut Response,
    limit: u64,
    sieve: &mut (dyn BodySink + '_),
) -> Result<u64, reqwest::Error> {
    let mut came = 0;
    sieve.begin();
    while let Some(chunk) = response.chunk().await? {
        came += u64::try_from(chunk.len()).unwrap_or(u64::MAX);
        sieve.take(&chunk);
        if came > limit {
            sieve.end(false);
            return Ok(came);
        }
    }
    sieve.end(true);
    Ok(came)
}
