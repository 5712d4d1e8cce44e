//! Replies of GitLab as answers of execute.

mod beginning;
pub mod change;
pub mod continuation;
pub mod empty_list;
pub mod graphql;
pub mod graphql_document;
pub mod header;
pub mod output_filter;
pub mod paging;
pub mod render;
pub mod rewrite_calls;
pub mod state_notes;
mod uploads;
