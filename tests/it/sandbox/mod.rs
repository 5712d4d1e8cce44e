//! The embedded sandbox.

pub mod against_graphql_schema;
pub mod graphql;
pub mod rest;
