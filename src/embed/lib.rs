//! Embedded data formats, shared by the build script and the program: the types of the catalog and the search index,
//! and the code that writes them. A separate crate, so that both use the same types, compiled once.

pub mod writer;
/// The catalog's data types.
pub mod catalog {
    pub mod embedded;
    pub mod language;
    pub mod model;
    pub mod names;
    pub mod operation_index;
    pub mod tool_names;
}
/// The search index and how text becomes its terms.
pub mod search {
    pub mod fields;
    pub mod indexing;
    pub mod normalise;
    pub mod packed;
    pub mod profile;
}
