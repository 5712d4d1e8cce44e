//! The stamps that GitLab Runner writes before each line of a job's log (`FF_TIMESTAMPS`, on by default since 18.7):
//! `2026-08-29T09:08:30.713466Z 01O+`, the time, the number of the stream, `O` or `E` for output or errors, and `+` where the
//! line goes on with the one before. Read as GitLab reads them (`lib/gitlab/ci/ansi2json/converter.rb`).

use std::borrow::Cow;

/// Length in bytes of a stamp.
const STAMP: usize = "2026-08-29T09:08:30.713466Z 01O+".len();

/// Number of lines in which the first stamp may be: a log that was cut begins within a line.
const FIRST_LINES: usize = 2;

/// A log without stamps, its continued lines joined.
pub fn without_stamps(log: &str) -> Cow<'_, str> {
    if !log.lines().take(FIRST_LINES).any(|line| split_stamp(line).is_some()) {
        return Cow::Borrowed(log);
    }
    let mut out = String::with_capacity(log.len());
    for line in log.split_inclusive('\n') {
        match split_stamp(line) {
            Some((is_continued, text)) => {
                if is_continued && out.ends_with('\n') {
                    out.pop();
                }
                out.push_str(text);
            }
            None => out.push_str(line),
        }
    }
    Cow::Owned(out)
}

/// True if the lines of a log have stamps.
pub fn has_stamps(log: &str) -> bool {
    matches!(without_stamps(log.get(..log.floor_char_boundary(8 * STAMP)).unwrap_or(log)), Cow::Owned(_))
}

/// A line behind its stamp, and true if it goes on with the line before.
fn split_stamp(line: &str) -> Option<(bool, &str)> {
    const SHAPE: &[u8; STAMP] = b"0000-00-00T00:00:00.000000Z xxs+";
    let (stamp, text) = line.split_at_checked(STAMP)?;
    let fits = |(byte, shape): (u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'x' => byte.is_ascii_hexdigit(),
        b's' => matches!(byte, b'O' | b'E'),
        b'+' => matches!(byte, b'+' | b' '),
        other => byte == *other,
    };
    stamp.bytes().zip(SHAPE).all(fits).then(|| (stamp.ends_with('+'), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "2026-08-29T09:08:30.713466Z ";

    #[test]
    fn stamps_go_and_continued_lines_are_joined() {
        let log = format!("{AT}00O one\n{AT}01O two, \n{AT}01O+and more\n{AT}01E   three\n{AT}00O \n");
        assert_eq!(without_stamps(&log), "one\ntwo, and more\n  three\n\n");
        assert!(has_stamps(&log));
        // A log that was cut begins within a line.
        assert_eq!(without_stamps(&log[4..]), format!("{}one\n", &log[4..32]) + "two, and more\n  three\n\n");
    }

    #[test]
    fn what_a_script_prints_is_no_stamp() {
        for log in [
            "2026-08-29T09:08:30.713466Z started\n",
            "one\ntwo\nthree\n2026-08-29T09:08:30.713466Z 01O four\n",
            "2026-08-29T09:08:30.713466Z 01X four\n",
            "2026-08-29 09:08:30.713466Z 01O four\n",
            "",
        ] {
            assert_eq!(without_stamps(log), log);
            assert!(!has_stamps(log), "{log}");
        }
        // Within a log with stamps, a line without one stays.
        let log = format!("{AT}00O one\nbare\n");
        assert_eq!(without_stamps(&log), "one\nbare\n");
    }
}
