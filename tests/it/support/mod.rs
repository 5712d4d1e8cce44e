//! Shared by the tests: clients, stand-ins for GitLab, and fixtures.

pub mod calls;
pub mod client;
pub mod fixtures;
pub mod gitlab_files;
pub mod raw_server;
pub mod scripted_gitlab;
pub mod tls;
