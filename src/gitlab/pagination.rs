//! Pagination of a list response: GitLab's headers (<https://docs.gitlab.com/api/rest/#pagination>) and `Link` (RFC
//! 8288).

use reqwest::header::{HeaderMap, LINK};
use url::Url;

use super::content_disposition::{split_outside_quotes, unquote};

/// Position of a page within a list, and the query of the next page.
///
/// GitLab leaves out the totals of lists over 10,000 and the page numbers of keyset pagination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub page: Option<u64>,
    pub per_page: Option<u64>,
    pub next_page: Option<u64>,
    pub total: Option<u64>,
    pub total_pages: Option<u64>,
    /// Query pairs of the `Link` to the next page that differ from those sent, in its order: the cursor or page number,
    /// and defaults that GitLab spells out. Only the link's query is used; its host is ignored.
    pub next_query: Option<Vec<(String, String)>>,
    /// GraphQL only: the cursor of each row, after which a page may begin.
    pub cursors: Vec<String>,
    /// True if [`Page::assume_next`] set the next page.
    pub is_assumed: bool,
}

/// Rows of a page unless `per_page` is sent, and the most that GitLab sends whatever it is
/// (<https://docs.gitlab.com/api/rest/#offset-based-pagination>).
const USUAL_ROWS: u64 = 20;
const MOST_ROWS: u64 = 100;

impl Page {
    pub(super) fn parse(headers: &HeaderMap, sent_to: &Url, sent: &[(String, String)]) -> Page {
        let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse().ok();
        let links = headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
        let next = links.filter_map(next_link).next().and_then(|link| sent_to.join(link).ok());
        Page {
            page: number("x-page"),
            per_page: number("x-per-page"),
            next_page: number("x-next-page"),
            total: number("x-total"),
            total_pages: number("x-total-pages"),
            next_query: next.map(|link| differing(&link, sent)),
            ..Page::default()
        }
    }

    /// Assumes that a page of `rows` rows has another after it if it is full and came without a header on pagination, of which
    /// GitLab sends at least one with every page: a gateway takes headers away that it does not know. `sent` is the query.
    pub fn assume_next(&mut self, sent: &[(String, String)], rows: usize) {
        let is_silent = *self == Page::default();
        let sent = |name: &str| {
            let value = sent.iter().rev().find(|(sent, _)| sent == name)?;
            value.1.parse::<u64>().ok()
        };
        let size = sent("per_page").unwrap_or(USUAL_ROWS).min(MOST_ROWS);
        if !is_silent || u64::try_from(rows) != Ok(size) {
            return;
        }
        let page = sent("page").unwrap_or(1);
        *self = Page {
            page: Some(page),
            per_page: Some(size),
            next_page: Some(page + 1),
            is_assumed: true,
            ..Page::default()
        };
    }
}

/// Target of the first link with relation `next`.
fn next_link(header: &str) -> Option<&str> {
    let mut rest = header;
    loop {
        let (_, from_target) = rest.split_once('<')?;
        let (target, after) = from_target.split_once('>')?;
        // A link's parameters end at a comma outside of quotes.
        let params = split_outside_quotes(after, ',').into_iter().next().unwrap_or_default();
        let is_next = split_outside_quotes(params, ';').into_iter().any(|param| {
            param.split_once('=').is_some_and(|(name, value)| {
                let relations = unquote(value.trim());
                name.trim().eq_ignore_ascii_case("rel")
                    && relations
                        .split_ascii_whitespace()
                        .any(|relation| relation.eq_ignore_ascii_case("next"))
            })
        });
        if is_next {
            return Some(target);
        }
        rest = after.get(params.len()..)?;
    }
}

/// Query pairs of the link without those that were sent. A pair sent twice is removed twice.
fn differing(link: &Url, sent: &[(String, String)]) -> Vec<(String, String)> {
    let mut sent: Vec<_> = sent.iter().collect();
    let pairs = link.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned()));
    pairs
        .filter(|pair| match sent.iter().position(|other| *other == pair) {
            Some(at) => {
                sent.swap_remove(at);
                false
            }
            None => true,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assumed(sent: &[(&str, &str)], rows: usize) -> Option<u64> {
        let sent: Vec<_> =
            sent.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut page = Page::default();
        page.assume_next(&sent, rows);
        page.next_page
    }

    #[test]
    fn a_full_page_without_headers_has_another_after_it() {
        assert_eq!(assumed(&[], 20), Some(2));
        assert_eq!(assumed(&[("page", "4"), ("per_page", "50")], 50), Some(5));
        // GitLab sends a hundred at most.
        assert_eq!(assumed(&[("per_page", "500")], 100), Some(2));
        for (sent, rows) in [(&[][..], 19), (&[], 21), (&[], 0), (&[("per_page", "100")], 20)] {
            assert_eq!(assumed(sent, rows), None, "{sent:?}, {rows}");
        }
    }

    #[test]
    fn a_page_with_any_header_is_as_gitlab_says() {
        let mut last = Page { page: Some(3), ..Page::default() };
        last.assume_next(&[], 20);
        assert_eq!(last, Page { page: Some(3), ..Page::default() });
    }
}
