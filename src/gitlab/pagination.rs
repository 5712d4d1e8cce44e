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
    pub prev_page: Option<u64>,
    pub total: Option<u64>,
    pub total_pages: Option<u64>,
    /// Query pairs of the `Link` to the next page that differ from those sent, in its order: the cursor or page number,
    /// and defaults that GitLab spells out. Only the link's query is used; its host is ignored.
    pub next_query: Option<Vec<(String, String)>>,
    /// GraphQL only: the cursor of each row, after which a page may begin.
    pub cursors: Vec<String>,
}

impl Page {
    pub(super) fn parse(headers: &HeaderMap, sent_to: &Url, sent: &[(String, String)]) -> Page {
        let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse().ok();
        let links = headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
        let next = links.filter_map(next_link).next().and_then(|link| sent_to.join(link).ok());
        Page {
            page: number("x-page"),
            per_page: number("x-per-page"),
            next_page: number("x-next-page"),
            prev_page: number("x-prev-page"),
            total: number("x-total"),
            total_pages: number("x-total-pages"),
            next_query: next.map(|link| differing(&link, sent)),
            cursors: Vec::new(),
        }
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
