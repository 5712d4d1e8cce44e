//! The composite actions with the functions that run them.

use crate::composite::run::{Actions, Composite, CompositeRun, KnownStep, RunComposite};
use crate::composite::{
    batch, comment_on_line, create, diagnose, fetch, overview, read_files, resolve_project, review, update,
};

/// Every composite action of the catalog.
pub const ACTIONS: Actions = &[
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
