//! Pagination of a list response, with the exact next call.

use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::catalog::{Action, Interface};
use crate::gitlab::{Content, Page, Reply};
use crate::messages::request::{Answer, ExecuteRequest, NextCall};
use crate::present;
use crate::tools::state::Tools;

/// Builds `page` of an answer: GitLab's pagination of the list, with the call for the next page. None if the response is
/// not a list or is complete. If the action does not take the cursor of GitLab's link, the next page is that of `direct`
/// by `api.rest`.
pub fn page_info(
    request: &ExecuteRequest,
    action: &Action,
    page: &Page,
    rows: Option<(usize, usize)>,
    direct: Option<&Call>,
) -> Option<Value> {
    let next = match rows {
        Some((shown, _)) => {
            let rest = rest_of_page_params(request, action, page, shown);
            rest.map(|params| ExecuteRequest { params, ..request.clone() })
        }
        None => next_page(request, action, page, direct),
    };
    let next = next.map(|next| page_call(&next));
    let mut info = Map::new();
    let numbers = [
        ("page", page.page),
        ("per_page", page.per_page),
        ("total", page.total),
        ("total_pages", page.total_pages),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            info.insert(name.to_owned(), json!(number));
        }
    }
    if let Some((shown, received)) = rows {
        info.insert("shown".to_owned(), json!(shown));
        info.insert("came".to_owned(), json!(received));
    }
    let is_all = next.is_none() && rows.is_none() && page.page.unwrap_or(1) == 1;
    if (info.is_empty() && next.is_none()) || (is_all && page.total.is_none()) {
        return None;
    }
    info.insert("next".to_owned(), next.unwrap_or(Value::Null));
    Some(Value::Object(info))
}

/// Query parameters by which GitLab's links go on in lists without page numbers
/// (<https://docs.gitlab.com/api/rest/#keyset-based-pagination>).
const CURSORS: [&str; 4] = ["cursor", "id_after", "id_before", "page_token"];

/// True if the next page of a list may be requested by its path.
pub fn may_go_direct(tools: &Tools) -> bool {
    tools.may_run_id("api.rest")
}

/// Returns the request for the next page; none after the last, or if no parameter takes GitLab's cursor.
pub fn next_page(
    request: &ExecuteRequest,
    action: &Action,
    page: &Page,
    direct: Option<&Call>,
) -> Option<ExecuteRequest> {
    let params = next_page_params(request, action, page)?;
    if lost_cursors(action, page).is_empty() {
        return Some(ExecuteRequest { params, ..request.clone() });
    }
    Some(ExecuteRequest {
        action: "api.rest".to_owned(),
        params: direct_page_params(direct?, page),
        ..request.clone()
    })
}

/// The cursors of GitLab's link, or the page's number, that the action does not take: without them its next page is this
/// one again.
fn lost_cursors<'p>(action: &Action, page: &'p Page) -> Vec<&'p str> {
    if action.direct().is_some() {
        return Vec::new();
    }
    if page.next_page.is_some() {
        return if action.param("page").is_some() { Vec::new() } else { vec!["page"] };
    }
    let names = page.next_query.iter().flatten().map(|(name, _)| name.as_str());
    names.filter(|name| CURSORS.contains(name) && action.param(name).is_none()).collect()
}

/// The next page of a call by its path, as GitLab's link has it.
fn direct_page_params(call: &Call, page: &Page) -> Map<String, Value> {
    let mut query: Map<String, Value> = Map::new();
    for (name, value) in call.query().iter().chain(page.next_query.iter().flatten()) {
        query.insert(name.clone(), json!(present::line(value)));
    }
    if let Some(next) = page.next_page {
        query.insert("page".to_owned(), json!(next.to_string()));
    }
    let path = call.path().split_once("/api/v4").map_or(call.path(), |(_, below)| below);
    Map::from_iter([
        ("method".to_owned(), json!("GET")),
        ("path".to_owned(), json!(path)),
        ("query".to_owned(), Value::Object(query)),
    ])
}

/// Note on a list that goes on by a cursor that nothing here can carry.
pub fn lost_cursor_note(action: &Action, page: &Page, has_direct: bool) -> Option<String> {
    let lost = lost_cursors(action, page);
    (!has_direct && !lost.is_empty())
        .then(|| format!("the list goes on by `{}`, which {} does not take", lost.join("`, `"), action.id))
}

/// Note on a list without a total, or without any header on pagination. GitLab counts no commits and jobs, no list of more than 10,000 rows, and no list with cursors
/// (<https://docs.gitlab.com/api/rest/#pagination>).
pub fn uncounted_note(page: &Page) -> Option<String> {
    if page.total.is_some() {
        return None;
    }
    if page.is_assumed {
        let note = "this full page came without GitLab's headers on pagination, which a proxy may have taken away: there may be more";
        return Some(note.to_owned());
    }
    match (page.next_page, &page.next_query) {
        (Some(_), _) => Some(
            "no total: GitLab counts neither commits and jobs nor lists of more than 10,000 rows".to_owned(),
        ),
        (None, Some(query)) if !query.is_empty() => Some("GitLab gives no total of this list".to_owned()),
        _ => None,
    }
}

/// Builds the call for a page, with the same selection and view.
fn page_call(request: &ExecuteRequest) -> Value {
    let ExecuteRequest { action, params, fields, view, all, .. } = request.clone();
    json!(NextCall::for_request(&ExecuteRequest { action, params, fields, view, all, ..Default::default() }))
}

/// The page after this one: by number, or by the cursor of GitLab's own link.
fn next_page_params(request: &ExecuteRequest, action: &Action, page: &Page) -> Option<Map<String, Value>> {
    if let Some(next) = page.next_page {
        return Some(with_params(request, action, [("page".to_owned(), json!(next))]));
    }
    let query = page.next_query.as_ref().filter(|query| !query.is_empty())?;
    let taken = query.iter().filter(|(name, _)| action.direct().is_some() || action.param(name).is_some());
    let changed = taken.map(|(name, value)| {
        let number = value.parse::<u64>().ok().filter(|_| matches!(name.as_str(), "page" | "per_page"));
        (name.clone(), number.map_or_else(|| json!(present::line(value)), |number| json!(number)))
    });
    Some(with_params(request, action, changed))
}

/// The parameters with these changed. A direct call has them where its interface does.
pub fn with_params(
    request: &ExecuteRequest,
    action: &Action,
    changed: impl IntoIterator<Item = (String, Value)>,
) -> Map<String, Value> {
    let mut params = request.params.clone();
    let inside = match action.direct() {
        None => {
            params.extend(changed);
            return params;
        }
        Some(Interface::Rest) => "query",
        Some(_) => "variables",
    };
    let mut fields = params.get(inside).and_then(Value::as_object).cloned().unwrap_or_default();
    fields.extend(changed);
    params.insert(inside.to_owned(), Value::Object(fields));
    params
}

/// The rows of this page that did not fit: what follows the last row's cursor; or a page size at which they begin
/// a page, and that page.
fn rest_of_page_params(
    request: &ExecuteRequest,
    action: &Action,
    page: &Page,
    shown: usize,
) -> Option<Map<String, Value>> {
    if let Some(cursor) = shown.checked_sub(1).and_then(|last| page.cursors.get(last)) {
        return Some(with_params(request, action, [("after".to_owned(), json!(present::line(cursor)))]));
    }
    let size = page.per_page?;
    let before = (page.page?.checked_sub(1)?) * size;
    let next_row = before + u64::try_from(shown).ok()?;
    let per_page = (1..=u64::try_from(shown).ok()?).rev().find(|size| next_row.is_multiple_of(*size))?;
    let place = [("per_page", per_page), ("page", next_row / per_page + 1)];
    Some(with_params(request, action, place.map(|(name, number)| (name.to_owned(), json!(number)))))
}

/// A page after the last, which GitLab answers with an empty list: the note on it, and the call for the last page that
/// has rows.
#[derive(Debug)]
pub struct PastEnd {
    note: String,
    call: NextCall,
}

/// A reply that is an empty page after others. If GitLab has not counted the list, the last page is unknown and the
/// call is for the first.
pub fn past_end(reply: &Reply, request: &ExecuteRequest, action: &Action) -> Option<PastEnd> {
    let Reply { content: Content::Json(Value::Array(rows)), page, .. } = reply else { return None };
    let Page { page: Some(at), total_pages, .. } = page else { return None };
    if !rows.is_empty() || *at < 2 {
        return None;
    }
    let (note, last) = match total_pages {
        Some(pages) if *pages > 0 => {
            (format!("page {at} is past the end: the last with rows is {pages}"), *pages)
        }
        Some(_) => (format!("page {at} is past the end: the list has no rows at all"), 1),
        None => (format!("page {at} is past the end; GitLab has not counted the pages before it"), 1),
    };
    let params = with_params(request, action, [("page".to_owned(), json!(last))]);
    let mended = ExecuteRequest { params, ..request.clone() };
    Some(PastEnd { note, call: NextCall::for_request(&mended) })
}

impl PastEnd {
    /// Adds the note and the call to an answer.
    pub fn add_to(self, mut answer: Answer) -> Answer {
        answer.text.push_str(&format!("Note: {}.\nBack: {}\n", self.note, self.call));
        let page = answer.structured.entry("page").or_insert_with(|| json!({}));
        if let Value::Object(page) = page {
            page.insert("last".to_owned(), json!(self.call));
        }
        let notes = answer.structured.entry("notes").or_insert_with(|| json!([]));
        if let Value::Array(notes) = notes {
            notes.push(json!(self.note));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn third_page_of_twenty() -> Page {
        Page { page: Some(3), per_page: Some(20), total: Some(200), next_page: Some(4), ..Page::default() }
    }

    #[test]
    fn a_list_without_numbers_goes_on_by_its_cursor() {
        let list = Catalog::embedded().unwrap().get("branch_rule.list").unwrap().unwrap();
        let cursor =
            Page { next_query: Some(vec![("after".to_owned(), "c1".to_owned())]), ..Page::default() };
        let info = page_info(&ExecuteRequest::default(), &list, &cursor, None, None).unwrap();
        assert_eq!(info["next"]["arguments"]["params"]["after"], "c1");
        assert_eq!(page_info(&ExecuteRequest::default(), &list, &Page::default(), None, None), None);
    }

    #[test]
    fn a_cursor_that_the_action_does_not_take_is_noted_where_nothing_carries_it() {
        let list = Catalog::embedded().unwrap().get("job.list").unwrap().unwrap();
        let query = vec![("cursor".to_owned(), "eyJ=".to_owned()), ("per_page".to_owned(), "20".to_owned())];
        let page = Page { next_query: Some(query), ..Page::default() };
        let info = page_info(&ExecuteRequest::default(), &list, &page, None, None);
        assert_eq!(info, None, "the first page again is no next page");
        let note = lost_cursor_note(&list, &page, false).unwrap();
        assert_eq!(note, "the list goes on by `cursor`, which job.list does not take");
    }

    #[test]
    fn rows_that_did_not_fit_begin_the_next_page_asked_for() {
        for shown in 1..20 {
            let list = Catalog::embedded().unwrap().get("issue.list").unwrap().unwrap();
            let request = ExecuteRequest::default();
            let params = rest_of_page_params(&request, &list, &third_page_of_twenty(), shown).unwrap();
            let (page, size) = (params["page"].as_u64().unwrap(), params["per_page"].as_u64().unwrap());
            assert_eq!((page - 1) * size, 40 + shown as u64, "after {shown} rows");
            assert!(size <= shown as u64, "no more rows than fitted");
        }
    }

    #[test]
    fn rows_that_did_not_fit_follow_the_cursor_of_the_last_row_shown() {
        let list = Catalog::embedded().unwrap().get("graphql.project_issues").unwrap().unwrap();
        let cursors = Vec::from(["c1", "c2", "c3", "c4"].map(str::to_owned));
        let page = Page { cursors, ..Page::default() };
        for (shown, after) in [(1, "c1"), (2, "c2"), (3, "c3")] {
            let params = rest_of_page_params(&ExecuteRequest::default(), &list, &page, shown).unwrap();
            assert_eq!(params["after"], after, "after {shown} rows");
        }
    }
}
