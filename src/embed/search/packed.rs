//! The index as one block of bytes: a table of file names, then the files. The build script packs it and includes this
//! file by path; the program's `search::directory` reads it in place.

use serde::{Deserialize, Serialize};

/// The files of the index in order.
#[derive(Debug, Serialize, Deserialize)]
pub struct Table<'a> {
    #[serde(borrow)]
    pub files: Vec<File<'a>>,
}

/// A file and its position in the block.
#[derive(Debug, Serialize, Deserialize)]
pub struct File<'a> {
    pub name: &'a str,
    pub start: u32,
    pub end: u32,
}
