//! URIs of the resources that describe actions.

/// The list of actions.
pub const ACTIONS: &str = "gitlab://tools";

/// URI templates of a part of that list, and of one action.
pub const ACTIONS_PART: &str = "gitlab://tools{?domain,page}";
pub const ACTION: &str = "gitlab://tools/{id}";

/// The URI of one action.
pub fn action_uri(id: &str) -> String {
    format!("{ACTIONS}/{id}")
}
