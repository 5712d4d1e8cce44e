//! Text that comes from outside (GitLab, a proxy, whoever wrote an issue) inside texts of our own: one list of token
//! shapes, masking of known secrets, look-alikes of the `<gitlab>` tags, quotation in one line.

mod marks;
mod quote;
mod secrets;
mod tokens;

pub use marks::{defuse, defuse_tags, folded, is_tag_end};
pub use quote::{is_invisible, one_line, quote, shortened};
pub use secrets::Secrets;
pub use tokens::{holds_token, is_token, mask, mask_tokens};
