//! Leave to send one call.

use crate::call::Call;

/// A call that policy lets run. Only [`super::Policy`] makes one, and the client sends nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Permit {
    call: Call,
    stays: bool,
}

impl Permit {
    /// `stays`: whether a redirect to another path of the API is outside of what was decided on.
    pub(super) fn new(call: Call, stays: bool) -> Permit {
        Permit { call, stays }
    }

    /// True if a redirect to another path of the API must not be followed: a project that has moved is redirected
    /// to, and rules on paths have not decided on where it is now.
    pub fn stays(&self) -> bool {
        self.stays
    }

    /// The call that may be sent.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// The same with the local files that it names, each as `read` has it.
    pub fn with_files<E>(self, read: impl Fn(&str) -> Result<Vec<u8>, E>) -> Result<Permit, E> {
        Ok(Permit { call: self.call.filled(read)?, ..self })
    }

    /// The same, its answer to be kept byte for byte, whatever it is.
    pub fn as_download(self) -> Permit {
        Permit { call: self.call.as_download(), ..self }
    }

    /// A permit without a policy, for the client's own tests.
    #[cfg(test)]
    pub(crate) fn for_test(call: Call) -> Permit {
        Permit { call, stays: false }
    }
}
