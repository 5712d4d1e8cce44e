//! Diff of a merge request, for comments on its lines.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::composite::line_text::{self, FoundLine, LineText, NotOneLine, file_path};
use crate::composite::run::{CompositeRun, params};
use crate::present;
use crate::text::diff::{self, DiffLine, DiffSide, LineSpan, MissingLine};
use crate::text::list_first;
use crate::tools::{ErrorKind, NextCall, ToolError};
use crate::untrusted::{bare_name, cleaned, mask_tokens, quote, quoted_name};

/// Files of a page of the list of diffs; GitLab's maximum.
const FILES_PER_PAGE: usize = 100;
/// Maximum number of pages.
const MAX_PAGES: usize = 10;

/// The newest diff of one merge request.
pub struct MergeRequestDiff<'r> {
    run: &'r CompositeRun<'r>,
    /// `base_sha`, `start_sha` and `head_sha`.
    pub refs: Map<String, Value>,
    /// The changed files, as GitLab lists them.
    files: Vec<Value>,
    /// True if the list of files is incomplete.
    is_cut: bool,
}

/// A changed file with its lines.
#[derive(Debug)]
pub struct DiffFile {
    pub old_path: String,
    pub new_path: String,
    lines: Vec<DiffLine>,
}

/// The lines of a comment, as a call names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineReference {
    Numbers(LinePosition),
    Text(LineText),
}

/// The lines of a comment, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePosition {
    pub file: String,
    pub side: DiffSide,
    pub first: u64,
    pub last: u64,
}

/// Position of a comment in the diff.
pub struct DiffPosition {
    /// The position in GitLab's format.
    pub position: Value,
    /// Text of the commented line.
    pub line: String,
    /// Blanks at the beginning of the first commented line.
    pub indentation: String,
    /// Number of commented lines of the new file, if they are in it.
    pub replaced: Option<u64>,
}

impl LineReference {
    /// The lines that the parameters of a comment name, by text or by number; none if it is on no line.
    pub fn from_params(given: &Map<String, Value>) -> Result<Option<LineReference>, String> {
        if let Some(text) = LineText::from_params(given)? {
            return Ok(Some(LineReference::Text(text)));
        }
        Ok(LinePosition::from_params(given)?.map(LineReference::Numbers))
    }

    /// The file that it names.
    pub fn file(&self) -> Option<&str> {
        match self {
            LineReference::Numbers(spot) => Some(&spot.file),
            LineReference::Text(text) => text.file.as_deref(),
        }
    }

    /// The parameters with another file.
    fn moved(&self, file: &str) -> Map<String, Value> {
        match self {
            LineReference::Numbers(spot) => spot.moved(file, (spot.side, spot.first, spot.last)),
            LineReference::Text(text) => text.moved(file),
        }
    }
}

impl LinePosition {
    /// The place that `file`, `line`, `line_start`, `line_end` and `side` say; none where no file is named. The
    /// error says what does not go together.
    pub fn from_params(given: &Map<String, Value>) -> Result<Option<LinePosition>, String> {
        let number = |name: &str| given.get(name).and_then(Value::as_u64);
        let (line, start, end) = (number("line"), number("line_start"), number("line_end"));
        let Some(file) = file_path(given) else {
            return if line.or(start).or(end).is_some() {
                Err("`line` needs `file`".to_owned())
            } else {
                Ok(None)
            };
        };
        let (first, last) = match (line, start, end) {
            (Some(line), None, None) => (line, line),
            (None, Some(start), Some(end)) if start <= end => (start, end),
            (None, Some(_), Some(_)) => return Err("`line_start` is behind `line_end`".to_owned()),
            (Some(_), ..) => {
                return Err("`line` cannot be combined with `line_start` and `line_end`".to_owned());
            }
            _ => {
                return Err("it takes `line`, `line_text`, or `line_start` with `line_end`".to_owned());
            }
        };
        let side = match given.get("side").and_then(Value::as_str) {
            Some("old") => DiffSide::Old,
            _ => DiffSide::New,
        };
        Ok(Some(LinePosition { file, side, first, last }))
    }

    /// The parameters with other line numbers.
    fn moved(&self, file: &str, (side, first, last): (DiffSide, u64, u64)) -> Map<String, Value> {
        let mut said = params(json!({"file": file}));
        if first == last {
            said.insert("line".to_owned(), json!(first));
        } else {
            said.extend(params(json!({"line_start": first, "line_end": last})));
        }
        if side == DiffSide::Old {
            said.insert("side".to_owned(), json!("old"));
        }
        said
    }

    /// The position as text: `src/main.rs:10-12`.
    pub fn label(&self) -> String {
        let lines = if self.first == self.last {
            self.first.to_string()
        } else {
            format!("{}-{}", self.first, self.last)
        };
        let side = if self.side == DiffSide::Old { " (old)" } else { "" };
        format!("{}:{lines}{side}", bare_name(&self.file))
    }
}

/// A place that is not in the diff: why, and the parameters that name one that is.
#[derive(Debug)]
pub struct PositionError {
    pub message: String,
    pub hint: Option<String>,
    pub instead: Option<Map<String, Value>>,
    /// Details of the error with the lines that it suggests: `nearest`, `matches` or `similar`.
    pub details: Map<String, Value>,
    /// True if GitLab has the diff but does not send it.
    pub too_large: bool,
}

impl PositionError {
    fn new(message: String) -> PositionError {
        PositionError { message, hint: None, instead: None, details: Map::new(), too_large: false }
    }

    /// The error of a call that asked for just this place; `given` are its parameters.
    pub fn error(self, run: &CompositeRun<'_>, given: &Map<String, Value>) -> ToolError {
        let kind = if self.too_large { ErrorKind::TooLarge } else { ErrorKind::InvalidParams };
        let mut error = ToolError::new(kind, format!("{}. Nothing was posted", self.message));
        if let Some(hint) = self.hint {
            error = error.hint(hint);
        }
        error.details.extend(self.details);
        match self.instead {
            Some(instead) => {
                let mended = replaced(given, instead);
                error.fix(NextCall::execute(run.id, &mended))
            }
            None => {
                error.fix(NextCall::execute("merge_request.list_diffs", &run.of_merge_request(json!({}))))
            }
        }
    }
}

/// Parameters with another place in them.
pub fn replaced(given: &Map<String, Value>, instead: Map<String, Value>) -> Map<String, Value> {
    let mut mended = given.clone();
    for name in ["file", "line", "line_text", "line_start", "line_end", "side"] {
        mended.remove(name);
    }
    mended.extend(instead);
    mended
}

impl<'r> MergeRequestDiff<'r> {
    /// Reads which files a merge request changes, and between which commits, until all that are wanted are found;
    /// none is every file.
    pub async fn fetch(
        run: &'r CompositeRun<'r>,
        wanted: &[Option<&str>],
    ) -> Result<MergeRequestDiff<'r>, ToolError> {
        let merge_request = run.read_json("merge_request.get", run.of_merge_request(json!({}))).await?;
        let refs: Option<Map<String, Value>> = ["base_sha", "start_sha", "head_sha"]
            .into_iter()
            .map(|name| {
                let sha = merge_request.get("diff_refs")?.get(name)?;
                sha.is_string().then(|| (name.to_owned(), sha.clone()))
            })
            .collect();
        let Some(refs) = refs else {
            let message = "the merge request has no diff to comment on: GitLab is still preparing it, or its source branch is gone";
            return Err(ToolError::new(ErrorKind::Conflict, format!("{message}. Nothing was posted"))
                .fix(NextCall::execute("merge_request.get", &run.of_merge_request(json!({})))));
        };
        let mut diff = MergeRequestDiff { run, refs, files: Vec::new(), is_cut: false };
        for page in 1..=MAX_PAGES {
            let asked = run.of_merge_request(json!({"page": page, "per_page": FILES_PER_PAGE}));
            let Value::Array(files) = run.read_json("merge_request.list_diffs", asked).await? else { break };
            let count = files.len();
            diff.files.extend(files);
            let is_last = count < FILES_PER_PAGE;
            if is_last || wanted.iter().all(|file| file.is_some_and(|file| diff.entry(file).is_some())) {
                break;
            }
            diff.is_cut = page == MAX_PAGES;
        }
        Ok(diff)
    }

    fn entry(&self, file: &str) -> Option<&Value> {
        let named = |which: &str| {
            self.files.iter().find(move |entry| entry.get(which).and_then(Value::as_str) == Some(file))
        };
        named("new_path").or_else(|| named("old_path"))
    }

    /// The lines that a comment names, and their position in the diff. `raw` keeps the whole diff, which is requested
    /// if GitLab leaves out a file's.
    pub async fn locate(
        &self,
        reference: &LineReference,
        raw: &OnceLock<String>,
    ) -> Result<(LinePosition, DiffPosition), PositionError> {
        match reference {
            LineReference::Numbers(spot) => {
                let entry = self.entry(&spot.file).ok_or_else(|| self.no_file(&spot.file, reference))?;
                let position = self.file(entry, raw).await?.position(spot, &self.refs)?;
                Ok((spot.clone(), position))
            }
            LineReference::Text(text) => self.locate_text(text, reference, raw).await,
        }
    }

    async fn locate_text(
        &self,
        text: &LineText,
        reference: &LineReference,
        raw: &OnceLock<String>,
    ) -> Result<(LinePosition, DiffPosition), PositionError> {
        let mut files = Vec::new();
        // Files that may have the text as well.
        let mut unread = Vec::new();
        match &text.file {
            Some(path) => {
                let entry = self.entry(path).ok_or_else(|| self.no_file(path, reference))?;
                files.push(self.file(entry, raw).await?);
            }
            None => {
                for entry in &self.files {
                    match self.file(entry, raw).await {
                        Ok(file) => files.push(file),
                        Err(fault) if fault.too_large => unread.push(path_of(entry)),
                        Err(_) => {}
                    }
                }
            }
        }
        let lines: Vec<(&str, &[DiffLine])> =
            files.iter().map(|file| (file.path(), file.lines.as_slice())).collect();
        let secrets = self.run.tools.client.secrets();
        // As answers show it.
        let shown = |text: &str| {
            mask_tokens(&secrets.redact(&cleaned(text).replace('\n', " "))).trim_end().to_owned()
        };
        let found = text.find(&lines, &shown).map_err(|fault| self.not_one(text, fault, &unread))?;
        if !unread.is_empty() || (text.file.is_none() && self.is_cut) {
            return Err(self.perhaps_elsewhere(&found, &unread));
        }
        let spot = LinePosition {
            file: found.file.clone(),
            side: found.side,
            first: found.number,
            last: found.number,
        };
        let file = files.iter().find(|file| file.path() == found.file);
        let file = file.ok_or_else(|| self.no_file(&found.file, reference))?;
        let position = file.position(&spot, &self.refs)?;
        Ok((spot, position))
    }

    /// The lines of a changed file.
    async fn file(&self, entry: &Value, raw: &OnceLock<String>) -> Result<DiffFile, PositionError> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let flag = |name: &str| entry.get(name).and_then(Value::as_bool).unwrap_or_default();
        let (old_path, new_path) = (text("old_path"), text("new_path"));
        let mut diff = text("diff");
        let is_flagged = flag("collapsed") || flag("too_large");
        if diff.is_empty() && present::is_left_out(entry) {
            // Without a flag, the file may be binary: the raw diff has no lines of it then.
            let unfolded = self.unfolded(&new_path, raw).await.or((!is_flagged).then(String::new));
            diff = unfolded.ok_or_else(|| {
                let mut misplaced = PositionError::new(format!(
                    "GitLab does not send the diff of {}, which is too large",
                    quoted_name(&new_path)
                ));
                misplaced.too_large = true;
                misplaced.hint =
                    Some("Comment on the merge request as a whole and name the line.".to_owned());
                misplaced
            })?;
        }
        let lines = diff::lines(&diff);
        if lines.is_empty() {
            let why = if flag("renamed_file") {
                "it was only renamed"
            } else {
                "it is binary, or only its mode has changed"
            };
            return Err(PositionError::new(format!(
                "{} has no lines in the diff: {why}",
                quoted_name(&new_path)
            )));
        }
        Ok(DiffFile { old_path, new_path, lines })
    }

    /// The error for a text that names no line, or several.
    fn not_one(&self, text: &LineText, fault: NotOneLine, unread: &[String]) -> PositionError {
        match fault {
            NotOneLine::Several(found) => {
                let mut misplaced = PositionError::new(format!(
                    "`line_text` matches {} lines of the diff: {}",
                    found.len(),
                    line_text::labels(&found)
                ));
                misplaced.hint =
                    Some("`fix` has the first; set `line` (and `file`, `side`) to another, or give more of its text.".to_owned());
                misplaced.instead = found.first().map(FoundLine::params);
                misplaced.details.insert("matches".to_owned(), line_text::rows(&found));
                misplaced
            }
            NotOneLine::Nowhere { similar, is_alike } => {
                let of = match (&text.file, text.side) {
                    (Some(file), Some(side)) => {
                        format!("the diff of {} on the {} side", quoted_name(file), side.name())
                    }
                    (Some(file), None) => format!("the diff of {}", quoted_name(file)),
                    (None, Some(side)) => format!("the diff on the {} side", side.name()),
                    (None, None) => "the diff".to_owned(),
                };
                let mut message = format!("no line of {of} has the `line_text` {}", quote(&text.text));
                if !similar.is_empty() {
                    message.push_str(&format!("; the most similar: {}", line_text::labels(&similar)));
                }
                if let Some(unsearched) = self.unsearched(text.file.is_some(), unread) {
                    message.push_str(&format!("; {unsearched}"));
                }
                let mut misplaced = PositionError::new(message);
                misplaced.hint = Some(
                    "A diff has the lines that changed and a few around them; GitLab accepts comments only on these."
                        .to_owned(),
                );
                misplaced.instead = similar.first().filter(|_| is_alike).map(FoundLine::params);
                if !similar.is_empty() {
                    misplaced.details.insert("similar".to_owned(), line_text::rows(&similar));
                }
                misplaced
            }
        }
    }

    /// The error for a line that was found once while there are files that could not be searched.
    fn perhaps_elsewhere(&self, found: &FoundLine, unread: &[String]) -> PositionError {
        let unsearched = self.unsearched(false, unread).unwrap_or_default();
        let mut misplaced =
            PositionError::new(format!("`line_text` matches {}, but {unsearched}", found.label()));
        misplaced.hint = Some("`fix` takes the line that was found; otherwise name the `file`.".to_owned());
        misplaced.instead = Some(found.params());
        misplaced
    }

    /// The changed files that could not be searched for a text.
    fn unsearched(&self, is_file_named: bool, unread: &[String]) -> Option<String> {
        if !unread.is_empty() {
            let paths: Vec<&str> = unread.iter().map(String::as_str).collect();
            return Some(format!("GitLab does not send all diffs: {} not searched", list_paths(&paths)));
        }
        (self.is_cut && !is_file_named)
            .then(|| format!("only the first {} files were searched", self.files.len()))
    }

    /// A file's part of the whole diff.
    async fn unfolded(&self, path: &str, raw: &OnceLock<String>) -> Option<String> {
        if raw.get().is_none() {
            let of = self.run.of_merge_request(json!({}));
            let whole = self.run.read_json("merge_request.get_raw_diffs", of).await.ok()?;
            // Whoever was first has the same.
            let _ = raw.set(whole.as_str().unwrap_or_default().to_owned());
        }
        diff::section(raw.get()?, path).map(str::to_owned)
    }

    fn no_file(&self, file: &str, reference: &LineReference) -> PositionError {
        let paths: Vec<&str> =
            self.files.iter().filter_map(|entry| entry.get("new_path")?.as_str()).collect();
        let ending = |path: &&&str| path.ends_with(&format!("/{file}"));
        let by_name = paths.iter().find(ending).map(|path| (*path).to_owned());
        let nearest = || crate::search::nearest(file, paths.iter().copied()).map(str::to_owned);
        let near = by_name.or_else(nearest);
        let among = if self.is_cut { "the first files" } else { "the files" };
        let mut misplaced = PositionError::new(format!(
            "{} is not among {among} that the merge request changes",
            quoted_name(file)
        ));
        misplaced.hint = Some(match &near {
            Some(near) => {
                format!(
                    "Did you mean {}? GitLab accepts comments only on lines of changed files.",
                    bare_name(near)
                )
            }
            None => format!("It changes {}.", list_paths(&paths)),
        });
        misplaced.instead = near.map(|near| reference.moved(&near));
        misplaced
    }
}

/// The path of a changed file.
fn path_of(entry: &Value) -> String {
    entry.get("new_path").and_then(Value::as_str).unwrap_or("a file").to_owned()
}

/// The first paths, and the number of further ones.
fn list_paths(paths: &[&str]) -> String {
    const SHOWN: usize = 10;
    list_first(paths.iter().map(|path| bare_name(path)), SHOWN)
}

impl DiffFile {
    /// The new path, or of a file without one the old path.
    fn path(&self) -> &str {
        if self.new_path.is_empty() { &self.old_path } else { &self.new_path }
    }

    /// Position of a comment on these lines, between those commits.
    pub fn position(
        &self,
        spot: &LinePosition,
        refs: &Map<String, Value>,
    ) -> Result<DiffPosition, PositionError> {
        let span = diff::span(&self.lines, spot.side, spot.first, spot.last)
            .map_err(|absent| self.misplaced(spot, absent))?;
        let LineSpan { first, last } = span;
        Ok(DiffPosition {
            position: span.position(refs, (&self.old_path, &self.new_path)),
            line: last.text.clone(),
            indentation: blanks(&first.text).to_owned(),
            replaced: span.new_lines(),
        })
    }

    fn misplaced(&self, spot: &LinePosition, absent: MissingLine) -> PositionError {
        let file = if spot.side == DiffSide::Old { "old" } else { "new" };
        let mut message =
            format!("line {} of the {file} {} is not in the diff", absent.line, quoted_name(&spot.file));
        let Some((side, line)) = absent.nearest else { return PositionError::new(message) };
        let other = if side == spot.side {
            String::new()
        } else {
            format!(" of the {} file, as the {file} one has none", side.name())
        };
        message.push_str(&format!("; the nearest line in it is {line}{other}"));
        let end = |number: u64| match diff::span(&self.lines, spot.side, number, number) {
            Ok(_) => Some((spot.side, number)),
            Err(absent) => absent.nearest,
        };
        let ends = end(spot.first).zip(end(spot.last));
        let instead = match ends {
            Some(((a, first), (b, last))) if a == b && first <= last => (a, first, last),
            _ => (side, line, line),
        };
        let text = self
            .lines
            .iter()
            .find(|known| known.number(side) == Some(line))
            .map(|known| mask_tokens(known.text.trim_end()));
        let mut misplaced = PositionError::new(message);
        misplaced
            .details
            .insert("nearest".to_owned(), json!({"line": line, "side": side.name(), "text": text}));
        misplaced.hint = Some(
            "A diff has the lines that changed and a few around them; `fix` has the nearest.".to_owned(),
        );
        misplaced.instead = Some(spot.moved(&spot.file, instead));
        misplaced
    }
}

fn blanks(line: &str) -> &str {
    let end = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

/// A suggestion with the indentation of the lines that it replaces, if it has none of its own: it is put in their place as
/// it is, and a text without blanks before it is how a line is quoted in talk.
pub fn indented(suggestion: &str, placed: &DiffPosition) -> String {
    let is_bare = suggestion.lines().next().is_some_and(|line| !line.is_empty() && blanks(line).is_empty());
    if !is_bare || placed.indentation.is_empty() {
        return suggestion.to_owned();
    }
    let lines = suggestion.split_inclusive('\n').map(|line| match line.trim().is_empty() {
        true => line.to_owned(),
        false => format!("{}{line}", placed.indentation),
    });
    lines.collect()
}

/// The comment's text, with the suggestion that is put in place of the lines.
/// <https://docs.gitlab.com/user/project/merge_requests/reviews/suggestions/>
pub fn body(body: &str, suggestion: Option<&str>, placed: Option<&DiffPosition>) -> Result<String, String> {
    let Some(text) = suggestion else { return Ok(body.to_owned()) };
    let Some(placed) = placed else {
        return Err("a `suggestion` is for lines: it needs `file` and `line`".to_owned());
    };
    let Some(lines) = placed.replaced else {
        return Err("a `suggestion` replaces lines of the new file, and these were removed".to_owned());
    };
    let text = indented(text, placed);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let before = if body.is_empty() { String::new() } else { format!("{body}\n\n") };
    Ok(format!("{before}{fence}suggestion:-{}+0\n{text}{end}{fence}", lines - 1))
}
