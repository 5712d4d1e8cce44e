//! The program from the outside: over stdio with real MCP clients and with lines that no client would send, on
//! the command line, and in its own sources.

// Clippy knows the tests themselves, but not the functions they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod answers;
mod audit;
mod bounded_answers;
mod capabilities;
mod catalog;
mod catalog_rules;
mod client;
mod command_line;
mod configuration;
mod confirmation_off;
mod consent;
mod diagnose;
mod direct;
mod docs;
mod doctor;
mod examples;
mod execute;
mod fat;
mod faults;
mod finder;
mod graphql;
mod graphql_actions;
mod layering;
mod lifetime;
mod limits;
mod lines;
mod lookups;
mod masking;
mod openapi;
mod other_servers;
mod path_values;
mod plans;
mod policy;
mod policy_effects;
mod policy_spellings;
mod promises;
mod protocol;
mod read_only;
mod references;
mod repair;
mod responsive;
mod sandbox;
mod sandbox_graphql;
mod schema;
mod security_page;
mod smoke;
mod stand_in;
mod surfaces;
mod tool_names;
mod tools;
mod toolsets;
mod troubleshooting;
mod uploads;
mod wording;
mod workspace;
