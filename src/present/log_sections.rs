//! A job's log by its sections, as the runner and scripts mark them.

use std::ops::Range;

use super::log_stamps::without_stamps;
use super::terminal::{self, Mark};

/// Maximum numbers of sections of a log, and of sections within each other.
const MAX_SECTIONS: usize = 2_000;
const MAX_OPEN: usize = 64;

/// Returns a section of a raw log, between its start and end marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    pub bytes: Range<usize>,
}

/// The sections in the order in which they begin; one may hold others. One without an end goes on to the log's.
pub fn sections(log: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (at, Mark { begins, name, behind }) in terminal::marks(log) {
        if begins {
            if found.len() >= MAX_SECTIONS || open.len() >= MAX_OPEN {
                continue;
            }
            open.push(found.len());
            found.push(Section { name: name.to_owned(), bytes: log.len() - behind.len()..log.len() });
            continue;
        }
        let of_name = |which: &usize| found.get(*which).is_some_and(|section| section.name == name);
        let Some(depth) = open.iter().rposition(of_name) else { continue };
        if let Some(section) = open.get(depth).and_then(|which| found.get_mut(*which)) {
            section.bytes.end = at;
        }
        open.truncate(depth);
    }
    found
}

/// Content of the sections of that name, as plain text; none if there is no such section.
pub fn section(log: &str, name: &str) -> Option<String> {
    let log = &*without_stamps(log);
    let mut end = 0;
    // One within another of its name is read with that.
    let of_name = sections(log).into_iter().filter(|section| section.name == name).filter(|section| {
        let is_outer = section.bytes.start >= end;
        end = end.max(section.bytes.end);
        is_outer
    });
    let texts: Vec<&str> = of_name.filter_map(|section| log.get(section.bytes)).collect();
    (!texts.is_empty()).then(|| plain_log(&texts.concat()))
}

/// The log as it looks in the end.
pub fn plain_log(log: &str) -> String {
    super::cleaned(&terminal::apply_overwrites(&without_stamps(log)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "section_start:1700000000:get_sources[collapsed=true]\r\u{1b}[0KFetching\nsection_end:1700000001:get_sources\r\u{1b}[0K\n\
        section_start:1700000001:step_script\r\u{1b}[0K$ make\n\
        section_start:1700000002:compile\r\u{1b}[0K\u{1b}[32mcc main.c\u{1b}[0m\nsection_end:1700000003:compile\r\u{1b}[0K\n\
        done\nsection_end:1700000004:step_script\r\u{1b}[0KJob succeeded\n";

    #[test]
    fn a_section_is_read_by_its_name_with_those_in_it() {
        assert_eq!(section(LOG, "get_sources").unwrap(), "Fetching\n");
        assert_eq!(section(LOG, "compile").unwrap(), "cc main.c\n");
        assert_eq!(section(LOG, "step_script").unwrap(), "$ make\ncc main.c\ndone\n");
        assert_eq!(section(LOG, "upload"), None);
        let names: Vec<String> = sections(LOG).into_iter().map(|section| section.name).collect();
        assert_eq!(names, ["get_sources", "step_script", "compile"]);
    }

    #[test]
    fn an_end_within_a_section_of_the_same_name_is_of_the_inner_one() {
        let mark = |kind: &str| format!("section_{kind}:1700000000:build\r\u{1b}[0K");
        let (start, end) = (mark("start"), mark("end"));
        let log = format!("{start}a\n{start}b\n{end}c\n{end}d\n{start}e\n{end}f\n");
        let texts: Vec<String> =
            sections(&log).into_iter().map(|section| plain_log(&log[section.bytes])).collect();
        assert_eq!(texts, ["a\nb\nc\n", "b\n", "e\n"]);
        assert_eq!(section(&log, "build").unwrap(), "a\nb\nc\ne\n");
    }

    #[test]
    fn marks_without_bounds_take_linear_time() {
        let start = std::time::Instant::now();
        let long = "section_start:1:".repeat(300_000);
        assert!(sections(&long).iter().all(|section| section.name.len() <= 128));
        assert!(plain_log(&long).len() <= long.len());
        let open: String = (0..200_000).map(|n| format!("section_start:1:s{n}\r\u{1b}[0K")).collect();
        let ends = "section_end:1:unknown\r\u{1b}[0K".repeat(200_000);
        let found = sections(&format!("{open}{ends}"));
        assert!(found.len() <= MAX_SECTIONS, "{}", found.len());
        let nested = format!("{}text", "section_start:1:a\r\u{1b}[0K".repeat(60));
        assert_eq!(section(&nested, "a").unwrap(), "text");
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
    }

    #[test]
    fn a_section_that_was_broken_off_goes_on_to_the_end() {
        let log = "section_start:1700000000:step_script\r\u{1b}[0Khalf\nmore";
        assert_eq!(section(log, "step_script").unwrap(), "half\nmore");
        let stray = "section_end:1700000000:step_script\r\u{1b}[0K\nmore";
        assert_eq!(section(stray, "step_script"), None);
    }
}
