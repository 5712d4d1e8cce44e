//! The handlers, by kind of object.

mod branches;
mod ci;
mod commits;
mod epics;
mod files;
mod groups;
mod instance;
mod issues;
mod jobs;
mod members;
mod merge_requests;
mod merging;
mod notes;
mod personal;
mod pipelines;
mod planning;
mod projects;
mod quick_actions;
mod reach;
mod reference;
mod releases;
mod search;
mod snippets;
mod tracking;
mod uploads;
mod users;

use super::route::Route;

/// The first words of GitLab's paths. What begins with one of these and has no route is a gap of the sandbox;
/// anything else is a path that GitLab does not have either.
pub const NOUNS: &[&str] = &[
    "admin",
    "appearance",
    "application",
    "applications",
    "audit_events",
    "avatar",
    "broadcast_messages",
    "bulk_imports",
    "ci",
    "code_suggestions",
    "container_registry_event",
    "deploy_keys",
    "deploy_tokens",
    "discover-cert-based-clusters",
    "events",
    "experiments",
    "feature_flags",
    "features",
    "geo",
    "geo_nodes",
    "geo_sites",
    "group",
    "groups",
    "hooks",
    "import",
    "internal",
    "issues",
    "issues_statistics",
    "job",
    "jobs",
    "keys",
    "license",
    "licenses",
    "lint",
    "markdown",
    "merge_requests",
    "metadata",
    "ml",
    "namespaces",
    "organizations",
    "packages",
    "pages",
    "personal_access_tokens",
    "project_aliases",
    "projects",
    "registry",
    "runners",
    "search",
    "security",
    "service_accounts",
    "sidekiq",
    "snippet_repository_storage_moves",
    "snippets",
    "suggestions",
    "templates",
    "todos",
    "topics",
    "unleash",
    "usage_data",
    "user",
    "user_counts",
    "users",
    "version",
    "vulnerabilities",
    "web_commits",
];

/// All routes that have code.
pub fn all() -> Vec<Route> {
    let tables: &[&[Route]] = &[
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
        merging::ROUTES,
        personal::ROUTES,
        pipelines::ROUTES,
        planning::ROUTES,
        projects::ROUTES,
        releases::ROUTES,
        search::ROUTES,
        snippets::ROUTES,
        tracking::ROUTES,
        uploads::ROUTES,
        users::ROUTES,
    ];
    let mut routes: Vec<Route> = tables.iter().flat_map(|table| table.iter().cloned()).collect();
    routes.extend(notes::routes());
    routes
}
