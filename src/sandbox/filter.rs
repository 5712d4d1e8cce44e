//! Narrowing and ordering lists of issues, merge requests, epics and milestones: one table of parameters
//! with their conditions on a row, which `not[…]` negates.

use serde_json::Value;

use super::args::Args;
use super::row::{Fields, Row, mentions};
use super::state::World;

type Test = fn(&Ask<'_>, &Row) -> bool;

/// The value given for a parameter, and the user who asks.
struct Ask<'a> {
    world: &'a World,
    user: Option<u64>,
    text: String,
    list: Vec<String>,
    /// Fields that `search` looks in.
    fields: Vec<String>,
}

/// GitLab's `due_date`: a state, not a date.
fn due(ask: &Ask<'_>, row: &Row) -> bool {
    let (date, today) = (row.text("due_date"), ask.world.today());
    match ask.text.as_str() {
        "0" | "none" => date.is_empty(),
        "any" => !date.is_empty(),
        "today" => date == today,
        "tomorrow" => date == ask.world.tomorrow(),
        "overdue" => !date.is_empty() && date < today.as_str(),
        "month" => !date.is_empty() && date.get(..7) == today.get(..7),
        _ => true,
    }
}

const TESTS: &[(&str, Test)] = &[
    ("state", |ask, row| ask.text == "all" || row.text("state") == ask.text),
    ("iids", |ask, row| ask.list.contains(&row.num("iid").to_string())),
    ("labels", labels),
    ("milestone", milestone),
    ("search", |ask, row| {
        let fields: Vec<&str> = ask.fields.iter().map(String::as_str).collect();
        ask.text.split_whitespace().all(|word| mentions(row, &fields, word))
    }),
    ("weight", |ask, row| match ask.text.to_lowercase().as_str() {
        "none" => row.blank("weight"),
        "any" => !row.blank("weight"),
        weight => row.num("weight").to_string() == weight && !row.blank("weight"),
    }),
    ("due_date", due),
    ("my_reaction_emoji", |ask, row| {
        let held = |shelf: &str, award: &Row| {
            ask.user == Some(award.num("user"))
                && award.num("awardable_id") == row.num("id")
                && shelf.contains(if row.contains_key("source_branch") {
                    "/merge_requests/"
                } else {
                    "/issues/"
                })
                && (ask.text == "Any" || award.text("name") == ask.text)
        };
        let any = ask.world.all("award_emoji").any(|(shelf, award)| held(shelf, award));
        if ask.text == "None" { !any } else { any }
    }),
    ("milestone_id", |ask, row| match ask.text.as_str() {
        "None" => row.blank("milestone"),
        "Any" => !row.blank("milestone"),
        _ => true,
    }),
    ("title", |ask, row| row.text("title") == ask.text),
    ("author_username", |ask, row| {
        ask.list.iter().any(|name| ask.world.user_named(name) == Some(row.num("author")))
    }),
    ("author_id", |ask, row| row.num("author").to_string() == ask.text),
    ("assignee_username", |ask, row| {
        let people = row.nums("assignees");
        ask.list.iter().all(|name| ask.world.user_named(name).is_some_and(|id| people.contains(&id)))
    }),
    ("assignee_id", |ask, row| someone(ask, row, "assignees")),
    ("reviewer_id", |ask, row| someone(ask, row, "reviewers")),
    ("reviewer_username", |ask, row| {
        ask.world.user_named(&ask.text).is_some_and(|id| row.nums("reviewers").contains(&id))
    }),
    ("scope", |ask, row| match (ask.text.replace('-', "_").as_str(), ask.user) {
        ("created_by_me", Some(user)) => row.num("author") == user,
        ("assigned_to_me", Some(user)) => row.nums("assignees").contains(&user),
        ("reviews_for_me", Some(user)) => row.nums("reviewers").contains(&user),
        _ => true,
    }),
    ("confidential", |ask, row| row.flag("confidential").to_string() == ask.text),
    ("issue_type", |ask, row| row.text("issue_type") == ask.text),
    ("source_branch", |ask, row| row.text("source_branch") == ask.text),
    ("target_branch", |ask, row| row.text("target_branch") == ask.text),
    ("draft", |ask, row| row.flag("draft").to_string() == ask.text),
    ("wip", |ask, row| row.flag("draft") == (ask.text == "yes")),
    ("created_after", |ask, row| row.text("created_at") >= ask.text.as_str()),
    ("created_before", |ask, row| row.text("created_at") <= ask.text.as_str()),
    ("updated_after", |ask, row| row.text("updated_at") >= ask.text.as_str()),
    ("updated_before", |ask, row| row.text("updated_at") <= ask.text.as_str()),
];

/// Values of a parameter that the sandbox lacks, separated by spaces. It stays unread, which is answered with 501.
const LACKING: &[(&str, &str)] =
    &[("due_date", "week next_month_and_previous_two_weeks"), ("milestone_id", "Upcoming Started")];

fn is_lacking(name: &str, value: &Value) -> bool {
    let text = super::args::text_of(value).unwrap_or_default();
    LACKING.iter().any(|(lacking, values)| *lacking == name && values.split(' ').any(|value| value == text))
}

fn labels(ask: &Ask<'_>, row: &Row) -> bool {
    let held = row.texts("labels");
    match ask.text.to_lowercase().as_str() {
        "none" => held.is_empty(),
        "any" => !held.is_empty(),
        _ => ask.list.iter().all(|label| held.contains(label)),
    }
}

fn milestone(ask: &Ask<'_>, row: &Row) -> bool {
    let held = ask.world.anywhere("milestones", row.num("milestone")).map(|(_, milestone)| milestone);
    match ask.text.to_lowercase().as_str() {
        "none" => held.is_none(),
        "any" => held.is_some(),
        _ => held.is_some_and(|milestone| milestone.text("title") == ask.text),
    }
}

fn someone(ask: &Ask<'_>, row: &Row, field: &str) -> bool {
    let people = row.nums(field);
    match ask.text.to_lowercase().as_str() {
        "none" => people.is_empty(),
        "any" => !people.is_empty(),
        id => people.iter().any(|person| person.to_string() == id),
    }
}

/// The rows that the parameters ask for, in the order they ask for.
pub fn narrow(world: &World, user: Option<u64>, args: &Args, mut rows: Vec<Row>) -> Vec<Row> {
    let not = args.peek("not").cloned().map(super::row::object).map(Args::from).unwrap_or_default();
    let is_held = |(name, value): (&String, &Value)| {
        TESTS.iter().any(|(known, _)| known == name) && !is_lacking(name, value)
    };
    if not.given().iter().all(is_held) {
        args.get("not");
    }
    let named = args.list("in");
    let fields: Vec<String> =
        if named.is_empty() { vec!["title".to_owned(), "description".to_owned()] } else { named };
    for (args, wanted) in [(args, true), (&not, false)] {
        for (name, test) in TESTS {
            if args.peek(name).is_some_and(|value| is_lacking(name, value)) {
                continue;
            }
            let Some(given) = args.get(name) else { continue };
            let text = super::args::text_of(given).unwrap_or_default();
            let list = super::args::list_of(given);
            let fields = fields.clone();
            let ask = Ask { world, user, text: text.clone(), list, fields };
            if !(ask.list.is_empty() && text.is_empty()) {
                rows.retain(|row| test(&ask, row) == wanted);
            }
        }
    }
    sort(args, &mut rows);
    rows
}

/// Keeps the rows whose fields are what the parameters of the same names say.
pub fn keep_equal(args: &Args, fields: &[&str], rows: &mut Vec<Row>) {
    for field in fields {
        if let Some(wanted) = args.text(field) {
            rows.retain(|row| row.get(*field).and_then(super::args::text_of).as_deref() == Some(&wanted));
        }
    }
}

/// Keeps the rows whose times are in the bounds of parameters such as `updated_after`.
pub fn keep_between(args: &Args, fields: &[&str], rows: &mut Vec<Row>) {
    for field in fields {
        let name = field.trim_end_matches("_at");
        if let Some(after) = args.text(&format!("{name}_after")) {
            rows.retain(|row| row.text(field) >= after.as_str());
        }
        if let Some(before) = args.text(&format!("{name}_before")) {
            rows.retain(|row| !row.blank(field) && row.text(field) <= before.as_str());
        }
    }
}

/// Orders rows by `order_by` and `sort`, newest first by default.
pub fn sort(args: &Args, rows: &mut [Row]) {
    sort_by(args, "created_at", "desc", rows);
}

/// The same with other defaults. An order by a field that the rows lack stays unread, which is answered with 501.
pub fn sort_by(args: &Args, field: &str, order: &str, rows: &mut [Row]) {
    let wanted = args.peek("order_by").and_then(super::args::text_of).filter(|field| !field.is_empty());
    let field = wanted.unwrap_or_else(|| field.to_owned());
    if rows.is_empty() || rows.iter().any(|row| row.contains_key(&field)) {
        args.get("order_by");
    }
    let key = |row: &Row| match row.get(&field) {
        Some(Value::Number(number)) => format!("{number:0>20}"),
        Some(Value::String(text)) => text.to_lowercase(),
        _ => String::new(),
    };
    rows.sort_by_key(|row| (key(row), row.num("id")));
    if args.text("sort").as_deref().unwrap_or(order) != "asc" {
        rows.reverse();
    }
}
