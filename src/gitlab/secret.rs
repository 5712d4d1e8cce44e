//! Secret values that cannot be displayed.

use std::fmt;

/// A secret: no `Display`, no `Serialize`, and a redacted `Debug`. Only this module's client can read it.
///
/// An empty secret authenticates nothing and should be rejected where it is loaded.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: String) -> Secret {
        Secret(value)
    }

    /// The value itself, for use in its header only.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
