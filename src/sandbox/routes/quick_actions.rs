//! Quick actions in notes and descriptions of issues and merge requests, as far as the sandbox has what they change. Any
//! other command stays in the text.

use crate::prelude::*;

use super::state_event::{close, reopen};

/// Outcome of the commands of a text.
#[derive(Debug, Default)]
pub struct Executed {
    /// The text without the lines that were executed.
    pub text: String,
    /// GitLab's words on each command.
    pub summary: Vec<String>,
    /// The fields that they changed.
    pub changes: Row,
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
    let mut kept = Vec::new();
    for line in body.lines() {
        if !executed.run(request, noun, shelf, row, line.trim()) {
            kept.push(line);
        }
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

impl Executed {
    /// Executes a line. False if it is no command that is known here.
    fn run(&mut self, request: &mut Request<'_>, noun: &str, shelf: &str, row: &Row, line: &str) -> bool {
        let (command, argument) = line.split_once(' ').unwrap_or((line, ""));
        let argument = argument.trim();
        let id = row.num("id");
        if !request.at_least(Level::Planner) && !request.wrote(row) {
            return false;
        }
        match command {
            "/close" => {
                let values = close(request);
                request.world.write(shelf, id, values);
                self.say("state_event", json!("close"), format!("Closed this {noun}."));
            }
            "/reopen" => {
                request.world.write(shelf, id, reopen(row));
                self.say("state_event", json!("reopen"), format!("Reopened this {noun}."));
            }
            "/duplicate" if noun == "issue" => {
                let found = super::duplicates::find_referenced(request, shelf, argument);
                let Some(other) = found.filter(|(_, other)| other.num("id") != id) else { return false };
                super::duplicates::close_as_duplicate(request, shelf, row, &other);
                let words =
                    format!("Closed this issue. Marked as related to, and a duplicate of, {argument}.");
                self.say("canonical_issue_id", json!(other.1.num("id")), words);
            }
            "/label" | "/unlabel" | "/relabel" => {
                let names = names(argument, '~');
                let known = |name: &String| request.world.label_named(name).map(|label| label.num("id"));
                let ids: Vec<u64> = names.iter().filter_map(known).collect();
                if ids.len() != names.len() {
                    return false;
                }
                let mut labels = request.world.by_id(shelf, id).texts("labels");
                labels.retain(|held| {
                    !names.contains(held)
                        && command != "/relabel"
                        && !(command == "/unlabel" && names.is_empty())
                });
                if command != "/unlabel" {
                    labels.extend(names.iter().cloned());
                }
                request.write(shelf, id, json!({"labels": labels}));
                let (field, verb) = match command {
                    "/label" => ("add_label_ids", "Added"),
                    "/unlabel" => ("remove_label_ids", "Removed"),
                    _ => ("label_ids", "Replaced all labels with"),
                };
                let shown: Vec<String> = names.iter().map(|name| format!("~{name}")).collect();
                let noun = if names.len() == 1 { "label" } else { "labels" };
                self.say(field, json!(ids), format!("{verb} {} {noun}.", shown.join(" ")));
            }
            "/assign" | "/unassign" | "/reassign" => {
                let me = request.user;
                let named = names(argument, '@');
                let user = |name: &String| if name == "me" { me } else { request.world.user_named(name) };
                let people: Vec<u64> = named.iter().filter_map(user).collect();
                if people.len() != named.len() || (people.is_empty() && command != "/unassign") {
                    return false;
                }
                let mut held = request.world.by_id(shelf, id).nums("assignees");
                let goes = |user: &u64| people.contains(user) || command == "/reassign" || people.is_empty();
                held.retain(|user| !goes(user));
                if command != "/unassign" {
                    held.extend(people.iter().copied());
                }
                request.write(shelf, id, json!({"assignees": held}));
                let shown: Vec<String> = named.iter().map(|name| format!("@{name}")).collect();
                let verb = if command == "/unassign" { "Removed assignee" } else { "Assigned" };
                self.say("assignee_ids", json!(held), format!("{verb} {}.", shown.join(" ")));
            }
            "/milestone" | "/remove_milestone" => {
                let title = argument.trim_start_matches('%').trim_matches('"').to_owned();
                let shelves = request.shelves("milestones");
                let found = shelves.iter().find_map(|shelf| request.world.find(shelf, "title", &title));
                let found = found.map(|row| row.num("id"));
                let gone = command == "/remove_milestone";
                if found.is_none() && !gone {
                    return false;
                }
                let milestone = found.filter(|_| !gone);
                request.write(shelf, id, json!({ "milestone": milestone }));
                let words = if gone {
                    "Removed the milestone.".to_owned()
                } else {
                    format!("Set the milestone to %{title}.")
                };
                self.say("milestone_id", json!(milestone), words);
            }
            "/title" if !argument.is_empty() => {
                request.write(shelf, id, json!({ "title": argument }));
                self.say("title", json!(argument), format!("Changed the title to \"{argument}\"."));
            }
            "/due" if is_date(argument) => {
                request.write(shelf, id, json!({ "due_date": argument }));
                self.say("due_date", json!(argument), format!("Set the due date to {argument}."));
            }
            "/remove_due_date" => {
                request.write(shelf, id, json!({ "due_date": null }));
                self.say("due_date", Value::Null, "Removed the due date.".to_owned());
            }
            "/weight" | "/clear_weight" => {
                let weight = argument.parse::<u64>().ok().filter(|_| command == "/weight");
                request.write(shelf, id, json!({ "weight": weight }));
                let words =
                    weight.map_or("Cleared weight.".to_owned(), |weight| format!("Set weight to {weight}."));
                self.say("weight", json!(weight), words);
            }
            "/confidential" if noun == "issue" => {
                request.write(shelf, id, json!({ "confidential": true }));
                self.say("confidential", json!(true), "Made this issue confidential.".to_owned());
            }
            "/lock" | "/unlock" => {
                let locked = command == "/lock";
                request.write(shelf, id, json!({ "discussion_locked": locked }));
                let words = if locked { "Locked the discussion." } else { "Unlocked the discussion." };
                self.say("discussion_locked", json!(locked), words.to_owned());
            }
            "/draft" | "/ready" if noun == "merge request" => {
                let draft = command == "/draft";
                let held = request.world.by_id(shelf, id).text("title").to_owned();
                let bare = held.trim_start_matches("Draft: ");
                let title = if draft { format!("Draft: {bare}") } else { bare.to_owned() };
                request.write(shelf, id, json!({"title": title, "draft": draft, "work_in_progress": draft}));
                let state = if draft { "draft" } else { "ready" };
                let words = if draft {
                    "Marked this merge request as a draft."
                } else {
                    "Marked this merge request as ready."
                };
                self.say("wip_event", json!(state), words.to_owned());
            }
            _ => return false,
        }
        true
    }

    fn say(&mut self, field: &str, value: Value, words: String) {
        self.changes.insert(field.to_owned(), value);
        self.summary.push(words);
    }
}
