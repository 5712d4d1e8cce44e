//! Issues: lists at every scope, and their life from opening to deletion.

use serde_json::{Value, json};

use crate::sandbox::access::may_see;
use crate::sandbox::answer::{Answer, created, ok};
use crate::sandbox::args::text_of;
use crate::sandbox::errors::Fault;
use crate::sandbox::filter::narrow;
use crate::sandbox::level::Level;
use crate::sandbox::reply::Reply;
use crate::sandbox::request::Request;
use crate::sandbox::route::{Route, Rule, delete, get, post, put};
use crate::sandbox::row::{Fields, Row, object};
use crate::sandbox::state::Place;

const LIST: &[Rule] = &[
    Rule::OneOf("state", &["opened", "closed", "all"]),
    Rule::OneOf("scope", &["created-by-me", "assigned-to-me", "created_by_me", "assigned_to_me", "all"]),
    Rule::OneOf("sort", &["asc", "desc"]),
    Rule::OneOf(
        "order_by",
        &[
            "created_at",
            "updated_at",
            "due_date",
            "title",
            "priority",
            "label_priority",
            "milestone_due",
            "relative_position",
            "popularity",
            "weight",
        ],
    ),
    Rule::OneOf("issue_type", &["issue", "incident", "test_case", "task"]),
];
/// Parameters that change an issue.
const CHANGING: &[&str] = &[
    "title",
    "description",
    "state_event",
    "labels",
    "add_labels",
    "remove_labels",
    "assignee_ids",
    "assignee_id",
    "milestone_id",
    "confidential",
    "due_date",
    "discussion_locked",
    "issue_type",
    "weight",
    "updated_at",
];

const CHANGE: &[Rule] = &[
    Rule::AnyOf(CHANGING),
    Rule::OneOf("state_event", &["reopen", "close"]),
    Rule::OneOf("issue_type", &["issue", "incident", "test_case", "task"]),
    Rule::Integer("milestone_id"),
];

pub const ROUTES: &[Route] = &[
    get("(|/groups/:id|/projects/:id)/issues", list).rules(LIST),
    get("/issues_statistics", statistics).needs(Level::User),
    get("/(groups|projects)/:id/issues_statistics", statistics),
    get("/issues/:issue_id", by_id).needs(Level::Admin),
    get("/projects/:id/issues/:issue_iid", show),
    post("/projects/:id/issues", create).needs(Level::User).rules(&[
        Rule::Required("title"),
        Rule::OneOf("issue_type", &["issue", "incident", "test_case", "task"]),
        Rule::Integer("milestone_id"),
    ]),
    put("/projects/:id/issues/:issue_iid", update).needs(Level::User).rules(CHANGE),
    delete("/projects/:id/issues/:issue_iid", remove).needs(Level::Owner),
    post("/projects/:id/issues/:issue_iid/move", relocate)
        .needs(Level::Reporter)
        .rules(&[Rule::Required("to_project_id")]),
    post("/projects/:id/issues/:issue_iid/clone", copy)
        .needs(Level::Reporter)
        .rules(&[Rule::Required("to_project_id")]),
    get("/projects/:id/issues/:issue_iid/links", links),
    post("/projects/:id/issues/:issue_iid/links", link).needs(Level::Reporter).rules(&[
        Rule::Required("target_project_id"),
        Rule::Required("target_issue_iid"),
        Rule::OneOf("link_type", &["relates_to", "blocks", "is_blocked_by"]),
    ]),
    delete("/projects/:id/issues/:issue_iid/links/:issue_link_id", unlink).needs(Level::Reporter),
    get("/projects/:id/issues/:issue_iid/related_merge_requests", related),
    get("/projects/:id/issues/:issue_iid/closed_by", closers),
];

/// Fields that an issue lacks where only its basics are shown.
pub const NOT_BASIC: &[&str] = &[
    "_links",
    "epic",
    "epic_iid",
    "has_tasks",
    "health_status",
    "imported",
    "imported_from",
    "iteration",
    "moved_to_id",
    "references",
    "service_desk_reply_to",
    "severity",
    "subscribed",
    "task_status",
];

/// Fields that parameters of their own names set.
const SET: &[&str] =
    &["description", "confidential", "due_date", "issue_type", "weight", "discussion_locked"];

/// The pattern of one issue.
const ONE: &str = "/projects/:id/issues/:issue_iid";

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
    let fields = ["id", "name", "color", "description", "description_html", "text_color", "archived"];
    let details = |name: String| {
        let label = request.world.all("labels").find(|(_, label)| label.text("name") == name);
        let label = label.map(|(_, label)| label.clone()).unwrap_or_default();
        Value::Object(
            fields
                .iter()
                .map(|name| ((*name).to_owned(), label.get(*name).cloned().unwrap_or_default()))
                .collect(),
        )
    };
    row.texts("labels").into_iter().map(details).collect()
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

fn show(request: &mut Request<'_>) -> Answer {
    let row = request.row(ONE)?;
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
    let mut unique = Vec::new();
    labels.into_iter().for_each(|label| {
        if !unique.contains(&label) {
            unique.push(label)
        }
    });
    values.set("labels", super::reach::names(&unique));
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
        if !request.world.all("labels").any(|(_, label)| label.text("name") == name) {
            request.add(&request.shelf("labels"), json!({"name": name, "color": "#6699cc"}));
        }
    }
}

fn create(request: &mut Request<'_>) -> Answer {
    let kind = request.world.kinds.named("issues").cloned().ok_or(Fault::Nowhere)?;
    let mut values = kind.given_of(&request.args, SET);
    let common = common(request, &Row::new())?;
    values.extend(common);
    let issue_type = request.args.text("issue_type").unwrap_or_else(|| "issue".to_owned());
    values.set("type", issue_type.to_uppercase());
    let shelf = request.shelf("issues");
    let row = request.world.add(&shelf, values, request.user);
    learn_labels(request, &row);
    request.event("opened", "Issue", &row);
    super::history::record_new(request, &shelf, "Issue", &row);
    let row = super::quick_actions::execute_description(request, "Issue", &shelf, row);
    created(request.show(&row))
}

fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, before) = request.subject(ONE)?;
    let mine = request.wrote(&before) || before.nums("assignees").iter().any(|id| Some(*id) == request.user);
    if !request.at_least(Level::Planner) && !mine {
        return Err(Fault::Forbidden);
    }
    let kind = request.world.kinds.named("issues").cloned().ok_or(Fault::Nowhere)?;
    let mut values = kind.given_of(&request.args, SET);
    values.extend(common(request, &before)?);
    match request.args.text("state_event").as_deref() {
        Some("close") => {
            let now = request.world.now();
            values.extend(object(json!({"state": "closed", "closed_at": now, "closed_by": request.user})));
        }
        Some(_) => values.extend(object(json!({"state": "opened", "closed_at": null, "closed_by": null}))),
        None => {}
    }
    let row = request.world.write(&shelf, before.num("id"), values);
    learn_labels(request, &row);
    super::history::record(request, &shelf, "Issue", &before, &row);
    let row = super::quick_actions::execute_description(request, "Issue", &shelf, row);
    ok(request.show(&row))
}

/// The issue in the path, for the two actions that GitLab answers in the issue's own name where there is none.
fn find_named_issue(request: &Request<'_>) -> Result<(String, Row), Fault> {
    request.subject(ONE).map_err(|fault| match fault {
        Fault::Missing(what) if what.is_empty() => Fault::missing("Issue"),
        other => other,
    })
}

fn remove(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = find_named_issue(request)?;
    request.world.remove(&shelf, |other| other.num("id") == row.num("id"));
    Ok(Reply::empty())
}

/// The project that a parameter names by id or path, as far as the user may see it.
pub fn other_project(request: &Request<'_>, parameter: &str) -> Result<Row, Fault> {
    let wanted = request.args.text(parameter).unwrap_or_default();
    let world = &request.world;
    let found = world
        .find("projects", "id", &wanted)
        .or_else(|| world.find("projects", "path_with_namespace", &wanted));
    let found = found.filter(|row| may_see(world, request.user, "projects", row));
    found.cloned().ok_or(Fault::missing("Project"))
}

/// Puts a copy of the issue in the path into another project.
fn duplicate(request: &mut Request<'_>) -> Result<(String, Row, Row), Fault> {
    let target = other_project(request, "to_project_id")?;
    let (shelf, row) = find_named_issue(request)?;
    let kept =
        ["title", "description", "labels", "assignees", "confidential", "due_date", "issue_type", "author"];
    let values = row.iter().filter(|(name, _)| kept.contains(&name.as_str()));
    let values = values.map(|(name, value)| (name.clone(), value.clone())).collect();
    let copied = request.world.add(&format!("projects/{}/issues", target.num("id")), values, request.user);
    Ok((shelf, row, copied))
}

fn relocate(request: &mut Request<'_>) -> Answer {
    if find_named_issue(request)?.1.num("moved_to_id") > 0 {
        return Err(Fault::refused(400, "Cannot move issue!"));
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
    let me = request.row(ONE)?.num("id");
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
    let source = request.row(ONE)?;
    let project = other_project(request, "target_project_id")?;
    let iid = request.args.text("target_issue_iid").unwrap_or_default();
    let shelf = format!("projects/{}/issues", project.num("id"));
    let target = request.world.find(&shelf, "iid", &iid).cloned().ok_or(Fault::missing(""))?;
    let pair = |row: &Row| [row.num("_source"), row.num("_target")];
    let (one, other) = (source.num("id"), target.num("id"));
    if request
        .world
        .rows("issue_links")
        .iter()
        .any(|row| pair(row) == [one, other] || pair(row) == [other, one])
    {
        return Err(Fault::refused(409, "Issue(s) already assigned"));
    }
    let kind = request.args.text("link_type").unwrap_or_else(|| "relates_to".to_owned());
    let row = request.add("issue_links", json!({"_source": one, "_target": other, "link_type": kind}));
    created(
        json!({"id": row.num("id"), "source_issue": request.show_without(&source, NOT_BASIC), "target_issue": request.show_without(&target, NOT_BASIC), "link_type": kind}),
    )
}

fn unlink(request: &mut Request<'_>) -> Answer {
    let id = request.param("issue_link_id").parse().unwrap_or_default();
    let link = request.world.by_id("issue_links", id);
    if link.is_empty() {
        return Err(Fault::missing("Issue Link"));
    }
    let end = |field: &str| {
        let found = request.world.anywhere("issues", link.num(field));
        found.map(|(_, row)| request.show_without(&row, NOT_BASIC)).unwrap_or_default()
    };
    let reply = ok(
        json!({"id": id, "source_issue": end("_source"), "target_issue": end("_target"), "link_type": link.text("link_type")}),
    );
    request.world.remove("issue_links", |row| row.num("id") == id);
    reply
}

/// Merge requests whose description speaks of the issue, after one of these words.
fn mentioning(request: &mut Request<'_>, words: &[&str]) -> Answer {
    let iid = request.row(ONE)?.num("iid");
    let names = |text: &str| words.iter().any(|word| super::reference::refers(text, word).contains(&iid));
    let mut rows = request.across("merge_requests");
    rows.retain(|row| names(row.text("description")));
    request.page_of("merge_requests", &rows)
}

fn related(request: &mut Request<'_>) -> Answer {
    mentioning(request, &[""])
}

fn closers(request: &mut Request<'_>) -> Answer {
    mentioning(request, &["Closes ", "Fixes "])
}
