//! A handler's answer: a status, headers and a body, not yet HTTP.

use std::borrow::Cow;

use serde_json::Value;

/// The body, after the headers.
#[derive(Debug)]
pub enum Body {
    /// Nothing.
    Empty,
    /// JSON.
    Json(Value),
    /// Bytes of the given content type.
    Bytes(&'static str, Vec<u8>),
}

/// A whole answer.
#[derive(Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// Headers besides the content type.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The body.
    pub body: Body,
}

impl Reply {
    /// JSON with a status.
    pub fn json(status: u16, value: impl Into<Value>) -> Self {
        Self { status, headers: Vec::new(), body: Body::Json(value.into()) }
    }

    /// 204 and nothing else.
    pub fn empty() -> Self {
        Self { status: 204, headers: Vec::new(), body: Body::Empty }
    }

    /// 304: there was nothing to change.
    pub fn unchanged() -> Self {
        Self { status: 304, headers: Vec::new(), body: Body::Empty }
    }

    /// 202, as for an object that GitLab will delete later.
    pub fn accepted() -> Self {
        Self::json(202, serde_json::json!({"message": "202 Accepted"}))
    }

    /// Bytes of a content type.
    pub fn bytes(content_type: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, headers: Vec::new(), body: Body::Bytes(content_type, bytes.into()) }
    }

    /// Text, as raw files and logs are sent.
    pub fn text(text: impl Into<String>) -> Self {
        Self::bytes("text/plain; charset=utf-8", text.into())
    }

    /// The same with one more header.
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl ToString) -> Self {
        self.headers.push((name.into(), value.to_string()));
        self
    }
}
