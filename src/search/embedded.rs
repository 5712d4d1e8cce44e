//! Data of the search that is embedded in the binary.

pub static PROFILES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_profiles.bin"));
pub static EMBEDDINGS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_embeddings.bin"));
pub use gitlab_mcp_weights::ENCODER;
