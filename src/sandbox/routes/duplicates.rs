//! Issues that are closed as duplicates of others.

use crate::args::text_of;
use crate::prelude::*;

/// The link to the issue that an issue was closed as a duplicate of.
pub const DUPLICATE: &str = "closed_as_duplicate_of";

/// The links of an issue with this one.
pub fn with_duplicate_of(row: &Row, address: Value) -> Value {
    let mut links = row.get("_links").cloned().map(object).unwrap_or_default();
    links.set(DUPLICATE, address);
    Value::Object(links)
}

/// Closes an issue as a duplicate of another, and relates the two.
pub fn close_as_duplicate(request: &mut Request<'_>, shelf: &str, row: &Row, other: &(String, Row)) {
    let (other_shelf, original) = other;
    let address = original.get("_links").and_then(|links| links.get("self")).cloned().unwrap_or_default();
    let now = request.world.now();
    let links = with_duplicate_of(row, address);
    request.write(
        shelf,
        row.num("id"),
        json!({"state": "closed", "closed_at": now, "closed_by": request.user, "_links": links}),
    );
    if !are_linked(request, row, original) {
        let ends = json!({"_source": row.num("id"), "_target": original.num("id")});
        request.add("issue_links", ends);
    }
    let name = |row: &Row, other: &Row| {
        let is_near = row.num("project_id") == other.num("project_id");
        let form = if is_near { "short" } else { "full" };
        row.get("references")
            .and_then(|references| references.get(form))
            .and_then(text_of)
            .unwrap_or_default()
    };
    let marked = format!("marked this issue as a duplicate of {}", name(original, row));
    super::system_notes::add(request, "Issue", shelf, row, &marked);
    let marked = format!("marked {} as a duplicate of this issue", name(row, original));
    super::system_notes::add(request, "Issue", other_shelf, original, &marked);
}

/// The issue of a reference such as `#1` and `group/project#1`, or of an address, that the user may see.
pub fn find_referenced(request: &Request<'_>, shelf: &str, reference: &str) -> Option<(String, Row)> {
    let (place, iid) = reference.rsplit_once('#').or_else(|| reference.rsplit_once("/-/issues/"))?;
    let world = &request.world;
    let shelf = if place.is_empty() {
        shelf.to_owned()
    } else {
        let fields = ["path_with_namespace", "web_url"];
        let project = fields.into_iter().find_map(|field| world.find("projects", field, place))?;
        format!(
            "projects/{}/issues",
            may_see(world, request.user, "projects", project).then(|| project.num("id"))?
        )
    };
    let found =
        world.find(&shelf, "iid", iid).filter(|row| may_see(world, request.user, &shelf, row)).cloned();
    found.map(|row| (shelf, row))
}

/// True if two issues are linked.
pub fn are_linked(request: &Request<'_>, one: &Row, other: &Row) -> bool {
    let ends = [one.num("id"), other.num("id")];
    let is_between = |link: &Row| {
        let (source, target) = (link.num("_source"), link.num("_target"));
        [source, target] == ends || [target, source] == ends
    };
    request.world.rows("issue_links").iter().any(is_between)
}
