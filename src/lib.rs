//! All of GitLab for an AI client through two MCP tools.

pub mod sandbox;
