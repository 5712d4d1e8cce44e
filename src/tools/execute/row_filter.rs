//! Filters of rows that GitLab does not have, such as `unresolved` of threads.

use serde_json::{Map, Value};

use crate::catalog::{Action, RowFilter};
use crate::gitlab::{Content, Reply};

/// The filter that the parameters switch on.
pub fn active_filter<'a>(action: &'a Action, params: &Map<String, Value>) -> Option<&'a RowFilter> {
    action.row_filter.as_ref().filter(|filter| params.get(&filter.param) == Some(&Value::Bool(true)))
}

/// Keeps the rows that the filter wants.
pub fn keep_rows(action: &Action, params: &Map<String, Value>, reply: &mut Reply) {
    let Some(filter) = active_filter(action, params) else { return };
    if let Content::Json(Value::Array(rows)) = &mut reply.content {
        rows.retain(|row| is_kept(filter, row));
    }
}

fn is_kept(filter: &RowFilter, row: &Value) -> bool {
    let has_all = |object: &Value| filter.has.iter().all(|(name, value)| object.get(name) == Some(&value.0));
    row.get(&filter.within).and_then(Value::as_array).is_some_and(|objects| objects.iter().any(has_all))
}
