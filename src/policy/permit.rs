//! Permits: proof that the policy allows a call.

use crate::call::{Call, UnknownField};

/// A call that the policy allows.
///
/// *Architecture Invariant:* only [`super::Policy`] creates one, and the client sends nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Permit {
    call: Call,
    stays: bool,
}

impl Permit {
    /// `stays` is true if redirects to other API paths must not be followed.
    pub(super) fn new(call: Call, stays: bool) -> Permit {
        Permit { call, stays }
    }

    /// True if a redirect to another path of the API must not be followed: GitLab redirects to a project's new path
    /// when it has moved, and path rules have not checked that one.
    pub fn forbids_redirect(&self) -> bool {
        self.stays
    }

    /// The permitted call.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Loads the local files that the call names by `read`.
    pub fn with_files<E>(self, read: impl Fn(&str) -> Result<Vec<u8>, E>) -> Result<Permit, E> {
        Ok(Permit { call: self.call.filled(read)?, ..self })
    }

    /// The permit for the same call without fields of its answer that the instance does not know; see
    /// [`Call::without_fields`]. What it changes is the same.
    pub fn without_fields(&self, unknown: &[UnknownField]) -> Option<Permit> {
        Some(Permit { call: self.call.without_fields(unknown)?, ..self.clone() })
    }

    /// Marks the call as a download: its response is kept byte for byte.
    pub fn as_download(self) -> Permit {
        Permit { call: self.call.as_download(), ..self }
    }

    /// A permit without a policy, for the client's own tests.
    #[cfg(test)]
    pub(crate) fn for_test(call: Call) -> Permit {
        Permit { call, stays: false }
    }

    /// The same under rules on paths.
    #[cfg(test)]
    pub(crate) fn staying(self) -> Permit {
        Permit { stays: true, ..self }
    }
}
