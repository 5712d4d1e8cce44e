//! Where a list stands: GitLab's pagination headers
//! (<https://docs.gitlab.com/api/rest/#pagination>) and `Link` (RFC 8288).

use reqwest::header::{HeaderMap, LINK};
use url::Url;

use super::content_disposition::{split_outside_quotes, unquote};

/// Which page of a list this is and how to ask for the next.
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
    /// The query pairs of the `Link` to the next page that differ from what was sent, in its order: the cursor
    /// or page number, and whatever defaults GitLab spelled out. Of that link only the query is believed;
    /// whom it names is not.
    pub next_query: Option<Vec<(String, String)>>,
    /// Of GraphQL: the cursor of each row, after which a page may begin.
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

/// The target of the first link whose relations hold `next`.
fn next_link(header: &str) -> Option<&str> {
    let mut rest = header;
    loop {
        let (_, from_target) = rest.split_once('<')?;
        let (target, after) = from_target.split_once('>')?;
        // The link's own parameters end at a comma outside of quotes.
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

/// The link's pairs less those that were sent; a pair sent twice is taken off twice.
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
