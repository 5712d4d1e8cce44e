//! Serialized form of the embedded catalog: one postcard record per action and a table of offsets, so that a single
//! action can be decoded. The build script writes it and includes this file by path; `Catalog` in the program reads it.

use serde::{Deserialize, Serialize};

/// Table of contents of the records.
#[derive(Debug, Serialize, Deserialize)]
pub struct Header<'a> {
    /// Every action, sorted by id.
    #[serde(borrow)]
    pub entries: Vec<Entry<'a>>,
    /// Every alias with the positions in `entries` of the actions that have it; sorted by alias.
    #[serde(borrow)]
    pub aliases: Vec<(&'a str, Vec<u16>)>,
}

/// Index entry of an action, readable without decoding its record.
#[derive(Debug, Serialize, Deserialize)]
pub struct Entry<'a> {
    pub id: &'a str,
    /// Offset of its record in bytes. The record ends at the next entry's offset.
    pub offset: u32,
}
