//! `doctor --contract`: goes through the everyday life of GitLab's kinds in a throwaway group of a real instance, and
//! compares what GitLab answers with what the actions promise.

mod report;
mod scenario;

use std::fs;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};

use self::report::{ContractReport, StepReport, StepVerdict};
use self::scenario::{KindScenario, ScenarioStep, Within, scenarios};
use super::{DoctorArguments, Failure};
use crate::server::{self, ServerError};
use crate::tools::{ErrorKind, ExecuteRequest, Instances, ToolError, View, random_bytes};

/// A run of the suite.
struct ContractRun<'a> {
    instances: &'a Instances,
    /// Values that steps saved, with `project` and `group`.
    saved: Map<String, Value>,
    report: ContractReport,
    rate_limit_pauses: AtomicUsize,
}

/// Runs the scenarios in a throwaway group, which is deleted at the end, also after a fault or a signal.
///
/// # Errors
/// The group cannot be made or deleted, nobody agreed, or a step differed.
pub async fn run(
    instances: &Instances,
    arguments: DoctorArguments,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let kinds = chosen(&arguments.only)?;
    let parent = arguments.group.as_deref().unwrap_or_default();
    if !arguments.yes {
        ask(parent, out)?;
    }
    let mut run = ContractRun {
        instances,
        saved: Map::new(),
        report: ContractReport::default(),
        rate_limit_pauses: AtomicUsize::new(0),
    };
    run.report.gitlab_version = run.version().await;
    let group = run.make_group(parent).await?;
    let ended = server::until_signal(run.run_kinds(&kinds)).await.map_err(ServerError::Signals);
    let deleted = run.delete_group(&group).await;
    run.report.write(out)?;
    if let Some(file) = &arguments.report {
        let text = format!("{:#}\n", run.report.to_json());
        fs::write(file, text).map_err(|error| Failure::Written(file.clone(), error))?;
    }
    deleted?;
    ended?.ok_or(Failure::Stopped)?;
    if run.report.differs() { Err(Failure::Diagnosed(1)) } else { Ok(()) }
}

/// The scenarios of these names, in their order; all of them without names.
fn chosen(only: &[String]) -> Result<Vec<KindScenario>, Failure> {
    let all = scenarios().map_err(|error| Failure::Contract(error.to_string()))?.kinds;
    let names: Vec<String> = all.iter().map(|kind| kind.name.clone()).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(name)) {
        return Err(Failure::Contract(format!(
            "there is no scenario `{unknown}`; there are {}",
            names.join(", ")
        )));
    }
    Ok(all.into_iter().filter(|kind| only.is_empty() || only.contains(&kind.name)).collect())
}

/// Asks the person at the terminal, who has to agree before anything is made.
fn ask(parent: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let refused = |why: &str| Err(Failure::Contract(format!("nothing was made: {why}")));
    if !io::stdin().is_terminal() {
        return refused("no terminal to ask at; --yes runs it without a question");
    }
    write!(
        out,
        "A group is made in {parent} with a project, some hundred objects are made and changed in it, and it is deleted at the \
         end. Nothing else is touched. Go on? [y/N] "
    )?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    if line.trim().eq_ignore_ascii_case("y") { Ok(()) } else { refused("you did not agree") }
}

impl ContractRun<'_> {
    async fn version(&self) -> String {
        let read = self.execute("instance.get_metadata", Map::new()).await;
        let version = read.ok().and_then(|data| data.get("version")?.as_str().map(str::to_owned));
        version.unwrap_or_else(|| "of unknown version".to_owned())
    }

    /// Makes the throwaway group with its project; gives the group's path.
    async fn make_group(&mut self, parent: &str) -> Result<String, Failure> {
        let no_random = || Failure::Contract("the system gives no random numbers".to_owned());
        let random: [u8; 4] = random_bytes().ok_or_else(no_random)?;
        let name = format!("contract-{:08x}", u32::from_be_bytes(random));
        let fault = |error: ToolError| Failure::Contract(error.text());
        let made = self
            .execute("group.create", fields(json!({"name": name, "path": name, "parent_id": parent})))
            .await;
        made.map_err(fault)?;
        let group = format!("{}/{name}", parent.trim_matches('/'));
        self.saved.insert("group".to_owned(), json!(group));
        self.saved.insert("large".to_owned(), json!("line\n".repeat(LARGE_BYTES / 5)));
        self.saved.insert("project".to_owned(), json!(format!("{group}/widget")));
        let project = json!({
            "name": "widget", "path": "widget", "namespace_id": group, "initialize_with_readme": true, "default_branch": "main",
        });
        if let Err(error) = self.execute("project.create", fields(project)).await {
            self.delete_group(&group).await?;
            return Err(fault(error));
        }
        Ok(group)
    }

    async fn delete_group(&self, group: &str) -> Result<(), Failure> {
        let fault =
            |error: ToolError| Failure::Contract(format!("{group} was not deleted: {}", error.text()));
        self.execute("group.delete", fields(json!({"fullPath": group}))).await.map_err(fault)?;
        // A GitLab that only marks it for deletion takes a second call; another one has no such group any more.
        let at_once = json!({"fullPath": group, "full_path": group, "permanently_remove": true});
        let _ = self.execute("group.delete", fields(at_once)).await;
        Ok(())
    }

    async fn run_kinds(&mut self, kinds: &[KindScenario]) {
        for kind in kinds {
            self.run_kind(kind).await;
        }
    }

    async fn run_kind(&mut self, kind: &KindScenario) {
        let mut skip: Option<String> = None;
        for (at, step) in kind.steps.iter().enumerate() {
            let result = match &skip {
                Some(why) => StepVerdict::Skipped(why.clone()),
                None => self.run_until_it_holds(step).await,
            };
            let result = match (result, &kind.needs) {
                (StepVerdict::Differed(how), Some(needs))
                    if step.decides || at == 0 && how.starts_with(REFUSED) =>
                {
                    StepVerdict::Skipped(format!("needs {needs}; {how}"))
                }
                (result, _) => result,
            };
            if result != StepVerdict::Held && skip.is_none() && (at == 0 || !step.save.is_empty()) {
                skip = Some(format!("depends on {}", step.action));
            }
            let (kind, action) = (kind.name.clone(), step.action.clone());
            self.report.steps.push(StepReport { kind, action, result });
        }
    }

    /// Runs a step, again after a second where GitLab may not be ready yet.
    async fn run_until_it_holds(&mut self, step: &ScenarioStep) -> StepVerdict {
        let tries = if step.eventually { MAX_TRIES } else { 1 };
        let mut result = self.run_step(step).await;
        for _ in 1..tries {
            if result == StepVerdict::Held {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            result = self.run_step(step).await;
        }
        result
    }

    async fn run_step(&mut self, step: &ScenarioStep) -> StepVerdict {
        let mut params = Map::new();
        let place = match step.within {
            Within::Project => Some("project"),
            Within::Group => Some("group"),
            Within::Nowhere => None,
        };
        if let Some(path) = place.and_then(|place| self.saved.get(place)) {
            params.insert("fullPath".to_owned(), path.clone());
        }
        for (name, value) in &step.params {
            params.insert(name.clone(), self.filled(value));
        }
        let outcome = self.execute(&step.action, params).await;
        let data = match (outcome, &step.fails) {
            (Err(error), _) if error.kind == ErrorKind::RateLimited => {
                return StepVerdict::Skipped("GitLab's rate limit".to_owned());
            }
            (Err(error), Some(kind)) => return refusal_verdict(&error, kind, step.status),
            (Err(error), None) => return differed(describe_refusal(&error)),
            (Ok(_), Some(kind)) => return differed(format!("accepted where {kind} was expected")),
            (Ok(data), None) => data,
        };
        for (name, pointer) in &step.save {
            match data.pointer(pointer) {
                Some(value) => drop(self.saved.insert(name.clone(), value.clone())),
                None => return differed(format!("{pointer} is missing")),
            }
        }
        let fill = |value: &Value| self.filled(value);
        let differences: Vec<String> =
            step.expect.iter().filter_map(|expected| expected.difference(&data, fill)).collect();
        if differences.is_empty() { StepVerdict::Held } else { differed(differences.join("; ")) }
    }

    /// A value with what was saved in place of `$name`; within a text `${name}`.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match text.strip_prefix('$').and_then(|name| self.saved.get(name)) {
                Some(saved) => saved.clone(),
                None => json!(self.saved.iter().fold(text.clone(), |text, (name, saved)| {
                    text.replace(&format!("${{{name}}}"), &crate::text::plain_text(saved))
                })),
            },
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(map) => {
                map.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect()
            }
            other => other.clone(),
        }
    }

    /// Executes an action as `gitlab-mcp execute` does; the person agreed before. A rate limit is waited for.
    async fn execute(&self, action: &str, params: Map<String, Value>) -> Result<Value, ToolError> {
        let request = ExecuteRequest {
            action: action.to_owned(),
            params,
            confirm: Some(true),
            view: Some(View::Full),
            ..ExecuteRequest::default()
        };
        let mut answer = self.instances.execute(&request).await;
        for _ in 1..MAX_TRIES {
            let Some(pause) = answer.as_ref().err().and_then(rate_limit_pause) else { break };
            if self.rate_limit_pauses.fetch_add(1, Ordering::Relaxed) >= MAX_RATE_LIMIT_PAUSES {
                break;
            }
            tokio::time::sleep(pause).await;
            answer = self.instances.execute(&request).await;
        }
        Ok(answer?.structured.remove("data").unwrap_or_default())
    }
}

/// How often a step is tried that GitLab does in the background or has a rate limit for, and the pause between.
const MAX_TRIES: usize = 10;
const PAUSE: Duration = Duration::from_secs(1);

/// Maximum pause for a rate limit, as GitLab counts by the minute, and the number of pauses in a run.
const MAX_RATE_LIMIT_PAUSE: Duration = Duration::from_mins(1);
const MAX_RATE_LIMIT_PAUSES: usize = 60;

/// The text of `$large`: more than the diff of a file may have, in bytes (`diff_max_patch_bytes` is 200 KiB).
const LARGE_BYTES: usize = 300_000;

/// Beginning of the text on a refused step.
const REFUSED: &str = "refused";

fn differed(how: String) -> StepVerdict {
    StepVerdict::Differed(how)
}

/// The verdict on an expected refusal.
fn refusal_verdict(error: &ToolError, kind: &str, status: Option<u64>) -> StepVerdict {
    let is_status = status.is_none_or(|status| error.details.get("status") == Some(&json!(status)));
    if error.kind.name() == kind && is_status {
        return StepVerdict::Held;
    }
    let status = status.map(|status| format!(", status {status}")).unwrap_or_default();
    differed(format!("{} where {kind}{status} was expected", describe_refusal(error)))
}

/// The pause that GitLab asks for; none unless the error is a rate limit.
fn rate_limit_pause(error: &ToolError) -> Option<Duration> {
    let asked = error.details.get("retry_after_seconds").and_then(Value::as_u64).map(Duration::from_secs);
    let is_limit = error.kind == ErrorKind::RateLimited;
    is_limit.then(|| asked.unwrap_or(PAUSE).clamp(PAUSE, MAX_RATE_LIMIT_PAUSE))
}

/// The refusal of a step by its kind and status alone: words may name what the report must not.
fn describe_refusal(error: &ToolError) -> String {
    let status = error.details.get("status").map(|status| format!(", status {status}")).unwrap_or_default();
    format!("{REFUSED}: {}{status}", error.kind.name())
}

fn fields(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}
