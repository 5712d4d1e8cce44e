//! Quick actions in notes and descriptions of issues and merge requests, as far as the sandbox has what they change. Any
//! other command stays in the text.

use crate::prelude::*;

use super::state_event::{close, reopen};
use super::tracking::{Times, seconds};

/// Outcome of the commands of a text.
#[derive(Debug, Default)]
pub struct Executed {
    /// The text without the lines that were executed.
    pub text: String,
    /// GitLab's words on each command.
    pub summary: Vec<String>,
    /// The fields that they changed.
    pub changes: Row,
    /// Commands with an argument that makes no sense.
    pub failed: Vec<String>,
}

/// Executes the commands of a note on an object of that kind.
pub fn execute(request: &mut Request<'_>, kind: &str, shelf: &str, row: &Row, body: &str) -> Executed {
    let mut executed = Executed::default();
    let noun = match kind {
        "Issue" => "issue",
        "MergeRequest" => "merge request",
        _ => {
            executed.text = body.to_owned();
            return executed;
        }
    };
    let before = row.clone();
    let may_change = request.at_least(Level::Planner) || request.wrote(row);
    let mut kept = Vec::new();
    let mut is_code = false;
    for line in body.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let change = if may_change && !is_code { run(request, noun, shelf, row, line.trim()) } else { None };
        let Some(change) = change else {
            if may_change && !is_code {
                executed.failed.extend(senseless(noun, line.trim()));
            }
            kept.push(line);
            continue;
        };
        executed.changes.insert(change.field.to_owned(), change.value);
        executed.summary.push(change.words);
    }
    let id = row.num("id").to_string();
    if let Some(after) =
        request.world.find(shelf, "id", &id).cloned().filter(|_| !executed.summary.is_empty())
    {
        super::history::record(request, shelf, kind, &before, &after);
    }
    executed.text = kept.join("\n").trim().to_owned();
    executed
}

/// Executes the commands of a description that a request gave; gives the row back.
pub fn execute_description(request: &mut Request<'_>, kind: &str, shelf: &str, row: Row) -> Row {
    let text = row.text("description").to_owned();
    if !request.args.has("description") || !text.lines().any(|line| line.trim_start().starts_with('/')) {
        return row;
    }
    let executed = execute(request, kind, shelf, &row, &text);
    if executed.summary.is_empty() {
        return row;
    }
    request.write(shelf, row.num("id"), json!({ "description": executed.text }))
}

/// The names in an argument such as `~bug ~"needs triage"`, without their sign and quotes.
fn names(argument: &str, sign: char) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = argument.trim();
    while !rest.is_empty() {
        let bare = rest.trim_start_matches(sign);
        let (name, after) = match bare.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some((name, after)) => (name, after),
            None => bare.split_once(' ').unwrap_or((bare, "")),
        };
        names.push(name.to_owned());
        rest = after.trim();
    }
    names
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.split('-').all(|part| part.parse::<u16>().is_ok())
}

/// The name of a command with an argument that is never one. Of others GitLab knows more forms than this.
fn senseless(noun: &str, line: &str) -> Option<String> {
    let name = line.strip_prefix('/')?.split(' ').next()?;
    let is_known = COMMANDS.iter().any(|(known, nouns, _)| *known == name && nouns.contains(&noun));
    (is_known && ["spend", "estimate"].contains(&name)).then(|| name.to_owned())
}

/// Executes a line. None if it is no command that is known here.
fn run(request: &mut Request<'_>, noun: &str, shelf: &str, row: &Row, line: &str) -> Option<Change> {
    let line = line.strip_prefix('/')?;
    let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
    let known = COMMANDS.iter().find(|(known, nouns, _)| *known == name && nouns.contains(&noun));
    known?.2(&mut Command { request, shelf, row, name, argument: argument.trim() })
}

/// A command on one object.
struct Command<'c, 'r> {
    request: &'c mut Request<'r>,
    shelf: &'c str,
    row: &'c Row,
    /// Its name, without the slash.
    name: &'c str,
    argument: &'c str,
}

/// The field that a command changed, and GitLab's words on it.
struct Change {
    field: &'static str,
    value: Value,
    words: String,
}

/// Carries a command out. None if its argument is not one, and the command stays text.
type Run = fn(&mut Command<'_, '_>) -> Option<Change>;

const EVERY: &[&str] = &["issue", "merge request"];
const ISSUE: &[&str] = &["issue"];
const MERGE_REQUEST: &[&str] = &["merge request"];

/// The commands, each with the objects that have it.
const COMMANDS: &[(&str, &[&str], Run)] = &[
    ("close", EVERY, set_state),
    ("reopen", EVERY, set_state),
    ("duplicate", ISSUE, mark_duplicate),
    ("label", EVERY, set_labels),
    ("unlabel", EVERY, set_labels),
    ("relabel", EVERY, set_labels),
    ("assign", EVERY, set_assignees),
    ("unassign", EVERY, set_assignees),
    ("reassign", EVERY, set_assignees),
    ("milestone", EVERY, set_milestone),
    ("remove_milestone", EVERY, |command| {
        Some(command.write("milestone_id", "milestone", Value::Null, "Removed the milestone."))
    }),
    ("title", EVERY, |command| {
        let title = Some(command.argument).filter(|title| !title.is_empty())?;
        let words = format!("Changed the title to \"{title}\".");
        Some(command.write("title", "title", json!(title), &words))
    }),
    ("due", EVERY, |command| {
        let date = Some(command.argument).filter(|date| is_date(date))?;
        Some(command.write("due_date", "due_date", json!(date), &format!("Set the due date to {date}.")))
    }),
    ("remove_due_date", EVERY, |command| {
        Some(command.write("due_date", "due_date", Value::Null, "Removed the due date."))
    }),
    ("weight", EVERY, |command| {
        let weight: u64 = command.argument.parse().ok()?;
        Some(command.write("weight", "weight", json!(weight), &format!("Set weight to {weight}.")))
    }),
    ("clear_weight", EVERY, |command| {
        Some(command.write("weight", "weight", Value::Null, "Cleared weight."))
    }),
    ("estimate", EVERY, set_times),
    ("remove_estimate", EVERY, set_times),
    ("spend", EVERY, set_times),
    ("remove_time_spent", EVERY, set_times),
    ("confidential", ISSUE, |command| {
        Some(command.write("confidential", "confidential", json!(true), "Made this issue confidential."))
    }),
    ("lock", EVERY, |command| {
        let field = "discussion_locked";
        Some(command.write(field, field, json!(true), "Locked the discussion."))
    }),
    ("unlock", EVERY, |command| {
        let field = "discussion_locked";
        Some(command.write(field, field, json!(false), "Unlocked the discussion."))
    }),
    ("draft", MERGE_REQUEST, set_draft),
    ("ready", MERGE_REQUEST, set_draft),
];

impl Command<'_, '_> {
    /// Writes a value to a column; the change has the name of the field.
    fn write(&mut self, field: &'static str, column: &str, value: Value, words: &str) -> Change {
        self.request.write(self.shelf, self.row.num("id"), json!({ column: value }));
        Change { field, value, words: words.to_owned() }
    }

    /// The object as the commands before left it.
    fn current(&self) -> Row {
        self.request.world.by_id(self.shelf, self.row.num("id"))
    }
}

fn set_state(command: &mut Command<'_, '_>) -> Option<Change> {
    let noun = if command.shelf.ends_with("issues") { "issue" } else { "merge request" };
    let (values, event, verb) = match command.name {
        "close" => (close(command.request), "close", "Closed"),
        _ => (reopen(command.row), "reopen", "Reopened"),
    };
    command.request.world.write(command.shelf, command.row.num("id"), values);
    Some(Change { field: "state_event", value: json!(event), words: format!("{verb} this {noun}.") })
}

fn mark_duplicate(command: &mut Command<'_, '_>) -> Option<Change> {
    let Command { request, shelf, row, argument, .. } = command;
    let found = super::duplicates::find_referenced(request, shelf, argument);
    let other = found.filter(|(_, other)| other.num("id") != row.num("id"))?;
    super::duplicates::close_as_duplicate(request, shelf, row, &other);
    let words = format!("Closed this issue. Marked as related to, and a duplicate of, {argument}.");
    Some(Change { field: "canonical_issue_id", value: json!(other.1.num("id")), words })
}

fn set_labels(command: &mut Command<'_, '_>) -> Option<Change> {
    let names = names(command.argument, '~');
    let id_of = |name: &String| command.request.world.label_named(name).map(|label| label.num("id"));
    let ids: Vec<u64> = names.iter().map(id_of).collect::<Option<_>>()?;
    let mut labels = command.current().texts("labels");
    let (field, verb) = match command.name {
        "label" => ("add_label_ids", "Added"),
        "unlabel" => ("remove_label_ids", "Removed"),
        _ => ("label_ids", "Replaced all labels with"),
    };
    let removes_all = command.name == "relabel" || command.name == "unlabel" && names.is_empty();
    labels.retain(|held| !removes_all && !names.contains(held));
    if command.name != "unlabel" {
        labels.extend(names.iter().cloned());
    }
    command.request.write(command.shelf, command.row.num("id"), json!({"labels": labels}));
    let shown: Vec<String> = names.iter().map(|name| format!("~{name}")).collect();
    let noun = if names.len() == 1 { "label" } else { "labels" };
    Some(Change { field, value: json!(ids), words: format!("{verb} {} {noun}.", shown.join(" ")) })
}

fn set_assignees(command: &mut Command<'_, '_>) -> Option<Change> {
    let removes = command.name == "unassign";
    let named = names(command.argument, '@');
    let me = command.request.user;
    let id_of = |name: &String| if name == "me" { me } else { command.request.world.user_named(name) };
    let people: Vec<u64> = named.iter().map(id_of).collect::<Option<_>>()?;
    if people.is_empty() && !removes {
        return None;
    }
    let mut held = command.current().nums("assignees");
    let removes_all = command.name == "reassign" || people.is_empty();
    held.retain(|user| !removes_all && !people.contains(user));
    if !removes {
        held.extend(people);
    }
    let shown: Vec<String> = named.iter().map(|name| format!("@{name}")).collect();
    let verb = if removes { "Removed assignee" } else { "Assigned" };
    let words = format!("{verb} {}.", shown.join(" "));
    Some(command.write("assignee_ids", "assignees", json!(held), &words))
}

fn set_milestone(command: &mut Command<'_, '_>) -> Option<Change> {
    let title = command.argument.trim_start_matches('%').trim_matches('"').to_owned();
    let shelves = command.request.shelves("milestones");
    let found = shelves.iter().find_map(|shelf| command.request.world.find(shelf, "title", &title));
    let id = json!(found?.num("id"));
    Some(command.write("milestone_id", "milestone", id, &format!("Set the milestone to %{title}.")))
}

fn set_times(command: &mut Command<'_, '_>) -> Option<Change> {
    let mut times = Times::of(&command.current());
    let (field, value, words) = match command.name {
        "estimate" => {
            times.estimate = seconds(command.argument).filter(|duration| *duration > 0)?;
            let words = format!("Set time estimate to {}.", command.argument);
            ("time_estimate", json!(times.estimate), words)
        }
        "remove_estimate" => {
            times.estimate = 0;
            ("time_estimate", json!(0), "Removed time estimate.".to_owned())
        }
        "spend" => {
            let duration = seconds(command.argument)?;
            times.spent = (times.spent + duration).max(0);
            let words = format!("Added {} spent time.", command.argument);
            ("spend_time", json!({"duration": duration}), words)
        }
        _ => {
            times.spent = 0;
            ("spend_time", json!({"duration": "reset"}), "Removed spent time.".to_owned())
        }
    };
    command.request.write(command.shelf, command.row.num("id"), json!({"time_stats": times.to_json()}));
    Some(Change { field, value, words })
}

fn set_draft(command: &mut Command<'_, '_>) -> Option<Change> {
    let is_draft = command.name == "draft";
    let title = command.current().text("title").trim_start_matches("Draft: ").to_owned();
    let (title, state, words) = match is_draft {
        true => (format!("Draft: {title}"), "draft", "Marked this merge request as a draft."),
        false => (title, "ready", "Marked this merge request as ready."),
    };
    let values = json!({"title": title, "draft": is_draft, "work_in_progress": is_draft});
    command.request.write(command.shelf, command.row.num("id"), values);
    Some(Change { field: "wip_event", value: json!(state), words: words.to_owned() })
}
