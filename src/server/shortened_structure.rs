//! The structured form of an answer as a client gets it. Some clients hand a model this form in place of the text, so it has
//! the facts of the text and about its length: rows as columns and rows, nothing that the call or the text's reader knows.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// Parts of an answer that repeat the call.
const ACTION: &str = "action";
const OPERATION: &str = "operation";

/// Parts of a find's answer that repeat the request, and of its results that repeat the signature or the id.
const OF_FIND: [&str; 2] = ["query", "total"];
const OF_RESULT: [&str; 5] = ["domain", "operations", "required", "schema_uri", "score"];

/// The parts of a table.
const COLUMNS: &str = "columns";
const ROWS: &str = "rows";

/// The structured form of the answer to a call of this action, shortened; none where the tool is the action. It names the action where another one ran, as a
/// name was understood. An error stays as it is.
pub fn shortened(mut structured: Map<String, Value>, asked: Option<&str>) -> Map<String, Value> {
    if structured.contains_key("error") {
        return structured;
    }
    if structured.contains_key("confidence") {
        return shortened_find(structured);
    }
    // A preview is a call to look at.
    if !structured.contains_key("preview") {
        structured.shift_remove(OPERATION);
        if asked.is_none_or(|asked| structured.get(ACTION).is_some_and(|ran| ran == asked)) {
            structured.shift_remove(ACTION);
        }
    }
    shorten_parts(&mut structured);
    if let Some(data) = structured.get_mut("data") {
        *data = tabular(data.take());
    }
    structured
}

/// A find's answer. Explanations and schemas are for somebody who wants to know more of each result.
fn shortened_find(mut structured: Map<String, Value>) -> Map<String, Value> {
    structured.retain(|name, _| !OF_FIND.contains(&name.as_str()));
    let results = structured.get_mut("results").and_then(Value::as_array_mut);
    for result in results.into_iter().flatten().filter_map(Value::as_object_mut) {
        if let (Some(Value::String(id)), Some(Value::String(signature))) =
            (result.get("action").cloned(), result.get_mut("signature"))
            && let Some(takes) = signature.strip_prefix(&id)
        {
            *signature = takes.to_owned();
        }
        if !result.contains_key("explain") && !result.contains_key("input_schema") {
            let is_first = result.contains_key("example");
            result
                .retain(|name, _| !OF_RESULT.contains(&name.as_str()) || (is_first && name == "operations"));
        }
    }
    structured
}

/// Shortens the parts around the data, in the answer and in the answers that it is made of.
fn shorten_parts(structured: &mut Map<String, Value>) {
    shorten_change(structured);
    if let Some(Value::Object(page)) = structured.get_mut("page") {
        shorten_page(page);
    }
    if let Some(Value::Object(mut omitted)) = structured.remove("omitted") {
        if let Some(fields) = omitted.remove("fields") {
            structured.insert("not_shown".to_owned(), named_fields(&fields));
        }
        if !omitted.is_empty() {
            structured.insert("omitted".to_owned(), Value::Object(omitted));
        }
    }
    for value in structured.values_mut() {
        let Value::Array(items) = value else { continue };
        items
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .filter(|item| item.contains_key("data"))
            .for_each(shorten_parts);
    }
}

/// A change is what the text says of it.
fn shorten_change(structured: &mut Map<String, Value>) {
    let Some(says) = structured.get("changed").and_then(|changed| changed.get("says")).cloned() else {
        return;
    };
    structured.shift_remove("changed");
    if says != json!("") {
        structured.shift_insert(0, "changed".to_owned(), says);
    }
}

/// The names of the fields that are not shown, and how many more there are.
fn named_fields(fields: &Value) -> Value {
    let mut names = fields.get("names").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(more) = fields.get("more").and_then(Value::as_u64) {
        names.push(json!(format!("+{more}")));
    }
    Value::Array(names)
}

/// The place of a page among all, in as many numbers as the text has.
fn shorten_page(page: &mut Map<String, Value>) {
    page.remove("per_page");
    page.retain(|_, value| !value.is_null());
    let is_all = page.get("page") == Some(&json!(1)) && page.get("total_pages") == Some(&json!(1));
    if is_all && !page.contains_key("next") {
        page.retain(|name, _| !matches!(name.as_str(), "page" | "total_pages"));
    }
}

/// A value with each list of objects as a table where that is shorter. Calls that may be made stay as they are.
fn tabular(value: Value) -> Value {
    match value {
        Value::Object(call) if call.contains_key("tool") && call.contains_key("arguments") => {
            Value::Object(call)
        }
        Value::Array(items) => {
            let items: Vec<Value> = items.into_iter().map(tabular).collect();
            table(&items).unwrap_or(Value::Array(items))
        }
        Value::Object(map) => map.into_iter().map(|(name, value)| (name, tabular(value))).collect(),
        other => other,
    }
}

/// A list of objects as columns and rows. Columns with the same values are one, under both names, and a row ends with its
/// last value. None if that is not shorter, if a row has more than plain values, or if a field is null: a cell without a value is of a row
/// without the field.
fn table(items: &[Value]) -> Option<Value> {
    let rows: Vec<&Map<String, Value>> = items.iter().map(Value::as_object).collect::<Option<_>>()?;
    if rows.len() < 2 || !rows.iter().all(|row| row.values().all(is_flat)) {
        return None;
    }
    let mut seen = HashSet::new();
    let names = rows.iter().flat_map(|row| row.keys()).filter(|name| seen.insert(name.as_str()));
    let mut columns: Vec<(String, Vec<Option<&Value>>)> = Vec::new();
    for name in names {
        let cells: Vec<Option<&Value>> = rows.iter().map(|row| row.get(name)).collect();
        if cells.contains(&Some(&Value::Null)) {
            return None;
        }
        // Numbers are of different things even if they are the same.
        let is_joined = !cells.iter().any(|cell| cell.is_some_and(Value::is_number));
        match columns.iter_mut().find(|(_, known)| is_joined && *known == cells) {
            Some((names, _)) => *names = format!("{names}, {name}"),
            None => columns.push((name.clone(), cells)),
        }
    }
    let row = |at: usize| {
        let cells = columns.iter().map(|(_, cells)| cells.get(at).copied().flatten().cloned());
        let mut cells: Vec<Value> = cells.map(Option::unwrap_or_default).collect();
        cells.truncate(cells.iter().rposition(|cell| !cell.is_null()).map_or(0, |last| last + 1));
        Value::Array(cells)
    };
    let names: Vec<&String> = columns.iter().map(|(names, _)| names).collect();
    let table = json!({COLUMNS: names, ROWS: (0..rows.len()).map(row).collect::<Vec<_>>()});
    (length(&table) < items.iter().map(|item| length(item) + 1).sum()).then_some(table)
}

/// True for a value that a cell can show: no object, and no list of anything but plain values.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(items) => !items.iter().any(|item| item.is_object() || item.is_array()),
        _ => true,
    }
}

fn length(value: &Value) -> usize {
    value.to_string().len()
}
