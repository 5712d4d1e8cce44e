//! Errors of GitLab and of the network as errors of the tools, with what they mean and the call to make next.

mod already_there;
mod commit_conflict;
pub mod diagnosis;
mod inherited_member;
pub mod lost_write;
pub mod missing_file;
pub mod near_paths;
pub mod next_call;
pub mod not_found;
pub mod partial_write;
mod present_state;
