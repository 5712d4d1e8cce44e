//! A working copy of git's: its configuration and what is checked out, and no other file of it. It is looked for in
//! the directory that was named and not above it, as nobody named what is there.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

/// How long a file of git's may be: its configuration is a few hundred bytes.
const MOST: u64 = 256 * 1024;

/// What git keeps of a working copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Where its files are.
    pub root: PathBuf,
    /// The text of its configuration.
    pub config: String,
    /// The text of its `HEAD`: `ref: refs/heads/main`, or a commit.
    pub head: String,
}

/// The working copy in that directory; none where it is no such, or cannot be read.
pub fn checkout(root: &Path) -> Option<Checkout> {
    read(root).inspect_err(|error| tracing::debug!(%error, "no working copy")).ok()
}

fn read(root: &Path) -> io::Result<Checkout> {
    let dir = Dir::open_ambient_dir(root, ambient_authority())?;
    let at = if dir.metadata(".git")?.is_dir() {
        root.join(".git")
    } else {
        // Of a worktree and a submodule `.git` is a file that says where theirs is.
        let said = text(&dir, ".git")?;
        let path = said.trim().strip_prefix("gitdir:").map(str::trim).ok_or(io::ErrorKind::InvalidData)?;
        root.join(path)
    };
    let git = Dir::open_ambient_dir(&at, ambient_authority())?;
    let head = text(&git, "HEAD")?;
    let config = match text(&git, "commondir") {
        // The configuration of a worktree is that of the repository it belongs to.
        Ok(common) => text(&Dir::open_ambient_dir(at.join(common.trim()), ambient_authority())?, "config")?,
        Err(_) => text(&git, "config")?,
    };
    Ok(Checkout { root: root.to_owned(), config, head })
}

impl Checkout {
    /// Whether it has a file of that path.
    pub fn has(&self, path: &str) -> bool {
        let dir = Dir::open_ambient_dir(&self.root, ambient_authority());
        dir.is_ok_and(|dir| dir.metadata(path).is_ok_and(|found| found.is_file()))
    }
}

fn text(dir: &Dir, name: &str) -> io::Result<String> {
    // Asked first: a pipe would be waited for.
    if !dir.metadata(name)?.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = String::new();
    dir.open(name)?.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}
