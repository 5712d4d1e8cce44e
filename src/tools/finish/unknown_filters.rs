//! A list without rows whose filter names an object that does not exist. GitLab answers `labels=BUG` with an empty list where the label
//! is `bug`, as it does where no issue has that label.

use futures_util::future::join_all;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::catalog::{self, FilterName, Place, Scope};
use crate::gitlab::Content;
use crate::messages::error::ToolError;
use crate::search::nearest;
use crate::text::{pick_fields, plain_text};
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
    let reads = filters.iter().map(|(name, row, value)| note(tools, row, params, name, value));
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

/// Note on a value that no existing name equals, with the one that it is a misspelling of.
async fn note(
    tools: &Tools,
    row: &FilterName,
    params: &Map<String, Value>,
    param: &str,
    value: &str,
) -> Option<String> {
    let wanted = without_mark(value);
    let search = [(row.search.clone(), Value::from(wanted))];
    let existing = existing_names(tools, &row.read, row, params, search).await?;
    if existing.iter().any(|known| known.name == value) {
        return None;
    }
    let quoted = |name: &str| quote(&shortened(name, MAX_NAME_CHARACTERS));
    let is_it = |known: &str| known.to_lowercase() == wanted.to_lowercase();
    let other = match existing.iter().find(|known| is_it(&known.name)) {
        Some(known) => format!(", only {}", quoted(&known.name)),
        None => {
            let list = row.others.as_ref().unwrap_or(&row.read);
            let others = existing_names(tools, list, row, params, []).await.unwrap_or_default();
            let entitled = others.iter().find(|known| known.title.as_deref().is_some_and(is_it));
            let near = nearest(wanted, others.iter().map(|known| known.name.as_str()));
            match (entitled, near) {
                (Some(known), _) => format!("; {} is called so", quoted(&known.name)),
                (None, Some(near)) => format!("; {} is similar", quoted(near)),
                (None, None) => String::new(),
            }
        }
    };
    Some(format!("`{param}`: there is no {} {}{other}", row.noun, quoted(value)))
}

/// An object that a filter may name.
struct Existing {
    name: String,
    title: Option<String>,
}

/// The objects of a list in the place of the call; none if they cannot be read, or not all.
async fn existing_names(
    tools: &Tools,
    list: &str,
    row: &FilterName,
    params: &Map<String, Value>,
    search: impl IntoIterator<Item = (String, Value)>,
) -> Option<Vec<Existing>> {
    let read = tools.catalog.get(list).ok().flatten()?;
    let is_place = |name: &String| read.param(name).is_some_and(|param| param.locates.is_some());
    let mut taken = pick_fields(params, is_place);
    taken.extend(row.with.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))));
    taken.extend(search);
    taken.insert("per_page".to_owned(), Value::from(100));
    let read = lookups::read_once(tools, list, taken, Purpose::LookUp);
    let (_, reply) = timeout(PATIENCE, read).await.ok()?.ok()?;
    let is_whole = reply.page.next_page.is_none() && reply.page.next_query.is_none();
    let Content::Json(Value::Array(rows)) = reply.content else { return None };
    let text = |found: &Value, field: &str| found.get(field).and_then(Value::as_str).map(str::to_owned);
    let existing = rows.iter().filter_map(|found| {
        let title = row.title.as_deref().and_then(|field| text(found, field));
        Some(Existing { name: text(found, &row.field)?, title })
    });
    is_whole.then(|| existing.collect())
}

/// A name without the mark of a reference: `~bug`, `%v1.0`, `@alice`.
fn without_mark(value: &str) -> &str {
    let value = value.trim();
    value.strip_prefix(['~', '%', '@']).unwrap_or(value).trim_matches('"')
}
