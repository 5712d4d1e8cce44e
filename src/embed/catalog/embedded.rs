//! The form in which the catalog is embedded: one postcard record an action behind a table of offsets, so that
//! one action is decoded without its neighbours. Written by the build script, which includes this file by path,
//! and read by `Catalog` of the program.

use serde::{Deserialize, Serialize};

/// What stands before the records.
#[derive(Debug, Serialize, Deserialize)]
pub struct Header<'a> {
    /// Every action, sorted by id.
    #[serde(borrow)]
    pub entries: Vec<Entry<'a>>,
    /// Every alias with the actions it may mean, as positions in `entries`; sorted by alias.
    #[serde(borrow)]
    pub aliases: Vec<(&'a str, Vec<u16>)>,
}

/// What is known of an action without decoding it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Entry<'a> {
    pub id: &'a str,
    /// Where its record begins, in bytes; it ends where the next one begins.
    pub offset: u32,
}
