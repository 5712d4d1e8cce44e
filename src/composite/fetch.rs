//! `resource.fetch`: up to twenty items fetched concurrently, each with its own outcome, in the order of the
//! request; optionally with comments, diffs and links.

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use crate::catalog::ItemKind;
use crate::composite::item_kinds::{self, ResolvedItem};
use crate::composite::item_results::{ItemResults, item_attributes};
use crate::composite::run::{CompositeRun, failed};
use crate::composite::{byte_budget, read_files};
use crate::text::plain_text;
use crate::tools::response::Outcome;
use crate::tools::{Answer, ErrorKind, ToolError};

/// Maximum number of items.
const MAX_ITEMS: usize = 20;

/// Maximum number of comments, files or links of one item.
const MAX_PART_ROWS: u64 = 50;

/// Optional parts of an item: the option, and the action that lists them.
type ItemPart = (&'static str, fn(&'static ItemKind) -> Option<&'static str>);
const PARTS: [ItemPart; 3] = [
    ("comments", |item| item.comments.as_deref()),
    ("diffs", |item| item.diffs.as_deref()),
    ("links", |item| item.links.as_deref()),
];

/// Outcomes of one item: the item first, then its parts by name.
struct FetchedItem {
    says: Map<String, Value>,
    outcomes: Vec<(&'static str, Result<Outcome, ToolError>)>,
}

/// Fetches the items concurrently, with their comments, diffs and links where those are asked for.
pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let items = run.list("items").iter().enumerate();
    let items = items.map(|(place, item)| {
        let resolved = run.item_error(place).map_or_else(|| item_kinds::resolve_item(run, item), Err);
        (item_label(item), resolved)
    });
    let targets = run.list("targets").iter().filter_map(Value::as_str);
    let targets = targets.map(|target| (target.to_owned(), item_kinds::resolve_target(run, target)));
    let wanted: Vec<(String, Result<ResolvedItem, ToolError>)> = items.chain(targets).collect();
    if wanted.is_empty() || wanted.len() > MAX_ITEMS {
        let given = wanted.len();
        return Err(
            run.invalid(format!("`items` and `targets` are 1 to {MAX_ITEMS} together; {given} were given"))
        );
    }
    let fetched =
        join_all(wanted.into_iter().map(|(label, resolved)| fetch_item(run, label, resolved))).await;
    Ok(render_items(run, fetched))
}

/// An item that could not be resolved, as given.
fn item_label(item: &Value) -> String {
    plain_text(item)
}

async fn fetch_item(
    run: &CompositeRun<'_>,
    label: String,
    resolved: Result<ResolvedItem, ToolError>,
) -> FetchedItem {
    let resolved = match resolved {
        Ok(resolved) => resolved,
        Err(error) => {
            let says = item_attributes(None, &label);
            return FetchedItem { says, outcomes: vec![("data", Err(error))] };
        }
    };
    let fetched = fetch_parts(run, &resolved).await;
    let is_missing = |fetched: &FetchedItem| {
        let first = fetched.outcomes.first().and_then(|(_, outcome)| outcome.as_ref().err());
        first.is_some_and(|error| matches!(error.kind, ErrorKind::NotFound | ErrorKind::InvalidParams))
    };
    match resolved.or_else.filter(|_| is_missing(&fetched)).and_then(|kind| resolved.instead(kind)) {
        Some(instead) => {
            let other = fetch_parts(run, &instead).await;
            if is_missing(&other) { fetched } else { other }
        }
        None => fetched,
    }
}

/// Fetches an item and its requested parts concurrently.
async fn fetch_parts(run: &CompositeRun<'_>, resolved: &ResolvedItem) -> FetchedItem {
    let wanted = PARTS.iter().filter(|(name, _)| run.flag(name, false));
    let parts = wanted.filter_map(|(name, action)| Some((*name, action(resolved.item)?)));
    let steps: Vec<(&'static str, &'static str)> =
        [("data", resolved.item.read.as_str())].into_iter().chain(parts).collect();
    let asked = steps.iter().map(async |(name, action)| match resolved.lines.is_empty() {
        true => run.step(action, params(name, resolved)).await,
        false => fetch_lines(run, resolved).await,
    });
    let outcomes = join_all(asked).await;
    let says = item_attributes(Some(resolved.kind), &resolved.target);
    FetchedItem { says, outcomes: steps.into_iter().map(|(name, _)| name).zip(outcomes).collect() }
}

/// Fetches the requested lines of a file.
async fn fetch_lines(run: &CompositeRun<'_>, resolved: &ResolvedItem) -> Result<Outcome, ToolError> {
    let mut file = resolved.lines.clone();
    let given = |name: &str| resolved.params.get(name).cloned();
    file.extend(given("file_path").map(|path| ("path".to_owned(), path)));
    file.extend(given("ref").map(|at| ("ref".to_owned(), at)));
    read_files::window(run, &given("fullPath").unwrap_or_default(), &Value::Object(file)).await
}

fn params(part: &str, resolved: &ResolvedItem) -> Map<String, Value> {
    let mut params = resolved.params.clone();
    if matches!(part, "comments" | "diffs") {
        params.insert("per_page".to_owned(), json!(MAX_PART_ROWS));
    }
    if part == "comments" {
        let of_comments = resolved.item.comment_params.iter();
        params.extend(of_comments.map(|(name, value)| (name.clone(), json!(value))));
    }
    params
}

fn render_items(run: &CompositeRun<'_>, fetched: Vec<FetchedItem>) -> Answer {
    let mut outcomes = Vec::new();
    let mut plan = Vec::new();
    for thing in fetched {
        // Parts of a missing item are not reported.
        let is_there = thing.outcomes.first().is_some_and(|(_, outcome)| outcome.is_ok());
        let kept: Vec<_> = thing.outcomes.into_iter().take(if is_there { usize::MAX } else { 1 }).collect();
        plan.push((thing.says, kept.iter().map(|(name, _)| *name).collect::<Vec<_>>()));
        outcomes.extend(kept.into_iter().map(|(_, outcome)| outcome));
    }
    let mut answers = byte_budget::render_within_budget(run.tools, outcomes).into_iter();
    let mut items = ItemResults::default();
    for (says, parts) in plan {
        let mut whole: Option<Result<Answer, ToolError>> = None;
        for (part, answer) in parts.into_iter().zip(answers.by_ref()) {
            match &mut whole {
                None => whole = Some(answer),
                Some(Ok(whole)) => add_part(whole, part, answer),
                Some(Err(_)) => {}
            }
        }
        if let Some(whole) = whole {
            items.add("item", says, &whole);
        }
    }
    items.answer(run, &[])
}

/// Adds a part to an item, in both forms.
fn add_part(whole: &mut Answer, part: &str, answer: Result<Answer, ToolError>) {
    let (row, text) = match answer {
        Ok(mut answer) => {
            answer.structured.retain(|name, _| !matches!(name.as_str(), "action" | "operation"));
            (Value::Object(answer.structured), answer.text)
        }
        Err(error) => (json!({"error": failed(&error)}), error.text()),
    };
    whole.structured.insert(part.to_owned(), row);
    whole.text.push_str(&format!("{part}:\n{}\n", text.trim_end()));
}
