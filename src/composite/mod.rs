//! Composite actions: actions made of other actions of the catalog, found and executed like any other. Every step is an
//! ordinary action and goes the ordinary way (lookup, check, look-ups, policy, sending, rendering), so whatever holds for
//! that action holds for the step. Nothing here sends requests by itself.
//!
//! `docs/contributing/composite.md` describes how to add one.
//!
//! Concurrent steps are `futures_util::future::join_all`: the client limits the number of requests. A composite action
//! has `run::MOST_STEPS` steps and `run::TIME`; a step beyond that fails with an error that names it, and the results
//! of the others are kept.

mod batch;
mod byte_budget;
mod comment_on_line;
mod create;
mod diagnose;
mod fetch;
mod item_kinds;
mod item_results;
mod line_text;
mod mr_diff;
mod overview;
mod permalink;
mod read_files;
mod resolve_project;
mod review;
mod run;
#[cfg(test)]
mod tests;
mod update;

use futures_util::future::BoxFuture;

use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::audit::AuditEntry;
use crate::tools::{Answer, CompositeActions, ToolError, Tools};
use run::Actions;

/// Every plan of the catalog by its id.
const ACTIONS: Actions = &[
    ("api.batch", |run| Box::pin(batch::run(run))),
    ("merge_request.comment_on_line", |run| Box::pin(comment_on_line::run(run))),
    ("merge_request.overview", |run| Box::pin(overview::run(run))),
    ("merge_request.review", |run| Box::pin(review::run(run))),
    ("pipeline.diagnose", |run| Box::pin(diagnose::run(run))),
    ("project.resolve", |run| Box::pin(resolve_project::run(run))),
    ("repository.read_files", |run| Box::pin(read_files::run(run))),
    ("resource.create", |run| Box::pin(create::run(run))),
    ("resource.fetch", |run| Box::pin(fetch::run(run))),
    ("resource.update", |run| Box::pin(update::run(run))),
];

/// The composite actions of the catalog.
#[derive(Debug)]
pub struct Composites;

impl CompositeActions for Composites {
    fn run<'a>(
        &'a self,
        tools: &'a Tools,
        resolved: ResolvedAction,
        entry: &'a mut AuditEntry<'_>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(run::run(ACTIONS, tools, resolved, entry))
    }
}
