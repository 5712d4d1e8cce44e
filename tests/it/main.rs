//! The program from the outside: over stdio with real MCP clients and with lines that no client would send, on
//! the command line, and in its own sources.

// Clippy knows the tests themselves, but not the functions they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

// The targets of `tests/fuzz` import the crate of the fuzzer; here they get the macro of this one.
extern crate self as libfuzzer_sys;

mod fuzzer {
    /// Makes a function of a fuzz target.
    macro_rules! fuzz_target {
        (|$input:ident: &str| $body:block) => {
            pub fn run(data: &[u8]) {
                if let Ok($input) = std::str::from_utf8(data) $body
            }
        };
        (|$input:ident: &[u8]| $body:block) => {
            pub fn run($input: &[u8]) $body
        };
    }
    pub(crate) use fuzz_target;
}
pub(crate) use fuzzer::fuzz_target;

mod catalog;
mod cli;
mod composite;
mod contract;
mod credentials;
mod docs;
mod errors;
mod examples;
mod execute;
mod faults;
mod find;
mod fuzz_targets;
mod http;
mod instances;
mod layering;
mod names;
mod packages;
mod policy;
mod promises;
mod protocol;
mod reports;
mod resources;
mod sandbox;
mod security_page;
mod support;
mod surfaces;
mod troubleshooting;
