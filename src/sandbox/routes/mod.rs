//! The handlers, by kind of object.

mod boards;
mod branch_rights;
mod branches;
mod changelog;
mod ci;
mod commits;
mod deletion;
mod duplicates;
mod epic_issues;
mod epics;
mod feature_flags;
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
mod rows;
mod search;
mod service_accounts;
mod snippets;
mod state_event;
mod system_notes;
mod todo_items;
mod tracking;
mod uploads;
mod users;

use super::route::Route;
pub use merge_requests::diff_stats;

/// Everything that has notes of its own.
const NOTED: &str = "(/projects/:id/issues/:issue_iid|/projects/:id/merge_requests/:merge_request_iid|\
    /projects/:id/snippets/:snippet_id|/groups/:id/epics/:epic_id)";
/// Issues and merge requests.
const TRACKED: &str = "/projects/:id/(issues/:issue_iid|merge_requests/:merge_request_iid)";

/// The tables of routes, each with the beginning of its paths.
const TABLES: &[(&str, &[Route])] = &[
    ("", boards::ROUTES),
    ("/projects/:id/repository", branches::ROUTES),
    ("/projects/:id/repository/changelog", changelog::ROUTES),
    ("", ci::ROUTES),
    ("", commits::ROUTES),
    ("", epics::ROUTES),
    ("/projects/:id/feature_flags", feature_flags::ROUTES),
    ("/projects/:id/repository", files::ROUTES),
    ("", groups::ROUTES),
    ("", instance::ROUTES),
    ("", issues::ROUTES),
    ("/projects/:id/jobs", jobs::ROUTES),
    ("/(projects|groups)/:id", members::ROUTES),
    ("", merge_requests::ROUTES),
    ("/projects/:id/merge_trains", merge_trains::ROUTES),
    (merge_requests::ONE, merging::ROUTES),
    ("/projects/:id", merging::SETTINGS),
    (NOTED, notes::NOTES),
    (NOTED, notes::DISCUSSIONS),
    ("/projects/:id/repository/commits/:sha", notes::DISCUSSIONS),
    (TRACKED, notes::RESOLUTION),
    ("/groups/:id/epics/:epic_id", notes::RESOLUTION),
    ("", personal::ROUTES),
    ("", pipelines::ROUTES),
    ("/(projects|groups)/:id", planning::ROUTES),
    ("/projects/:id", planning::PROMOTIONS),
    ("", projects::ROUTES),
    ("", protected_branches::ROUTES),
    ("", releases::ROUTES),
    ("", search::ROUTES),
    ("/(projects|groups)/:id/service_accounts", service_accounts::ROUTES),
    ("", snippets::ROUTES),
    (TRACKED, tracking::ROUTES),
    ("", uploads::ROUTES),
    ("", users::ROUTES),
];

/// All routes that have code.
pub fn all() -> Vec<Route> {
    let routes = TABLES.iter().flat_map(|(path, table)| table.iter().map(|route| route.below(path)));
    routes.flat_map(|route| route.expand()).collect()
}
