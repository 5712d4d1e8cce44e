//! The handlers, by kind of object.

mod boards;
mod branch_rights;
mod branches;
mod ci;
mod commits;
mod deletion;
mod epics;
mod files;
mod groups;
mod history;
mod instance;
mod issues;
mod jobs;
mod members;
mod merge_requests;
mod merge_trains;
mod mergeability;
mod merging;
mod notes;
mod personal;
mod pipelines;
mod planning;
mod projects;
mod protected_branches;
mod pushes;
mod quick_actions;
mod reach;
mod reference;
mod releases;
mod search;
mod snippets;
mod system_notes;
mod todo_items;
mod tracking;
mod uploads;
mod users;

use super::route::Route;

/// All routes that have code.
pub fn all() -> Vec<Route> {
    let tables: &[&[Route]] = &[
        boards::ROUTES,
        branches::ROUTES,
        ci::ROUTES,
        commits::ROUTES,
        epics::ROUTES,
        files::ROUTES,
        groups::ROUTES,
        instance::ROUTES,
        issues::ROUTES,
        jobs::ROUTES,
        members::ROUTES,
        merge_requests::ROUTES,
        merge_trains::ROUTES,
        merging::ROUTES,
        personal::ROUTES,
        pipelines::ROUTES,
        planning::ROUTES,
        projects::ROUTES,
        protected_branches::ROUTES,
        releases::ROUTES,
        search::ROUTES,
        snippets::ROUTES,
        tracking::ROUTES,
        uploads::ROUTES,
        users::ROUTES,
    ];
    let tables = tables.iter().flat_map(|table| table.iter());
    let mut routes: Vec<Route> = tables.flat_map(Route::expand).collect();
    routes.extend(notes::routes());
    routes
}
