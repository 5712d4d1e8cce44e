//! The form in which the catalog is embedded: one postcard record an action behind a table of offsets, so that
//! one action is decoded without its neighbours. Written by the build script, which includes this file by path,
//! and read by `Catalog` of the program.

use serde::{Deserialize, Serialize};

/// Table of contents of the records.
#[derive(Debug, Serialize, Deserialize)]
pub struct Header<'a> {
    /// Every action, sorted by id.
    #[serde(borrow)]
    pub entries: Vec<Entry<'a>>,
    /// Every alias with the actions it may mean, as positions in `entries`; sorted by alias.
    #[serde(borrow)]
    pub aliases: Vec<(&'a str, Vec<u16>)>,
}

/// Index entry of an action, readable without decoding its record.
#[derive(Debug, Serialize, Deserialize)]
pub struct Entry<'a> {
    pub id: &'a str,
    /// Offset of its record, in bytes; it ends at the next one's.
    pub offset: u32,
}
