//! Search, at the instance, in a group and in a project: one table of what each scope looks through.

use crate::prelude::*;

const RULES: &[Rule] = &[
    Rule::Required("scope"),
    Rule::Required("search"),
    Rule::OneOf(
        "scope",
        "projects issues merge_requests milestones snippet_titles users wiki_blobs commits blobs notes work_items",
    ),
];

pub const ROUTES: &[Route] = &[
    get("(|/groups/:id|/projects/:id)/search", search).needs(Level::User).rules(RULES),
    get("/projects/:id/search/semantic", semantic).needs(Level::User).rules(&[Rule::Required("q")]),
];

type Finder = fn(&Request<'_>, &str) -> Vec<Value>;

const SCOPES: &[(&str, Finder)] = &[
    ("projects", |request, words| {
        let rows = request.projects();
        show(request, "projects", &rows, &["name", "path", "description", "path_with_namespace"], words)
    }),
    ("issues", issues),
    ("work_items", issues),
    ("merge_requests", |request, words| {
        show(request, "merge_requests", &request.across("merge_requests"), &["title", "description"], words)
    }),
    ("milestones", |request, words| {
        let mut rows = request.across("milestones");
        let of_group = request.world.rows(&request.shelf("milestones")).iter();
        rows.extend(of_group.filter(|row| row.contains_key("group_id")).cloned());
        show(request, "milestones", &rows, &["title", "description"], words)
    }),
    ("snippet_titles", |request, words| {
        let rows = request
            .world
            .all("snippets")
            .filter(|(shelf, row)| may_see(request.world, request.user, shelf, row));
        let rows: Vec<Row> = rows.map(|(_, row)| row.clone()).collect();
        show(request, "snippets", &rows, &["title", "description"], words)
    }),
    ("users", |request, words| {
        let rows =
            request.world.rows("users").iter().filter(|row| mentions(row, &["name", "username"], words));
        rows.map(|row| request.world.basic_user(row.num("id"))).collect()
    }),
    ("notes", notes),
    ("wiki_blobs", wiki_blobs),
    ("blobs", blobs),
    ("commits", commits),
];

fn show(request: &Request<'_>, kind: &str, rows: &[Row], fields: &[&str], words: &str) -> Vec<Value> {
    let all = |row: &&Row| words.split_whitespace().all(|word| mentions(row, fields, word));
    rows.iter().filter(all).map(|row| request.show_in_list(kind, row)).collect()
}

fn search(request: &mut Request<'_>) -> Answer {
    let scope = request.args.text("scope").unwrap_or_default();
    let words = request.args.text("search").unwrap_or_default();
    let finder = SCOPES.iter().find(|(name, _)| *name == scope).map(|(_, finder)| finder);
    let mut found = finder.ok_or(Fault::Nowhere)?(request, &words);
    if let Some(state) = request.args.text("state").filter(|state| state != "all") {
        found.retain(|row| row.get("state").and_then(Value::as_str).is_none_or(|held| held == state));
    }
    request.page(found)
}

fn issues(request: &Request<'_>, words: &str) -> Vec<Value> {
    show(request, "issues", &request.across("issues"), &["title", "description"], words)
}

fn notes(request: &Request<'_>, words: &str) -> Vec<Value> {
    let prefixes: Vec<String> =
        request.projects().iter().map(|row| format!("projects/{}/", row.num("id"))).collect();
    let near = |shelf: &str| prefixes.iter().any(|prefix| shelf.starts_with(prefix));
    let rows =
        request.world.all("notes").filter(|(shelf, row)| near(shelf) && mentions(row, &["body"], words));
    rows.map(|(_, row)| request.show(row)).collect()
}

fn found_in(path: &str, text: &str, line: usize, project: u64, branch: &str) -> Value {
    let name = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    json!({"basename": name, "data": text, "path": path, "filename": path, "id": null, "ref": branch, "startline": line, "project_id": project})
}

/// The lines around the first that holds the words, in any case.
fn excerpt(text: &str, words: &str) -> Option<(usize, String)> {
    let words = words.to_lowercase();
    let lines: Vec<&str> = text.lines().collect();
    let hit = lines.iter().position(|line| line.to_lowercase().contains(&words))?;
    let first = hit.saturating_sub(1);
    let shown: Vec<&str> = lines.into_iter().skip(first).take(3).collect();
    Some((first + 1, shown.join("\n") + "\n"))
}

fn wiki_blobs(request: &Request<'_>, words: &str) -> Vec<Value> {
    let pages = request.across("wikis");
    let hit = |page: &Row| {
        let (line, text) = excerpt(page.text("content"), words)?;
        Some(found_in(&format!("{}.md", page.text("slug")), &text, line, request.place_id(), "main"))
    };
    pages.iter().filter_map(hit).collect()
}

fn blobs(request: &Request<'_>, words: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for project in request.projects() {
        let id = project.num("id");
        let branch = request.args.text("ref").unwrap_or_else(|| project.text("default_branch").to_owned());
        let Some(head) = request.world.repos.get(&id).and_then(|repo| repo.resolve(&branch)) else {
            continue;
        };
        for (path, bytes) in &head.tree {
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            let by_name = path.to_lowercase().contains(&words.to_lowercase());
            let hit = excerpt(text, words)
                .or_else(|| by_name.then(|| (1, text.lines().take(3).collect::<Vec<_>>().join("\n"))));
            found.extend(hit.map(|(line, text)| found_in(path, &text, line, id, &branch)));
        }
    }
    found
}

fn commits(request: &Request<'_>, words: &str) -> Vec<Value> {
    let words = words.to_lowercase();
    let mut found = Vec::new();
    for project in request.projects() {
        let Some(repo) = request.world.repos.get(&project.num("id")) else { continue };
        let Some(head) = repo.head(project.text("default_branch")) else { continue };
        for commit in
            repo.log(&head.id).into_iter().filter(|commit| commit.message.to_lowercase().contains(&words))
        {
            let mut shown = object(commit.json(project.text("web_url")));
            shown.set("project_id", project.num("id"));
            found.push(Value::Object(shown));
        }
    }
    found
}

/// The sandbox has no embeddings: it answers as a GitLab does whose project has none.
fn semantic(request: &mut Request<'_>) -> Answer {
    request.repo()?;
    Err(Fault::refused(422, "Semantic code search is not enabled for this project"))
}
