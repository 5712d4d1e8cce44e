//! Answers on a terminal: tables in columns that fit its width, and colors.

use std::io::{self, IsTerminal};

use comfy_table::{ContentArrangement, Table, presets};
use terminal_size::{Width, terminal_size};

use crate::config;
use crate::tools::MARK;

/// Width of a terminal that does not tell.
const WIDTH: u16 = 80;

const RESET: &str = "\u{1b}[0m";
const RED: &str = "\u{1b}[31m";
const YELLOW: &str = "\u{1b}[33m";
const CYAN: &str = "\u{1b}[36m";
const GRAY: &str = "\u{1b}[90m";

/// Beginnings of our own lines, with their colors.
const COLORS: [(&str, &str); 6] = [
    ("Error (", RED),
    ("FAILED ", RED),
    ("warning ", YELLOW),
    ("Hint: ", YELLOW),
    ("Next: ", CYAN),
    ("Note: ", GRAY),
];

/// Width of the terminal that standard output is; none if it is none.
pub fn width() -> Option<u16> {
    io::stdout().is_terminal().then(|| terminal_size().map_or(WIDTH, |(Width(width), _)| width))
}

/// True if standard output is a terminal that shows colors, and the user has not declined them (https://no-color.org).
pub fn has_colors() -> bool {
    let declined = config::environment("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = config::environment("TERM").is_none_or(|value| value == "dumb");
    io::stdout().is_terminal() && !declined && !is_dumb
}

/// The text with its own lines colored. GitLab's text gets no color: it may begin a line as ours do.
pub fn colored(text: &str) -> String {
    let mut closing = None;
    let lines = text.split_inclusive('\n').map(|line| {
        let bare = line.trim_end_matches(['\n', '\r']);
        match &closing {
            Some(end) => {
                if bare == end {
                    closing = None;
                }
                line.to_owned()
            }
            None => {
                closing = bare
                    .strip_prefix('<')
                    .filter(|name| name.starts_with(MARK))
                    .map(|name| format!("</{name}"));
                match COLORS.iter().find(|(beginning, _)| bare.starts_with(beginning)) {
                    Some((_, color)) => format!("{color}{bare}{RESET}{}", &line[bare.len()..]),
                    None => line.to_owned(),
                }
            }
        }
    });
    lines.collect()
}

/// The text with each table in columns that fit the width. The text of a file stays as it is.
pub fn aligned(text: &str, width: u16) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rows: Vec<&str> = Vec::new();
    let mut is_in_file = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_in_file = !is_in_file;
        }
        if !is_in_file && line.starts_with('|') {
            rows.push(line);
            continue;
        }
        write_table(&mut out, &std::mem::take(&mut rows), width);
        out.push_str(line);
        out.push('\n');
    }
    write_table(&mut out, &rows, width);
    out
}

fn write_table(out: &mut String, rows: &[&str], width: u16) {
    let Some((heads, rows)) = rows.split_first() else { return };
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(cells(heads));
    rows.iter().for_each(|row| {
        table.add_row(cells(row));
    });
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 2));
    });
    out.push_str(&table.trim_fmt());
    out.push('\n');
}

/// The cells of a row, whose bars are written with a backslash before them.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_escaped = false;
    for c in row.chars().skip(1) {
        match (c, cells.last_mut()) {
            ('|', _) if !is_escaped => cells.push(String::new()),
            (c, Some(cell)) => {
                if c == '|' {
                    cell.pop();
                }
                cell.push(c);
            }
            (_, None) => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "<gitlab>\n|iid|title|labels\n|45|Draw the logo|a \\| b\n|7|Oil\n</gitlab>\nPage 1 of 3.\n";

    #[test]
    fn a_table_has_columns_and_the_rest_stays() {
        assert_eq!(
            aligned(LIST, 80),
            "<gitlab>\niid  title          labels\n45   Draw the logo  a | b\n7    Oil\n</gitlab>\nPage 1 of 3.\n"
        );
    }

    #[test]
    fn a_table_is_no_wider_than_the_terminal() {
        let shown = aligned("|iid|title\n|45|a quite long title that does not fit\n", 24);
        assert!(shown.lines().all(|line| line.chars().count() <= 24), "{shown}");
        assert!(shown.contains("45") && shown.contains("fit"), "{shown}");
    }

    #[test]
    fn the_bars_of_a_file_stay() {
        let file = "<gitlab>\n```\n|a|b|\n|-|-|\n```\n</gitlab>\n";
        assert_eq!(aligned(file, 80), file);
    }

    #[test]
    fn lines_of_gitlab_get_no_color() {
        let text =
            "Error (denied): no\n<gitlab>\nError (denied): theirs\n</gitlab>\nNext: gitlab-mcp doctor\n";
        let expected = format!(
            "{RED}Error (denied): no{RESET}\n<gitlab>\nError (denied): theirs\n</gitlab>\n{CYAN}Next: gitlab-mcp doctor{RESET}\n"
        );
        assert_eq!(colored(text), expected);
    }
}
