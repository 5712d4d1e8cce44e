//! The rules of protected branches and tags.

use crate::access_level::describe;
use crate::args::text_of;
use crate::prelude::*;

pub const ROUTES: &[Route] = &[
    post("/projects/:id/protected_branches", new_rule)
        .needs(Level::Maintainer)
        .rules(&[Rule::Required("name")]),
    patch("/projects/:id/protected_branches/:name", change_rule).needs(Level::Maintainer),
    post("/projects/:id/protected_tags", new_tag_rule)
        .needs(Level::Maintainer)
        .rules(&[Rule::Required("name"), Rule::OneOf("create_access_level", "30 40 60 0")]),
];

/// Who may do something with a protected branch or tag: a role, or what `allowed_to_…` lists.
fn access(request: &Request<'_>, role: &str, listed: &str) -> Vec<Value> {
    let listed = request.args.rows(listed);
    let role = request.args.num(role).or_else(|| listed.is_empty().then_some(40));
    let roles = role.into_iter().map(|level| object(json!({ "access_level": level })));
    roles.chain(listed).enumerate().map(|(number, row)| describe(request.world, number, &row)).collect()
}

fn add_rule(request: &mut Request<'_>, name: &str) -> Row {
    let values = json!({
        "name": name, "push_access_levels": access(request, "push_access_level", "allowed_to_push"),
        "merge_access_levels": access(request, "merge_access_level", "allowed_to_merge"),
        "unprotect_access_levels": access(request, "unprotect_access_level", "allowed_to_unprotect"), "allow_force_push": request.args.flag("allow_force_push"),
        "code_owner_approval_required": request.args.flag("code_owner_approval_required")
    });
    request.add(&request.shelf("protected_branches"), values)
}

fn new_tag_rule(request: &mut Request<'_>) -> Answer {
    let name = request.args.text("name").unwrap_or_default();
    let shelf = request.shelf("protected_tags");
    if request.world.find(&shelf, "name", &name).is_some() {
        return Err(Fault::Refused(422, json!(["Name has already been taken"])));
    }
    let levels = access(request, "create_access_level", "allowed_to_create");
    let row = request.add(&shelf, json!({"name": name, "create_access_levels": levels}));
    created(request.show(&row))
}

fn new_rule(request: &mut Request<'_>) -> Answer {
    let name = request.args.text("name").unwrap_or_default();
    if request.world.find(&request.shelf("protected_branches"), "name", &name).is_some() {
        return Err(Fault::refused(409, &format!("Protected branch '{name}' already exists")));
    }
    let row = add_rule(request, &name);
    created(request.show(&row))
}

fn change_rule(request: &mut Request<'_>) -> Answer {
    let shelf = request.shelf("protected_branches");
    let row = request.row_on(&shelf, "name")?;
    let mut values = Row::new();
    for name in ["allow_force_push", "code_owner_approval_required"] {
        if let Some(on) = request.args.maybe(name) {
            values.set(name, on);
        }
    }
    let lists =
        [("allowed_to_push", "push"), ("allowed_to_merge", "merge"), ("allowed_to_unprotect", "unprotect")];
    for (listed, what) in lists {
        let changes = request.args.rows(listed);
        let field = format!("{what}_access_levels");
        let mut held = row.list(&field).to_vec();
        for change in changes {
            let id = change.get("id").and_then(text_of);
            let same = |level: &Value| level.get("id").and_then(text_of) == id;
            let gone = change.get("_destroy").and_then(text_of).as_deref() == Some("true");
            held.retain(|level| id.is_none() || !same(level));
            if !gone {
                let number =
                    held.iter().filter_map(|level| level.get("id")?.as_u64()).max().unwrap_or_default();
                held.push(describe(request.world, usize::try_from(number).unwrap_or_default(), &change));
            }
        }
        values.set(&field, held);
    }
    let row = request.world.write(&shelf, row.num("id"), values);
    ok(request.show(&row))
}
