//! What GitLab answered, as it is.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Page;

/// The answer to a call that succeeded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    pub status: u16,
    pub content: Content,
    /// Where a list stands.
    pub page: Page,
    /// GitLab's `X-Request-Id`, by which its administrators find the request.
    pub request_id: Option<String>,
    /// How often it was sent; 1 where the first attempt succeeded.
    pub attempts: u32,
    /// The size of the body that was read, after decompression.
    pub bytes: u64,
    /// Total number of rows of a list of which only the first are kept.
    pub rows: Option<usize>,
    /// Of a HEAD request, or one whose body went through a sieve: its `X-Gitlab-*` headers, names in lower case
    /// (<https://docs.gitlab.com/api/repository_files/>).
    pub headers: BTreeMap<String, String>,
}

/// The body of a success:
///
/// - 204, or no bytes: `Empty`.
/// - JSON by its content type, or text of another type that parses as an object or a list: `Json`, and `Json(Null)` for
///   `null`. Of a list with too many values the first rows are kept ([`Reply::rows`]). A file is never JSON.
/// - A JSON content type that does not parse: [`Malformed`](super::GitlabError::Malformed); of a change, `Unread`.
/// - A text content type and valid UTF-8, or valid UTF-8 without a NUL: `Text`.
/// - All else: `Binary`, byte for byte. So is a log with one broken byte in it; its `content_type` is then text.
/// - A change that was made but whose answer could not be read: `Unread`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Content {
    #[default]
    Empty,
    Json(Value),
    Text(String),
    Binary {
        bytes: Vec<u8>,
        /// As GitLab gave it; empty where it gave none.
        content_type: String,
        /// From `Content-Disposition`, its last path component alone.
        filename: Option<String>,
    },
    Unread(Unread),
}

/// Why the body of a successful change was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Larger than [`Settings::max_body`](super::Settings::max_body); the size where it was announced.
    TooLarge { limit: u64, size: Option<u64> },
    /// JSON of more values than are kept.
    TooMany { limit: usize },
    /// JSON that is cut off or garbled, with headers that are GitLab's.
    Malformed,
    /// The connection broke, or time ran out, after GitLab had said that it succeeded.
    Lost,
}
