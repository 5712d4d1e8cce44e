//! The entry of execute, and composite actions: actions made of other actions of the catalog, found and executed like any
//! other. Every step is an ordinary action and goes the ordinary way (prepare, decide, send, finish), so whatever holds
//! for that action holds for the step. Nothing here sends requests by itself.
//!
//! `docs/contributing/composite.md` describes how to add one.
//!
//! Concurrent steps are `futures_util::future::join_all`: the client limits the number of requests. A composite action
//! has `run::MAX_STEPS` steps and `run::TIME`; a step beyond that fails with an error that names it, and the results
//! of the others are kept.

mod actions;
mod agreement;
mod batch;
mod byte_budget;
mod comment_on_line;
mod commit_title;
mod create;
mod diagnose;
mod entry;
mod expand;
mod failed_tests;
mod fetch;
mod item_kinds;
mod item_results;
mod line_text;
mod mr_diff;
mod overview;
mod permalink;
mod present_state;
mod read_files;
mod resolve_project;
mod review;
mod run;
#[cfg(test)]
mod tests;
mod update;
