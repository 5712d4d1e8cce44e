//! A reply between two stages.

use std::time::Duration;

use crate::call::Checked;
use crate::messages::log_selection::LogSelection;
use crate::tools::prepare::requested_wait::RequestedWait;
use crate::tools::response::ActionResponse;
use crate::tools::state::Tools;

/// Time of one further read for an answer: the call itself is answered already.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// A reply on its way to an answer.
pub struct Finishing<'t> {
    pub tools: &'t Tools,
    pub checked: Checked,
    pub response: ActionResponse,
    pub wait: Option<RequestedWait>,
    pub log: Option<LogSelection>,
    /// True for a call on its own whose whole answer is shown: further rows may belong to it.
    pub is_alone: bool,
}
