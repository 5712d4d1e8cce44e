//! The report of the contract suite. It can be attached to a public issue: it has actions, fields and the suite's own
//! values, and nothing of the instance but its version.

use std::io::{self, Write};

use serde_json::{Value, json};

/// Result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepVerdict {
    Held,
    /// How GitLab or the answer differs from what was expected.
    Differed(String),
    /// Why the step was not run.
    Skipped(String),
}

/// A step of a scenario with its result.
#[derive(Debug)]
pub struct StepReport {
    pub kind: String,
    pub action: String,
    pub result: StepVerdict,
}

/// All results.
#[derive(Debug, Default)]
pub struct ContractReport {
    pub gitlab_version: String,
    pub steps: Vec<StepReport>,
}

impl ContractReport {
    /// The number of steps with this kind of result.
    pub fn count(&self, is_counted: fn(&StepVerdict) -> bool) -> usize {
        self.steps.iter().filter(|step| is_counted(&step.result)).count()
    }

    /// True if a step differed.
    pub fn differs(&self) -> bool {
        self.count(|result| matches!(result, StepVerdict::Differed(_))) > 0
    }

    /// Writes a line for each step that did not hold, and the counts.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for step in &self.steps {
            match &step.result {
                StepVerdict::Held => {}
                StepVerdict::Differed(how) => {
                    writeln!(out, "differs  {} ({}): {how}", step.action, step.kind)?
                }
                StepVerdict::Skipped(why) => {
                    writeln!(out, "skipped  {} ({}): {why}", step.action, step.kind)?
                }
            }
        }
        let held = self.count(|result| *result == StepVerdict::Held);
        let skipped = self.count(|result| matches!(result, StepVerdict::Skipped(_)));
        let differ = self.steps.len() - held - skipped;
        let mut kinds: Vec<&str> = self.steps.iter().map(|step| step.kind.as_str()).collect();
        kinds.dedup();
        writeln!(
            out,
            "{held} of {} steps hold, {differ} differ, {skipped} were skipped: {} kinds on GitLab {}.",
            self.steps.len(),
            kinds.len(),
            self.gitlab_version
        )
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let steps: Vec<Value> = self.steps.iter().map(step_json).collect();
        json!({"program": env!("CARGO_PKG_VERSION"), "gitlab": self.gitlab_version, "steps": steps})
    }
}

fn step_json(step: &StepReport) -> Value {
    let (result, why) = match &step.result {
        StepVerdict::Held => ("held", None),
        StepVerdict::Differed(how) => ("differed", Some(how)),
        StepVerdict::Skipped(why) => ("skipped", Some(why)),
    };
    json!({"kind": step.kind, "action": step.action, "result": result, "why": why})
}
