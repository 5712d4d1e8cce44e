//! Leave to send one call.

use crate::call::Call;

/// A call that policy lets run. Only [`super::Policy`] makes one, and the client sends nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Permit {
    call: Call,
}

impl Permit {
    pub(super) fn new(call: Call) -> Permit {
        Permit { call }
    }

    /// The call that may be sent.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// The same with the local files that it names, each as `read` has it.
    pub fn with_files<E>(self, read: impl Fn(&str) -> Result<Vec<u8>, E>) -> Result<Permit, E> {
        Ok(Permit { call: self.call.filled(read)? })
    }

    /// The same, its answer to be kept byte for byte, whatever it is.
    pub fn as_download(self) -> Permit {
        Permit { call: self.call.as_download() }
    }

    /// A permit without a policy, for the client's own tests.
    #[cfg(test)]
    pub(crate) fn for_test(call: Call) -> Permit {
        Permit { call }
    }
}
