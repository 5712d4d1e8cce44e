//! Filters of rows that GitLab does not have, such as `unresolved` of threads and `merged_after` of merge requests.

use serde_json::Value;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};

use crate::catalog::{RowFilter, RowTest};
use crate::gitlab::Content;
use crate::messages::error::ToolError;
use crate::tools::finish::finishing::Finishing;
use crate::tools::response::ActionResponse;

/// True if a value of the filter's parameter keeps fewer rows than all.
pub fn is_active(filter: &RowFilter, value: &Value) -> bool {
    match filter.by {
        RowTest::Has => value == &Value::Bool(true) || value.as_str() == Some("true"),
        RowTest::Equals | RowTest::After | RowTest::Before => !value.is_null(),
    }
}

/// Keeps the rows that the filters want.
pub async fn keep_rows(finishing: &mut Finishing<'_>) -> Result<(), ToolError> {
    let ActionResponse { action, request, reply, .. } = &mut finishing.response;
    let Content::Json(Value::Array(rows)) = &mut reply.content else { return Ok(()) };
    for filter in &action.row_filters {
        if let Some(value) = request.params.get(&filter.param).filter(|value| is_active(filter, value)) {
            rows.retain(|row| is_kept(filter, value, row));
            // GitLab counts the rows of its own list.
            reply.page.total = None;
        }
    }
    Ok(())
}

fn is_kept(filter: &RowFilter, value: &Value, row: &Value) -> bool {
    let field = row.get(&filter.field);
    let has_all = |object: &Value| filter.has.iter().all(|(name, value)| object.get(name) == Some(&value.0));
    let time = || field.and_then(parse_time).zip(parse_time(value));
    match filter.by {
        RowTest::Has => field.and_then(Value::as_array).is_some_and(|objects| objects.iter().any(has_all)),
        RowTest::Equals => field == Some(value),
        RowTest::After => time().is_some_and(|(time, bound)| time >= bound),
        RowTest::Before => time().is_some_and(|(time, bound)| time < bound),
    }
}

/// A time, or the beginning of a day in UTC.
fn parse_time(value: &Value) -> Option<OffsetDateTime> {
    let text = value.as_str()?;
    let day = || Date::parse(text, format_description!("[year]-[month]-[day]")).ok();
    OffsetDateTime::parse(text, &Rfc3339).ok().or_else(|| Some(day()?.midnight().assume_utc()))
}
