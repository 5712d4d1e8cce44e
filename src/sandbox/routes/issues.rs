//! Issues: lists at every scope, and their life from opening to deletion.

use crate::args::text_of;
use crate::filter::narrow;
use crate::prelude::*;

use super::reach::unique;
use super::state_event::state_event;

const LIST: &[Rule] = &[
    Rule::OneOf("state", "opened closed all"),
    Rule::OneOf("scope", "created-by-me assigned-to-me created_by_me assigned_to_me all"),
    Rule::OneOf("sort", "asc desc"),
    Rule::OneOf(
        "order_by",
        "created_at updated_at due_date title priority label_priority milestone_due relative_position popularity weight",
    ),
    TYPE,
];
const TYPE: Rule = Rule::OneOf("issue_type", "issue incident test_case task");
/// Parameters that change an issue.
const CHANGING: &str = "title description state_event labels add_labels remove_labels assignee_ids assignee_id \
    milestone_id confidential due_date discussion_locked issue_type weight epic_id epic_iid updated_at";

const ELSEWHERE: &[Rule] = &[Rule::Required("to_project_id")];

const CHANGE: &[Rule] = &[
    Rule::AnyOf(CHANGING),
    Rule::OneOf("state_event", "reopen close"),
    TYPE,
    Rule::Integer("milestone_id"),
    Rule::Integer("epic_id"),
];

pub const ROUTES: &[Route] = &[
    get("(|/groups/:id|/projects/:id)/issues", list).rules(LIST),
    get("/issues_statistics", statistics).needs(Level::User),
    get("/(groups|projects)/:id/issues_statistics", statistics),
    get("/issues/:issue_id", by_id).needs(Level::Admin),
    get("/projects/:id/issues/:issue_iid", show),
    post("/projects/:id/issues", create).needs(Level::User).rules(&[
        Rule::Required("title"),
        TYPE,
        Rule::Integer("milestone_id"),
        Rule::Integer("epic_id"),
    ]),
    put("/projects/:id/issues/:issue_iid", update).needs(Level::User).rules(CHANGE),
    delete("/projects/:id/issues/:issue_iid", remove).needs(Level::Owner),
    post("/projects/:id/issues/:issue_iid/move", relocate).needs(Level::User).rules(ELSEWHERE),
    post("/projects/:id/issues/:issue_iid/clone", copy).needs(Level::Reporter).rules(ELSEWHERE),
    get("/projects/:id/issues/:issue_iid/links", links),
    post("/projects/:id/issues/:issue_iid/links", link).needs(Level::User).rules(&[
        Rule::Required("target_project_id"),
        Rule::Required("target_issue_iid"),
        Rule::OneOf("link_type", "relates_to blocks is_blocked_by"),
    ]),
    delete("/projects/:id/issues/:issue_iid/links/:issue_link_id", unlink).needs(Level::Reporter),
    get("/projects/:id/issues/:issue_iid/(related_merge_requests|closed_by)", mentioning),
];

/// Fields that parameters of their own names set.
const SET: &[&str] =
    &["description", "confidential", "due_date", "issue_type", "weight", "discussion_locked"];

/// An issue in a list, its labels in full where that is asked for.
fn in_list(request: &Request<'_>, row: &Row) -> Value {
    let mut shown = object(request.show_in_list("issues", row));
    if request.args.flag("with_labels_details") {
        shown.set("labels", label_details(request, row));
    }
    Value::Object(shown)
}

/// The labels of an issue or merge request as objects.
pub fn label_details(request: &Request<'_>, row: &Row) -> Value {
    let names = row.texts("labels");
    let labels = names.iter().filter_map(|name| request.world.label_named(name));
    labels.map(|label| request.show_as("labels", "details", label)).collect()
}

fn list(request: &mut Request<'_>) -> Answer {
    let rows = request.listed("issues")?;
    // Read here, as a page may have no row.
    request.args.flag("with_labels_details");
    request.page(rows.iter().map(|row| in_list(request, row)).collect())
}

fn statistics(request: &mut Request<'_>) -> Answer {
    let rows = narrow(request.world, request.user, &request.args, request.across("issues"));
    let count = |state: &str| rows.iter().filter(|row| row.text("state") == state).count();
    ok(
        json!({"statistics": {"counts": {"all": rows.len(), "closed": count("closed"), "opened": count("opened")}}}),
    )
}

fn by_id(request: &mut Request<'_>) -> Answer {
    let id = request.param("issue_id").parse().unwrap_or_default();
    let (_, row) = request.world.anywhere("issues", id).ok_or(Fault::missing("Issue"))?;
    ok(request.show(&row))
}

/// The fields of an issue or merge request that parameters set by other names, or refuse.
pub fn common(request: &Request<'_>, row: &Row) -> Result<Row, Fault> {
    let args = &request.args;
    let mut values = Row::new();
    if let Some(title) = args.get("title") {
        let title = text_of(title).filter(|title| !title.trim().is_empty());
        let title = title.ok_or_else(|| Fault::invalid("title", "can't be blank"))?;
        if title.chars().count() > 255 {
            return Err(Fault::invalid("title", "is too long (maximum is 255 characters)"));
        }
        values.set("title", title);
    }
    // Who may not plan can write a text, and GitLab drops the rest in silence.
    if !request.at_least(Level::Planner) {
        for name in ["labels", "add_labels", "remove_labels", "assignee_ids", "assignee_id", "milestone_id"] {
            args.get(name);
        }
        values.set("labels", super::reach::names(&row.texts("labels")));
        return Ok(values);
    }
    let mut labels = if args.has("labels") { args.list("labels") } else { row.texts("labels") };
    labels.extend(args.list("add_labels"));
    let gone = args.list("remove_labels");
    labels.retain(|label| !gone.contains(label));
    values.set("labels", super::reach::names(&unique(labels)));
    if args.has("assignee_ids") || args.has("assignee_id") {
        let key = if args.has("assignee_ids") { "assignee_ids" } else { "assignee_id" };
        values.set("assignees", request.people(key));
    }
    if args.has("milestone_id") {
        // GitLab clears the milestone where there is none with that id.
        let known = |id: &u64| request.world.anywhere("milestones", *id).is_some();
        let milestone = args.num("milestone_id").filter(known);
        values.set("milestone", milestone.map_or(Value::Null, Value::from));
    }
    Ok(values)
}

/// Creates the labels that a row uses and that do not exist yet.
pub fn learn_labels(request: &mut Request<'_>, row: &Row) {
    for name in row.texts("labels") {
        if request.world.label_named(&name).is_none() {
            request.add(&request.shelf("labels"), json!({"name": name, "color": "#6699cc"}));
        }
    }
}

/// Records all that the creation of an issue or merge request did; gives the row back.
pub fn record_new(request: &mut Request<'_>, kind: &str, shelf: &str, row: Row) -> Row {
    learn_labels(request, &row);
    request.event("opened", kind, &row);
    super::history::record_new(request, shelf, kind, &row);
    super::quick_actions::execute_description(request, kind, shelf, row)
}

fn create(request: &mut Request<'_>) -> Answer {
    let mut values = request.given_of("issues", SET);
    let common = common(request, &Row::new())?;
    values.extend(common);
    let issue_type = request.args.text("issue_type").unwrap_or_else(|| "issue".to_owned());
    values.set("type", issue_type.to_uppercase());
    let shelf = request.shelf("issues");
    let row = request.world.add(&shelf, values, request.user);
    let row = super::epic_issues::assign(request, &shelf, row)?;
    let row = record_new(request, "Issue", &shelf, row);
    created(request.show(&row))
}

fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, before) = request.found().map_err(|fault| hidden_issue(request).unwrap_or(fault))?;
    let mine = request.wrote(&before) || before.nums("assignees").iter().any(|id| Some(*id) == request.user);
    if !request.at_least(Level::Planner) && !mine {
        return Err(Fault::Forbidden);
    }
    let mut values = request.given_of("issues", SET);
    // Set by GraphQL alone.
    if let Some(health) = request.args.get("_health_status") {
        values.set("health_status", health.clone());
    }
    values.extend(common(request, &before)?);
    values.extend(state_event(request, &before));
    let row = request.world.write(&shelf, before.num("id"), values);
    let row = super::epic_issues::assign(request, &shelf, row)?;
    learn_labels(request, &row);
    super::history::record(request, &shelf, "Issue", &before, &row);
    let row = super::quick_actions::execute_description(request, "Issue", &shelf, row);
    ok(request.show(&row))
}

/// Only an update tells an issue that may not be seen from one that is not there (lib/api/issues.rb).
fn hidden_issue(request: &Request<'_>) -> Option<Fault> {
    let iid = request.param("issue_iid");
    request.world.find(&request.shelf("issues"), "iid", iid).map(|_| Fault::Forbidden)
}

/// The issue in the path, for the two actions that GitLab answers in the issue's own name where there is none.
fn find_named_issue(request: &Request<'_>) -> Result<(String, Row), Fault> {
    request.found().map_err(|fault| match fault {
        Fault::Missing(what) if what.is_empty() => Fault::missing("Issue"),
        other => other,
    })
}

fn remove(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = find_named_issue(request)?;
    request.delete(&shelf, &row)
}

/// The project that a parameter names by id or path, as far as the user may see it.
pub fn other_project(request: &Request<'_>, parameter: &str) -> Result<Row, Fault> {
    let wanted = request.args.text(parameter).unwrap_or_default();
    let world = &request.world;
    let found = world.place_named("projects", &wanted);
    let found = found.filter(|row| may_see(world, request.user, "projects", row));
    found.cloned().ok_or(Fault::missing("Project"))
}

/// Puts a copy of the issue in the path into another project.
fn duplicate(request: &mut Request<'_>) -> Result<(String, Row, Row), Fault> {
    let target = other_project(request, "to_project_id")?;
    let (shelf, row) = find_named_issue(request)?;
    let kept =
        ["title", "description", "labels", "assignees", "confidential", "due_date", "issue_type", "author"];
    let shelf_there = format!("projects/{}/issues", target.num("id"));
    let copied = request.world.add(&shelf_there, row.pick(&kept), request.user);
    Ok((shelf, row, copied))
}

fn relocate(request: &mut Request<'_>) -> Answer {
    if find_named_issue(request)?.1.num("moved_to_id") > 0 {
        return Err(Fault::refused(400, "Cannot move issue!"));
    }
    if request.args.num("to_project_id") == Some(request.place_id()) {
        return Err(Fault::refused(400, "Cannot move issue to project it originates from!"));
    }
    let target = Place::project(other_project(request, "to_project_id")?.num("id"));
    let may_add = level(request.world, request.user, Some(target)) >= Level::Reporter;
    if !may_add || !request.at_least(Level::Reporter) {
        return Err(Fault::refused(400, "Cannot move issue due to insufficient permissions!"));
    }
    let (shelf, row, copied) = duplicate(request)?;
    let now = request.world.now();
    request.write(
        &shelf,
        row.num("id"),
        json!({"state": "closed", "closed_at": now, "moved_to_id": copied.num("id")}),
    );
    created(request.show(&copied))
}

fn copy(request: &mut Request<'_>) -> Answer {
    let (_, _, copied) = duplicate(request)?;
    created(request.show(&copied))
}

fn links(request: &mut Request<'_>) -> Answer {
    let me = request.row()?.num("id");
    let mut shown = Vec::new();
    for link in request.world.rows("issue_links") {
        let (other, turned) = match (link.num("_source"), link.num("_target")) {
            (source, target) if source == me => (target, false),
            (source, target) if target == me => (source, true),
            _ => continue,
        };
        let Some((shelf, row)) = request.world.anywhere("issues", other) else { continue };
        let place = Place::of(&shelf).map(|place| request.world.row_of(place)).unwrap_or_default();
        if !may_see(request.world, request.user, "projects", &place)
            || !may_see(request.world, request.user, &shelf, &row)
        {
            continue;
        }
        let kind = match (link.text("link_type"), turned) {
            ("blocks", true) => "is_blocked_by",
            ("is_blocked_by", true) => "blocks",
            (kind, _) => kind,
        };
        let mut row = request.world.show(&row);
        row.set("issue_link_id", link.num("id"));
        row.set("link_type", kind);
        row.set("link_created_at", link.text("link_created_at"));
        row.set("link_updated_at", link.text("link_updated_at"));
        shown.push(Value::Object(row));
    }
    ok(shown)
}

fn link(request: &mut Request<'_>) -> Answer {
    let source = request.row()?;
    let project = other_project(request, "target_project_id")?;
    let iid = request.args.text("target_issue_iid").unwrap_or_default();
    let shelf = format!("projects/{}/issues", project.num("id"));
    let target = request.world.find(&shelf, "iid", &iid).cloned();
    let target = target.filter(|row| may_see(request.world, request.user, &shelf, row));
    let target = target.ok_or(Fault::missing(""))?;
    if !request.at_least(Level::Reporter) {
        return Err(Fault::Forbidden);
    }
    if super::duplicates::are_linked(request, &source, &target) {
        return Err(Fault::refused(409, "Issue(s) already assigned"));
    }
    let kind = request.args.text("link_type").unwrap_or_else(|| "relates_to".to_owned());
    let row = request.add(
        "issue_links",
        json!({"_source": source.num("id"), "_target": target.num("id"), "link_type": kind}),
    );
    created(
        json!({"id": row.num("id"), "source_issue": request.show_as("issues", "basic", &source), "target_issue": request.show_as("issues", "basic", &target), "link_type": kind}),
    )
}

fn unlink(request: &mut Request<'_>) -> Answer {
    let id = request.param("issue_link_id").parse().unwrap_or_default();
    let link = request.world.by_id("issue_links", id);
    if link.is_empty() {
        return Err(Fault::missing(""));
    }
    let end = |field: &str| {
        let found = request.world.anywhere("issues", link.num(field));
        found.map(|(_, row)| request.show_as("issues", "basic", &row)).unwrap_or_default()
    };
    let reply = ok(
        json!({"id": id, "source_issue": end("_source"), "target_issue": end("_target"), "link_type": link.text("link_type")}),
    );
    request.world.remove("issue_links", |row| row.num("id") == id);
    reply
}

/// Words before an issue's number by which a merge request closes it.
const CLOSES: &[&str] = &["Closes ", "Fixes "];

fn show(request: &mut Request<'_>) -> Answer {
    let row = request.row()?;
    let mut shown = object(request.show(&row));
    shown.set("merge_requests_count", speaking_of(request, row.num("iid"), CLOSES).len());
    ok(shown)
}

/// Merge requests whose description speaks of the issue, and of closing it where those are asked for.
fn mentioning(request: &mut Request<'_>) -> Answer {
    let words: &[&str] = if request.path_end() == "closed_by" { CLOSES } else { &[""] };
    let iid = request.row()?.num("iid");
    let rows = speaking_of(request, iid, words);
    request.page_of("merge_requests", &rows)
}

/// The merge requests of the project that have one of these words and the issue's number in their description.
fn speaking_of(request: &Request<'_>, iid: u64, words: &[&str]) -> Vec<Row> {
    let names = |text: &str| words.iter().any(|word| super::reference::refers(text, word).contains(&iid));
    let mut rows = request.across("merge_requests");
    rows.retain(|row| names(row.text("description")));
    rows
}
