//! Subscriptions, to-do items, time and participants: shared by issues and merge requests.

use serde_json::{Value, json};

use crate::sandbox::answer::{Answer, created, ok};
use crate::sandbox::errors::Fault;
use crate::sandbox::level::Level;
use crate::sandbox::reply::Reply;
use crate::sandbox::request::Request;
use crate::sandbox::route::{Route, Rule, get, post};
use crate::sandbox::row::{Fields, Row};

const DURATION: &[Rule] = &[Rule::Required("duration")];

pub const ROUTES: &[Route] = &[
    post("/projects/:id/(issues/:issue_iid|merge_requests/:merge_request_iid)/subscribe", subscribe)
        .needs(Level::User),
    post("/projects/:id/(issues/:issue_iid|merge_requests/:merge_request_iid)/unsubscribe", unsubscribe)
        .needs(Level::User),
    post("/projects/:id/(issues/:issue_iid|merge_requests/:merge_request_iid)/todo", todo).needs(Level::User),
    get("/projects/:id/(issues/:issue_iid|merge_requests/:merge_request_iid)/participants", participants),
    get("/projects/:id/(issues/:issue_iid|merge_requests/:merge_request_iid)/time_stats", time_stats),
    post("/projects/:id/(issues/:issue_iid|merge_requests/:merge_request_iid)/time_estimate", estimate)
        .needs(Level::Reporter)
        .rules(DURATION),
    post(
        "/projects/:id/(issues/:issue_iid|merge_requests/:merge_request_iid)/reset_time_estimate",
        reset_estimate,
    )
    .needs(Level::Reporter),
    post("/projects/:id/(issues/:issue_iid|merge_requests/:merge_request_iid)/add_spent_time", spend)
        .needs(Level::Reporter)
        .rules(DURATION),
    post("/projects/:id/(issues/:issue_iid|merge_requests/:merge_request_iid)/reset_spent_time", reset_spent)
        .needs(Level::Reporter),
];

/// The issue or merge request that the path is about.
fn subject(request: &Request<'_>) -> Result<(String, Row), Fault> {
    let pattern = request.pattern.clone();
    request.subject(pattern.rsplit_once('/').ok_or(Fault::Nowhere)?.0)
}

fn set_subscribed(request: &mut Request<'_>, on: bool) -> Answer {
    let (shelf, row) = subject(request)?;
    if row.flag("subscribed") == on {
        return Ok(Reply::unchanged());
    }
    let row = request.write(&shelf, row.num("id"), json!({"subscribed": on}));
    created(request.show(&row))
}

fn subscribe(request: &mut Request<'_>) -> Answer {
    set_subscribed(request, true)
}

fn unsubscribe(request: &mut Request<'_>) -> Answer {
    set_subscribed(request, false)
}

fn todo(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = subject(request)?;
    let me = request.me()?;
    let target = format!("{shelf}/{}", row.num("iid"));
    let pending = |todo: &Row| {
        todo.num("_user") == me && todo.text("_target") == target && todo.text("state") == "pending"
    };
    if request.world.rows("todos").iter().any(pending) {
        return Ok(Reply::unchanged());
    }
    let kind = if shelf.ends_with("issues") { "Issue" } else { "MergeRequest" };
    let values = json!({"target_type": kind, "body": row.text("title"), "_target": target, "_project": request.place_id()});
    let row = request.add("todos", values);
    created(super::personal::show_todo(request, &row))
}

fn participants(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = subject(request)?;
    let mut people = vec![row.num("author")];
    people.extend(row.nums("assignees"));
    let notes = format!("{shelf}/{}/notes", row.num("iid"));
    people.extend(request.world.rows(&notes).iter().map(|note| note.num("author")));
    let mut unique: Vec<u64> = Vec::new();
    people.into_iter().for_each(|user| {
        if !unique.contains(&user) {
            unique.push(user)
        }
    });
    request.page(unique.into_iter().map(|user| request.world.basic_user(user)).collect())
}

/// Seconds of each unit of a duration: a week has five days of eight hours.
const UNITS: &[(&str, i64)] =
    &[("mo", 576_000), ("w", 144_000), ("d", 28_800), ("h", 3_600), ("m", 60), ("s", 1)];

/// The seconds of a duration such as `1h30m` or `-45m`.
fn seconds(text: &str) -> Option<i64> {
    let (sign, mut rest) = text.trim().strip_prefix('-').map_or((1, text.trim()), |rest| (-1, rest));
    let mut total = 0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, after) = rest.split_at(digits);
        let (unit, size) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        total += number.parse::<i64>().ok()? * size;
        rest = after.strip_prefix(unit)?.trim_start();
    }
    (total > 0).then_some(sign * total)
}

fn human(seconds: i64) -> Value {
    let mut rest = seconds;
    let mut parts = Vec::new();
    for (unit, size) in UNITS {
        if rest / size > 0 {
            parts.push(format!("{}{unit}", rest / size));
        }
        rest %= size;
    }
    if parts.is_empty() { Value::Null } else { Value::from(parts.join(" ")) }
}

/// The time estimated for something and spent on it, as far as it is known.
fn times(row: &Row) -> (i64, i64) {
    let number = |name: &str| row.get("time_stats").and_then(|stats| stats.get(name)).and_then(Value::as_i64);
    (number("time_estimate").unwrap_or_default(), number("total_time_spent").unwrap_or_default())
}

fn set_times(
    request: &mut Request<'_>,
    change: impl Fn(i64, i64, i64) -> (i64, i64),
    needs_duration: bool,
) -> Result<Value, Fault> {
    let (shelf, row) = subject(request)?;
    let duration = seconds(&request.args.text("duration").unwrap_or_default());
    if needs_duration && duration.is_none() {
        return Err(Fault::invalid(
            "time_estimate",
            "must have a valid format and be greater than or equal to zero.",
        ));
    }
    let (estimate, spent) = times(&row);
    let (estimate, spent) = change(estimate, spent, duration.unwrap_or_default());
    let stats = json!({"time_estimate": estimate, "total_time_spent": spent.max(0), "human_time_estimate": human(estimate), "human_total_time_spent": human(spent.max(0))});
    request.write(&shelf, row.num("id"), json!({"time_stats": stats}));
    Ok(stats)
}

fn time_stats(request: &mut Request<'_>) -> Answer {
    let (_, row) = subject(request)?;
    ok(row.get("time_stats").cloned().unwrap_or_default())
}

fn estimate(request: &mut Request<'_>) -> Answer {
    ok(set_times(request, |_, spent, duration| (duration, spent), true)?)
}

fn reset_estimate(request: &mut Request<'_>) -> Answer {
    ok(set_times(request, |_, spent, _| (0, spent), false)?)
}

fn spend(request: &mut Request<'_>) -> Answer {
    created(set_times(request, |estimate, spent, duration| (estimate, spent + duration), true)?)
}

fn reset_spent(request: &mut Request<'_>) -> Answer {
    ok(set_times(request, |estimate, _, _| (estimate, 0), false)?)
}
