//! Long computations within a call: other calls go on beside them.

use tokio::runtime::{Handle, RuntimeFlavor};

/// A body of this size is presented before another call could mind.
const SMALL: u64 = 256 * 1024;

/// Computes something from so many bytes. On the server's runtime of calls, other calls move to another thread where it
/// may take long; a runtime that has only the one thread computes in place.
pub fn compute<T>(bytes: u64, work: impl FnOnce() -> T) -> T {
    let can_move =
        || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > SMALL && can_move() { tokio::task::block_in_place(work) } else { work() }
}
