//! The program from the outside: over stdio with real MCP clients and with lines that no client would send, on
//! the command line, and in its own sources.

// Clippy knows the tests themselves, but not the functions they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod catalog;
mod cli;
mod composite;
mod docs;
mod errors;
mod examples;
mod execute;
mod faults;
mod find;
mod http;
mod layering;
mod policy;
mod promises;
mod protocol;
mod resources;
mod sandbox;
mod security_page;
mod support;
mod surfaces;
mod troubleshooting;
