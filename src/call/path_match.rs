//! Matches a REST path with the actions of the catalog and extracts its parameters. A full path may be encoded as
//! GitLab requires, or contain plain slashes if only one match is possible.

use std::collections::BTreeSet;

use url::Url;

use super::raw_path::{self, Address};
use crate::catalog::{Method, OperationIndex};
use crate::text::is_digits;

/// A match of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routed {
    /// The action's id.
    pub action: String,
    pub method: Method,
    /// The operation's path as GitLab's documentation writes it.
    pub path: String,
    /// Placeholders with their decoded values.
    pub values: Vec<(String, String)>,
    /// Query of the path.
    pub query: Vec<(String, String)>,
}

/// All methods.
pub const METHODS: [Method; 6] =
    [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];

/// Splits a request such as `GET /projects` into method, if any, and path.
pub fn split_request_line(text: &str) -> (Option<Method>, &str) {
    let text = text.trim();
    let said = text.split_once(char::is_whitespace).and_then(|(first, rest)| {
        let method = METHODS.into_iter().find(|method| method.name().eq_ignore_ascii_case(first))?;
        Some((Some(method), rest.trim()))
    });
    said.unwrap_or((None, text))
}

/// Finds the best matches of a path: none, one, or several that are equally good. A path without a method is a GET.
pub fn routed(
    method: Method,
    path: &str,
    surface: &OperationIndex<'_>,
    base: &Url,
) -> Result<Vec<Routed>, String> {
    let Address::Rest { segments, query } = raw_path::parse(path, base)? else { return Ok(Vec::new()) };
    let segments: Vec<&str> = segments.iter().map(String::as_str).filter(|segment| *segment != "-").collect();
    let paths: Vec<(&str, &str, Vec<&str>)> = surface
        .paths(method)
        .filter(|(path, _)| !path.starts_with("/api/"))
        .map(|(path, action)| (path, action, words(path)))
        .collect();
    // The words of GitLab's routes below a project or group end its full path.
    let below: BTreeSet<&str> = METHODS
        .into_iter()
        .flat_map(|method| surface.paths(method))
        .map(|(path, _)| words(path))
        .filter(|pattern| pattern.first() == segments.first())
        .filter_map(|pattern| pattern.get(2).copied())
        .collect();
    let mut found: Vec<(MatchRank, Routed)> = Vec::new();
    for (path, action, pattern) in &paths {
        for taken in fits(pattern, &segments, |taken| is_held(taken, &below)) {
            let rank = MatchRank::new(&taken, &segments);
            let values =
                taken.into_iter().filter_map(|(place, value)| bind_placeholder(place, value)).collect();
            let (action, path) = ((*action).to_owned(), (*path).to_owned());
            found.push((rank, Routed { action, method, path, values, query: query.clone() }));
        }
    }
    let best = found.iter().map(|(rank, _)| *rank).min();
    Ok(found.into_iter().filter(|(rank, _)| Some(*rank) == best).map(|(_, routed)| routed).collect())
}

fn words(path: &str) -> Vec<&str> {
    path.split('/').filter(|word| !word.is_empty() && *word != "-").collect()
}

/// True if the segments of the first placeholder can be the path of a project or group: a project has a namespace, and
/// words of routes below it are not part of its path.
fn is_held(taken: &TakenSegment<'_>, below: &BTreeSet<&str>) -> bool {
    let [(holder, _), (place, value), ..] = taken.as_slice() else { return true };
    if !matches!(*holder, "projects" | "groups")
        || !is_open(place)
        || is_placeholder(value)
        || is_digits(value)
    {
        return true;
    }
    let parts: Vec<&str> = value.split('/').collect();
    let is_long_enough = *holder == "groups" || parts.len() > 1;
    // Encoded twice, a path is none.
    is_long_enough && !value.contains('%') && !parts.iter().skip(2).any(|part| below.contains(part))
}

/// Rank of a match: fewer additional segments in placeholders, then fewer placeholders.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MatchRank {
    spread: usize,
    placeholders: usize,
}

impl MatchRank {
    fn new(taken: &[(&str, String)], segments: &[&str]) -> MatchRank {
        let placeholders = taken.iter().filter(|(place, _)| is_open(place)).count();
        // Every word and placeholder takes one segment; placeholders took the rest.
        MatchRank { spread: segments.len().saturating_sub(taken.len()), placeholders }
    }
}

type TakenSegment<'p> = Vec<(&'p str, String)>;

/// Maximum number of matches that are collected. With more than one, none is chosen.
const WAYS: usize = 8;

/// Collects up to `WAYS` matches of the segments with a pattern that `wanted` accepts.
fn fits<'p>(
    pattern: &[&'p str],
    segments: &[&str],
    wanted: impl Fn(&TakenSegment<'p>) -> bool,
) -> Vec<TakenSegment<'p>> {
    let mut search =
        Search { pattern, segments, dead: BTreeSet::new(), wanted, ends: Vec::new(), found: Vec::new() };
    search.match_rest(0, 0);
    search.found
}

/// A search for matches, word by word. Positions without a match are remembered, so that each is tried once.
struct Search<'a, 'p, F> {
    pattern: &'a [&'p str],
    segments: &'a [&'a str],
    /// Positions from which the rest of the pattern does not match the rest of the segments.
    dead: BTreeSet<(usize, usize)>,
    wanted: F,
    /// End of the segments of each word so far.
    ends: Vec<usize>,
    found: Vec<TakenSegment<'p>>,
}

impl<'p, F: Fn(&TakenSegment<'p>) -> bool> Search<'_, 'p, F> {
    /// Matches the rest, from the word at `at` and the segment at `next`. True if it matches.
    fn match_rest(&mut self, at: usize, next: usize) -> bool {
        let Some(word) = self.pattern.get(at).copied() else {
            let is_whole = next == self.segments.len();
            if is_whole {
                self.found.push(self.captures());
            }
            return is_whole;
        };
        if self.dead.contains(&(at, next)) {
            return false;
        }
        // Each later word takes at least one segment.
        let behind = self.pattern.len() - at - 1;
        let last = self.segments.len().saturating_sub(behind);
        let most = if is_open(word) { last } else { last.min(next + 1) };
        let mut fits = false;
        for end in next + 1..=most {
            if self.found.len() >= WAYS {
                return true;
            }
            if !self.is_next(at + 1, end)
                || !self.segments.get(next..end).is_some_and(|taken| takes(word, taken))
            {
                continue;
            }
            self.ends.push(end);
            // `wanted` depends only on the first placeholder: if it refuses that, later words need no search.
            let is_wanted = at != 1 || (self.wanted)(&self.captures());
            fits |= !is_wanted || self.match_rest(at + 1, end);
            self.ends.pop();
        }
        if !fits {
            self.dead.insert((at, next));
        }
        fits
    }

    /// Look-ahead: true if the word can begin at the segment.
    fn is_next(&self, at: usize, next: usize) -> bool {
        match (self.pattern.get(at), self.segments.get(next)) {
            (Some(word), Some(segment)) => is_open(word) || word.eq_ignore_ascii_case(segment),
            (word, segment) => word.is_none() && segment.is_none(),
        }
    }

    /// Returns each word so far with its segments.
    fn captures(&self) -> TakenSegment<'p> {
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        let taken = self.pattern.iter().zip(begins.zip(&self.ends)).map(|(word, (begin, end))| {
            (*word, self.segments.get(begin..*end).unwrap_or_default().join("/"))
        });
        taken.collect()
    }
}

/// True if a word or placeholder matches these segments. A number is always a placeholder by itself.
fn takes(word: &str, segments: &[&str]) -> bool {
    match segments {
        [one] if !is_open(word) => word.eq_ignore_ascii_case(one),
        [one] if is_placeholder(one) => true,
        [one] if word.ends_with("iid") => is_digits(one),
        [_] => true,
        several => {
            !several.iter().any(|one| is_placeholder(one))
                && !several.first().is_some_and(|one| is_digits(one))
        }
    }
}

/// True for a placeholder, also within a word (`:file_name.tgz`).
fn is_open(word: &str) -> bool {
    word.starts_with([':', '*'])
}

/// True for a placeholder in the given path, in any notation of documents: `:id`, `{id}`, `<id>`.
fn is_placeholder(segment: &str) -> bool {
    segment.starts_with([':', '{', '<', '$'])
}

/// Returns the name of a placeholder with its value. None if the path leaves the value open.
fn bind_placeholder(place: &str, value: String) -> Option<(String, String)> {
    let name = place.strip_prefix([':', '*'])?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name && !is_placeholder(&value)).then(|| (name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::catalog::Catalog;

    fn parse_and_render(text: &str) -> Vec<String> {
        let catalog = Catalog::embedded().unwrap();
        let base = Url::parse("https://gitlab.example/").unwrap();
        let (method, path) = split_request_line(text);
        let routed =
            routed(method.unwrap_or(Method::Get), path, catalog.operations().unwrap(), &base).unwrap();
        let values = |routed: &Routed| {
            let values = routed.values.iter().map(|(name, value)| format!(" {name}={value}"));
            values.collect::<String>()
        };
        routed.iter().map(|routed| format!("{}{}", routed.action, values(routed))).collect()
    }

    #[test]
    fn a_path_is_its_action_with_what_it_holds() {
        for (text, expected) in [
            ("GET /projects/acme%2Fwidget/issues/12", "issue.get id=acme/widget issue_iid=12"),
            ("/projects/acme/widget/issues/12", "issue.get id=acme/widget issue_iid=12"),
            ("/projects/acme/tools/widget-cli/issues", "issue.list id=acme/tools/widget-cli"),
            ("put /api/v4/projects/7/issues/12/", "issue.update id=7 issue_iid=12"),
            ("GET /projects/:id/issues", "issue.list"),
            ("GET /projects/{id}/issues/{issue_iid}", "issue.get"),
            ("https://gitlab.example/api/v4/groups/acme/tools/projects", "project.list id=acme/tools"),
            ("/projects/acme/widget", "project.get id=acme/widget"),
            ("/issues?state=opened", "issue.list"),
        ] {
            assert_eq!(parse_and_render(text), [expected], "{text}");
        }
    }

    #[test]
    fn what_is_no_path_of_gitlabs_is_nothing() {
        for text in [
            "/nowhere/at/all",
            "DELETE /version",
            "/projects/acme/widget/issues/12/frobnicate",
            "DELETE /projects/acme%252Fwidget/issues/1",
        ] {
            assert!(parse_and_render(text).is_empty(), "{text}: {:?}", parse_and_render(text));
        }
    }

    #[test]
    fn a_path_of_many_segments_takes_no_time() {
        let catalog = Catalog::embedded().unwrap();
        let base = Url::parse("https://gitlab.example/").unwrap();
        let surface = catalog.operations().unwrap();
        let start = Instant::now();
        for word in ["/a", "/projects", "/issues", "/repository/files"] {
            for count in [98, 60, 3_000] {
                let path = format!("/projects{}", word.repeat(count / word.matches('/').count() - 1));
                // The outcome does not matter here: only that it returns.
                let _ = routed(Method::Get, &path, surface, &base);
            }
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
}
