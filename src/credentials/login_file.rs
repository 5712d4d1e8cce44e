//! The file of sign-ins that `gitlab-mcp auth login` keeps: one for each instance, by its whole root URL. Only its
//! owner can read it. Writers hold a lock, and replace the file as a whole.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use url::Url;

use super::git_helpers::Helper;
use super::issued::{from_unix, to_unix};
use crate::gitlab::Secret;

/// Errors that mean that there is no file of this user.
const NO_FILE: [io::ErrorKind; 3] =
    [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory, io::ErrorKind::PermissionDenied];

/// Version of the format.
const VERSION: u32 = 1;

/// Maximum time to wait for another process that renews a sign-in.
const LOCK_TIME: Duration = Duration::from_secs(30);

/// Time between two attempts to lock.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// The file of sign-ins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginFile {
    path: PathBuf,
}

/// How the user is signed in to an instance.
#[derive(Clone, Debug)]
pub enum SignIn {
    /// By tokens of our own.
    Kept(KeptSignIn),
    /// By another program, which the user agreed to.
    Helper(Helper),
}

/// OAuth tokens with the application that they were issued to.
#[derive(Clone, Debug)]
pub struct KeptSignIn {
    pub client_id: String,
    pub access_token: Secret,
    /// Good once. None if the sign-in cannot be renewed.
    pub refresh_token: Option<Secret>,
    pub expires_at: Option<SystemTime>,
    pub scope: Option<String>,
}

/// The file cannot be used. No variant contains its content.
#[derive(Debug, thiserror::Error)]
pub enum LoginFileError {
    #[error("cannot read the sign-ins in {}", .0.display())]
    Read(PathBuf, #[source] io::Error),
    #[error("cannot write the sign-ins to {}", .0.display())]
    Write(PathBuf, #[source] io::Error),
    #[error("{} is not a file of sign-ins (line {line}); remove it and sign in again", .path.display())]
    Format { path: PathBuf, line: usize },
    #[error("{} was written by a newer gitlab-mcp", .0.display())]
    Newer(PathBuf),
    #[error("another process has locked {} for {} s", .0.display(), LOCK_TIME.as_secs())]
    Locked(PathBuf),
}

#[derive(Serialize, Deserialize)]
struct FileBody {
    version: u32,
    #[serde(default)]
    sign_ins: BTreeMap<String, EntryBody>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum EntryBody {
    Oauth {
        client_id: String,
        access_token: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refresh_token: Option<String>,
        /// Unix time in seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<String>,
    },
    Helper {
        program: String,
    },
}

/// The file, which no other process writes meanwhile.
#[derive(Debug)]
pub(super) struct LockedLoginFile<'f> {
    file: &'f LoginFile,
    /// Unlocked when it is closed.
    _lock: File,
}

impl LoginFile {
    pub fn new(path: PathBuf) -> LoginFile {
        LoginFile { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The sign-in to an instance.
    ///
    /// # Errors
    /// The file cannot be read. One that does not exist has no sign-ins.
    pub fn find(&self, base: &Url) -> Result<Option<SignIn>, LoginFileError> {
        Ok(self.load()?.sign_ins.remove(base.as_str()).and_then(SignIn::from_entry))
    }

    /// Root URLs of the instances that the user is signed in to.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn instances(&self) -> Result<Vec<String>, LoginFileError> {
        Ok(self.load()?.sign_ins.into_keys().collect())
    }

    /// True if other users of the machine may read the file.
    pub fn is_exposed(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|metadata| may_be_read_by_others(&metadata))
    }

    /// Locks the file against other processes. The lock is on a file next to it, as the file itself is replaced.
    pub(super) async fn lock(&self) -> Result<LockedLoginFile<'_>, LoginFileError> {
        let failed = |error| LoginFileError::Write(self.path.clone(), error);
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create_private_folder(folder).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let lock = private(&mut options).open(self.sibling("lock")).map_err(failed)?;
        let started = tokio::time::Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(LockedLoginFile { file: self, _lock: lock }),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if started.elapsed() > LOCK_TIME => {
                    return Err(LoginFileError::Locked(self.path.clone()));
                }
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_PAUSE).await,
            }
        }
    }

    /// Loads the sign-ins for reading. A program may run without a home directory, or in that of another user.
    fn load(&self) -> Result<FileBody, LoginFileError> {
        self.load_unless(&NO_FILE)
    }

    /// Loads the sign-ins for a change. A file that exists but cannot be read is an error: replacing it would lose its
    /// sign-ins.
    fn load_for_change(&self) -> Result<FileBody, LoginFileError> {
        self.load_unless(&[io::ErrorKind::NotFound])
    }

    /// Loads the sign-ins. Errors of the kinds `absent` mean that there are none.
    fn load_unless(&self, absent: &[io::ErrorKind]) -> Result<FileBody, LoginFileError> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if absent.contains(&error.kind()) => {
                return Ok(FileBody { version: VERSION, sign_ins: BTreeMap::new() });
            }
            Err(error) => return Err(LoginFileError::Read(self.path.clone(), error)),
        };
        // The error is dropped: it may quote the content.
        let body: FileBody = serde_json::from_str(&text)
            .map_err(|error| LoginFileError::Format { path: self.path.clone(), line: error.line() })?;
        match body.version {
            VERSION => Ok(body),
            _ => Err(LoginFileError::Newer(self.path.clone())),
        }
    }

    fn sibling(&self, ending: &str) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(ending);
        self.path.with_file_name(name)
    }

    /// Replaces the file: all of it is written, or nothing.
    fn write(&self, body: &FileBody) -> io::Result<()> {
        let text = serde_json::to_string_pretty(body).map_err(io::Error::other)?;
        let new = self.sibling("new");
        // Left behind by a process that was killed.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let written = write_private(&new, &text).and_then(|()| fs::rename(&new, &self.path));
        if written.is_err() {
            // The draft has tokens, perhaps cut off. The first error is the one to report.
            let _ = fs::remove_file(&new);
        }
        written
    }
}

impl LockedLoginFile<'_> {
    pub fn find(&self, base: &Url) -> Result<Option<SignIn>, LoginFileError> {
        self.file.find(base)
    }

    pub fn keep(&self, base: &Url, sign_in: &SignIn) -> Result<(), LoginFileError> {
        let mut body = self.file.load_for_change()?;
        body.sign_ins.insert(base.as_str().to_owned(), sign_in.to_entry());
        self.file.write(&body).map_err(|error| LoginFileError::Write(self.file.path.clone(), error))
    }

    pub fn remove(&self, base: &Url) -> Result<(), LoginFileError> {
        let mut body = self.file.load_for_change()?;
        body.sign_ins.remove(base.as_str());
        self.file.write(&body).map_err(|error| LoginFileError::Write(self.file.path.clone(), error))
    }
}

impl SignIn {
    /// None for a program that this version does not know.
    fn from_entry(entry: EntryBody) -> Option<SignIn> {
        match entry {
            EntryBody::Oauth { client_id, access_token, refresh_token, expires_at, scope } => {
                Some(SignIn::Kept(KeptSignIn {
                    client_id,
                    access_token: Secret::new(access_token),
                    refresh_token: refresh_token.map(Secret::new),
                    expires_at: expires_at.and_then(from_unix),
                    scope,
                }))
            }
            EntryBody::Helper { program } => Helper::parse(&program).map(SignIn::Helper),
        }
    }

    fn to_entry(&self) -> EntryBody {
        match self {
            SignIn::Kept(kept) => EntryBody::Oauth {
                client_id: kept.client_id.clone(),
                access_token: kept.access_token.reveal().to_owned(),
                refresh_token: kept.refresh_token.as_ref().map(|token| token.reveal().to_owned()),
                expires_at: kept.expires_at.map(to_unix),
                scope: kept.scope.clone(),
            },
            SignIn::Helper(helper) => EntryBody::Helper { program: helper.name().to_owned() },
        }
    }
}

/// Writes a new file that only its owner can read, to the disk.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = private(&mut options).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Makes files that only their owner can read. On Windows, the user's folders are private already.
fn private(options: &mut OpenOptions) -> &OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(unix)]
fn may_be_read_by_others(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
fn may_be_read_by_others(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_file_that_cannot_be_replaced_leaves_no_tokens_beside_it() {
        use super::*;

        let folder = tempfile::tempdir().unwrap();
        let file = LoginFile::new(folder.path().join("sign-ins.json"));
        // A folder cannot be replaced by a file, whoever runs the test.
        fs::create_dir(file.path()).unwrap();
        file.write(&FileBody { version: VERSION, sign_ins: BTreeMap::new() }).unwrap_err();
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["sign-ins.json"]);
    }

    #[test]
    #[cfg(unix)]
    fn an_unreadable_file_has_no_sign_ins_but_is_not_replaced() {
        use super::*;

        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let file = LoginFile::new(folder.path().join("file/sign-ins.json"));
        assert!(file.load().unwrap().sign_ins.is_empty());
        assert!(matches!(file.load_for_change(), Err(LoginFileError::Read(..))));
        let missing = LoginFile::new(folder.path().join("sign-ins.json"));
        assert!(missing.load_for_change().unwrap().sign_ins.is_empty());
    }
}
