//! Metadata of a git working tree: its configuration and `HEAD`, no other file. Only the given directory is
//! searched, not its parents, which the client did not name.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

/// Maximum size of a git metadata file; a configuration has a few hundred bytes.
const MAX_METADATA_BYTES: u64 = 256 * 1024;

/// Metadata of a git working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Root directory of the working tree.
    pub root: PathBuf,
    /// Content of the git configuration.
    pub config: String,
    /// Content of `HEAD`: `ref: refs/heads/main`, or a commit.
    pub head: String,
}

/// Opens the working tree in a directory. Returns `None` if it is not one or is unreadable.
pub fn checkout(root: &Path) -> Option<Checkout> {
    load_checkout(root).inspect_err(|error| tracing::debug!(%error, "no working copy")).ok()
}

fn load_checkout(root: &Path) -> io::Result<Checkout> {
    let dir = Dir::open_ambient_dir(root, ambient_authority())?;
    let at = if dir.metadata(".git")?.is_dir() {
        root.join(".git")
    } else {
        // In a linked worktree or a submodule, `.git` is a file with the path of the git directory.
        let said = text(&dir, ".git")?;
        let path = said.trim().strip_prefix("gitdir:").map(str::trim).ok_or(io::ErrorKind::InvalidData)?;
        root.join(path)
    };
    let git = Dir::open_ambient_dir(&at, ambient_authority())?;
    let head = text(&git, "HEAD")?;
    let config = match text(&git, "commondir") {
        // A linked worktree uses the configuration of its main repository.
        Ok(common) => text(&Dir::open_ambient_dir(at.join(common.trim()), ambient_authority())?, "config")?,
        Err(_) => text(&git, "config")?,
    };
    Ok(Checkout { root: root.to_owned(), config, head })
}

impl Checkout {
    /// Returns true if the working tree contains a file at the path.
    pub fn has(&self, path: &str) -> bool {
        let dir = Dir::open_ambient_dir(&self.root, ambient_authority());
        dir.is_ok_and(|dir| dir.metadata(path).is_ok_and(|found| found.is_file()))
    }
}

fn text(dir: &Dir, name: &str) -> io::Result<String> {
    // Checked before opening: opening a pipe blocks.
    if !dir.metadata(name)?.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = String::new();
    dir.open(name)?.take(MAX_METADATA_BYTES).read_to_string(&mut text)?;
    Ok(text)
}
