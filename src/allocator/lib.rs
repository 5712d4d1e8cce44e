//! The memory allocator: mimalloc, set to return freed memory to the operating system at once.
//!
//! A crate of its own because the one call that sets the option is unsafe (C), and the main crate forbids unsafe code.

use std::ffi::c_long;

use libmimalloc_sys::{mi_option_get, mi_option_set, mi_option_t};

pub use mimalloc::MiMalloc;

/// `mi_option_purge_delay`, which libmimalloc-sys does not name: milliseconds until freed pages are returned. The delay
/// ends only with a later allocation, so a server that waits for its next call keeps the pages.
const PURGE_DELAY: mi_option_t = 15;

/// Value of [`PURGE_DELAY`] in mimalloc 3 before it is set.
const DEFAULT_PURGE_DELAY: c_long = 1_000;

/// Makes mimalloc return pages to the operating system when they are freed. To be called first in `main`: the option is
/// not synchronized between threads. Changes nothing if the option has another value than its default, as where another
/// version of mimalloc has another option in its place, or the environment sets `MIMALLOC_PURGE_DELAY`.
pub fn purge_at_once() {
    if purge_delay() == DEFAULT_PURGE_DELAY {
        // SAFETY: the option exists, as its default was just read. A thread that allocates meanwhile reads one word, the
        // old value or the new, and either is valid.
        unsafe { mi_option_set(PURGE_DELAY, 0) }
    }
}

/// The current delay in milliseconds.
pub fn purge_delay() -> c_long {
    // SAFETY: as above; mimalloc returns 0 for an option that does not exist.
    unsafe { mi_option_get(PURGE_DELAY) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_the_purge_delay() {
        assert_eq!(purge_delay(), DEFAULT_PURGE_DELAY);
        purge_at_once();
        assert_eq!(purge_delay(), 0);
    }
}
