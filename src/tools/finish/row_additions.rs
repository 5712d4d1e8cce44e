//! Fields that other reads add to the rows of a list: the last deployment of each environment, the place that makes
//! somebody a member. Each read is one of this server's own, so policy decides on it. One that fails adds nothing.

use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tokio::time::timeout;

use crate::catalog::RowAddition;
use crate::gitlab::{Content, Reply};
use crate::messages::error::ToolError;
use crate::text::pick_fields;
use crate::tools::finish::finishing::{Finishing, PATIENCE};
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;

/// Maximum number of parent groups in which members are looked for.
const MAX_PARENTS: usize = 8;

/// Maximum number of projects that are looked up for the rows of a list.
const MAX_PROJECTS: usize = 8;

/// The field with the number of a row's project, and those that say which it is.
const PROJECT_ID: &str = "project_id";
const NAMES_PLACE: [&str; 4] = ["web_url", "references", "project", "path_with_namespace"];

/// The beginning of requests within one project, whose rows are all of it.
const PROJECTS: &str = "/api/v4/projects/";

/// The parameter with the project or group of a call.
const PLACE: &str = "fullPath";

/// Adds the fields of the rules on the list.
pub async fn add_fields(finishing: &mut Finishing<'_>) -> Result<(), ToolError> {
    let (tools, response) = (finishing.tools, &mut finishing.response);
    let Ok(words) = tools.catalog.words() else { return Ok(()) };
    let params = finishing.checked.params();
    if !finishing.is_alone {
        return Ok(());
    }
    let Content::Json(Value::Array(rows)) = &mut response.reply.content else { return Ok(()) };
    for rule in words.changes.rows.iter().filter(|rule| rule.action == response.action.id) {
        let read = timeout(PATIENCE, fetch_field(tools, rule, params)).await;
        let by_id = read.ok().flatten().unwrap_or_default();
        for row in rows.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(value) = row.get("id").and_then(|id| by_id.get(&id.to_string())) {
                row.insert(rule.field.clone(), value.clone());
            }
        }
    }
    if !response.call.path().starts_with(PROJECTS) {
        // Without their paths, the rows say what they say otherwise.
        let _ = timeout(PATIENCE, name_projects(tools, rows)).await;
    }
    let members = &words.changes.members;
    let is_whole =
        response.reply.page.next_page.is_none() && response.reply.page.page.is_none_or(|page| page == 1);
    let (direct, all) = (response.action.id == members.direct, response.action.id == members.all);
    if (direct || all)
        && is_whole
        && params.keys().all(|name| members.with.contains(name) || members.narrowed_by.contains(name))
    {
        let added = timeout(PATIENCE, add_origins(tools, rows, params, direct)).await;
        if added == Ok(Some(())) {
            response.reply.page.total = Some(rows.len() as u64);
            response.action.answer_note = None;
        }
    }
    Ok(())
}

/// Adds the path of its project to each row that has no more of it than the id: code that was found in a group, somebody's
/// events (lib/api/entities/blob.rb, event.rb).
async fn name_projects(tools: &Tools, rows: &mut [Value]) {
    let id = |row: &Value| {
        let names_place = NAMES_PLACE.into_iter().any(|field| row.get(field).is_some());
        row.get(PROJECT_ID).filter(|_| !names_place).and_then(Value::as_u64)
    };
    let ids: BTreeSet<u64> = rows.iter().filter_map(id).collect();
    if ids.len() > MAX_PROJECTS {
        return;
    }
    let reads = ids.into_iter().map(|id| async move {
        let params = Map::from_iter([(PLACE.to_owned(), json!(id))]);
        let project = lookups::read_json(tools, "project.get", params, Purpose::Join).await?;
        Some((id, project.get("path_with_namespace").filter(|path| path.is_string())?.clone()))
    });
    let paths: BTreeMap<u64, Value> = join_all(reads).await.into_iter().flatten().collect();
    for row in rows {
        let path = id(row).and_then(|id| paths.get(&id));
        if let (Some(path), Some(fields)) = (path, row.as_object_mut()) {
            fields.insert("project".to_owned(), path.clone());
        }
    }
}

/// The values of a rule's field by the id of the row that they belong to.
async fn fetch_field(
    tools: &Tools,
    rule: &RowAddition,
    params: &Map<String, Value>,
) -> Option<BTreeMap<String, Value>> {
    let mut read: Map<String, Value> =
        rule.params.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect();
    read.insert(PLACE.to_owned(), params.get(PLACE)?.clone());
    let mut values = BTreeMap::new();
    for row in &fetch_rows(tools, &rule.read, read).await? {
        let Some(id) = field_at(row, &rule.of) else { continue };
        let shown = rule.shows.iter().filter_map(|path| {
            let value = field_at(row, path).filter(|value| !value.is_null())?;
            Some((path.clone(), value.clone()))
        });
        values.entry(id.to_string()).or_insert_with(|| Value::Object(shown.collect()));
    }
    Some(values)
}

fn field_at<'v>(row: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(row, |value, name| value.get(name))
}

async fn fetch_rows(tools: &Tools, action: &str, params: Map<String, Value>) -> Option<Vec<Value>> {
    let (_, reply) = lookups::read_once(tools, action, params, Purpose::Join).await.ok()?;
    let Reply { content: Content::Json(Value::Array(rows)), page, .. } = reply else { return None };
    page.next_page.is_none().then_some(rows)
}

/// Adds the members that are no direct ones, and to each member the place that makes it one: this one, a parent group,
/// or an invited group (<https://docs.gitlab.com/api/members/>).
async fn add_origins(
    tools: &Tools,
    rows: &mut Vec<Value>,
    params: &Map<String, Value>,
    is_direct: bool,
) -> Option<()> {
    let members = &tools.catalog.words().ok()?.changes.members;
    let path = params.get(PLACE)?.as_str()?;
    let narrowing = pick_fields(params, |name| members.narrowed_by.contains(name));
    let of = |path: &str| {
        let place = [(PLACE.to_owned(), json!(path)), ("per_page".to_owned(), json!(100))];
        place.into_iter().chain(narrowing.clone()).collect::<Map<String, Value>>()
    };
    let other = if is_direct { &members.all } else { &members.direct };
    let read = fetch_rows(tools, other, of(path)).await?;
    let direct: Vec<Value> = if is_direct { rows.clone() } else { read.clone() };
    if is_direct {
        rows.extend(read.into_iter().filter(|row| !direct.iter().any(|known| is_same(known, row))));
    }
    let mut places = vec![("direct".to_owned(), direct)];
    let is_placed = |places: &[(String, Vec<Value>)], row: &Value| {
        places.iter().any(|(_, known)| known.iter().any(|known| is_same(known, row)))
    };
    let mut parent = path;
    for _ in 0..MAX_PARENTS {
        let Some((group, _)) = parent.rsplit_once('/') else { break };
        if rows.iter().all(|row| is_placed(&places, row)) {
            break;
        }
        // A group that the token may not read leaves its members without a place.
        if let Some(known) = fetch_rows(tools, &members.direct, of(group)).await {
            places.push((group.to_owned(), known));
        }
        parent = group;
    }
    for row in rows.iter_mut() {
        let place = places.iter().find(|(_, known)| known.iter().any(|known| is_same(known, row)));
        let from = place.map_or("inherited or invited", |(place, _)| place).to_owned();
        if let Some(row) = row.as_object_mut() {
            row.insert("from".to_owned(), json!(from));
        }
    }
    Some(())
}

fn is_same(one: &Value, other: &Value) -> bool {
    one.get("id").is_some() && one.get("id") == other.get("id")
}
