//! Failed tests of a pipeline, from the JUnit reports of its jobs.
//! <https://docs.gitlab.com/api/pipelines/#get-a-test-report-for-a-pipeline>

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::composite::run::{CompositeRun, params};
use crate::text::excerpt;

/// Maximum number of failed tests shown of one job.
const MAX_FAILED_TESTS: usize = 20;
/// Maximum number of pipelines whose report is read.
const MAX_REPORTS: usize = 3;
/// Maximum length of a test's name and of its message in bytes.
const MAX_TEST_NAME_BYTES: usize = 200;

/// Failed tests by pipeline.
#[derive(Debug, Default)]
pub struct FailedTests {
    reports: Vec<(Value, Value)>,
}

impl FailedTests {
    /// Fetches the reports of the pipelines of these jobs, each given by project and id. One that cannot be read is left out: the
    /// jobs' logs are the answer.
    pub async fn fetch(run: &CompositeRun<'_>, jobs: Vec<(Value, Value)>) -> FailedTests {
        let mut pipelines: Vec<(Value, Value)> = Vec::new();
        for pipeline in jobs {
            if pipelines.len() < MAX_REPORTS && !pipelines.contains(&pipeline) {
                pipelines.push(pipeline);
            }
        }
        let reports = join_all(pipelines.iter().map(|(project, id)| {
            let of = params(json!({"fullPath": project, "pipeline_id": id}));
            run.read_json("pipeline.get_test_report", of)
        }));
        let read = pipelines.iter().zip(reports.await);
        FailedTests {
            reports: read.filter_map(|((_, id), report)| Some((id.clone(), report.ok()?))).collect(),
        }
    }

    /// One line for each failed test of a job, and the number of those that are left out.
    pub fn of_job(&self, pipeline: &Value, job: &str) -> (Vec<String>, usize) {
        let report = self
            .reports
            .iter()
            .find(|(id, _)| id == pipeline)
            .and_then(|(_, report)| report.get("test_suites"));
        let suites = report.and_then(Value::as_array).into_iter().flatten();
        let mut failed: Vec<String> =
            suites.filter(|suite| is_of_job(suite, job)).flat_map(failed_cases).map(describe).collect();
        let left = failed.len().saturating_sub(MAX_FAILED_TESTS);
        failed.truncate(MAX_FAILED_TESTS);
        (failed, left)
    }
}

/// True if a job uploaded a JUnit report.
pub fn has_report(job: &Value) -> bool {
    let artifacts = job.get("artifacts").and_then(Value::as_array);
    artifacts.into_iter().flatten().any(|file| file.get("file_type").and_then(Value::as_str) == Some("junit"))
}

/// A suite has its job's name; those of parallel jobs (`rspec 1/3`) have the name without the number.
fn is_of_job(suite: &Value, job: &str) -> bool {
    let name = suite.get("name").and_then(Value::as_str).unwrap_or_default();
    let base = job.rsplit_once(' ').filter(|(_, number)| number.contains('/')).map_or(job, |(base, _)| base);
    name == job || name == base
}

fn failed_cases(suite: &Value) -> impl Iterator<Item = &Value> {
    let cases = suite.get("test_cases").and_then(Value::as_array).into_iter().flatten();
    cases.filter(|case| matches!(case.get("status").and_then(Value::as_str), Some("failed" | "error")))
}

/// `classname name (file): first line of the message`.
fn describe(case: &Value) -> String {
    let word =
        |name: &str| case.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let name = word("name").unwrap_or("unnamed");
    let class = word("classname").filter(|class| !name.contains(class));
    let mut line = [class, Some(name)].into_iter().flatten().collect::<Vec<_>>().join(" ");
    line = excerpt(&line, MAX_TEST_NAME_BYTES);
    if let Some(file) = word("file") {
        line.push_str(&format!(" ({file})"));
    }
    if let Some(message) =
        word("system_output").and_then(|output| output.lines().find(|line| !line.trim().is_empty()))
    {
        line.push_str(&format!(": {}", excerpt(message.trim(), MAX_TEST_NAME_BYTES)));
    }
    line
}
