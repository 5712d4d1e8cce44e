//! The vocabulary of the handlers in `routes`.

pub use serde_json::{Value, json};

pub use super::access::{is_admin, level, may_see};
pub use super::answer::{Answer, created, ok};
pub use super::errors::Fault;
pub use super::level::Level;
pub use super::reply::Reply;
pub use super::request::Request;
pub use super::route::{Route, Rule, delete, get, patch, post, put};
pub use super::row::{Fields, Row, is, mentions, object};
pub use super::state::Place;
