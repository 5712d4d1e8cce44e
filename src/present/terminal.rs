//! A job's terminal output in its final state: without GitLab's section markers, and with only the last state of a line
//! that was overwritten.

/// GitLab's markers of the start and end of a section of a log: `section_start:1560896352:name[collapsed=true]`,
/// then `\r` and ESC `[0K`. <https://docs.gitlab.com/ci/jobs/job_logs/>
const MARKS: [&str; 2] = ["section_start:", "section_end:"];

/// Maximum length in bytes of a section's name; with a longer name it is no marker.
const LONGEST_NAME: usize = 128;

/// Maximum length in bytes of the options behind a name.
const LONGEST_OPTIONS: usize = 256;

/// True if the text was written for a terminal, for any action.
pub fn is_log(text: &str) -> bool {
    text.contains("\u{1b}[0K") || text.contains("\u{1b}[0;m")
}

/// The log to read. Colours and other codes stay; [`cleaned`](super::cleaned) takes them out.
pub fn apply_overwrites(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let plain = without_marks(line);
        let shown = last_state(&plain);
        // A line that was nothing but a mark is none.
        if !shown.is_empty() || plain.len() == line.len() {
            out.push_str(shown);
            out.push_str(end);
        }
    }
    out
}

/// Removes section marks from a line, each with its terminator: a carriage return and a code that clears the line.
fn without_marks(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((at, mark)) = marks(rest).next() {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = mark.behind;
    }
    out.push_str(rest);
    out
}

/// A mark of where a section begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark<'t> {
    pub begins: bool,
    pub name: &'t str,
    /// The text after it.
    pub behind: &'t str,
}

/// Every marker of a log, with its byte offset.
pub fn marks(text: &str) -> impl Iterator<Item = (usize, Mark<'_>)> {
    text.match_indices("section_").filter_map(|(at, _)| Some((at, mark(text.get(at..)?)?)))
}

fn mark(text: &str) -> Option<Mark<'_>> {
    let (which, numbered) =
        MARKS.iter().enumerate().find_map(|(which, mark)| Some((which, text.strip_prefix(mark)?)))?;
    let named = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
    let name = named.strip_prefix(':').filter(|_| named.len() < numbered.len())?;
    let is_end = |c: char| c.is_control() || c.is_whitespace();
    let end = find_within(name, LONGEST_NAME, |c| c == '[' || is_end(c))?;
    let end = match name.get(end..)? {
        options if options.starts_with('[') => end + find_within(options, LONGEST_OPTIONS, is_end)?,
        _ => end,
    };
    let (name, after) = name.split_at_checked(end)?;
    let after = after.strip_prefix('\r').unwrap_or(after);
    let behind = after.strip_prefix("\u{1b}[0K").unwrap_or(after);
    // Options such as `[collapsed=true]` are no part of the name.
    let name = name.split('[').next().unwrap_or(name);
    Some(Mark { begins: which == 0, name, behind })
}

/// Position of the first character of a kind, or the end of the text, if at most `longest` bytes are before it.
fn find_within(text: &str, longest: usize, is_it: impl Fn(char) -> bool) -> Option<usize> {
    // Most names are plain. In a text of only marks, this check takes most of the time.
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    let start = text.bytes().take(longest + 1).take_while(is_plain).count();
    let rest = text.get(start..)?;
    let mut characters = rest.char_indices().take_while(|(at, _)| start + at <= longest);
    let found = characters.find(|(_, c)| is_it(*c)).map(|(at, _)| start + at);
    found.or((text.len() <= longest).then_some(text.len()))
}

/// Final state of a line with carriage returns: the last part that shows anything.
fn last_state(line: &str) -> &str {
    let mut states = line.rsplit('\r').filter(|state| !super::cleaned(state).trim().is_empty());
    states.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::cleaned;
    use super::*;

    fn render(log: &str) -> String {
        cleaned(&apply_overwrites(log))
    }

    #[test]
    fn colours_and_marks_of_sections_go_and_what_they_head_stays() {
        let log = "\u{1b}[0Ksection_start:1700000000:prepare_script[collapsed=true]\r\u{1b}[0K\u{1b}[36;1mPreparing\u{1b}[0;m\n\
                   Using docker\n\
                   section_end:1700000009:prepare_script\r\u{1b}[0K\n\
                   section_end:1700000010:a\r\u{1b}[0Ksection_start:1700000010:b\r\u{1b}[0KNext step\n";
        assert_eq!(render(log), "Preparing\nUsing docker\nNext step\n");
        assert!(is_log(log));
    }

    #[test]
    fn of_a_progress_bar_the_last_state_is_kept() {
        let log = "Fetching\r  10 %\r  55 %\r 100 % done\nplain\r\n\nwas\rchanged\u{1b}[K\r\n";
        assert_eq!(render(log), " 100 % done\nplain\n\nchanged\n");
        assert_eq!(render("half\rover"), "over");
    }

    #[test]
    fn what_only_looks_like_a_mark_stays() {
        let log = "echo section_start:now:x\nsection_end without a time\n";
        assert_eq!(render(log), log);
    }

    #[test]
    fn links_and_titles_of_a_terminal_go_and_swallow_nothing() {
        let log = "\u{1b}]8;;https://x\u{7}label\u{1b}]8;;\u{1b}\\ end\n\u{1b}]0;title without an end\nnext \u{1b}(Bline\u{1b}[";
        assert_eq!(render(log), "label end\n\nnext line");
    }
}
