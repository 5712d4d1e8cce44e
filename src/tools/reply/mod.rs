//! Replies of GitLab as answers of execute.

pub mod paging;
pub mod render;
pub mod state_notes;
mod uploads;
