//! Subscriptions, to-do items, time and participants: shared by issues and merge requests.

use crate::prelude::*;

use super::reach::unique;
use super::todo_items::{is_pending, target};

const DURATION: &[Rule] = &[Rule::Required("duration")];

pub const ROUTES: &[Route] = &[
    post("/(subscribe|unsubscribe)", subscribe).needs(Level::User),
    post("/todo", todo).needs(Level::User),
    get("/participants", participants),
    get("/time_stats", time_stats),
    post("/(time_estimate|add_spent_time)", set_times).needs(Level::Reporter).rules(DURATION),
    post("/(reset_time_estimate|reset_spent_time)", set_times).needs(Level::Reporter),
];

fn subscribe(request: &mut Request<'_>) -> Answer {
    let on = request.path_end() == "subscribe";
    let (shelf, row) = request.found()?;
    if row.flag("subscribed") == on {
        return Ok(Reply::unchanged());
    }
    let row = request.write(&shelf, row.num("id"), json!({"subscribed": on}));
    created(request.show(&row))
}

fn todo(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let me = request.me()?;
    let target = target(&shelf, &row);
    if request.world.rows("todos").iter().any(|todo| is_pending(todo, me, &target)) {
        return Ok(Reply::unchanged());
    }
    let kind = if shelf.ends_with("issues") { "Issue" } else { "MergeRequest" };
    let values = json!({"target_type": kind, "body": row.text("title"), "_target": target, "_project": request.place_id()});
    let row = request.add("todos", values);
    created(super::personal::show_todo(request, &row))
}

fn participants(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let mut people = vec![row.num("author")];
    people.extend(row.nums("assignees"));
    let notes = format!("{shelf}/{}/notes", row.num("iid"));
    people.extend(request.world.rows(&notes).iter().map(|note| note.num("author")));
    request.page(unique(people).into_iter().map(|user| request.world.basic_user(user)).collect())
}

/// Seconds of each unit of a duration: a week has five days of eight hours.
const UNITS: &[(&str, i64)] =
    &[("mo", 576_000), ("w", 144_000), ("d", 28_800), ("h", 3_600), ("m", 60), ("s", 1)];

/// The seconds of a duration such as `1h30m` or `-45m`.
pub fn seconds(text: &str) -> Option<i64> {
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

/// The times of an issue or merge request, in seconds.
pub struct Times {
    pub estimate: i64,
    pub spent: i64,
}

impl Times {
    pub fn of(row: &Row) -> Self {
        let stats = row.get("time_stats").cloned().map(object).unwrap_or_default();
        let held = |name: &str| stats.get(name).and_then(Value::as_i64).unwrap_or_default();
        Self { estimate: held("time_estimate"), spent: held("total_time_spent") }
    }

    pub fn to_json(&self) -> Value {
        json!({
            "time_estimate": self.estimate, "total_time_spent": self.spent, "human_time_estimate": human(self.estimate),
            "human_total_time_spent": human(self.spent)
        })
    }
}

fn set_times(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let duration = request.args.text("duration").and_then(|text| seconds(&text));
    let mut times = Times::of(&row);
    let end = request.path_end();
    if end == "add_spent_time" {
        // A field of the timelog, which the sandbox does not keep.
        request.args.text("summary");
    }
    match (end, duration) {
        ("reset_time_estimate", _) => times.estimate = 0,
        ("reset_spent_time", _) => times.spent = 0,
        ("time_estimate", Some(duration)) => times.estimate = duration,
        (_, Some(duration)) => times.spent = (times.spent + duration).max(0),
        (_, None) => {
            let problem = "must have a valid format and be greater than or equal to zero.";
            return Err(Fault::invalid("time_estimate", problem));
        }
    }
    let status = if end == "add_spent_time" { 201 } else { 200 };
    let stats = times.to_json();
    request.write(&shelf, row.num("id"), json!({"time_stats": stats}));
    Ok(Reply::json(status, stats))
}

fn time_stats(request: &mut Request<'_>) -> Answer {
    ok(request.row()?.get("time_stats").cloned().unwrap_or_default())
}
