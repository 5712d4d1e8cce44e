//! The catalog as resources: the list of actions, and the details of one action.

use std::fmt::Write as _;

use serde_json::json;

use crate::catalog::{Action, example, input_schema, required, signature};
use crate::messages::error::{self, ErrorKind, ToolError};
use crate::text::excerpt;
use crate::tools::error_mapping;
use crate::tools::{ExecuteRequest, FIND, NextCall, Tools};

/// Actions per page.
const PER_PAGE: usize = 100;

/// Note on how to run a listed action, for surfaces with only find and execute.
pub const RUNS: &str = "gitlab_execute_action runs one by its id";

/// One page of the allowed actions, optionally of one domain.
pub fn actions(tools: &Tools, domain: Option<&str>, page: usize) -> Result<String, ToolError> {
    let mut shown = Vec::new();
    let mut withheld = 0;
    for action in tools.catalog.actions() {
        let action = action.map_err(|error| error::internal(&error))?;
        if domain.is_some_and(|domain| action.domain() != domain) {
            continue;
        }
        match tools.withholds(&action) {
            Some(_) => withheld += 1,
            None => shown.push(tools.offered(action)),
        }
    }
    if let (Some(domain), true) = (domain, shown.is_empty() && withheld == 0) {
        return Err(no_domain(tools, domain));
    }
    let pages = shown.len().div_ceil(PER_PAGE).max(1);
    if !(1..=pages).contains(&page) {
        let message = format!("there is no page {page}: pages go from 1 to {pages}");
        return Err(ToolError::new(ErrorKind::NotFound, message));
    }
    let within = domain.map(|domain| format!("domain={domain}&")).unwrap_or_default();
    let mut text = format!("# Actions, page {page} of {pages}\n\n");
    let _ = writeln!(
        text,
        "{} actions{}, {PER_PAGE} a page. {RUNS}; gitlab://tools/{{id}} has its schema.",
        shown.len(),
        domain.map(|domain| format!(" of the domain {domain}")).unwrap_or_default(),
    );
    if withheld > 0 {
        let _ = writeln!(text, "{withheld} more are denied here and not listed.");
    }
    text.push('\n');
    for action in shown.iter().skip((page - 1) * PER_PAGE).take(PER_PAGE) {
        text.push_str(&line(tools, action));
    }
    if page < pages {
        let _ = writeln!(text, "\nNext: gitlab://tools?{within}page={}", page + 1);
    }
    Ok(text)
}

/// ``- `issue.get` (read; fullPath, iid): Show one issue``
fn line(tools: &Tools, action: &Action) -> String {
    let risk = tools.policy.risk(action).name();
    let required = required(action);
    let needs = if required.is_empty() { String::new() } else { format!("; {}", required.join(", ")) };
    format!("- `{}` ({risk}{needs}): {}\n", action.id, action.summary)
}

fn no_domain(tools: &Tools, domain: &str) -> ToolError {
    let short: String = excerpt(domain, 40);
    let error = ToolError::new(ErrorKind::NotFound, format!("there is no domain `{short}`"));
    let domains = tools.catalog.words().map(|words| words.domains.keys().map(String::as_str));
    let nearest = domains.ok().and_then(|domains| crate::search::nearest(domain, domains));
    match nearest {
        Some(nearest) => error.hint(format!("Did you mean gitlab://tools?domain={nearest}?")),
        None => error.hint(format!("{FIND} finds actions by words.")),
    }
}

/// One action as JSON: summary, call and schema of its parameters.
pub fn action(tools: &Tools, id: &str) -> Result<String, ToolError> {
    let action = resolve_action(tools, id)?;
    if let Some(rule) = tools.withholds(&action) {
        return Err(error_mapping::denied(tools, &action.id, None, &rule, 0));
    }
    let action = tools.offered(action);
    let words = tools.catalog.words().map_err(|error| error::internal(&error))?;
    let operations: Vec<String> = action.choices().map(ToString::to_string).collect();
    let whole = json!({
        "action": action.id,
        "summary": action.summary,
        "risk": tools.policy.risk(&action).name(),
        "operations": operations,
        "signature": signature(&action, usize::MAX, ""),
        "required": required(&action),
        "related": action.related,
        "call": NextCall::execute(&action.id, &example(&action, words)),
        "input_schema": input_schema(&action, words),
    });
    Ok(format!("{whole:#}\n"))
}

/// Resolves an action by its name.
fn resolve_action(tools: &Tools, id: &str) -> Result<Action, ToolError> {
    let request = ExecuteRequest { action: id.to_owned(), ..Default::default() };
    crate::tools::action_lookup::resolve(tools, &request).map(|meant| meant.action).map_err(|error| {
        match error.kind {
            ErrorKind::UnknownAction => ToolError { kind: ErrorKind::NotFound, ..error },
            _ => error,
        }
    })
}
