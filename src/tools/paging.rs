//! Where a list stands, and the exact next call.

use serde_json::{Map, Value, json};

use super::{EXECUTE, ExecuteRequest};
use crate::catalog::Action;
use crate::gitlab::Page;

/// `page` as answers carry it: what GitLab says of the list, with the call for what follows. Nothing where the
/// reply is no list or is all of it.
pub fn page(
    request: &ExecuteRequest,
    action: &Action,
    page: &Page,
    rows: Option<(usize, usize)>,
) -> Option<Value> {
    let next = match rows {
        Some((shown, _)) => rest_of_page(request, page, shown),
        None => following(request, action, page),
    };
    let mut said = Map::new();
    let numbers = [
        ("page", page.page),
        ("per_page", page.per_page),
        ("total", page.total),
        ("total_pages", page.total_pages),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            said.insert(name.to_owned(), json!(number));
        }
    }
    if let Some((shown, came)) = rows {
        said.insert("shown".to_owned(), json!(shown));
        said.insert("came".to_owned(), json!(came));
    }
    let is_all = next.is_none() && rows.is_none() && page.page.unwrap_or(1) == 1;
    if (said.is_empty() && next.is_none()) || (is_all && page.total.is_none()) {
        return None;
    }
    said.insert("next".to_owned(), next.map_or(Value::Null, |params| call(request, params)));
    Some(Value::Object(said))
}

/// The same call with other parameters.
fn call(request: &ExecuteRequest, params: Map<String, Value>) -> Value {
    let mut arguments = Map::from_iter([
        ("action".to_owned(), json!(request.action)),
        ("params".to_owned(), Value::Object(params)),
    ]);
    if let Some(fields) = &request.fields {
        arguments.insert("fields".to_owned(), json!(fields));
    }
    if let Some(view) = request.view {
        arguments.insert("view".to_owned(), json!(view));
    }
    json!({"tool": EXECUTE, "arguments": arguments})
}

/// The page after this one: by number, or by the cursor of GitLab's own link.
fn following(request: &ExecuteRequest, action: &Action, page: &Page) -> Option<Map<String, Value>> {
    let mut params = request.params.clone();
    if let Some(next) = page.next_page {
        params.insert("page".to_owned(), json!(next));
        return Some(params);
    }
    let query = page.next_query.as_ref().filter(|query| !query.is_empty())?;
    for (name, value) in query.iter().filter(|(name, _)| action.param(name).is_some()) {
        let number = value.parse::<u64>().ok().filter(|_| matches!(name.as_str(), "page" | "per_page"));
        params.insert(name.clone(), number.map_or_else(|| json!(value), |number| json!(number)));
    }
    Some(params)
}

/// The rows of this page that did not fit: what follows the last row's cursor; or a page size at which they begin
/// a page, and that page.
fn rest_of_page(request: &ExecuteRequest, page: &Page, shown: usize) -> Option<Map<String, Value>> {
    if let Some(cursor) = shown.checked_sub(1).and_then(|last| page.cursors.get(last)) {
        let mut params = request.params.clone();
        params.insert("after".to_owned(), json!(cursor));
        return Some(params);
    }
    let size = page.per_page?;
    let before = (page.page?.checked_sub(1)?) * size;
    let next_row = before + u64::try_from(shown).ok()?;
    let per_page = (1..=u64::try_from(shown).ok()?).rev().find(|size| next_row.is_multiple_of(*size))?;
    let mut params = request.params.clone();
    params.insert("per_page".to_owned(), json!(per_page));
    params.insert("page".to_owned(), json!(next_row / per_page + 1));
    Some(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn third_page_of_twenty() -> Page {
        Page { page: Some(3), per_page: Some(20), total: Some(200), next_page: Some(4), ..Page::default() }
    }

    #[test]
    fn rows_that_did_not_fit_begin_the_next_page_asked_for() {
        for shown in 1..20 {
            let params = rest_of_page(&ExecuteRequest::default(), &third_page_of_twenty(), shown).unwrap();
            let (page, size) = (params["page"].as_u64().unwrap(), params["per_page"].as_u64().unwrap());
            assert_eq!((page - 1) * size, 40 + shown as u64, "after {shown} rows");
            assert!(size <= shown as u64, "no more rows than fitted");
        }
    }
}
