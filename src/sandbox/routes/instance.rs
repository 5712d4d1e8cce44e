//! The instance itself: its version, its settings, and helpers such as Markdown rendering.

use crate::prelude::*;

const REVISION: &str = "5a4db0c5b01";

pub const ROUTES: &[Route] = &[
    get("/version", version).needs(Level::User),
    get("/metadata", metadata).needs(Level::User),
    post("/markdown", markdown).needs(Level::Anyone).rules(&[Rule::Required("text")]),
    get("/avatar", avatar).rules(&[Rule::Required("email")]),
    get("/application/settings", settings).needs(Level::Admin),
    get("/application/statistics", statistics).needs(Level::Admin),
    get("/hooks", system_hooks).needs(Level::Admin),
];

/// The version as GitLab Enterprise Edition reports it.
fn number(request: &Request<'_>) -> String {
    format!("{}.0-ee", request.world.version)
}

fn version(request: &mut Request<'_>) -> Answer {
    ok(json!({"version": number(request), "revision": REVISION}))
}

fn metadata(request: &mut Request<'_>) -> Answer {
    ok(json!({
        "version": number(request), "revision": REVISION,
        "kas": {"enabled": false, "externalUrl": null, "externalK8sProxyUrl": null, "version": null},
        "enterprise": true
    }))
}

/// Not a Markdown renderer: paragraphs, escaped.
fn markdown(request: &mut Request<'_>) -> Answer {
    request.args.without_trace(&["gfm"]);
    let text = request.args.text("text").unwrap_or_default();
    created(json!({"html": render_html(&text)}))
}

/// A text as HTML: its paragraphs, without what Markdown marks in them.
pub fn render_html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let html: Vec<String> = escaped.split("\n\n").map(|part| format!("<p dir=\"auto\">{part}</p>")).collect();
    html.join("\n")
}

fn avatar(request: &mut Request<'_>) -> Answer {
    let email = request.args.text("email").unwrap_or_default();
    let user = request.world.find("users", "email", &email);
    ok(json!({"avatar_url": user.map(|user| user.text("avatar_url").to_owned())}))
}

/// Some of the settings, to be read.
fn settings(request: &mut Request<'_>) -> Answer {
    let kind = request.world.kinds.named("settings");
    ok(kind.map(|kind| kind.shape_on("application/settings")).unwrap_or_default())
}

fn statistics(request: &mut Request<'_>) -> Answer {
    let count = |kind: &str| request.world.all(kind).count().to_string();
    ok(json!({
        "forks": "0", "issues": count("issues"), "merge_requests": count("merge_requests"), "notes": count("notes"),
        "snippets": count("snippets"), "ssh_keys": count("keys"), "milestones": count("milestones"),
        "users": count("users"), "projects": count("projects"), "groups": count("groups"), "active_users": "6"
    }))
}

fn system_hooks(request: &mut Request<'_>) -> Answer {
    let rows = request.world.rows("hooks").to_vec();
    request.page_of("hooks", &rows)
}
