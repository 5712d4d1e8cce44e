//! Composite actions: plans over the catalog's own actions, found and executed like any other. Every step of a plan is
//! an ordinary action on the ordinary way (meaning, check, look-ups, policy, sending, presentation), so that whatever
//! holds for that action holds for the step; nothing here talks to GitLab by itself.
//!
//! To add one:
//!
//! 1. In `catalog/curation/composite.toml` say `[plan."domain.verb"]`: the `path` and `scope` that it works on (as a
//!    path of GitLab's would say it, `bind` as everywhere; no other operation has the same path; nothing is sent
//!    there), the ids of the actions that it `needs` (without one of them it is withheld) and of those it `picks` from
//!    (withheld when none may run). In `[action."domain.verb"]` its words, risk, example and `params`, each with `in`
//!    (`path` where it fills a placeholder, else `selector`), `type` and `note`; the `fields` of objects are declared
//!    as parameters of their own. Run the generator.
//! 2. Write `src/composite/verb.rs` with `pub async fn run(run: &Run<'_>) -> Result<Answer, ToolError>`, and add it
//!    to [`ACTIONS`]. The parameters in [`run::CompositeRun::params`] are checked by then; a default is for the plan to apply.
//! 3. A step that the plan itself reads: [`run::CompositeRun::read`]. A step whose answer is shown: [`run::CompositeRun::step`], then
//!    [`byte_budget::render_within_budget`], which keeps several together within the bytes of one answer; [`item_results::ItemResults`] puts them
//!    in their order into both forms. What else a plan answers: [`run::CompositeRun::answer`].
//!
//! Steps side by side are `futures_util::future::join_all`: the client itself sends only so many at a time. A plan has
//! [`run::MOST_STEPS`] steps and [`run::TIME`]; a step beyond that fails with what it was, and the others stand.

mod batch;
mod byte_budget;
mod comment_on_line;
mod create;
mod diagnose;
mod fetch;
mod item_kinds;
mod item_results;
mod mr_diff;
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
