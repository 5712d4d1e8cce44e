//! Runs CPU-heavy work so that other calls continue.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Size in bytes of a body that is presented in place: too small to take long with any content.
const SMALL: u64 = 4 * 1024;

/// Computes something from so many bytes. On the server's runtime of calls, other calls move to another thread where it
/// may take long; a runtime that has only the one thread computes in place.
pub fn compute<T>(bytes: u64, work: impl FnOnce() -> T) -> T {
    let can_move =
        || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > SMALL && can_move() { tokio::task::block_in_place(work) } else { work() }
}
