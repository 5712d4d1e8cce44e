//! Types of `repository.read_files`: requested files and their content.

use serde_json::{Map, Value, json};

use crate::composite::read_files::window::{FileWindow, WindowRequest};
use crate::composite::run::params;
use crate::text::{Pattern, plain_text};
use crate::tools::{Answer, ToolError};

/// Default number of lines of a window.
pub const LINES: u64 = 100;

/// A requested file.
pub struct RequestedFile {
    /// Project, as in `fullPath`.
    pub project: Option<Value>,
    pub path: String,
    pub at: Option<String>,
    /// The lines to read, or the fault of what was given for them.
    pub wanted: Result<WindowRequest, ToolError>,
}

impl RequestedFile {
    /// A file whose item is wrong.
    pub fn unread(project: Option<Value>, item: &Value, error: ToolError) -> RequestedFile {
        let path = plain_text(item.get("path").unwrap_or(item));
        RequestedFile { project, path, at: None, wanted: Err(error) }
    }

    /// The expression that is searched for, and the lines around each match.
    pub fn grep(&self) -> Option<&(Pattern, usize)> {
        self.wanted.as_ref().ok()?.grep.as_ref()
    }
}

/// Content of a file.
pub enum FileContent {
    FileWindow(Box<FileWindow>, ReplyHeaders),
    /// Not a text file: its kind, details, and the next step.
    Other(&'static str, Map<String, Value>, String),
    Said(Answer),
}

pub type ReplyHeaders = std::collections::BTreeMap<String, String>;

/// Parameters with the project, and the ref if there is one.
pub fn at(file: &RequestedFile, more: Value) -> Map<String, Value> {
    let mut given = params(more);
    given.extend(file.project.iter().map(|path| ("fullPath".to_owned(), path.clone())));
    given.extend(file.at.as_ref().map(|at| ("ref".to_owned(), json!(at))));
    given
}
