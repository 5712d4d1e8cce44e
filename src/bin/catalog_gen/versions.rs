//! Versions and dates of GitLab's files, as arguments.

use clap::Args;

/// Versions and dates for SOURCE.toml; a missing one is left unchanged.
#[derive(Args)]
pub struct Versions {
    /// The GitLab version of the OpenAPI document
    #[arg(long, value_name = "VERSION")]
    pub gitlab_version: Option<String>,
    /// The date of the OpenAPI document
    #[arg(long, value_name = "DATE")]
    pub dated: Option<String>,
    /// The GitLab version of the GraphQL schema
    #[arg(long, value_name = "VERSION")]
    pub graphql_version: Option<String>,
    /// The date of the GraphQL schema
    #[arg(long, value_name = "DATE")]
    pub graphql_dated: Option<String>,
}
