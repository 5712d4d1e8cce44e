//! Context of a check.

use url::Url;

use super::quick_action::QuickActions;
use crate::catalog::{Catalog, OperationIndex, Words};

/// Everything except the action that the meaning of parameters depends on.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Base URL of the instance. Pasted URLs of other hosts are refused.
    pub base: &'a Url,
    pub words: &'a Words,
    /// Operations that a raw request may be.
    pub surface: &'a OperationIndex<'static>,
    pub catalog: &'a Catalog,
    pub quick_actions: QuickActions,
}
