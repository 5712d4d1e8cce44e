//! The embedded index as a read-only tantivy directory that is read in place, without copying.

use std::io;
use std::path::Path;
use std::sync::Arc;

use gitlab_mcp_embed::search::packed::{File, Table};
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, WatchCallback, WatchHandle, WritePtr,
};

/// Files embedded in the binary.
#[derive(Clone, Debug)]
pub struct StaticDirectory {
    files: Arc<[File<'static>]>,
    block: &'static [u8],
}

impl StaticDirectory {
    /// The directory over a packed block and its table.
    pub fn open(table: &'static [u8], block: &'static [u8]) -> Result<StaticDirectory, postcard::Error> {
        let Table { files } = postcard::from_bytes(table)?;
        Ok(StaticDirectory { files: files.into(), block })
    }

    fn bytes(&self, path: &Path) -> Result<&'static [u8], OpenReadError> {
        let file = self.files.iter().find(|file| Path::new(file.name) == path);
        file.and_then(|file| self.block.get(file.start as usize..file.end as usize))
            .ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the index is part of the binary")
}

impl Directory for StaticDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        Ok(Arc::new(OwnedBytes::new(self.bytes(path)?)))
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.bytes(path).is_ok())
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.bytes(path).map(<[u8]>::to_vec)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_owned() })
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(read_only(), path.to_owned()))
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    /// Locks always succeed, as nothing is written.
    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
