//! The catalog: its data, its rules, and GitLab's own files.

pub mod against_graphql_schema;
pub mod against_openapi;
pub mod coverage;
pub mod data;
pub mod ids;
pub mod kinds;
pub mod rules;
