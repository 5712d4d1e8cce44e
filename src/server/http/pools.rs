//! Limits that requests share: turns of finds, and memory of request bodies. A request takes its part of its caller's pool, of
//! the pool of all callers that GitLab has not accepted yet, if it is of one of them, and of the server's.

use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory of request bodies is taken in units of this size. The first unit of a body is free, so that a large body
/// does not keep small ones out; connections bound how many there are.
pub(super) const BODY_UNIT: usize = 32 * 1024;

/// Memory of the request bodies of the server, in bytes.
const SERVER_BODIES: usize = 48 * 1024 * 1024;

/// The same of one caller, and of all callers together that GitLab has not accepted yet: three of the largest bodies.
const CALLER_BODIES: usize = 18 * 1024 * 1024;

/// Pools of a caller, of several together, or of the server.
#[derive(Clone, Debug)]
pub(super) struct Pools {
    /// Turns of finds. A semaphore is fair: with one turn of each caller, the callers take turns.
    pub(super) finds: Arc<Semaphore>,
    /// Units of memory for request bodies.
    pub(super) bodies: Arc<Semaphore>,
}

impl Pools {
    fn new(finds: usize, body_bytes: usize) -> Pools {
        let units = body_bytes / BODY_UNIT;
        Pools { finds: Arc::new(Semaphore::new(finds)), bodies: Arc::new(Semaphore::new(units)) }
    }

    /// The pools of one caller, or of all callers that GitLab has not accepted yet.
    pub(super) fn of_caller() -> Pools {
        Pools::new(1, CALLER_BODIES)
    }

    /// The pools of the server. A find computes on one processor.
    pub(super) fn of_server() -> Pools {
        Pools::new(available_parallelism().map_or(1, usize::from), SERVER_BODIES)
    }
}

/// Memory for one body, taken while it is read.
#[derive(Debug)]
pub(super) struct BodyMemory {
    pools: Vec<Arc<Semaphore>>,
    units: usize,
    taken: Vec<OwnedSemaphorePermit>,
}

impl BodyMemory {
    pub(super) fn new(pools: &[&Pools]) -> BodyMemory {
        let pools = pools.iter().map(|pools| Arc::clone(&pools.bodies)).collect();
        BodyMemory { pools, units: 1, taken: Vec::new() }
    }

    /// Takes as much as a body of this size needs. Returns false if one of the pools is used up.
    pub(super) fn reserve(&mut self, bytes: usize) -> bool {
        let missing = bytes.div_ceil(BODY_UNIT).saturating_sub(self.units);
        let Ok(count) = u32::try_from(missing) else { return false };
        if count == 0 {
            return true;
        }
        let permits = self.pools.iter().map(|pool| Arc::clone(pool).try_acquire_many_owned(count));
        let Ok(permits) = permits.collect::<Result<Vec<_>, _>>() else { return false };
        self.taken.extend(permits);
        self.units += missing;
        true
    }

    /// Gives everything back.
    pub(super) fn release(&mut self) {
        self.taken.clear();
        self.units = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_BODY_BYTES: usize = 6 * 1024 * 1024;

    #[test]
    fn bodies_of_one_caller_leave_memory_to_others() {
        let (server, one, other) = (Pools::of_server(), Pools::of_caller(), Pools::of_caller());
        let read = |caller: &Pools, bytes: usize| {
            let mut memory = BodyMemory::new(&[caller, &server]);
            memory.reserve(bytes).then_some(memory)
        };
        let kept: Vec<BodyMemory> = (0..10).filter_map(|_| read(&one, MAX_BODY_BYTES)).collect();
        assert_eq!(kept.len(), 3);
        assert!(read(&one, BODY_UNIT).is_some() && read(&one, BODY_UNIT + 1).is_some(), "units of 32 KiB");
        assert!(read(&other, MAX_BODY_BYTES).is_some(), "another caller has its own");
        drop(kept);
        assert!(read(&one, MAX_BODY_BYTES).is_some(), "memory is given back");
    }

    #[test]
    fn bodies_of_all_callers_are_bounded_together_and_small_ones_are_always_read() {
        let server = Pools::of_server();
        let callers: Vec<Pools> = (0..10).map(|_| Pools::of_caller()).collect();
        let mut kept = Vec::new();
        for caller in &callers {
            let mut memory = BodyMemory::new(&[caller, &server]);
            // As it arrives.
            if (1..=MAX_BODY_BYTES / BODY_UNIT).all(|units| memory.reserve(units * BODY_UNIT)) {
                kept.push(memory);
            }
        }
        assert_eq!(kept.len(), SERVER_BODIES / MAX_BODY_BYTES);
        let mut small = BodyMemory::new(&[&callers[9], &server]);
        assert!(small.reserve(BODY_UNIT));
    }
}
