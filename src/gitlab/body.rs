//! Response bodies: streaming read with a size limit, and classification by media type and content.

use reqwest::Response;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap};

use super::json::{self, Parsed};
use super::progress::{Event, PROGRESS_STEP, notify};
use super::{Content, content_disposition};

/// Reason why a body was not read to its end.
pub(super) enum Stopped {
    TooLarge { size: Option<u64> },
    Broken(reqwest::Error),
}

/// Reads the whole body. At most `limit` bytes are held in memory.
pub(super) async fn read_body(response: &mut Response, limit: u64) -> Result<Vec<u8>, Stopped> {
    let announced = response.content_length();
    if announced.is_some_and(|size| size > limit) {
        return Err(Stopped::TooLarge { size: announced });
    }
    let mut bytes = Vec::with_capacity(announced.and_then(|size| usize::try_from(size).ok()).unwrap_or(0));
    while let Some(chunk) = response.chunk().await.map_err(Stopped::Broken)? {
        if size(&bytes) + size(&chunk) > limit {
            return Err(Stopped::TooLarge { size: None });
        }
        let before = size(&bytes) / PROGRESS_STEP;
        bytes.extend_from_slice(&chunk);
        if size(&bytes) / PROGRESS_STEP > before {
            notify(Event::Received { bytes: size(&bytes), of: announced });
        }
    }
    Ok(bytes)
}

/// Reads the first bytes of an error body. A transport error ends it early.
pub(super) async fn read_start(response: &mut Response, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while size(&bytes) < limit {
        match response.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) | Err(_) => break,
        }
    }
    bytes
}

/// Result of classifying a body.
pub(super) enum ReceivedBody {
    Whole(Content),
    /// The first rows of a list, and its total number of rows.
    Rows {
        content: Content,
        came: usize,
    },
    /// JSON of more values than are kept.
    TooMany {
        limit: usize,
    },
    /// The content type is JSON but the body does not parse.
    Malformed,
}

/// Classifies a body by the rules of [`Content`]. A file is never parsed as JSON, whatever its content type.
pub(super) fn content(
    status: StatusCode,
    headers: &HeaderMap,
    bytes: Vec<u8>,
    is_file: bool,
) -> ReceivedBody {
    if bytes.is_empty() || status == StatusCode::NO_CONTENT {
        return ReceivedBody::Whole(Content::Empty);
    }
    let content_type = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = BodyKind::classify(&content_type);
    let is_json = kind == BodyKind::Json && !is_file;
    // GitLab and the proxies before it do not always name the type.
    let may_be_json = !is_file && kind != BodyKind::Html && json::is_object_or_list(&bytes);
    match if is_json || may_be_json { json::parse(&bytes) } else { None } {
        Some(Parsed::Whole(value)) => return ReceivedBody::Whole(Content::Json(value)),
        Some(Parsed::First { rows, came }) => {
            return ReceivedBody::Rows { content: Content::Json(rows), came };
        }
        Some(Parsed::TooMany { limit }) => return ReceivedBody::TooMany { limit },
        None if is_json => return ReceivedBody::Malformed,
        None => {}
    }
    ReceivedBody::Whole(match String::from_utf8(bytes) {
        Ok(text) if kind == BodyKind::Text || !text.contains('\0') => Content::Text(text),
        Ok(text) => binary(headers, content_type, text.into_bytes()),
        Err(error) => binary(headers, content_type, error.into_bytes()),
    })
}

/// Wraps a body as binary content without classifying it.
pub(super) fn binary_content(headers: &HeaderMap, bytes: Vec<u8>) -> Content {
    binary(headers, text(headers, CONTENT_TYPE.as_str()).unwrap_or_default(), bytes)
}

fn binary(headers: &HeaderMap, content_type: String, bytes: Vec<u8>) -> Content {
    let header = text(headers, CONTENT_DISPOSITION.as_str());
    let filename = header.as_deref().and_then(content_disposition::filename);
    Content::Binary { bytes, content_type, filename }
}

/// Returns a header as text. GitLab writes some (file names) in UTF-8, which `HeaderValue::to_str` refuses.
pub(super) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    std::str::from_utf8(headers.get(name)?.as_bytes()).ok().map(str::to_owned)
}

/// Class of a media type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    Json,
    Html,
    Text,
    Other,
}

impl BodyKind {
    pub(super) fn classify(content_type: &str) -> BodyKind {
        let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" | "text/json" => BodyKind::Json,
            "text/html" | "application/xhtml+xml" => BodyKind::Html,
            "application/xml"
            | "application/javascript"
            | "application/yaml"
            | "application/x-yaml"
            | "application/x-ndjson" => BodyKind::Text,
            other if other.ends_with("+json") => BodyKind::Json,
            other if other.starts_with("text/") || other.ends_with("+xml") => BodyKind::Text,
            _ => BodyKind::Other,
        }
    }
}

pub(super) fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
