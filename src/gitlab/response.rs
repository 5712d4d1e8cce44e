//! Successful responses.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Page;

/// Response to a call that succeeded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    pub status: u16,
    pub content: Content,
    /// Pagination, if the response is a list.
    pub page: Page,
    /// GitLab's `X-Request-Id`, which its administrators find the request by.
    pub request_id: Option<String>,
    /// Size of the body in bytes, after decompression.
    pub bytes: u64,
    /// Total number of rows of a list of which only the first are kept.
    pub rows: Option<usize>,
    /// `X-Gitlab-*` headers of a HEAD request or of a streamed response, names in lower case
    /// (<https://docs.gitlab.com/api/repository_files/>).
    pub headers: BTreeMap<String, String>,
}

impl Reply {
    /// Assumes a next page of a full list that came without headers on pagination ([`Page::assume_next`]). Not of a list of which
    /// only the first rows are kept.
    pub fn assume_next_page(&mut self, sent: &[(String, String)]) {
        if let (Content::Json(Value::Array(rows)), None) = (&self.content, self.rows) {
            self.page.assume_next(sent, rows.len());
        }
    }
}

/// The body of a success:
///
/// - 204, or no bytes: `Empty`.
/// - JSON by its content type, or text of another type that parses as an object or a list: `Json`, and `Json(Null)` for
///   `null`. Of a list with too many values the first rows are kept ([`Reply::rows`]). A file is never JSON.
/// - A JSON content type that does not parse: [`Malformed`](super::GitlabError::Malformed); of a change, `Unread`.
/// - A text content type and valid UTF-8, or valid UTF-8 without a NUL: `Text`.
/// - Anything else: `Binary`, byte for byte. A log with one invalid byte is an example; its `content_type` is then
///   text.
/// - A change that was made but whose response could not be read: `Unread`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Content {
    #[default]
    Empty,
    Json(Value),
    Text(String),
    Binary {
        bytes: Vec<u8>,
        /// From `Content-Type`; empty if missing.
        content_type: String,
        /// From `Content-Disposition`, reduced to its last path component.
        filename: Option<String>,
    },
    Unread(Unread),
}

impl Content {
    /// The rows of a list; none of anything else.
    pub fn rows(&self) -> &[Value] {
        match self {
            Content::Json(Value::Array(rows)) => rows,
            _ => &[],
        }
    }
}

/// Reason why the body of a successful change was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Larger than [`Settings::max_body`](super::Settings::max_body).
    TooLarge { limit: u64 },
    /// JSON of more values than are kept.
    TooMany { limit: usize },
    /// JSON that is cut off or garbled, in a response with GitLab's own headers.
    Malformed,
    /// The connection broke or timed out after the success status had arrived.
    Lost,
}
