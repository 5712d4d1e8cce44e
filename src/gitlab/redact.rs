//! A value that cannot be shown.

use std::fmt;

/// A secret: no `Display`, no `Serialize`, a `Debug` that says nothing. Only this module's client reads it.
///
/// An empty one authenticates nothing and should be refused where it is read.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: String) -> Secret {
        Secret(value)
    }

    /// The value itself, for the one header it belongs in.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
