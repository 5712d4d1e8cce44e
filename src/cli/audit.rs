//! `audit`: the calls of the audit file as a table.

use std::io::Write;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime, Time};

use super::Failure;
use super::setup::{Installed, Machine, Survey, System, survey};
use crate::config;
use crate::tools::RotatedLog;

/// Columns of the table: the heading and the field.
const COLUMNS: [(&str, &str); 8] = [
    ("time", "time"),
    ("action", "action"),
    ("object", "object"),
    ("decision", "decision"),
    ("outcome", "outcome"),
    ("status", "status"),
    ("caller", "caller"),
    ("user", "user"),
];

/// Accepted beginnings, for the error.
const SINCE_FORMS: &str = "today, yesterday, 3d, 12h, 30m, a date (2026-11-29) or a time (2026-11-29T08:30 or 2026-11-29T08:30:00Z)";

/// A file of audit lines, and the clients whose configurations name it; none if a setting does.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    clients: Vec<&'static str>,
}

/// The audit file of the setting, else those that the entries of this machine's clients name: setup writes the setting
/// there, where a shell does not have it.
pub fn audit_files(setting: Option<&Path>) -> Vec<AuditFile> {
    if let Some(path) = setting {
        return vec![AuditFile { path: path.to_owned(), clients: Vec::new() }];
    }
    let machine = Machine::new(System::CURRENT, config::environment, config::search_path());
    let (Some(machine), Ok(executable)) = (machine, config::executable()) else { return Vec::new() };
    let mut files: Vec<AuditFile> = Vec::new();
    for Survey { client, installed, .. } in survey(&machine, &executable) {
        let Installed::Yes { server, .. } = installed else { continue };
        let Some(path) = server.setting(&config::AUDIT_FILE).and_then(absolute_path) else { continue };
        match files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.clients.push(client.label()),
            None => files.push(AuditFile { path, clients: vec![client.label()] }),
        }
    }
    files
}

/// The path of a client's entry. One that depends on the client's folder or variables is not known here.
fn absolute_path(text: &str) -> Option<PathBuf> {
    let path = PathBuf::from(config::expand_home(text, config::environment)?);
    path.is_absolute().then_some(path)
}

/// Writes the calls since a time, the oldest first: as a table, or as the JSON lines of the file.
///
/// # Errors
/// There is no file, the time cannot be understood, or a file cannot be read.
pub fn show(files: &[AuditFile], since: &str, as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let now = OffsetDateTime::now_utc();
    let start = parse_since(since, now)
        .ok_or_else(|| Failure::Since(format!("expected {SINCE_FORMS}, got {since:?}")))?;
    if files.is_empty() {
        return Err(Failure::NoAuditFile);
    }
    for file in files {
        if !file.clients.is_empty() && !as_json {
            writeln!(out, "{}, the audit file of {}:", file.path.display(), file.clients.join(", "))?;
        }
        show_file(&file.path, start, as_json, out)?;
    }
    Ok(())
}

fn show_file(file: &Path, start: OffsetDateTime, as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let read = RotatedLog::new(file.to_owned()).lines();
    let lines = read.map_err(|error| Failure::Loaded(file.to_owned(), error))?;
    let mut rows = Vec::new();
    for line in &lines {
        let Some(call) = parse_line(line).filter(|call| is_since(call, start)) else { continue };
        if as_json {
            writeln!(out, "{line}")?;
        }
        rows.push(COLUMNS.map(|(_, field)| cell(&call, field)));
    }
    if as_json {
        return Ok(());
    }
    if rows.is_empty() {
        return Ok(writeln!(out, "No call since {}.", start.format(&Rfc3339).unwrap_or_default())?);
    }
    write_table(&rows, out)
}

/// Parses a line of the file; none if it is no audit line.
fn parse_line(line: &str) -> Option<Map<String, Value>> {
    let line: Value = serde_json::from_str(line).ok()?;
    line.get("audit")?.as_object().cloned()
}

fn is_since(call: &Map<String, Value>, start: OffsetDateTime) -> bool {
    let time =
        call.get("time").and_then(Value::as_str).and_then(|time| OffsetDateTime::parse(time, &Rfc3339).ok());
    time.is_some_and(|time| time >= start)
}

/// A field as text; the object is the address of what was created, the path of REST, or the target of GraphQL.
fn cell(call: &Map<String, Value>, field: &str) -> String {
    let text = |name: &str| call.get(name).filter(|value| !value.is_null()).map(crate::text::plain_text);
    let text = match field {
        "object" => object(text("created"), text("target").or_else(|| text("path"))),
        "time" => text("time").map(|time| time.get(..19).unwrap_or(&time).replace('T', " ")),
        "outcome" if call.get("applied").is_some() => Some("may have been applied".to_owned()),
        field => text(field),
    };
    text.unwrap_or_default().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The object of a call: `acme/widget/issues/3`, the address of what was created, or its id after the path.
fn object(created: Option<String>, path: Option<String>) -> Option<String> {
    let path = path.map(|path| shorten_path(&path));
    match created {
        Some(address) if address.contains("://") => Some(address),
        Some(id) => Some(format!("{} (id {id})", path.unwrap_or_default())),
        None => path,
    }
}

/// Removes the root and the encoding of a path.
fn shorten_path(path: &str) -> String {
    let below = ["/projects/", "/groups/"].into_iter().find_map(|root| path.strip_prefix(root));
    percent_decode_str(below.unwrap_or(path)).decode_utf8_lossy().into_owned()
}

fn write_table(rows: &[[String; COLUMNS.len()]], out: &mut dyn Write) -> Result<(), Failure> {
    let headings = COLUMNS.map(|(heading, _)| heading.to_owned());
    let width = |column: usize| {
        let cells = std::iter::once(&headings).chain(rows).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    // A column that is empty in every row, such as the caller on one's own machine, is left out.
    let shown: Vec<(usize, usize)> = (0..COLUMNS.len())
        .filter(|column| rows.iter().any(|row| row.get(*column).is_some_and(|cell| !cell.is_empty())))
        .map(|column| (column, width(column)))
        .collect();
    for row in std::iter::once(&headings).chain(rows) {
        let cells = shown.iter().filter_map(|(column, width)| Some(format!("{:<width$}", row.get(*column)?)));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

/// Parses `today`, `yesterday`, `3d`, `12h`, `30m`, a date or a time, in UTC.
fn parse_since(text: &str, now: OffsetDateTime) -> Option<OffsetDateTime> {
    let midnight = now.replace_time(Time::MIDNIGHT);
    let text = text.trim();
    match text {
        "today" => return Some(midnight),
        "yesterday" => return Some(midnight - Duration::DAY),
        _ => {}
    }
    let units = [('d', Duration::DAY), ('h', Duration::HOUR), ('m', Duration::MINUTE)];
    for (unit, length) in units {
        if let Some(number) = text.strip_suffix(unit) {
            let number: i32 = number.parse().ok().filter(|number| (0..=100_000).contains(number))?;
            return Some(now - length * number);
        }
    }
    // Without an offset it is UTC, and without the time of day midnight.
    let padding = "0000-00-00T00:00:00Z".get(text.len()..).unwrap_or_default();
    OffsetDateTime::parse(&(text.replacen(' ', "T", 1) + padding), &Rfc3339).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_takes_words_spans_and_dates() {
        let now = OffsetDateTime::parse("2026-11-27T15:30:00Z", &Rfc3339).unwrap();
        for (text, start) in [
            ("today", "2026-11-27T00:00:00Z"),
            ("yesterday", "2026-11-26T00:00:00Z"),
            ("3d", "2026-11-24T15:30:00Z"),
            ("90m", "2026-11-27T14:00:00Z"),
            ("2026-11-20", "2026-11-20T00:00:00Z"),
            ("2026-11-20T08:00:00Z", "2026-11-20T08:00:00Z"),
            ("2026-11-20T08:30", "2026-11-20T08:30:00Z"),
            ("2026-11-20 08:30", "2026-11-20T08:30:00Z"),
            ("2026-11-20T08:30:00+02:00", "2026-11-20T08:30:00+02:00"),
        ] {
            assert_eq!(parse_since(text, now).unwrap().format(&Rfc3339).unwrap(), start, "{text}");
        }
        for text in ["", "soon", "d", "-3d", "2026-13-01", "2026-11", "2026-11-20T08:61"] {
            assert_eq!(parse_since(text, now), None, "{text}");
        }
    }
}
