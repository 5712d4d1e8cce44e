//! Input and output of the tools: requests with their arguments, answers, errors with the next call, and questions.
//! Nothing here knows the tools.

pub mod arguments;
pub mod audit_target;
pub mod change;
pub mod comparison;
pub mod continuation;
pub mod declines;
pub mod edit_error;
pub mod empty_list;
pub mod error;
pub mod gitlab_error;
pub mod graphql_reply;
pub mod header;
pub mod local_files;
pub mod log_selection;
pub mod output_filter;
pub mod question;
pub mod request;
pub mod request_limits;
pub mod rewrite_calls;
pub mod sentence;
pub mod text_change;
pub mod token;
pub mod wording;
