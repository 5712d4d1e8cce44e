//! A list without rows whose filter names an object that does not exist. GitLab answers `labels=BUG` with an empty list where the label
//! is `bug`, as it does where no issue has that label.

use futures_util::future::join_all;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::catalog::{self, FilterName, Place, Scope};
use crate::gitlab::Content;
use crate::messages::error::ToolError;
use crate::text::plain_text;
use crate::tools::finish::finishing::{Finishing, PATIENCE};
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;
use crate::untrusted::{quote, shortened};

/// Maximum number of values that are looked up.
const MAX_VALUES: usize = 3;

/// Maximum number of characters of a name in a note.
const MAX_NAME_CHARACTERS: usize = 100;

/// Adds a note on each filter whose value names nothing. A read that fails adds none.
pub async fn add_notes(finishing: &mut Finishing<'_>) -> Result<(), ToolError> {
    let is_empty =
        matches!(&finishing.response.reply.content, Content::Json(Value::Array(rows)) if rows.is_empty());
    if !finishing.is_alone || !is_empty || finishing.response.action.direct().is_some() {
        return Ok(());
    }
    let (tools, params) = (finishing.tools, finishing.checked.params());
    let filters = named_values(finishing);
    let reads = filters.iter().map(|(name, row, value)| async move {
        let existing = timeout(PATIENCE, existing_names(tools, row, params, value)).await.ok()??;
        note(name, row, value, &existing)
    });
    let notes = join_all(reads).await;
    finishing.response.notes.extend(notes.into_iter().flatten());
    Ok(())
}

/// The given filters that name something, with each name.
fn named_values(finishing: &Finishing<'_>) -> Vec<(String, &'static FilterName, String)> {
    let action = &finishing.response.action;
    let sent = finishing.response.call.operation();
    let is_of_project = action
        .operations
        .iter()
        .any(|operation| operation.scope == Scope::Project && operation.to_string() == sent);
    let is_filter = |name: &str| action.param(name).is_some_and(|param| param.place == Place::Query);
    let rows = || catalog::kinds().filter_names.iter().filter(|row| is_of_project || !row.in_project);
    let given = finishing.checked.params().iter().filter(|(name, _)| is_filter(name));
    let named =
        given.filter_map(|(name, value)| Some((name, rows().find(|row| row.params.contains(name))?, value)));
    let each = named.flat_map(|(name, row, value)| {
        let values = value.as_array().map_or_else(|| vec![value.clone()], Clone::clone);
        values.into_iter().map(move |value| (name.clone(), row, plain_text(&value)))
    });
    let is_name = |row: &FilterName, value: &str| {
        !value.is_empty()
            && !value.contains('*')
            && !row.words.iter().any(|word| word.eq_ignore_ascii_case(value))
    };
    each.filter(|(_, row, value)| is_name(row, value)).take(MAX_VALUES).collect()
}

/// Names of the objects that GitLab finds by a name without its mark; none if they cannot be read, or not all.
async fn existing_names(
    tools: &Tools,
    row: &FilterName,
    params: &Map<String, Value>,
    value: &str,
) -> Option<Vec<String>> {
    let read = tools.catalog.get(&row.read).ok().flatten()?;
    let places =
        params.iter().filter(|(name, _)| read.param(name).is_some_and(|param| param.locates.is_some()));
    let mut taken: Map<String, Value> = places.map(|(name, value)| (name.clone(), value.clone())).collect();
    taken.extend(row.with.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))));
    taken.insert(row.search.clone(), Value::from(without_mark(value)));
    taken.insert("per_page".to_owned(), Value::from(100));
    let (_, reply) = lookups::read_once(tools, &row.read, taken, Purpose::LookUp).await.ok()?;
    let is_whole = reply.page.next_page.is_none() && reply.page.next_query.is_none();
    let Content::Json(Value::Array(rows)) = reply.content else { return None };
    let names = rows.iter().filter_map(|found| Some(found.get(&row.field)?.as_str()?.to_owned()));
    is_whole.then(|| names.collect())
}

/// Note on a value that none of the existing names equals.
fn note(param: &str, row: &FilterName, value: &str, existing: &[String]) -> Option<String> {
    if existing.iter().any(|name| name == value) {
        return None;
    }
    let wanted = without_mark(value).to_lowercase();
    let alike = existing.iter().find(|name| name.to_lowercase() == wanted);
    let quoted = |name: &str| quote(&shortened(name, MAX_NAME_CHARACTERS));
    let other = alike.map(|name| format!(", only {}", quoted(name))).unwrap_or_default();
    Some(format!("`{param}`: there is no {} {}{other}", row.noun, quoted(value)))
}

/// A name without the mark of a reference: `~bug`, `%v1.0`, `@alice`.
fn without_mark(value: &str) -> &str {
    let value = value.trim();
    value.strip_prefix(['~', '%', '@']).unwrap_or(value).trim_matches('"')
}
