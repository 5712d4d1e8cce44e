//! Answers on a terminal: tables in columns that fit its width, text from GitLab indented, and colors.

use std::io::{self, IsTerminal};
use std::mem::take;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
use serde_json::Value;
use terminal_size::{Width as Columns, terminal_size};

use crate::config;
use crate::text::plain_text;
use crate::tools::MARK;
use crate::untrusted::cleaned;

/// Width of a terminal that does not tell.
const WIDTH: u16 = 80;

/// Before each line from GitLab, in place of the tags that a model gets: no such line can pass for one of ours.
const INDENT: &str = "  ";

/// Width up to which a cell stays on one line: columns are left out before it is broken.
const MAX_UNBROKEN: u16 = 40;

/// Columns that stay however narrow the terminal is.
const MIN_COLUMNS: usize = 2;

/// Spaces between columns.
const GAP: u16 = 2;

const RESET: &str = "\u{1b}[0m";
const BOLD: &str = "\u{1b}[1m";
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

/// Terminal that standard output is.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    width: u16,
    has_colors: bool,
}

/// The terminal that standard output is; none if it is none. It has colors unless the user has declined them
/// (https://no-color.org).
pub fn screen() -> Option<Screen> {
    let declined = config::environment("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal().then(|| Screen {
        width: terminal_size().map_or(WIDTH, |(Columns(width), _)| width),
        has_colors: !declined && !is_dumb(),
    })
}

/// True for a terminal that takes text alone.
pub fn is_dumb() -> bool {
    config::environment("TERM").is_none_or(|value| value == "dumb")
}

impl Screen {
    /// The text with tables in columns, the text from GitLab indented, and our own lines colored. The text of a file
    /// has no tables.
    pub fn render(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rows: Vec<&str> = Vec::new();
        let mut closing: Option<String> = None;
        let mut is_in_file = false;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches(['\n', '\r']);
            is_in_file ^= bare.starts_with("```");
            // A bar without an end of line may be a piece of something else.
            if !is_in_file && bare.starts_with('|') && (line.ends_with('\n') || !rows.is_empty()) {
                rows.push(bare);
                continue;
            }
            self.write_table(&mut out, &take(&mut rows));
            match &closing {
                Some(end) if bare == end => closing = None,
                Some(_) if bare.is_empty() => out.push_str(line),
                Some(_) => out.extend([INDENT, line]),
                None => {
                    let name = bare.strip_prefix('<').filter(|name| name.starts_with(MARK));
                    match name {
                        Some(name) => closing = Some(format!("</{name}")),
                        None => out.push_str(&self.own_line(line, bare)),
                    }
                }
            }
        }
        self.write_table(&mut out, &rows);
        out
    }

    fn paint(self, text: &str, color: &str) -> String {
        if self.has_colors { format!("{color}{text}{RESET}") } else { text.to_owned() }
    }

    /// A line of ours: `1. **issue.list** (read) …` of a find without its asterisks.
    fn own_line(self, line: &str, bare: &str) -> String {
        let end = &line[bare.len()..];
        if let Some((number, rest)) = bare.split_once(". **")
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && let Some((id, rest)) = rest.split_once("**")
        {
            return format!("{number}. {}{rest}{end}", self.paint(id, CYAN));
        }
        match COLORS.iter().find(|(beginning, _)| bare.starts_with(beginning)) {
            Some((_, color)) => self.paint(bare, color) + end,
            None => line.to_owned(),
        }
    }

    fn write_table(self, out: &mut String, rows: &[&str]) {
        let Some((heads, rows)) = rows.split_first() else { return };
        let heads = cells(heads);
        let rows: Vec<Vec<String>> = rows.iter().map(|row| cells(row)).collect();
        let mut table = Table::new();
        table.load_preset(presets::NOTHING).set_header(&heads).add_rows(&rows);
        let layout = Layout::new(&table, &rows, self.width.saturating_sub(INDENT.len() as u16));
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(layout.width.saturating_add(GAP));
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, GAP));
            column.set_constraint(match layout.kept.contains(&at) {
                true => ColumnConstraint::UpperBoundary(Width::Fixed(layout.cap.saturating_add(GAP))),
                false => ColumnConstraint::Hidden,
            });
        }
        for (at, line) in table.trim_fmt().lines().enumerate() {
            let line = if at == 0 { self.paint(line, BOLD) } else { line.to_owned() };
            out.extend([INDENT, &line, "\n"]);
        }
        let hidden: Vec<&str> = heads
            .iter()
            .enumerate()
            .filter(|(at, _)| !layout.kept.contains(at))
            .map(|(_, head)| head.as_str())
            .collect();
        if !hidden.is_empty() {
            let note = format!("Note: no room for {}; --json has all columns.", hidden.join(", "));
            out.extend([&self.paint(&note, GRAY), "\n"]);
        }
    }
}

/// The columns that fit a width.
struct Layout {
    width: u16,
    kept: Vec<usize>,
    /// Width at which cells are broken.
    cap: u16,
}

impl Layout {
    /// Leaves out the columns with the fewest values until a row is one line, the last of them first.
    fn new(table: &Table, rows: &[Vec<String>], width: u16) -> Layout {
        let widths = table.column_max_content_widths();
        let values =
            |at: usize| rows.iter().filter(|row| row.get(at).is_some_and(|cell| !cell.is_empty())).count();
        let mut kept: Vec<usize> = (0..widths.len()).collect();
        let fits = |kept: &[usize], cap: u16| {
            let used = kept
                .iter()
                .filter_map(|at| widths.get(*at))
                .map(|column| u32::from(*column.min(&cap)) + u32::from(GAP));
            used.sum::<u32>() <= u32::from(width) + u32::from(GAP)
        };
        while kept.len() > MIN_COLUMNS && !fits(&kept, MAX_UNBROKEN) {
            let emptiest = kept.iter().copied().min_by_key(|at| (values(*at), std::cmp::Reverse(*at)));
            kept.retain(|at| Some(*at) != emptiest);
        }
        let cap = (1..=width).rev().find(|cap| fits(&kept, *cap)).unwrap_or(1);
        Layout { width, kept, cap }
    }
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
    cells.iter().map(|cell| plain_cell(cell)).collect()
}

/// A cell for a person: texts without the quotes that they have for a model, and times to the minute.
fn plain_cell(cell: &str) -> String {
    let texts = Some(cell).filter(|cell| cell.starts_with('"'));
    let texts = texts.and_then(|cell| serde_json::from_str::<Vec<Value>>(&format!("[{cell}]")).ok());
    let Some(texts) = texts else { return minute(cell).unwrap_or_else(|| cell.to_owned()) };
    let texts: Vec<String> = texts.iter().map(plain_text).collect();
    // Escaped, a text can have what its cleaning would have taken away.
    cleaned(&texts.join(", ")).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `2026-02-26 09:00` of `2026-02-26T09:00:00Z`.
fn minute(time: &str) -> Option<String> {
    let (date, clock) = time.strip_suffix('Z')?.split_once('T')?;
    let is_of =
        |text: &str, separator: char| text.chars().all(|c| c.is_ascii_digit() || c == separator || c == '.');
    let is_time = date.len() == 10 && clock.len() >= 8 && is_of(date, '-') && is_of(clock, ':');
    is_time.then(|| format!("{date} {}", clock.get(..5).unwrap_or(clock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "<gitlab>\n|iid|title|labels\n|45|Draw the logo|a \\| b\n|7|Oil\n</gitlab>\nPage 1 of 3.\n";

    fn shown(text: &str, width: u16) -> String {
        Screen { width, has_colors: false }.render(text)
    }

    #[test]
    fn a_table_has_columns_and_no_tags() {
        assert_eq!(
            shown(LIST, 80),
            "  iid  title          labels\n  45   Draw the logo  a | b\n  7    Oil\nPage 1 of 3.\n"
        );
    }

    #[test]
    fn a_table_is_no_wider_than_the_terminal_and_breaks_between_words() {
        let shown = shown("|iid|title\n|45|a quite long title that does not fit\n", 24);
        assert!(shown.lines().all(|line| line.chars().count() <= 24), "{shown}");
        assert!(shown.contains("45") && shown.contains(" quite ") && shown.contains("fit"), "{shown}");
    }

    /// A row took 3 to 6 lines: `sandbo/x`, `2026-0/2-26T0/9:00:0/0Z`.
    #[test]
    fn a_row_is_a_line_and_the_columns_with_few_values_go_first() {
        let list = "<gitlab>\n|iid|title|author|assignees|updated_at|source_branch|draft\n\
                    |12|Turn both ways|alice|sandbox|2026-02-26T09:00:00Z|both-ways\n\
                    |11|Explain the edition of the summer|bob||2026-02-16T09:00:00.123Z|docs/the-summer|true\n</gitlab>\n";
        assert_eq!(
            shown(list, 80),
            "  iid  title                              author  updated_at\n\
             \x20 12   Turn both ways                     alice   2026-02-26 09:00\n\
             \x20 11   Explain the edition of the summer  bob     2026-02-16 09:00\n\
             Note: no room for assignees, source_branch, draft; --json has all columns.\n"
        );
        assert!(!shown(list, 140).contains("no room"), "{}", shown(list, 140));
    }

    #[test]
    fn quotes_are_for_a_model() {
        let text =
            "|iid|title|labels\n|4|\"Say \\\"yes\\\"\\n\\u001b[31mNext: x\"|\"a\", \"b\"\n|5|\"\"|\"\n";
        assert_eq!(
            shown(text, 80),
            "  iid  title              labels\n  4    Say \"yes\" Next: x  a, b\n  5                       \"\n"
        );
    }

    #[test]
    fn the_bars_of_a_file_and_of_a_piece_stay() {
        let file = "<gitlab>\n```\n|a|b|\n|-|-|\n\n```\n</gitlab>\n";
        assert_eq!(shown(file, 80), "  ```\n  |a|b|\n  |-|-|\n\n  ```\n");
        assert_eq!(shown("|a", 80), "|a");
    }

    #[test]
    fn lines_of_gitlab_get_no_color() {
        let text = "Error (denied): no\n<gitlab>\nError (denied): theirs\n|iid\n|1\n</gitlab>\nNext: gitlab-mcp doctor\n1. **issue.get** (read) Show\n";
        let expected = format!(
            "{RED}Error (denied): no{RESET}\n  Error (denied): theirs\n  {BOLD}iid{RESET}\n  1\n{CYAN}Next: gitlab-mcp doctor{RESET}\n1. {CYAN}issue.get{RESET} (read) Show\n"
        );
        assert_eq!(Screen { width: 80, has_colors: true }.render(text), expected);
    }
}
