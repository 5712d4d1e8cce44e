//! Weights of the sentence encoder, written by `catalog/training`.
//!
//! A separate crate, so that each package is below the size limit of the crate registry.

/// Vocabulary and 8-bit weights.
pub static ENCODER: &[u8] = include_bytes!("encoder.bin");
