//! gitlab_find_action.

pub mod results;
