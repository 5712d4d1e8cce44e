//! Errors of the embedded catalog.

use lz4_flex::block;

/// The embedded bytes do not match this build of the reader. Cannot happen to a binary whose build
/// script passed its own check.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("the embedded catalog cannot be read")]
    Header(#[source] postcard::Error),
    #[error("the embedded words cannot be read")]
    Words(#[source] postcard::Error),
    #[error("the embedded operations cannot be read")]
    Operations(#[source] postcard::Error),
    #[error("the embedded fragments cannot be read")]
    Fragments(#[source] postcard::Error),
    #[error("the embedded catalog cannot be decompressed")]
    Inflate(#[source] std::io::Error),
    #[error("the embedded record of action {0} cannot be decompressed")]
    Packed(usize, #[source] block::DecompressError),
    #[error("the embedded record of action {0} cannot be read")]
    Record(usize, #[source] postcard::Error),
    #[error("the catalog has no action number {0}")]
    NoSuchAction(usize),
}
