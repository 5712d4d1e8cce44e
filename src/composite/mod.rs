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
use run::{Actions, Composite, CompositeRun, KnownStep, RunComposite};

/// Every composite action of the catalog.
const ACTIONS: Actions = &[
    changes("api.batch", batch::known_steps, |run| Box::pin(batch::run(run))),
    changes("merge_request.comment_on_line", comment_on_line::known_steps, |run| {
        Box::pin(comment_on_line::run(run))
    }),
    reads("merge_request.overview", |run| Box::pin(overview::run(run))),
    changes("merge_request.review", review::known_steps, |run| Box::pin(review::run(run))),
    reads("pipeline.diagnose", |run| Box::pin(diagnose::run(run))),
    reads("project.resolve", |run| Box::pin(resolve_project::run(run))),
    reads("repository.read_files", |run| Box::pin(read_files::run(run))),
    changes("resource.create", create::known_steps, |run| Box::pin(create::run(run))),
    reads("resource.fetch", |run| Box::pin(fetch::run(run))),
    changes("resource.update", update::known_steps, |run| Box::pin(update::run(run))),
];

const fn changes(
    id: &'static str,
    known_steps: fn(&CompositeRun<'_>) -> Vec<KnownStep>,
    run: RunComposite,
) -> Composite {
    Composite { id, known_steps, run }
}

/// A composite action that only reads: a part that is denied does not stop the others.
const fn reads(id: &'static str, run: RunComposite) -> Composite {
    Composite { id, known_steps: |_| Vec::new(), run }
}

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
