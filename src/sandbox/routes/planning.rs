//! Labels and milestones, of projects and of groups.

use crate::filter::narrow;
use crate::prelude::*;

use super::rows;

const NEW_LABEL: &[Rule] = &[Rule::Required("name"), Rule::Required("color")];
const NEW_MILESTONE: &[Rule] = &[Rule::Required("title")];
const MILESTONE_STATE: &[Rule] = &[Rule::OneOf("state", "active closed all")];
const MILESTONE_CHANGE: &[Rule] = &[Rule::OneOf("state_event", "close activate")];

pub const ROUTES: &[Route] = &[
    get("/labels", labels),
    get("/labels/:label_id", label),
    post("/labels", new_label).needs(Level::Reporter).rules(NEW_LABEL),
    put("/labels(|/:label_id)", change_label).needs(Level::Reporter),
    delete("/labels(|/:label_id)", remove_label).needs(Level::Reporter),
    post("/labels/:label_id/(subscribe|unsubscribe)", subscribe).needs(Level::User),
    get("/milestones", milestones).needs(Level::User).rules(MILESTONE_STATE),
    get("/milestones/:milestone_id", rows::show),
    post("/milestones", new_milestone).needs(Level::Reporter).rules(NEW_MILESTONE),
    put("/milestones/:milestone_id", change_milestone).needs(Level::Reporter).rules(MILESTONE_CHANGE),
    delete("/milestones/:milestone_id", rows::remove).needs(Level::Reporter),
    get("/milestones/:milestone_id/(issues|merge_requests)", in_milestone),
];

pub const PROMOTIONS: &[Route] = &[put("/labels/:label_id/promote", promote_label).needs(Level::Reporter)];

/// The labels that can be put on something in a place.
fn all_labels(request: &Request<'_>) -> Vec<(String, Row)> {
    let own_only = request.args.maybe("include_ancestor_groups") == Some(false);
    let mut shelves = request.shelves("labels");
    if own_only {
        shelves.truncate(1);
    }
    // A group can list those of its projects too.
    if request.args.maybe("only_group_labels") == Some(false) {
        shelves.extend(
            request.projects().iter().map(|project| Place::project(project.num("id")).shelf("labels")),
        );
    }
    let rows = |shelf: String| {
        let rows = request.world.rows(&shelf).to_vec();
        rows.into_iter().map(move |row| (shelf.clone(), row))
    };
    shelves.into_iter().flat_map(rows).collect()
}

fn show_label(request: &Request<'_>, row: &Row) -> Value {
    let mut shown = request.world.show(row);
    if request.args.flag("with_counts") {
        let name = row.text("name").to_owned();
        let count = |kind: &str, state: &str| {
            let held = |row: &&Row| row.text("state") == state && row.texts("labels").contains(&name);
            request.across(kind).iter().filter(held).count()
        };
        shown.set("open_issues_count", count("issues", "opened"));
        shown.set("closed_issues_count", count("issues", "closed"));
        shown.set("open_merge_requests_count", count("merge_requests", "opened"));
    } else {
        shown.retain(|name, _| !name.ends_with("_count"));
    }
    Value::Object(shown)
}

fn labels(request: &mut Request<'_>) -> Answer {
    // Read here, as a page may have no row.
    request.args.flag("with_counts");
    let words = request.args.text("search");
    let mut rows: Vec<Row> = all_labels(request).into_iter().map(|(_, row)| row).collect();
    rows.retain(|row| words.as_ref().is_none_or(|words| mentions(row, &["name", "description"], words)));
    rows.sort_by_key(|row| row.text("name").to_lowercase());
    request.page(rows.iter().map(|row| show_label(request, row)).collect())
}

fn the_label(request: &Request<'_>) -> Result<(String, Row), Fault> {
    let in_path = request.param("label_id").to_owned();
    let wanted = if in_path.is_empty() {
        let given = request.args.text("label_id").or_else(|| request.args.text("name"));
        given.ok_or_else(|| {
            Fault::Bad("label_id, name are missing, exactly one parameter must be provided".to_owned())
        })?
    } else {
        in_path
    };
    let labels = all_labels(request);
    let found = labels.into_iter().find(|(_, row)| is(row, "id", &wanted) || is(row, "name", &wanted));
    found.ok_or(Fault::missing("Label"))
}

fn label(request: &mut Request<'_>) -> Answer {
    let (_, row) = the_label(request)?;
    ok(show_label(request, &row))
}

fn new_label(request: &mut Request<'_>) -> Answer {
    let name = request.args.text("name").ok_or_else(|| Fault::invalid("title", "can't be blank"))?;
    if all_labels(request).iter().any(|(_, row)| row.text("name") == name) {
        return Err(Fault::refused(409, "Label already exists"));
    }
    let given = request.given("labels");
    let color = request.args.text("color").unwrap_or_default();
    if !color.starts_with('#') && !color.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Err(Fault::invalid("color", "must be a valid color code"));
    }
    let row = request.world.add(&request.shelf("labels"), given, request.user);
    created(show_label(request, &row))
}

fn change_label(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = the_label(request)?;
    let mut given = request.given("labels");
    given.remove("name");
    let old = row.text("name").to_owned();
    if let Some(name) = request.args.text("new_name") {
        given.set("name", name.clone());
        rename(request, &old, Some(&name));
    }
    let row = request.world.write(&shelf, row.num("id"), given);
    ok(show_label(request, &row))
}

/// Changes a label's name wherever it is used, or takes it away.
fn rename(request: &mut Request<'_>, old: &str, new: Option<&str>) {
    for kind in ["issues", "merge_requests"] {
        for row in
            request.across(kind).iter().filter(|row| row.texts("labels").iter().any(|label| label == old))
        {
            let labels = row.texts("labels").into_iter();
            let labels: Vec<String> = labels
                .filter_map(|label| if label == old { new.map(str::to_owned) } else { Some(label) })
                .collect();
            let shelf = format!("projects/{}/{kind}", row.num("project_id"));
            request.write(&shelf, row.num("id"), json!({"labels": labels}));
        }
    }
}

fn remove_label(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = the_label(request)?;
    // A label of a group is deleted there (lib/api/helpers/label_helpers.rb).
    if shelf != request.shelf("labels") {
        return Err(Fault::missing("Label"));
    }
    rename(request, row.text("name"), None);
    request.delete(&shelf, &row)
}

fn promote_label(request: &mut Request<'_>) -> Answer {
    let (shelf, mut row) = the_label(request)?;
    let group = request.groups_above().first().copied();
    let group = group.ok_or_else(|| Fault::refused(400, "Project does not belong to a group"))?;
    request.world.remove(&shelf, |other| other.num("id") == row.num("id"));
    row.remove("is_project_label");
    row.remove("priority");
    let row = request.world.add(&group.shelf("labels"), row, request.user);
    ok(show_label(request, &row))
}

fn subscribe(request: &mut Request<'_>) -> Answer {
    let on = request.path_end() == "subscribe";
    let (shelf, row) = the_label(request)?;
    if row.flag("subscribed") == on {
        return Ok(Reply::unchanged());
    }
    let row = request.write(&shelf, row.num("id"), json!({"subscribed": on}));
    created(show_label(request, &row))
}

fn milestones(request: &mut Request<'_>) -> Answer {
    let mut shelves = request.shelves("milestones");
    if !(request.args.flag("include_ancestors") || request.args.flag("include_parent_milestones")) {
        shelves.truncate(1);
    }
    let rows = shelves.iter().flat_map(|shelf| request.world.rows(shelf).to_vec()).collect();
    let rows = narrow(request.world, request.user, &request.args, rows);
    request.page_of("milestones", &rows)
}

fn new_milestone(request: &mut Request<'_>) -> Answer {
    let title = request.args.text("title").ok_or_else(|| Fault::invalid("title", "can't be blank"))?;
    let shelf = request.shelf("milestones");
    if request.world.find(&shelf, "title", &title).is_some() {
        return Err(Fault::invalid("title", "already being used for another group or project milestone."));
    }
    let mut given = request.given("milestones");
    if let Some(group) = request.place.filter(|place| place.kind == "groups") {
        given.set("group_id", group.id);
        given.set("project_id", Value::Null);
    }
    let row = request.world.add(&shelf, given, request.user);
    created(request.show(&row))
}

fn change_milestone(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let mut given = request.given("milestones");
    given.remove("project_id");
    if let Some(event) = request.args.text("state_event") {
        given.set("state", if event == "close" { "closed" } else { "active" });
    }
    let row = request.world.write(&shelf, row.num("id"), given);
    ok(request.show(&row))
}

fn in_milestone(request: &mut Request<'_>) -> Answer {
    let (milestone, kind) = (request.row()?, request.path_end());
    let mut rows = request.across(kind);
    rows.retain(|row| row.num("milestone") == milestone.num("id"));
    if kind == "issues" {
        return request.page(rows.iter().map(|row| request.show_as(kind, "basic", row)).collect());
    }
    request.page_of(kind, &rows)
}
