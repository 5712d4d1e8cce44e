//! A tool of the list before its schema is made, and the side of a family that it has.

use super::dynamic::Offer;
use crate::catalog::Risk;

/// A tool of the list before its schema is made.
#[derive(Debug)]
pub(super) enum SurfaceEntry {
    Pair(&'static Offer),
    Activate,
    /// The actions of a family by their numbers.
    Family {
        family: String,
        side: Side,
        numbers: Vec<usize>,
    },
    Action(usize),
}

/// The part of a family's actions that a tool has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    All,
    /// The actions that read.
    Browse,
    /// The actions that change something.
    Manage,
}

impl Side {
    pub(super) const SPLIT: [Side; 2] = [Side::Browse, Side::Manage];

    pub(super) fn prefix(self) -> &'static str {
        match self {
            Side::All => "gitlab_",
            Side::Browse => "browse_",
            Side::Manage => "manage_",
        }
    }

    /// The tool of a family.
    pub fn tool(self, family: &str) -> String {
        format!("{}{family}", self.prefix())
    }

    pub(super) fn has(self, risk: Risk) -> bool {
        match self {
            Side::All => true,
            Side::Browse => risk == Risk::Read,
            Side::Manage => risk != Risk::Read,
        }
    }

    pub(super) fn new(split: bool, risk: Risk) -> Side {
        match (split, risk) {
            (false, _) => Side::All,
            (true, Risk::Read) => Side::Browse,
            (true, _) => Side::Manage,
        }
    }
}
