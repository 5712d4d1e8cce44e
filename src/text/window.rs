//! A long text in stretches: from its beginning or its end, by lines or by bytes, each with where the text goes on.

use std::ops::Range;

/// Start of the shown part of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    #[default]
    Beginning,
    /// As much of the end as fits.
    End,
    /// A byte of the text as it is shown.
    Byte(usize),
    /// Lines, counted from 1, the last of them included.
    Lines(usize, Option<usize>),
    /// The last so many lines.
    Last(usize),
}

/// The shown part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub bytes: Range<usize>,
    /// The first and the last line with shown characters, counted from 1.
    pub lines: (usize, usize),
    pub total_bytes: usize,
    pub total_lines: usize,
    /// Place of the next part.
    pub next: Option<Position>,
    /// Place of the part before this one.
    pub before: Option<Position>,
}

impl Position {
    /// `120-180`, `120`, `120-` to the end, `-50` for the last fifty lines.
    pub fn lines(text: &str) -> Option<Position> {
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
        match text.trim().split_once('-') {
            None => number(text).map(|line| Position::Lines(line, Some(line))),
            Some(("", last)) => number(last).map(Position::Last),
            Some((first, "")) => number(first).map(|first| Position::Lines(first, None)),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Position::Lines(first, Some(last)))
            }
        }
    }

    /// Returns the argument for the place: `lines` or `offset`.
    pub fn offset_argument(self) -> Option<(&'static str, serde_json::Value)> {
        match self {
            Position::Beginning | Position::End => None,
            Position::Byte(at) => Some(("offset", serde_json::json!(at))),
            Position::Lines(first, None) => Some(("lines", format!("{first}-").into())),
            Position::Lines(first, Some(last)) => Some(("lines", format!("{first}-{last}").into())),
            Position::Last(count) => Some(("lines", format!("-{count}").into())),
        }
    }
}

/// The stretch of the text at that place that fits.
pub fn window(text: &str, place: Position, budget: usize) -> Window {
    let bytes = stretch(text, place, budget);
    let (start, end) = (bytes.start, bytes.end);
    let before = text.get(..start).unwrap_or_default();
    let shown = text.get(bytes.clone()).unwrap_or_default();
    let first = breaks(before) + 1;
    let total_lines = count(text);
    let last = first + count(shown).max(1) - 1;
    Window {
        lines: (first, last),
        total_bytes: text.len(),
        total_lines,
        next: (end < text.len()).then(|| following(text, end, budget)),
        before: (start > 0).then(|| preceding(before, budget)),
        bytes,
    }
}

fn stretch(text: &str, place: Position, budget: usize) -> Range<usize> {
    let from = |start: usize, end: usize| {
        let rest = text.get(start..end).unwrap_or_default();
        start..start + lines_within(rest, budget).len()
    };
    match place {
        Position::Beginning => from(0, text.len()),
        Position::Byte(at) => from(text.floor_char_boundary(at), text.len()),
        Position::Lines(first, last) => {
            let end = last.map_or(text.len(), |last| start_of(text, last + 1));
            from(start_of(text, first).min(end), end)
        }
        Position::End => tail(text, budget)..text.len(),
        Position::Last(lines) => {
            let start = start_of(text, (count(text) + 1).saturating_sub(lines).max(1));
            start.max(tail(text, budget))..text.len()
        }
    }
}

/// Offset of the last part of a text that fits: at the start of a line if one is not too far on.
fn tail(text: &str, budget: usize) -> usize {
    let Some(over) = text.len().checked_sub(budget).filter(|over| *over > 0) else { return 0 };
    let hard = (over..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    if text.get(..hard).is_some_and(|before| before.ends_with('\n')) {
        return hard;
    }
    let rest = text.get(hard..).unwrap_or_default();
    match rest.find('\n') {
        Some(at) if at < rest.len() / 2 => hard + at + 1,
        _ => hard,
    }
}

/// Place of the next part: lines if this part ends with a line, else a byte.
fn following(text: &str, end: usize, budget: usize) -> Position {
    let (before, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let shown = lines_within(rest, budget);
    let is_lines = before.ends_with('\n') && (shown.ends_with('\n') || shown.len() == rest.len());
    let first = breaks(before) + 1;
    if is_lines { Position::Lines(first, Some(first + count(shown).max(1) - 1)) } else { Position::Byte(end) }
}

/// Place of the previous part: lines if it starts and ends with a line, else a byte.
fn preceding(before: &str, budget: usize) -> Position {
    let start = tail(before, budget);
    let earlier = before.get(..start).unwrap_or_default();
    let is_lines = before.ends_with('\n') && (start == 0 || earlier.ends_with('\n'));
    if is_lines { Position::Lines(breaks(earlier) + 1, Some(breaks(before))) } else { Position::Byte(start) }
}

/// Byte offset of a line; the end of the text if there is no such line.
fn start_of(text: &str, line: usize) -> usize {
    match line.checked_sub(2) {
        None => 0,
        Some(nth) => text.match_indices('\n').nth(nth).map_or(text.len(), |(at, _)| at + 1),
    }
}

fn breaks(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Number of lines of a text; a last one without a line end counts.
fn count(text: &str) -> usize {
    breaks(text) + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// The beginning of a text that fits: whole lines where the last of them is not too far back.
pub fn lines_within(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let hard = text.get(..text.floor_char_boundary(bytes)).unwrap_or_default();
    match hard.rfind('\n') {
        Some(at) if at >= hard.len() / 2 => hard.get(..=at).unwrap_or(hard),
        _ => hard,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: usize) -> String {
        (1..=lines).map(|line| format!("line {line}\n")).collect()
    }

    fn render_window(text: &str, place: Position, budget: usize) -> String {
        text[window(text, place, budget).bytes].to_owned()
    }

    #[test]
    fn lines_are_said_in_four_ways() {
        let cases = [
            ("120-180", Some(Position::Lines(120, Some(180)))),
            (" 7 ", Some(Position::Lines(7, Some(7)))),
            ("7-", Some(Position::Lines(7, None))),
            ("-50", Some(Position::Last(50))),
            ("9-8", None),
            ("0-3", None),
            ("-", None),
            ("a-b", None),
            ("", None),
        ];
        for (said, place) in cases {
            assert_eq!(Position::lines(said), place, "{said}");
        }
    }

    #[test]
    fn lines_are_counted_from_one_and_the_last_is_included() {
        let text = text(20);
        assert_eq!(render_window(&text, Position::Lines(2, Some(3)), 1_000), "line 2\nline 3\n");
        assert_eq!(render_window(&text, Position::Lines(20, Some(99)), 1_000), "line 20\n");
        assert_eq!(render_window(&text, Position::Lines(21, None), 1_000), "");
        assert_eq!(render_window(&text, Position::Last(2), 1_000), "line 19\nline 20\n");
        assert_eq!(render_window("a\nb", Position::Last(1), 1_000), "b");
        assert_eq!(window(&text, Position::Lines(4, Some(6)), 1_000).lines, (4, 6));
    }

    #[test]
    fn every_way_through_a_text_gives_the_whole_of_it() {
        let texts =
            [text(300), "é".repeat(3_000), format!("{}\n{}", "x".repeat(900), text(50)), "a\n\n\nb".into()];
        for whole in texts {
            for budget in [64, 100, 333] {
                let mut forwards = String::new();
                let mut place = Some(Position::Beginning);
                while let Some(at) = place {
                    let window = window(&whole, at, budget);
                    forwards.push_str(&whole[window.bytes.clone()]);
                    assert!(window.bytes.len() <= budget);
                    place = window.next;
                }
                assert_eq!(forwards, whole);
                let mut start = whole.len();
                let mut place = Some(Position::End);
                while let Some(at) = place {
                    let window = window(&whole, at, budget);
                    assert!(window.bytes.start < start && window.bytes.end >= start, "no gap before {start}");
                    start = window.bytes.start;
                    place = window.before;
                }
                assert_eq!(start, 0);
            }
        }
    }
}
