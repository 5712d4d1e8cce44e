//! A page after the last: GitLab answers it with an empty list, which says nothing of there being rows before it.

use serde_json::{Value, json};

use crate::catalog::Action;
use crate::gitlab::{Content, Page, Reply};
use crate::tools::reply::paging;
use crate::tools::types::{Answer, EXECUTE, ExecuteRequest};

/// What is said of such a page, and the call for the one that has the last rows.
#[derive(Debug)]
pub struct PastEnd {
    note: String,
    call: Value,
}

/// Whether the reply is a page without rows behind others. Where GitLab has not counted, which is the last nobody
/// knows, and the call is for the first.
pub fn of(reply: &Reply, request: &ExecuteRequest, action: &Action) -> Option<PastEnd> {
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
    let params = paging::beside(request, action, [("page".to_owned(), json!(last))]);
    let mended = ExecuteRequest { params, ..request.clone() };
    Some(PastEnd {
        note,
        call: json!({"tool": EXECUTE, "arguments": crate::tools::errors::mapping::arguments(&mended)}),
    })
}

impl PastEnd {
    /// The answer that says so.
    pub fn told(self, mut answer: Answer) -> Answer {
        answer.text.push_str(&format!("Note: {}.\nBack: {}\n", self.note, self.call));
        let page = answer.structured.entry("page").or_insert_with(|| json!({}));
        if let Value::Object(page) = page {
            page.insert("last".to_owned(), self.call);
        }
        let notes = answer.structured.entry("notes").or_insert_with(|| json!([]));
        if let Value::Array(notes) = notes {
            notes.push(json!(self.note));
        }
        answer
    }
}
