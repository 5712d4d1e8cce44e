//! GitLab instance to connect to.

use url::Url;

/// GitLab instance to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instance {
    /// Root URL with a trailing slash.
    At(Url),
    /// The embedded sandbox.
    Sandbox,
}
