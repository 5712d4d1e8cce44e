//! Secret values that cannot be displayed.

use std::fmt;

use serde::Deserialize;

/// A secret: no `Display`, no `Serialize`, and a redacted `Debug`. Only `gitlab` and `credentials` read it.
///
/// An empty secret authenticates nothing and should be rejected where it is loaded.
#[derive(Clone, Deserialize)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: String) -> Secret {
        Secret(value)
    }

    /// The value itself, for its header or form field, and for the file that keeps a sign-in.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
