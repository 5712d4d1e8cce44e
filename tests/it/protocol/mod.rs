//! MCP over stdio: handshake, lifecycle, cancellation and concurrency.

pub mod argument_errors;
pub mod cancellation;
pub mod concurrency;
pub mod handshake;
pub mod lifecycle;
pub mod open_question;
pub mod responsiveness;
pub mod smoke;
