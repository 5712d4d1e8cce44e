//! The index as one block of bytes: its files behind a table of their names. The build script, which includes
//! this file by path, packs it; the program's `search::directory` reads it in place.

use serde::{Deserialize, Serialize};

/// The files of the index in order.
#[derive(Debug, Serialize, Deserialize)]
pub struct Table<'a> {
    #[serde(borrow)]
    pub files: Vec<File<'a>>,
}

/// A file and where it lies in the block.
#[derive(Debug, Serialize, Deserialize)]
pub struct File<'a> {
    pub name: &'a str,
    pub start: u32,
    pub end: u32,
}
