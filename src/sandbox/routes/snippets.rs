//! Snippets, personal and of projects, and wiki pages.

use crate::prelude::*;

use super::projects::VISIBILITY;

const NEW: &[Rule] = &[Rule::Required("title"), Rule::AnyOf("files content"), VISIBILITY];
const PAGE: &[Rule] = &[Rule::Required("title"), Rule::Required("content")];

pub const ROUTES: &[Route] = &[
    get("/snippets(|/all)", list).needs(Level::User),
    get("/snippets/public", list),
    post("/snippets", create).rules(NEW),
    get("(|/projects/:id)/snippets/:snippet_id", show),
    put("/snippets/:snippet_id", update),
    delete("/snippets/:snippet_id", remove),
    get("(|/projects/:id)/snippets/:snippet_id/raw", raw),
    get("(|/projects/:id)/snippets/:snippet_id/files/:ref/:file_path/raw", raw_file),
    get("/projects/:id/snippets", of_project),
    post("/projects/:id/snippets", create).needs(Level::Reporter).rules(NEW),
    put("/projects/:id/snippets/:snippet_id", update).needs(Level::Reporter),
    delete("/projects/:id/snippets/:snippet_id", remove).needs(Level::Reporter),
    get("/(projects|groups)/:id/wikis", wiki),
    get("/(projects|groups)/:id/wikis/:slug", wiki_page),
    post("/(projects|groups)/:id/wikis", new_page).rules(PAGE),
    put("/(projects|groups)/:id/wikis/:slug", change_page).rules(&[Rule::AnyOf("title content format")]),
    delete("/(projects|groups)/:id/wikis/:slug", remove_page).needs(Level::Maintainer),
];

/// The user's own snippets, the public ones, or all that the user may see.
fn list(request: &mut Request<'_>) -> Answer {
    let wanted = |row: &&Row| match request.path_end() {
        "all" => true,
        "public" => row.text("visibility") == "public",
        _ => request.wrote(row),
    };
    let rows = request.world.rows("snippets").iter().filter(wanted);
    let rows = rows.filter(|row| may_see(request.world, request.user, "snippets", row));
    request.page(rows.map(|row| render_snippet(request, row)).collect())
}

/// The files of a snippet.
fn content(row: &Row) -> Row {
    row.get("_content").cloned().map(object).unwrap_or_default()
}

fn render_snippet(request: &Request<'_>, row: &Row) -> Value {
    let mut shown = request.world.show(row);
    let raw = row.text("raw_url");
    let files: Vec<Value> = content(row)
        .keys()
        .map(|path| json!({"path": path, "raw_url": format!("{raw}/main/{path}")}))
        .collect();
    shown.set("files", files);
    Value::Object(shown)
}

fn of_project(request: &mut Request<'_>) -> Answer {
    let rows = request.across("snippets");
    request.page(rows.iter().map(|row| render_snippet(request, row)).collect())
}

fn find_snippet(request: &Request<'_>) -> Result<(String, Row), Fault> {
    let shelf = request.shelf("snippets");
    let row = request.row_on(&shelf, "snippet_id")?;
    Ok((shelf, row))
}

fn show(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_snippet(request)?;
    ok(render_snippet(request, &row))
}

/// The refusal of one text for a snippet of several files (lib/api/helpers/snippets_helpers.rb).
fn check_one_file(request: &Request<'_>, row: &Row) -> Result<(), Fault> {
    let has_text = ["content", "file_name"].iter().any(|name| request.args.text(name).is_some());
    match has_text && content(row).len() > 1 {
        true => Err(Fault::refused(
            400,
            "To update Snippets with multiple files, you must use the `files` parameter",
        )),
        false => Ok(()),
    }
}

/// The fields of a snippet and its files as parameters give them, over the current ones.
fn values(request: &Request<'_>, row: &Row) -> Row {
    let args = &request.args;
    let mut values = request.given_of("snippets", &["title", "description", "visibility"]);
    let mut content = content(row);
    if let Some(text) = args.text("content") {
        // The one file of a snippet, which a new name renames (app/services/snippets/update_service.rb).
        let present = content.keys().next().cloned();
        let name = args.text("file_name").or_else(|| present.clone());
        present.and_then(|present| content.remove(&present));
        content.insert(name.unwrap_or_else(|| "snippetfile1.txt".to_owned()), Value::from(text));
    }
    for file in args.rows("files") {
        let path = file.text("file_path").to_owned();
        if file.text("action") == "delete" {
            content.remove(&path);
            continue;
        }
        let old = content.remove(file.text("previous_path")).unwrap_or_default();
        content.insert(path, file.get("content").cloned().unwrap_or(old));
    }
    values.set("file_name", content.keys().next().cloned().unwrap_or_default());
    values.set("_content", content);
    values
}

fn create(request: &mut Request<'_>) -> Answer {
    let values = values(request, &Row::new());
    if values.text("title").is_empty() {
        return Err(Fault::invalid("title", "can't be blank"));
    }
    let row = request.world.add(&request.shelf("snippets"), values, request.user);
    created(render_snippet(request, &row))
}

/// The snippet in the path, if the user may change it.
fn mine(request: &Request<'_>) -> Result<(String, Row), Fault> {
    let (shelf, row) = find_snippet(request)?;
    if request.wrote(&row) || request.at_least(Level::Maintainer) {
        Ok((shelf, row))
    } else if request.place.is_none() {
        // GitLab looks among the user's own personal snippets alone (lib/api/snippets.rb).
        Err(Fault::missing("Snippet"))
    } else {
        Err(Fault::Forbidden)
    }
}

fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = mine(request)?;
    check_one_file(request, &row)?;
    let values = values(request, &row);
    let row = request.world.write(&shelf, row.num("id"), values);
    ok(render_snippet(request, &row))
}

fn remove(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = mine(request)?;
    request.delete(&shelf, &row)
}

fn raw(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_snippet(request)?;
    let first = content(&row).values().next().and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Reply::text(first))
}

fn raw_file(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_snippet(request)?;
    let content = content(&row);
    if !["main", "master", "HEAD"].contains(&request.param("ref")) {
        return Err(Fault::missing("Reference"));
    }
    let text = content.get(request.param("file_path")).and_then(Value::as_str);
    Ok(Reply::text(text.ok_or(Fault::missing("File"))?))
}

fn wiki(request: &mut Request<'_>) -> Answer {
    let with_content = request.args.flag("with_content");
    let mut rows = request.world.rows(&request.shelf("wikis")).to_vec();
    rows.sort_by(|one, other| one.text("slug").cmp(other.text("slug")));
    let shown = rows.iter().map(|row| {
        let mut shown = request.world.show(row);
        shown.retain(|name, _| {
            with_content || !matches!(name.as_str(), "content" | "encoding" | "front_matter")
        });
        Value::Object(shown)
    });
    ok(shown.collect::<Vec<_>>())
}

/// The page with a slug or title, in any case.
fn find_page(request: &Request<'_>, name: &str) -> Option<Row> {
    let (given, slug) = (name.to_lowercase(), slug(name).to_lowercase());
    let is_named = |row: &&Row| [&given, &slug].contains(&&row.text("slug").to_lowercase());
    request.world.rows(&request.shelf("wikis")).iter().find(is_named).cloned()
}

fn the_page(request: &Request<'_>) -> Result<(String, Row), Fault> {
    let row = find_page(request, request.param("slug")).ok_or(Fault::missing("Wiki Page"))?;
    Ok((request.shelf("wikis"), row))
}

fn wiki_page(request: &mut Request<'_>) -> Answer {
    let (_, row) = the_page(request)?;
    let mut shown = request.show(&row);
    if request.args.flag("render_html")
        && let Some(shown) = shown.as_object_mut()
    {
        let html = super::instance::render_html(row.text("content"));
        shown.insert("content".to_owned(), json!(html));
    }
    ok(shown)
}

/// The slug of a title, which may name directories: GitLab keeps its case and writes blanks as dashes.
fn slug(title: &str) -> String {
    let squish = |part: &str| part.split_whitespace().collect::<Vec<_>>().join("-");
    title.split('/').map(squish).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// The title that GitLab reads from a slug: its last part, with blanks for dashes.
fn title(slug: &str) -> String {
    slug.rsplit('/').next().unwrap_or_default().replace('-', " ")
}

fn new_page(request: &mut Request<'_>) -> Answer {
    let given = request.args.text("title").ok_or_else(|| Fault::invalid("title", "can't be blank"))?;
    let content = request.args.text("content").ok_or_else(|| Fault::invalid("content", "can't be blank"))?;
    let format = request.args.text("format").unwrap_or_else(|| "markdown".to_owned());
    let slug = slug(&given);
    if find_page(request, &slug).is_some() {
        let extension = if format == "markdown" { "md" } else { &format };
        let file = format!("{slug}.{extension}");
        let problem = format!("Duplicate page: A page with that title already exists in the file {file}");
        return Err(Fault::invalid("base", &problem));
    }
    let row = request.add(
        &request.shelf("wikis"),
        json!({"slug": slug, "title": title(&slug), "content": content, "format": format}),
    );
    created(request.show(&row))
}

fn change_page(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = the_page(request)?;
    let mut values = request.given_of("wikis", &["content", "format"]);
    if let Some(given) = request.args.text("title") {
        // A title without a directory leaves the page in its own; one that begins with a slash is at the root.
        let directory = row.text("slug").rsplit_once('/').filter(|_| !given.contains('/'));
        let given = directory.map_or(given.clone(), |(directory, _)| format!("{directory}/{given}"));
        let slug = slug(&given);
        if find_page(request, &slug).is_some_and(|other| other.num("id") != row.num("id")) {
            let problem = "There is already a page with the same title in that path.";
            return Err(Fault::invalid("title", problem));
        }
        values.set("title", title(&slug));
        values.set("slug", slug);
    }
    let row = request.world.write(&shelf, row.num("id"), values);
    ok(request.show(&row))
}

fn remove_page(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = the_page(request)?;
    request.delete(&shelf, &row)
}
