//! Untrusted text (from GitLab, a proxy, the author of an issue) within our own: token shapes, redaction of own
//! secrets, look-alikes of the `<gitlab>` tags, quotation.

mod clean;
mod escape;
mod marks;
mod quote;
mod secrets;
mod tokens;

pub use clean::{cleaned, is_invisible, joiners};
pub use marks::{MAX_DASHES, defuse, defuse_tags, folded, is_tag_end};
pub use quote::{
    bare_name, foreign_line, one_line, quote, quoted_name, shortened, shortened_at_word, without_calls,
};
pub use secrets::Secrets;
pub use tokens::{holds_token, is_token, mask, mask_tokens};
