//! Parses dates as people write them (`tomorrow`, `Nov 21 2026`). An ambiguous date has several results.

use std::collections::BTreeSet;

use time::{Date, Duration, Month};

/// Parses a date. Returns no day if the text is not a date, and several if it is ambiguous. Relative days count from
/// `today`.
pub fn parse_days(text: &str, today: Date) -> Vec<Date> {
    let text = text.trim().to_lowercase();
    let relative = RELATIVE.iter().find(|(word, _)| *word == text);
    if let Some(day) = relative.and_then(|(_, days)| today.checked_add(Duration::days(*days))) {
        return vec![day];
    }
    let counted: Vec<Date> =
        days_from_today(&text).iter().filter_map(|days| today.checked_add(Duration::days(*days))).collect();
    if !counted.is_empty() {
        return counted;
    }
    let text = without_t(&text);
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.filter(|word| !is_weekday(word)).collect();
    let read: BTreeSet<Date> = match words.as_slice() {
        [one] if one.len() == 8 => packed(one).into_iter().collect(),
        [a, b, c, clock @ ..] if is_clock(clock) => parse_date(a, b, c).into_iter().collect(),
        _ => BTreeSet::new(),
    };
    read.into_iter().collect()
}

/// Maximum number of days or weeks from today: some thousand years, more than a date can have.
const MAX_COUNT: i64 = 1_000_000;

/// Parses `7 days ago`, `in 2 weeks` and `7d` as numbers of days from today. A bare `7d` may be before or after it.
fn days_from_today(text: &str) -> Vec<i64> {
    let (text, signs) = match (text.strip_suffix(" ago"), text.strip_prefix("in ")) {
        (Some(past), None) => (past, [-1].as_slice()),
        (None, Some(future)) => (future, [1].as_slice()),
        _ => (text.trim_start_matches('-'), if text.starts_with('-') { [-1].as_slice() } else { &[-1, 1] }),
    };
    let Some((number, unit)) = text.find(|c: char| !c.is_ascii_digit()).map(|end| text.split_at(end)) else {
        return Vec::new();
    };
    let days = match unit.trim() {
        "d" | "day" | "days" => 1,
        "w" | "week" | "weeks" => 7,
        _ => return Vec::new(),
    };
    let count = number.parse::<i64>().ok().filter(|number| *number <= MAX_COUNT).map(|number| number * days);
    count.into_iter().flat_map(|count| signs.iter().map(move |sign| count * sign)).collect()
}

const RELATIVE: [(&str, i64); 3] = [("yesterday", -1), ("today", 0), ("tomorrow", 1)];

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

const MONTHS: &str = "january february march april may june july august september october november december";

/// True if the word is the name or its first three or more letters.
fn is_short_for(name: &str, word: &str) -> bool {
    word.len() >= 3 && name.starts_with(word)
}

fn is_weekday(word: &str) -> bool {
    WEEKDAYS.iter().any(|name| is_short_for(name, word))
}

/// True for midnight in UTC, the only time that may follow a day.
fn is_clock(words: &[&str]) -> bool {
    let mut words = words.iter();
    words.all(|word| word.trim_end_matches('z').chars().all(|c| c == '0'))
}

/// Replaces the `T` between day and time by a space.
fn without_t(text: &str) -> String {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let mut before = None;
    let mut chars = text.chars().peekable();
    let mut parted = String::new();
    while let Some(c) = chars.next() {
        parted.push(if c == 't' && is_digit(before) && is_digit(chars.peek().copied()) { ' ' } else { c });
        before = Some(c);
    }
    parted
}

fn parse_date(a: &str, b: &str, c: &str) -> Vec<Date> {
    let days = |year: Option<i32>, month: Option<Month>, day: Option<u8>| {
        year.zip(month)
            .zip(day)
            .and_then(|((year, month), day)| Date::from_calendar_date(year, month, day).ok())
    };
    let by_name = [
        days(year(c), parse_month(b), day(a)),
        days(year(c), parse_month(a), day(b)),
        days(year(a), parse_month(b), day(c)),
    ];
    let by_number =
        [days(year(a), month(b), day(c)), days(year(c), month(b), day(a)), days(year(c), month(a), day(b))];
    by_name.into_iter().chain(by_number).flatten().collect()
}

/// Parses `20261121`.
fn packed(text: &str) -> Option<Date> {
    let part = |from: usize, to: usize| text.get(from..to);
    Date::from_calendar_date(year(part(0, 4)?)?, month(part(4, 6)?)?, day(part(6, 8)?)?).ok()
}

/// Parses a year of four digits. Two digits would leave the century open.
fn year(word: &str) -> Option<i32> {
    word.parse().ok().filter(|_| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit()))
}

fn month(word: &str) -> Option<Month> {
    let number: u8 = word.parse().ok().filter(|_| word.len() <= 2)?;
    Month::try_from(number).ok()
}

fn parse_month(word: &str) -> Option<Month> {
    let before = MONTHS.split(' ').position(|name| is_short_for(name, word))?;
    Month::try_from(u8::try_from(before + 1).ok()?).ok()
}

/// Parses `21` and `21st`.
fn day(word: &str) -> Option<u8> {
    let bare =
        ["st", "nd", "rd", "th"].into_iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    bare.parse().ok().filter(|_| bare.len() <= 2 && bare.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render_days(text: &str) -> Vec<String> {
        let today = Date::from_calendar_date(2026, Month::February, 28).unwrap();
        parse_days(text, today).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_day_is_read_however_it_is_written() {
        for text in [
            "2026-11-21",
            "2026/11/21",
            "2026.11.21",
            "20261121",
            "21/11/2026",
            "21.11.2026",
            "11/21/2026",
            "Nov 21 2026",
            "Nov 21st, 2026",
            "21 November 2026",
            "21-NOV-2026",
            "Saturday, 21 Nov 2026",
            "2026-11-21T00:00:00Z",
            "2026 nov 21",
        ] {
            assert_eq!(render_days(text), ["2026-11-21"], "{text}");
        }
    }

    #[test]
    fn a_day_told_by_today_goes_over_the_end_of_a_month() {
        assert_eq!(render_days("Tomorrow"), ["2026-03-01"]);
        assert_eq!(
            (render_days("today"), render_days("yesterday")),
            (vec!["2026-02-28".into()], vec!["2026-02-27".into()])
        );
    }

    #[test]
    fn a_number_of_days_counts_from_today() {
        for text in ["7 days ago", "1 week ago", "-7d", "1w ago"] {
            assert_eq!(render_days(text), ["2026-02-21"], "{text}");
        }
        assert_eq!(render_days("in 2 days"), ["2026-03-02"]);
        assert_eq!(render_days("2d"), ["2026-02-26", "2026-03-02"], "before or after today");
    }

    #[test]
    fn what_two_days_may_be_meant_by_has_both() {
        assert_eq!(render_days("03/04/2026"), ["2026-03-04", "2026-04-03"]);
        assert_eq!(render_days("04/04/2026"), ["2026-04-04"]);
    }

    #[test]
    fn what_is_no_day_or_not_all_of_one_is_none() {
        for text in [
            "",
            "soon",
            "21/11/26",
            "31/02/2026",
            "32/13/2026",
            "2026-11",
            "Nov 2026",
            "ma 1 2026",
            "2026-11-21T09:00:00Z",
            "1 2 3 4",
            "next friday",
            "12345678901",
            "days ago",
            "7 months ago",
            "in 3 days ago",
            "99999999999999999999d",
            "9223372036854775807d",
        ] {
            assert!(render_days(text).is_empty(), "{text}: {:?}", render_days(text));
        }
    }
}
