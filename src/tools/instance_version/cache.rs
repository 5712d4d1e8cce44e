//! The version of the instance, once it was requested.

use tokio::sync::OnceCell;

use crate::catalog::Version;

/// The version of the instance, or that it does not say one.
#[derive(Debug, Default)]
pub struct InstanceVersion(pub(super) OnceCell<Option<Version>>);

impl InstanceVersion {
    /// The version, if it is known by now.
    pub fn known(&self) -> Option<Version> {
        self.0.get().copied().flatten()
    }
}
