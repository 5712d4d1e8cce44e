//! Batches of messages, which MCP had in 2025-03-26 only and whose servers had to take them (basic protocol, batching).

use serde_json::value::RawValue;

/// The messages of a batch; none of another text. An empty batch, and one within a batch, are invalid.
pub(super) fn messages_of(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    if !text.trim_ascii_start().starts_with(b"[") {
        return None;
    }
    let messages: Vec<&RawValue> = serde_json::from_slice(text).ok()?;
    let is_message = |message: &&RawValue| message.get().starts_with('{');
    let is_batch = !messages.is_empty() && messages.iter().all(is_message);
    is_batch.then(|| messages.iter().map(|message| message.get().as_bytes().to_vec()).collect())
}
