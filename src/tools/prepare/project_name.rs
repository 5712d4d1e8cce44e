//! The project that a name without a group is of: people say `Widget` for `acme/widget`. GitLab has no project without a
//! group, so such a path of an action of projects is nothing else.

use serde_json::{Map, Value, json};

use crate::call::{Checked, Fault, Invalid};
use crate::catalog::{Action, Risk, Scope};
use crate::gitlab::Content;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::NextCall;
use crate::text::{is_number, object_fields};
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;
use crate::untrusted::quote;

/// The parameter that names a project.
const FULL_PATH: &str = "fullPath";

/// Maximum number of projects of a name that an error lists.
const MAX_LISTED: usize = 10;

/// The parameters with the path of the only project of that name that the token's user is a member of; none if the path is
/// whole, or if there is no such project. A stranger's project may have any name, so it is never taken.
pub async fn resolve(
    tools: &Tools,
    action: &Action,
    checked: &Checked,
) -> Result<Option<(Map<String, Value>, String)>, ToolError> {
    match checked.params().get(FULL_PATH).and_then(Value::as_str) {
        Some(name) if is_of_projects(tools, action) => find(tools, name, checked.params()).await,
        _ => Ok(None),
    }
}

/// As [`resolve`], for a name that is no path: `Widget CLI`. A group may have the name as well, so that only a read takes the
/// project where the action is for both.
pub async fn resolve_invalid(
    tools: &Tools,
    action: &Action,
    invalid: &Invalid,
) -> Result<Option<(Map<String, Value>, String)>, ToolError> {
    let reads_some = action.risk == Risk::Read && action.choices().any(|one| one.scope == Scope::Project);
    match invalid.faults.as_slice() {
        [Fault::NotALocation { name, given, .. }]
            if name == FULL_PATH && (reads_some || is_of_projects(tools, action)) =>
        {
            find(tools, given, &invalid.right).await
        }
        _ => Ok(None),
    }
}

/// The parameters with the path of the only project of that name among those of the token's user.
pub async fn find(
    tools: &Tools,
    name: &str,
    params: &Map<String, Value>,
) -> Result<Option<(Map<String, Value>, String)>, ToolError> {
    let name = name.trim();
    if name.is_empty() || name.contains(['/', '%', ':']) || is_number(name) {
        return Ok(None);
    }
    let own = object_fields(json!({"search": name, "membership": true, "simple": true, "per_page": 100}));
    // The call itself says what is wrong with the path, or with the token.
    let Ok((_, reply)) = lookups::read_once(tools, "project.list", own, Purpose::LookUp).await else {
        return Ok(None);
    };
    let Content::Json(Value::Array(rows)) = &reply.content else { return Ok(None) };
    let paths: Vec<&str> = rows.iter().filter_map(|row| path_if_named(row, name)).collect();
    match paths.as_slice() {
        [] => Ok(None),
        [path] if reply.page.next_page.is_none() => {
            let mut params = params.clone();
            params.insert(FULL_PATH.to_owned(), json!(path));
            Ok(Some((params, format!("the project {} is {path}", quote(name)))))
        }
        paths => {
            let listed = paths.iter().take(MAX_LISTED).copied().collect::<Vec<_>>().join(", ");
            let message = format!("`{FULL_PATH}`: several projects are called {}: {listed}", quote(name));
            let list = NextCall::execute("project.list", &json!({"search": name, "membership": true}));
            Err(ToolError::new(ErrorKind::InvalidParams, message).hint("Name one by its path.").fix(list))
        }
    }
}

/// The path of a project that has the name, or whose path ends with it.
fn path_if_named<'r>(row: &'r Value, name: &str) -> Option<&'r str> {
    let path = row.get("path_with_namespace")?.as_str()?;
    let is = |field: &str| {
        row.get(field).and_then(Value::as_str).is_some_and(|text| text.eq_ignore_ascii_case(name))
    };
    (is("path") || is("name")).then_some(path)
}

/// True if the action is of one project, whatever its parameters are.
fn is_of_projects(tools: &Tools, action: &Action) -> bool {
    let needed = action.plan.iter().flat_map(|plan| &plan.needs);
    let mut needed = needed.filter_map(|id| tools.catalog.get(id).ok().flatten());
    let of_project = |action: &Action| {
        // A snippet without a project is one's own.
        let mut choices = action.choices().filter(|operation| operation.is_filled_by(FULL_PATH)).peekable();
        choices.peek().is_some() && choices.all(|operation| operation.scope == Scope::Project)
    };
    of_project(action) || needed.any(|action| of_project(&action))
}
