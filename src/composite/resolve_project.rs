//! `project.resolve`: the project of a git remote, a URL or the workspace. A remote URL may hold a token: it is
//! shown only as [`git_remote::redacted`] renders it.

use serde_json::{Map, Value, json};

use crate::catalog::PRESENTATION;
use crate::composite::run::{CompositeRun, params};
use crate::text::pick_fields;
use crate::tools::response::Outcome;
use crate::tools::workspace;
use crate::tools::workspace::git_remote::{self, RemoteError};
use crate::tools::{Answer, ErrorKind, NextCall, ToolError};
use crate::untrusted::quoted_name;

/// Candidate paths, before GitLab is queried.
struct ProjectCandidates {
    /// Candidate paths, most likely first.
    paths: Vec<String>,
    /// Origin of the paths, without credentials.
    from: Value,
}

pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let found = match (run.text("remote"), run.text("url")) {
        (Some(_), Some(_)) => return Err(run.invalid("`remote` and `url` exclude each other: give one")),
        (Some(given), None) => parse_remote(run, "remote", given)?,
        (None, Some(given)) => parse_remote(run, "url", given)?,
        (None, None) => from_workspace(run)?,
    };
    let mut refused = None;
    for path in &found.paths {
        let mut asked = run.step_request("project.get", params(json!({"fullPath": path})));
        asked.fields = Some(PRESENTATION.resolved_project.iter().map(|name| (*name).to_owned()).collect());
        match run.step_as(asked, false).await {
            Ok(Outcome::Response(response)) => {
                return Ok(render_project(run, &found, response.answer(run.tools, run.tools.max_bytes)));
            }
            Ok(Outcome::Answer(preview)) => return Ok(preview),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| ToolError::new(ErrorKind::NotFound, "it does not name a project")))
}

fn parse_remote(run: &CompositeRun<'_>, name: &str, given: &str) -> Result<ProjectCandidates, ToolError> {
    let paths = workspace::remote_paths(run.tools, given).map_err(|error| remote_error(run, name, &error))?;
    Ok(ProjectCandidates { paths, from: json!({name: git_remote::redacted(given)}) })
}

/// The project of the workspace, or the configured one.
fn from_workspace(run: &CompositeRun<'_>) -> Result<ProjectCandidates, ToolError> {
    if let Some(own) = workspace::own_checkout(run.tools) {
        let from = json!({
            "workspace": own.checkout.root.display().to_string(),
            "remote_name": own.remote,
            "branch": git_remote::branch(&own.checkout.head),
        });
        return Ok(ProjectCandidates { paths: own.paths, from });
    }
    if let Some(project) = &run.tools.project {
        return Ok(ProjectCandidates { paths: vec![project.clone()], from: json!({"configured": project}) });
    }
    let elsewhere = workspace::remotes(run.tools);
    let faults: Vec<String> = elsewhere
        .iter()
        .filter_map(|(.., address)| workspace::remote_paths(run.tools, address).err())
        .map(|fault| fault.to_string())
        .collect();
    let message = match faults.first() {
        Some(fault) => format!("the workspace belongs to another GitLab: {fault}"),
        None => "no workspace is known: the client has no root with a git remote, and no project is \
                 configured (GITLAB_PROJECT)"
            .to_owned(),
    };
    Err(ToolError::new(ErrorKind::NotFound, message)
        .hint("Give `remote` what `git remote get-url origin` prints.")
        .fix(NextCall::schema_of(run.id)))
}

fn remote_error(run: &CompositeRun<'_>, name: &str, error: &RemoteError) -> ToolError {
    let hint = match error {
        RemoteError::OtherHost { is_ssh: true, .. } => {
            "If it is this GitLab's host for SSH, set GITLAB_SSH_HOST to it; else set GITLAB_URL to that GitLab."
        }
        RemoteError::OtherHost { .. } => "Set GITLAB_URL to that GitLab.",
        RemoteError::OtherRoot { .. } => "Projects of this GitLab are below its own root path.",
        RemoteError::Unread { .. } => {
            "Give what `git remote get-url origin` prints, or the address of a page."
        }
    };
    let refused = ToolError::new(ErrorKind::InvalidParams, format!("`{name}`: {error}")).hint(hint);
    match &run.tools.project {
        Some(project) => refused.fix(NextCall::execute("project.get", &json!({"fullPath": project}))),
        None => refused.fix(NextCall::schema_of(run.id)),
    }
}

/// The project, with its path and how it was found.
fn render_project(run: &CompositeRun<'_>, found: &ProjectCandidates, answer: Answer) -> Answer {
    let path = answer.structured.get("data").and_then(|data| {
        ["path_with_namespace", "full_path"].into_iter().find_map(|name| data.get(name)?.as_str())
    });
    let path = path.map(str::to_owned).or_else(|| found.paths.first().cloned());
    let default = workspace::default_project(run.tools).map(|(path, _)| path);
    let is_default = default.is_some() && default == path;
    let mut beside = Map::from_iter([
        ("fullPath".to_owned(), json!(path)),
        ("from".to_owned(), crate::present::cleaned_value(found.from.clone())),
        ("is_default".to_owned(), json!(is_default)),
    ]);
    beside.extend(pick_fields(&answer.structured, |name| matches!(name.as_str(), "omitted" | "resolved")));
    let shown_path = path.as_deref().map(quoted_name).unwrap_or_default();
    let of = if is_default { "; it is the default of calls that name no project" } else { "" };
    let text = format!("The project is {shown_path}{of}.\n{}", answer.text);
    run.answer(answer.structured.get("data").cloned().unwrap_or_default(), text, beside, &[])
}
