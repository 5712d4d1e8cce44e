//! Reason of a failed job, from its log: the first line that reports an error, with the lines around it and the end of
//! the log.

use super::log_sections::{plain_log, sections};
use super::log_stamps::without_stamps;
use crate::text::{Position, window};
use crate::untrusted::{Secrets, mask_tokens};

/// Evidence of a failure in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Nothing,
    /// Reports a failure without its reason: the runner's own last line.
    Outcome,
    /// Mentions an error.
    Mention,
    /// Has the form in which compilers, test runners and shells report errors.
    Error,
}

/// Patterns at the beginning of a line, whose leading blanks do not count, anywhere in it, and at its end.
struct LinePatterns {
    start: &'static [&'static str],
    anywhere: &'static [&'static str],
    end: &'static [&'static str],
}

/// Beginnings of the runner's last lines for any job that failed.
const OUTCOMES: [&str; 4] = ["ERROR: Job failed", "WARNING: Job failed", "Job failed", "Process exited with"];

/// Patterns of errors in the output of tools.
#[rustfmt::skip]
const ERRORS: LinePatterns = LinePatterns {
    start: &[
        // Rust, Go, Python.
        "error[E", "error: ", "--- FAIL: ", "FAIL\t", "panic: ", "Traceback (most recent call last)", "E   ",
        "FAILED ", "ModuleNotFoundError: ", "ERROR collecting ",
        // JavaScript.
        "npm ERR! ", "npm error ", "FAIL ", "● ", "✕ ", "✗ ", "× ", "ERROR in ", "Error: ", "TypeError: ",
        "ReferenceError: ", "SyntaxError: ", "Uncaught ",
        // Java, Ruby, TAP, PHP, .NET.
        "[ERROR] ", "Exception in thread ", "Caused by: ", "FAILURE: ", "BUILD FAILED", "Failures:", "rspec ./",
        "not ok ", "PHP Fatal error: ", "Failed! ", "Fatal error: ",
        // Shells, make, git, containers, infrastructure.
        "fatal: ", "make: *** ", "Segmentation fault", "Killed", "ERROR: ", "│ Error: ",
    ],
    anywhere: &[
        // Rust, C and its kin, TypeScript, linkers.
        " panicked at ", ": error: ", ": fatal error: ", ": error TS", " - error TS", ": error CS",
        "undefined reference to ", "AddressSanitizer",
        // Python, JavaScript, make.
        " FAILED ", "AssertionError", "heap out of memory", "]: *** [",
    ],
    end: &[
        "... FAILED", " FAILED", ": command not found", ": not found", ": No such file or directory",
        ": Permission denied",
    ],
};

/// Words that speak of an error, in lower case.
const MENTIONS: &str =
    "error errors failed failure failures fail fatal exception cannot denied timeout aborted";

/// Lines that speak of errors and report none.
#[rustfmt::skip]
const HARMLESS: LinePatterns = LinePatterns {
    start: &[
        "$ ", "+ ", "warning", "WARN", "npm WARN", "npm warn", "Compiling ", "Checking ", "Downloading ",
        "Downloaded ", "Collecting ", "Installing ", "Unpacking ", "PASS", "ok ", "✓ ", "✔ ", "Uploading ",
        "DEBUG",
    ],
    anywhere: &[" PASSED "],
    end: &[" ok", " PASSED"],
};

/// Words that make a count zero, before or after the counted word.
const NONE_OF: [&str; 3] = ["0", "no", "zero"];

/// Sections with the job's own script. The output of others, such as the clean-up, comes before or after.
const SCRIPTS: [&str; 2] = ["step_script", "build_script"];

/// Maximum number of lines shown before the first line that reports the failure.
const BEFORE: usize = 3;

/// Part of the budget that those lines may take.
const BEFORE_SHARE: usize = 4;

/// Maximum length in bytes of the end of a log in which no line says why the job failed.
const ENDING: usize = 4_000;

/// Lines of a log, counted from 1 in the log as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub lines: (usize, usize),
    pub text: String,
}

/// Failure found in the log of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedFailure {
    /// The line that reports the failure, counted from 1; none if no line does.
    pub line: Option<usize>,
    /// The lines around it and, if that is further on, the end.
    pub stretches: Vec<Stretch>,
    pub total_lines: usize,
}

/// Finds the failure in a raw log, and renders as much around it as fits into the budget.
pub fn failure(log: &str, budget: usize, secrets: &Secrets) -> ReportedFailure {
    let log = &*without_stamps(log);
    let text = mask_tokens(&secrets.redact(&plain_log(log))).into_owned();
    let found = first_error(log, &text);
    let line = found.map(|(line, _)| line);
    let mut windows = Vec::new();
    match found {
        // The lines before the failure are of commands that succeeded.
        Some((line, weight)) if weight > Weight::Outcome => {
            let start = line - lines_before(&text, line, budget / BEFORE_SHARE);
            let around = window(&text, Position::Lines(start, None), budget * 2 / 3);
            let rest = budget.saturating_sub(around.bytes.len());
            let ending = window(&text, Position::End, rest);
            if around.bytes.end >= ending.bytes.start {
                windows.push(window(&text, Position::Lines(start, None), budget));
            } else {
                windows.extend([around, ending]);
            }
        }
        _ => windows.push(window(&text, Position::End, budget.min(ENDING))),
    }
    let total_lines = windows.first().map_or(0, |window| window.total_lines);
    let shown = windows.into_iter().filter(|window| !window.bytes.is_empty());
    let stretches = shown.map(|window| Stretch {
        lines: window.lines,
        text: text.get(window.bytes).unwrap_or_default().to_owned(),
    });
    ReportedFailure { line, stretches: stretches.collect(), total_lines }
}

/// Number of lines that are shown before a line, within so many bytes.
fn lines_before(text: &str, line: usize, bytes: usize) -> usize {
    let before: Vec<&str> = text.lines().take(line.saturating_sub(1)).collect();
    let mut used = 0;
    let fitting = before.iter().rev().take(BEFORE).take_while(|line| {
        used += line.len() + 1;
        used <= bytes
    });
    fitting.count()
}

/// The first line that reports an error, with its weight: in the script's section if it has one, else in the whole log.
fn first_error(log: &str, text: &str) -> Option<(usize, Weight)> {
    let in_script = sections(log).into_iter().find(|section| SCRIPTS.contains(&section.name.as_str()));
    let of_script = in_script.and_then(|section| {
        let before = plain_log(log.get(..section.bytes.start)?).lines().count();
        let count = plain_log(log.get(section.bytes)?).lines().count();
        heaviest(text, before..before + count).filter(|(_, weight)| *weight > Weight::Outcome)
    });
    of_script.or_else(|| heaviest(text, 0..usize::MAX))
}

/// The first of those lines that weigh most.
fn heaviest(text: &str, range: std::ops::Range<usize>) -> Option<(usize, Weight)> {
    let mut best: Option<(usize, Weight)> = None;
    for (at, line) in text.lines().enumerate().skip(range.start).take(range.len()) {
        let weight = weight(line);
        if weight > best.map_or(Weight::Nothing, |(_, most)| most) {
            best = Some((at + 1, weight));
        }
    }
    best
}

fn weight(line: &str) -> Weight {
    let line = line.trim();
    if OUTCOMES.iter().any(|sign| line.starts_with(sign)) {
        return Weight::Outcome;
    }
    if HARMLESS.match_line(line) {
        return Weight::Nothing;
    }
    match mentions(line) {
        Some(false) => Weight::Nothing,
        _ if ERRORS.match_line(line) => Weight::Error,
        Some(true) => Weight::Mention,
        None => Weight::Nothing,
    }
}

impl LinePatterns {
    fn match_line(&self, line: &str) -> bool {
        self.start.iter().any(|sign| line.starts_with(sign))
            || self.anywhere.iter().any(|sign| line.contains(sign))
            || self.end.iter().any(|sign| line.ends_with(sign))
    }
}

/// True if the line reports an error; false if it reports that there is none.
fn mentions(line: &str) -> Option<bool> {
    let words: Vec<String> = line
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_none = |at: Option<usize>| {
        at.and_then(|at| words.get(at)).is_some_and(|word| NONE_OF.contains(&word.as_str()))
    };
    let is_mention = |word: &str| MENTIONS.split(' ').any(|known| known == word);
    let mut spoken = None;
    for (at, word) in words.iter().enumerate().filter(|(_, word)| is_mention(word)) {
        // `0 failed` and `Errors: 0`.
        let counts_none = is_none(at.checked_sub(1)) || (is_counted(line, word) && is_none(Some(at + 1)));
        spoken = Some(spoken.unwrap_or(false) || !counts_none);
    }
    spoken
}

/// True if the word precedes its number.
fn is_counted(line: &str, word: &str) -> bool {
    line.to_lowercase().split(word).nth(1).is_some_and(|after| after.starts_with([':', '=']))
}

#[cfg(test)]
mod tests;
