//! The lines of a text in which a caller's pattern is found, with those around them. Both the pattern and the time are
//! bounded: neither is this server's to choose.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};

/// The longest pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1_000;

/// The largest compiled pattern, in bytes. Matching takes time in proportion to it.
const MAX_COMPILED_BYTES: usize = 256 * 1024;

/// The deepest nesting of groups and repetitions.
const DEEPEST: u32 = 50;

/// Bytes of a line that are searched: bounds the time of one match.
const LINE: usize = 16 * 1024;

/// The time that one search may take.
pub const SEARCH_TIME: Duration = Duration::from_secs(5);

/// A caller's regular expression. Matching is linear in the text (no backtracking).
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

/// A pattern that is not searched for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("it has {bytes} bytes; the limit is {MAX_PATTERN_BYTES}")]
    TooLong { bytes: usize },
    #[error("it is too large when compiled; use smaller repetitions")]
    TooLarge,
    #[error("it is not a valid regular expression")]
    Syntax,
}

/// A search that ran out of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`grep` took longer than {} s", SEARCH_TIME.as_secs())]
pub struct SearchTimeout;

impl Pattern {
    pub fn new(text: &str) -> Result<Pattern, PatternError> {
        if text.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong { bytes: text.len() });
        }
        let built = RegexBuilder::new(text).size_limit(MAX_COMPILED_BYTES).nest_limit(DEEPEST).build();
        built.map(Pattern).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => PatternError::TooLarge,
            _ => PatternError::Syntax,
        })
    }

    /// The pattern that finds just this text.
    pub fn escape(text: &str) -> String {
        regex::escape(text)
    }

    /// True if it is found in a line; of a longer one, in as much as is searched.
    pub fn is_match(&self, line: &str) -> bool {
        self.0.is_match(line.get(..line.floor_char_boundary(LINE)).unwrap_or(line))
    }
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepMatches {
    /// Each line with its number, `12:` if it matches and `12-` if it is context; with context, `--` marks left-out
    /// lines.
    pub text: String,
    /// Number of all matching lines.
    pub matches: usize,
    /// Number of matching lines shown.
    pub shown: usize,
    /// The first matching line that is not shown, counted from 1.
    pub next: Option<usize>,
    /// Number of lines that are too long to be searched to their end.
    pub long: usize,
}

/// The lines from `from` on, counted from 1, in which the pattern is found, each with so many lines around it, as
/// many as fit into the budget. It gives up at `until`.
pub fn grep(
    text: &str,
    pattern: &Pattern,
    context: usize,
    from: usize,
    budget: usize,
    until: Instant,
) -> Result<GrepMatches, SearchTimeout> {
    let lines: Vec<&str> = text.lines().collect();
    let mut hits: Vec<usize> = Vec::new();
    let mut long = 0;
    for (at, line) in lines.iter().enumerate().skip(from.saturating_sub(1)) {
        if Instant::now() > until {
            return Err(SearchTimeout);
        }
        long += usize::from(line.len() > LINE);
        if pattern.is_match(line) {
            hits.push(at);
        }
    }
    let mut found = GrepMatches { matches: hits.len(), long, ..GrepMatches::default() };
    // The first line that has not been written yet.
    let mut open = 0;
    for hit in &hits {
        let first = hit.saturating_sub(context).max(open);
        let last = (hit + context).min(lines.len().saturating_sub(1));
        let mut piece = String::new();
        if first > open && open > 0 && context > 0 {
            piece.push_str("--\n");
        }
        for (at, line) in lines.iter().enumerate().take(last + 1).skip(first) {
            let mark = if hits.binary_search(&at).is_ok() { ':' } else { '-' };
            // Writing to a string cannot fail.
            let _ = writeln!(piece, "{}{mark}{line}", at + 1);
        }
        if !found.text.is_empty() && found.text.len() + piece.len() > budget {
            break;
        }
        open = open.max(last + 1);
        found.text.push_str(&piece);
    }
    found.shown = hits.iter().filter(|hit| **hit < open).count();
    found.next = hits.get(found.shown).map(|hit| hit + 1);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grep_lines(text: &str, pattern: &str, context: usize, from: usize, budget: usize) -> GrepMatches {
        let until = Instant::now() + SEARCH_TIME;
        grep(text, &Pattern::new(pattern).unwrap(), context, from, budget, until).unwrap()
    }

    #[test]
    fn lines_stand_with_their_numbers_and_their_neighbours_once() {
        let text = "a\nb\nerror 1\nerror 2\nc\nd\ne\nerror 3\n";
        let all = grep_lines(text, "error", 1, 1, 1_000);
        assert_eq!(all.text, "2-b\n3:error 1\n4:error 2\n5-c\n--\n7-e\n8:error 3\n");
        assert_eq!((all.matches, all.shown, all.next), (3, 3, None));
        assert_eq!(grep_lines(text, "nothing", 1, 1, 1_000), GrepMatches::default());
    }

    #[test]
    fn what_does_not_fit_is_said_and_gone_on_with() {
        let text: String = (1..=100).map(|n| format!("error {n}\n")).collect();
        let mut from = 1;
        let mut seen = 0;
        while seen < 100 {
            let part = grep_lines(&text, "^error", 0, from, 200);
            assert!(part.text.len() <= 200 && part.shown > 0);
            seen += part.shown;
            assert_eq!(part.matches, 101 - from);
            match part.next {
                Some(next) => from = next,
                None => break,
            }
        }
        assert_eq!(seen, 100);
    }

    #[test]
    fn a_pattern_and_a_search_have_limits() {
        let refused = |pattern: &str| Pattern::new(pattern).unwrap_err();
        assert_eq!(refused(&"a".repeat(1_001)), PatternError::TooLong { bytes: 1_001 });
        assert_eq!(refused("(?:(?:a?){1000}){1000}"), PatternError::TooLarge);
        assert_eq!(refused(&"(".repeat(100)), PatternError::Syntax);
        assert_eq!(refused("("), PatternError::Syntax);
        let now = Instant::now();
        let past = now.checked_sub(Duration::from_secs(1)).unwrap_or(now);
        assert_eq!(grep("a\n", &Pattern::new("a").unwrap(), 0, 1, 100, past), Err(SearchTimeout));
        let long = format!("{}end", "x".repeat(LINE));
        assert_eq!(
            (grep_lines(&long, "end$", 0, 1, 100).matches, grep_lines(&long, "^x", 0, 1, 100).long),
            (0, 1)
        );
    }
}
