//! Faults of a request, and GitLab's wording of each.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::reply::Reply;

/// A fault that makes a request fail.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The thing named is not there, or may not be seen.
    #[error("404 {0} Not Found")]
    Missing(Cow<'static, str>),
    /// No such path.
    #[error("404 Not Found")]
    Nowhere,
    /// No token, or a wrong one.
    #[error("401 Unauthorized")]
    Unauthorized,
    /// The token was good once.
    #[error("the token has expired")]
    Expired,
    /// The token was revoked.
    #[error("the token was revoked")]
    Revoked,
    /// The token's scopes do not allow this.
    #[error("the token needs the scope {0}")]
    Scope(&'static str),
    /// The user may not do this.
    #[error("403 Forbidden")]
    Forbidden,
    /// A parameter is missing or malformed: refused before anything is looked at.
    #[error("{0}")]
    Bad(String),
    /// Refused with a status and GitLab's `message`.
    #[error("{0}: {1}")]
    Refused(u16, Value),
    /// A value is refused with GitLab's `error`.
    #[error("{0}")]
    Unprocessable(&'static str),
    /// The project is now at another path.
    #[error("moved to {0}")]
    Moved(String),
    /// GitLab has the path, and not with this method.
    #[error("405 Not Allowed")]
    Method(Vec<&'static str>),
    /// The documentation of GitLab's operations cannot be read.
    #[error(transparent)]
    Documentation(#[from] crate::documentation::Unreadable),
    /// The embedded world or schema cannot be read.
    #[error("{0}")]
    Broken(String),
    /// An archive cannot be written.
    #[error(transparent)]
    Archive(#[from] std::io::Error),
    /// GitLab has this; the sandbox does not.
    #[error("the sandbox does not have {0}")]
    NotHeld(String),
}

impl Fault {
    /// `404 <what> Not Found`.
    pub fn missing(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Missing(what.into())
    }

    /// A validation error on one field, as a model's errors are sent.
    pub fn invalid(field: &str, problem: &str) -> Self {
        Self::Refused(400, json!({ field: [problem] }))
    }

    /// Refused with a status and a text.
    pub fn refused(status: u16, message: &str) -> Self {
        Self::Refused(status, Value::from(message))
    }

    /// Something in the way: the message is a list.
    pub fn conflict(message: &str) -> Self {
        Self::Refused(409, json!([message]))
    }

    /// The answer to send.
    pub fn reply(self) -> Reply {
        match self {
            Self::Missing(what) if what.is_empty() => Reply::json(404, json!({"message": "404 Not found"})),
            Self::Missing(what) => Reply::json(404, json!({"message": format!("404 {what} Not Found")})),
            Self::Nowhere => Reply::json(404, json!({"error": "404 Not Found"})),
            Self::Unauthorized => Reply::json(401, json!({"message": "401 Unauthorized"})),
            Self::Expired => Reply::json(
                401,
                json!({
                    "error": "invalid_token",
                    "error_description":
                        "Token is expired. You can either do re-authorization or token refresh."
                }),
            ),
            Self::Revoked => Reply::json(
                401,
                json!({
                    "error": "invalid_token",
                    "error_description": "Token was revoked. You have to re-authorize from the user."
                }),
            ),
            Self::Scope(scope) => Reply::json(
                403,
                json!({
                    "error": "insufficient_scope",
                    "error_description": "The request requires higher privileges than provided by the access token.",
                    "scope": scope
                }),
            ),
            Self::Forbidden => Reply::json(403, json!({"message": "403 Forbidden"})),
            Self::Bad(error) => Reply::json(400, json!({ "error": error })),
            Self::Unprocessable(error) => Reply::json(422, json!({ "error": error })),
            Self::Refused(status, message) => Reply::json(status, json!({ "message": message })),
            Self::Moved(location) => {
                Reply::json(301, json!({"message": "301 Moved Permanently"})).with("location", location)
            }
            Self::Method(allowed) => {
                Reply::json(405, json!({"error": "405 Not Allowed"})).with("allow", allowed.join(", "))
            }
            Self::Documentation(_) | Self::Archive(_) | Self::Broken(_) => {
                Reply::json(500, json!({"message": format!("500 {self}")}))
            }
            Self::NotHeld(what) => Reply::json(
                501,
                json!({"message": format!("501 Not Implemented: the sandbox does not have {what}")}),
            ),
        }
    }
}
