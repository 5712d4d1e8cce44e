//! A REST path as the action that it stands for, with the parameters that it holds: encoded, as GitLab wants it, or
//! with the slashes of a full path as they are, where that leaves one reading.

use std::collections::BTreeSet;

use url::Url;

use super::raw_path::{self, Address};
use crate::catalog::{Method, OperationIndex};

/// What a path stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routed {
    /// The action's id.
    pub action: String,
    pub method: Method,
    /// The operation's path as GitLab's documentation writes it.
    pub path: String,
    /// The placeholders that it fills, each with its value, decoded.
    pub values: Vec<(String, String)>,
    /// The query behind it.
    pub query: Vec<(String, String)>,
}

const METHODS: [Method; 6] =
    [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];

/// A method, where there is one, and what follows it, where the text begins like a request: `GET /projects`.
pub fn request(text: &str) -> (Option<Method>, &str) {
    let text = text.trim();
    let said = text.split_once(char::is_whitespace).and_then(|(first, rest)| {
        let method = METHODS.into_iter().find(|method| method.name().eq_ignore_ascii_case(first))?;
        Some((Some(method), rest.trim()))
    });
    said.unwrap_or((None, text))
}

/// What the path may stand for: nothing, one thing, or several that it fits equally well. A path without a method
/// asks, and changes nothing.
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
    // What GitLab has below a project or group, to read or to change, ends its full path.
    let below: BTreeSet<&str> = METHODS
        .into_iter()
        .flat_map(|method| surface.paths(method))
        .map(|(path, _)| words(path))
        .filter(|pattern| pattern.first() == segments.first())
        .filter_map(|pattern| pattern.get(2).copied())
        .collect();
    let mut found: Vec<(Rank, Routed)> = Vec::new();
    for (path, action, pattern) in &paths {
        for taken in fits(pattern, &segments, |taken| is_held(taken, &below)) {
            let rank = Rank::of(&taken, &segments);
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

/// True if a project or group can be called what the first placeholder took: a project is in a group or with a user,
/// and what is below it is no part of its path.
fn is_held(taken: &Taken<'_>, below: &BTreeSet<&str>) -> bool {
    let [(holder, _), (place, value), ..] = taken.as_slice() else { return true };
    if !matches!(*holder, "projects" | "groups")
        || !is_open(place)
        || is_placeholder(value)
        || is_number(value)
    {
        return true;
    }
    let parts: Vec<&str> = value.split('/').collect();
    let is_long_enough = *holder == "groups" || parts.len() > 1;
    is_long_enough && !parts.iter().skip(2).any(|part| below.contains(part))
}

/// How near a reading is: fewer further segments taken by a placeholder, then fewer placeholders.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    spread: usize,
    placeholders: usize,
}

impl Rank {
    fn of(taken: &[(&str, String)], segments: &[&str]) -> Rank {
        let placeholders = taken.iter().filter(|(place, _)| is_open(place)).count();
        // Every word and every placeholder takes one segment; the rest is what placeholders took beyond that.
        Rank { spread: segments.len().saturating_sub(taken.len()), placeholders }
    }
}

type Taken<'p> = Vec<(&'p str, String)>;

/// The most ways that are told apart: of more than one, none is chosen.
const WAYS: usize = 8;

/// The ways in which segments fill a pattern, each word or placeholder with what it took, of which `wanted` are found;
/// no more than a few of them.
fn fits<'p>(pattern: &[&'p str], segments: &[&str], wanted: impl Fn(&Taken<'p>) -> bool) -> Vec<Taken<'p>> {
    let mut search =
        Search { pattern, segments, dead: BTreeSet::new(), wanted, ends: Vec::new(), found: Vec::new() };
    search.go(0, 0);
    search.found
}

/// A search for ways, word by word. What is left over at a place is looked through once, if nothing fits there.
struct Search<'a, 'p, F> {
    pattern: &'a [&'p str],
    segments: &'a [&'a str],
    /// Places from which the rest of the pattern does not fit the rest of the segments.
    dead: BTreeSet<(usize, usize)>,
    wanted: F,
    /// Where the segments end that each word has taken so far.
    ends: Vec<usize>,
    found: Vec<Taken<'p>>,
}

impl<'p, F: Fn(&Taken<'p>) -> bool> Search<'_, 'p, F> {
    /// Goes on with the word at `at` and the segment at `next`; whether the rest fits there.
    fn go(&mut self, at: usize, next: usize) -> bool {
        let Some(word) = self.pattern.get(at).copied() else {
            let is_whole = next == self.segments.len();
            if is_whole {
                self.found.push(self.taken());
            }
            return is_whole;
        };
        if self.dead.contains(&(at, next)) {
            return false;
        }
        // Each word behind takes one segment at least.
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
            // The first placeholder decides alone whether a way is wanted: where it is not, none behind it is looked at.
            let is_wanted = at != 1 || (self.wanted)(&self.taken());
            fits |= !is_wanted || self.go(at + 1, end);
            self.ends.pop();
        }
        if !fits {
            self.dead.insert((at, next));
        }
        fits
    }

    /// True if the segment may be the beginning of what the word takes: a look ahead.
    fn is_next(&self, at: usize, next: usize) -> bool {
        match (self.pattern.get(at), self.segments.get(next)) {
            (Some(word), Some(segment)) => is_open(word) || word.eq_ignore_ascii_case(segment),
            (word, segment) => word.is_none() && segment.is_none(),
        }
    }

    /// Each word so far with what it took.
    fn taken(&self) -> Taken<'p> {
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        let taken = self.pattern.iter().zip(begins.zip(&self.ends)).map(|(word, (begin, end))| {
            (*word, self.segments.get(begin..*end).unwrap_or_default().join("/"))
        });
        taken.collect()
    }
}

/// True if a word of a path, or a placeholder, takes these segments. A number fills by itself what it fills.
fn takes(word: &str, segments: &[&str]) -> bool {
    match segments {
        [one] if !is_open(word) => word.eq_ignore_ascii_case(one),
        [one] if is_placeholder(one) => true,
        [one] if word.ends_with("iid") => is_number(one),
        [_] => true,
        several => {
            !several.iter().any(|one| is_placeholder(one))
                && !several.first().is_some_and(|one| is_number(one))
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A place for any value: a placeholder, also within a word (`:file_name.tgz`).
fn is_open(word: &str) -> bool {
    word.starts_with([':', '*'])
}

/// A place that the given path leaves open, as documents write it: `:id`, `{id}`, `<id>`.
fn is_placeholder(segment: &str) -> bool {
    segment.starts_with([':', '{', '<', '$'])
}

/// The placeholder's name with its value, where it has both.
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

    fn told(text: &str) -> Vec<String> {
        let catalog = Catalog::embedded().unwrap();
        let base = Url::parse("https://gitlab.example/").unwrap();
        let (method, path) = request(text);
        let routed = routed(method.unwrap_or(Method::Get), path, catalog.surface().unwrap(), &base).unwrap();
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
            assert_eq!(told(text), [expected], "{text}");
        }
    }

    #[test]
    fn what_is_no_path_of_gitlabs_is_nothing() {
        for text in ["/nowhere/at/all", "DELETE /version", "/projects/acme/widget/issues/12/frobnicate"] {
            assert!(told(text).is_empty(), "{text}: {:?}", told(text));
        }
    }

    #[test]
    fn a_path_of_many_segments_takes_no_time() {
        let catalog = Catalog::embedded().unwrap();
        let base = Url::parse("https://gitlab.example/").unwrap();
        let surface = catalog.surface().unwrap();
        let start = Instant::now();
        for word in ["/a", "/projects", "/issues", "/repository/files"] {
            for count in [98, 60, 3_000] {
                let path = format!("/projects{}", word.repeat(count / word.matches('/').count() - 1));
                // True if it is refused, nothing, or read in one way does not matter here.
                let _ = routed(Method::Get, &path, surface, &base);
            }
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
}
