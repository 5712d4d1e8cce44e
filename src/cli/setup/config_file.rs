//! A configuration file on disk: loaded whole, and replaced at once or not at all.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file and its text when it was loaded; none if it did not exist.
#[derive(Debug)]
pub struct ConfigFile {
    path: PathBuf,
    text: Option<String>,
    /// True if what is written is for the owner of the file alone.
    is_private: bool,
}

impl ConfigFile {
    /// Loads a file, through symbolic links. A pipe is refused: reading it could wait for ever.
    pub fn load(path: &Path) -> io::Result<ConfigFile> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is a pipe or a device, not a file"));
        }
        match fs::read_to_string(path) {
            Ok(text) => Ok(ConfigFile { path: fs::canonicalize(path)?, text: Some(text), is_private: false }),
            // A link to nowhere is not replaced by a file.
            Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
                Ok(ConfigFile { path: path.to_owned(), text: None, is_private: false })
            }
            Err(error) => Err(error),
        }
    }

    /// The text; empty if the file does not exist.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The same file, whose new text holds a secret.
    pub fn private(self) -> ConfigFile {
        ConfigFile { is_private: true, ..self }
    }

    /// True if others than its owner may read or write the file.
    pub fn is_open_to_others(&self) -> bool {
        fs::metadata(&self.path)
            .is_ok_and(|metadata| owner_only(metadata.permissions()) != metadata.permissions())
    }

    /// True if the file exists.
    pub fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// The folders that writing the file would create, from the outermost.
    pub fn missing_folders(&self) -> Vec<PathBuf> {
        let above = self.path.ancestors().skip(1).take_while(|folder| !folder.exists());
        let mut missing: Vec<PathBuf> = above.map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// Replaces the text. The file keeps its permissions unless the text is private, a new one is its owner's alone, and
    /// a reader sees the old text or the new.
    pub fn replace(&self, text: &str) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let draft = folder.join(format!(".{name}.{}.gitlab-mcp", std::process::id()));
        let written = self.write(&draft, text).and_then(|()| {
            self.check_unchanged()?;
            fs::rename(&draft, &self.path)
        });
        if written.is_err() {
            // The draft may not exist; the error that counts is the first.
            let _ = fs::remove_file(&draft);
        }
        written
    }

    /// Removes the file.
    pub fn remove(&self) -> io::Result<()> {
        self.check_unchanged()?;
        fs::remove_file(&self.path)
    }

    fn write(&self, draft: &Path, text: &str) -> io::Result<()> {
        let mut file = create_private(draft)?;
        file.write_all(text.as_bytes())?;
        if self.exists() {
            let permissions = fs::metadata(&self.path)?.permissions();
            file.set_permissions(if self.is_private { owner_only(permissions) } else { permissions })?;
        }
        file.sync_all()
    }

    /// Fails if another program wrote the file meanwhile: its change would be lost.
    fn check_unchanged(&self) -> io::Result<()> {
        let now = match fs::read(&self.path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        match now.as_deref() == self.text.as_deref().map(str::as_bytes) {
            true => Ok(()),
            false => Err(io::Error::other("the file changed meanwhile")),
        }
    }
}

/// The permissions without those of others.
#[cfg(unix)]
fn owner_only(permissions: Permissions) -> Permissions {
    use std::os::unix::fs::PermissionsExt;

    Permissions::from_mode(permissions.mode() & !0o077)
}

/// On Windows, the user's folders are private already.
#[cfg(not(unix))]
fn owner_only(permissions: Permissions) -> Permissions {
    permissions
}

/// Creates a file that its owner alone can read.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
