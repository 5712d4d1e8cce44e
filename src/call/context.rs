//! Context of a check.

use url::Url;

use super::quick_action::QuickActions;
use crate::catalog::{Catalog, OperationIndex, Words};

/// What the meaning of parameters depends on beside the action.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The address of the GitLab that pasted URLs have to be of.
    pub base: &'a Url,
    pub words: &'a Words,
    /// What a direct call may come down to.
    pub surface: &'a OperationIndex<'static>,
    pub catalog: &'a Catalog,
    pub quick_actions: QuickActions,
}
