//! A log file that only its owner may read, also if it was there before, and that is rotated: when it is full it becomes `NAME.1`, in place of the one
//! before.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum size of a log file in bytes, before it is rotated.
const MAX_LOG_BYTES: u64 = 10 * 1024 * 1024;

/// Lines are appended; several processes may write to one file.
#[derive(Clone, Debug)]
pub struct RotatedLog {
    path: PathBuf,
}

impl RotatedLog {
    pub fn new(path: PathBuf) -> RotatedLog {
        RotatedLog { path }
    }

    /// Appends a line, in one write so that lines of several processes do not mix.
    ///
    /// # Errors
    /// The file cannot be opened or written.
    pub fn append(&self, line: &str) -> io::Result<()> {
        let mut file = open(&self.path)?;
        if file.metadata()?.len() > MAX_LOG_BYTES {
            fs::rename(&self.path, rotated(&self.path))?;
            file = open(&self.path)?;
        }
        file.write_all(format!("{line}\n").as_bytes())
    }

    /// The lines of the rotated file and of the current one, the oldest first. A file that does not exist has none.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn lines(&self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        for path in [rotated(&self.path), self.path.clone()] {
            match fs::read_to_string(&path) {
                Ok(text) => lines.extend(text.lines().map(str::to_owned)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(lines)
    }
}

fn rotated(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    PathBuf::from(name)
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = match (options.open(path), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
            create_private_folder(folder)?;
            options.open(path)
        }
        (opened, _) => opened,
    }?;
    close_to_others(&file)?;
    Ok(file)
}

/// Takes the permissions of others from a file that was there before.
#[cfg(unix)]
fn close_to_others(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let (metadata, private) = (file.metadata()?, fs::Permissions::from_mode(0o600));
    match metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
        true => file.set_permissions(private),
        false => Ok(()),
    }
}

/// On Windows, the user's folders are private already.
#[cfg(not(unix))]
fn close_to_others(_: &File) -> io::Result<()> {
    Ok(())
}

/// Creates a folder, and those above it, for its owner alone.
fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_is_rotated_once_and_read_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let log = RotatedLog::new(path.clone());
        assert_eq!(log.lines().unwrap(), Vec::<String>::new());
        fs::write(&path, format!("old\n{}\n", "x".repeat(11 * 1024 * 1024))).unwrap();
        log.append("new").unwrap();
        let lines = log.lines().unwrap();
        assert_eq!(
            (lines.first().map(String::as_str), lines.last().map(String::as_str)),
            (Some("old"), Some("new"))
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("not there yet").join("audit.jsonl");
        RotatedLog::new(path.clone()).append("line").unwrap();
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        RotatedLog::new(path.clone()).append("line").unwrap();
        assert_eq!(mode(), 0o600, "a file that was there before");
    }
}
