//! Quick actions in notes: `/close`, `/reopen`, `/label` and `/unlabel` of issues and merge requests. Any other command
//! stays in the text.

use serde_json::{Map, Value, json};

use crate::sandbox::request::Request;
use crate::sandbox::row::{Fields, Row};

/// Outcome of the commands of a text.
#[derive(Debug, Default)]
pub struct Executed {
    /// The text without the lines that were executed.
    pub text: String,
    /// GitLab's words on each command.
    pub summary: Vec<String>,
    pub changes: Map<String, Value>,
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
        super::issues::record(request, shelf, kind, &before, &after);
    }
    executed.text = kept.join("\n").trim().to_owned();
    executed
}

impl Executed {
    /// Executes a line. False if it is no command that is known here.
    fn run(&mut self, request: &mut Request<'_>, noun: &str, shelf: &str, row: &Row, line: &str) -> bool {
        let (command, argument) = line.split_once(' ').unwrap_or((line, ""));
        let id = row.num("id");
        match command {
            "/close" => {
                let now = request.world.now();
                request.write(
                    shelf,
                    id,
                    json!({"state": "closed", "closed_at": now, "closed_by": request.user}),
                );
                self.say("state_event", json!("close"), format!("Closed this {noun}."));
            }
            "/reopen" => {
                request.write(shelf, id, json!({"state": "opened", "closed_at": null, "closed_by": null}));
                self.say("state_event", json!("reopen"), format!("Reopened this {noun}."));
            }
            "/label" | "/unlabel" => {
                let name = argument.trim_start_matches('~').trim_matches('"').to_owned();
                let known = request.world.all("labels").find(|(_, label)| label.text("name") == name);
                let Some(label) = known.map(|(_, label)| label.num("id")) else { return false };
                let adds = command == "/label";
                let current = request.world.by_id(shelf, id);
                let mut labels: Vec<String> =
                    current.texts("labels").iter().map(ToString::to_string).collect();
                labels.retain(|held| *held != name);
                if adds {
                    labels.push(name.clone());
                }
                request.write(shelf, id, json!({"labels": labels}));
                let (field, verb) =
                    if adds { ("add_label_ids", "Added") } else { ("remove_label_ids", "Removed") };
                self.say(field, json!([label]), format!("{verb} ~{name} label."));
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
