//! An operation on its way to an action.

use gitlab_mcp::catalog::{Operation, Param};

/// An operation in the catalog's form, with its parameters by our names.
pub struct Member {
    pub operation: Operation,
    pub params: Vec<Param>,
}
