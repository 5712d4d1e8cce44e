//! Blame of a file: GitLab's answer has the lines of each commit without their numbers.

use serde_json::{Map, Value, json};

use crate::catalog::Answers;
use crate::gitlab::{Content, Reply};
use crate::messages::error::ToolError;
use crate::messages::request::View;
use crate::tools::finish::finishing::Finishing;
use crate::tools::response::ActionResponse;

/// Length of the SHAs that are shown.
const SHORT_SHA: usize = 8;

/// Numbers the lines of a blame, and keeps of each commit what identifies it.
pub async fn number_lines(finishing: &mut Finishing<'_>) -> Result<(), ToolError> {
    let ActionResponse { action, request, reply, .. } = &mut finishing.response;
    let is_compact = finishing.is_alone && request.view != Some(View::Full);
    if action.answers == Answers::Blame && is_compact {
        number_rows(&request.params, reply);
    }
    Ok(())
}

fn number_rows(params: &Map<String, Value>, reply: &mut Reply) {
    let Content::Json(Value::Array(rows)) = &mut reply.content else { return };
    let start = params.get("range").and_then(|range| range.get("start")).and_then(Value::as_u64);
    let mut number = start.unwrap_or(1);
    for row in rows {
        let Some(lines) = row.get("lines").and_then(Value::as_array) else { continue };
        let mut numbered = Vec::with_capacity(lines.len());
        for line in lines {
            numbered.push(format!("{number}: {}", line.as_str().unwrap_or_default()));
            number += 1;
        }
        let numbered = numbered.join("\n");
        *row = Value::Object(
            commit_fields(row).into_iter().chain([("lines".to_owned(), json!(numbered))]).collect(),
        );
    }
}

/// The fields that identify the commit of a row.
fn commit_fields(row: &Value) -> Map<String, Value> {
    let field = |name: &str| row.pointer(&format!("/commit/{name}")).and_then(Value::as_str);
    let sha = field("id").map(|sha| sha.get(..SHORT_SHA).unwrap_or(sha));
    let title = field("message").and_then(|message| message.lines().next());
    [
        ("short_id", sha),
        ("title", title),
        ("author_name", field("author_name")),
        ("date", field("committed_date")),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), json!(value?))))
    .collect()
}
