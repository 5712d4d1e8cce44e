//! Return values of handlers.

use serde_json::Value;

use super::errors::Fault;
use super::reply::Reply;

/// An answer, or why there is none.
pub type Answer = Result<Reply, Fault>;

/// 200 with JSON.
pub fn ok(value: impl Into<Value>) -> Answer {
    Ok(Reply::json(200, value))
}

/// 201 with JSON.
pub fn created(value: impl Into<Value>) -> Answer {
    Ok(Reply::json(201, value))
}
