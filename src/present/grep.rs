//! The lines of a text in which something is found, with those around them.

use std::fmt::Write as _;

use regex_lite::Regex;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Each line with its number, `12:` where it matches and `12-` where it is beside one; with lines beside,
    /// `--` where some are left out between.
    pub text: String,
    /// How many lines match in all.
    pub matches: usize,
    /// How many of them are shown.
    pub shown: usize,
    /// The first matching line that is not shown, counted from 1.
    pub next: Option<usize>,
}

/// The lines from `from` on, counted from 1, in which the pattern is found, each with so many lines around it, as
/// many as fit into the budget.
pub fn grep(text: &str, pattern: &Regex, context: usize, from: usize, budget: usize) -> Found {
    let lines: Vec<&str> = text.lines().collect();
    let hits: Vec<usize> = lines
        .iter()
        .enumerate()
        .skip(from.saturating_sub(1))
        .filter(|(_, line)| pattern.is_match(line))
        .map(|(at, _)| at)
        .collect();
    let mut found = Found { matches: hits.len(), ..Found::default() };
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
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, pattern: &str, context: usize, from: usize, budget: usize) -> Found {
        grep(text, &Regex::new(pattern).unwrap(), context, from, budget)
    }

    #[test]
    fn lines_stand_with_their_numbers_and_their_neighbours_once() {
        let text = "a\nb\nerror 1\nerror 2\nc\nd\ne\nerror 3\n";
        let all = found(text, "error", 1, 1, 1_000);
        assert_eq!(all.text, "2-b\n3:error 1\n4:error 2\n5-c\n--\n7-e\n8:error 3\n");
        assert_eq!((all.matches, all.shown, all.next), (3, 3, None));
        assert_eq!(found(text, "nothing", 1, 1, 1_000), Found::default());
    }

    #[test]
    fn what_does_not_fit_is_said_and_gone_on_with() {
        let text: String = (1..=100).map(|n| format!("error {n}\n")).collect();
        let mut from = 1;
        let mut seen = 0;
        while seen < 100 {
            let part = found(&text, "^error", 0, from, 200);
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
}
