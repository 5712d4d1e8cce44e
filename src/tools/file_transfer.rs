//! Local files of a call: uploads, and the download that is saved.

use serde_json::{Map, Value, json};

use crate::call::{Call, QuickCommand, commands_in_rows, takes_rows};
use crate::catalog::Risk;
use crate::files::{Files, FilesError};
use crate::gitlab::{Content, Reply};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::header;
use crate::messages::request::{Answer, EXECUTE, ExecuteRequest, NextCall};
use crate::policy::Permit;
use crate::present;
use crate::tools::state::Tools;

/// The reason if no directory is set.
const UNSET: &str = "no directory for files is set (GITLAB_FILES_DIR)";

/// Loads the files that the call uploads, and checks that its download can be saved. On failure nothing is sent.
pub fn prepare(tools: &Tools, request: &ExecuteRequest, permit: Permit) -> Result<Permit, ToolError> {
    let action = tools.catalog.get(permit.call().action())?;
    let is_checked = action.is_some_and(|action| takes_rows(&action));
    let permit = permit.with_files(|path| {
        let bytes = load_upload(tools, path)?;
        match is_checked.then(|| commands_in_rows(&bytes)).and_then(|found| found.into_iter().next()) {
            Some(command) => Err(unchecked(path, &command)),
            None => Ok(bytes),
        }
    })?;
    let Some(path) = &request.save_to else { return Ok(permit) };
    let call = permit.call();
    let without = || NextCall::for_request(&ExecuteRequest { save_to: None, ..request.clone() });
    if call.risk() != Risk::Read || call.is_graphql() {
        let message = format!(
            "`save_to` is for downloads by REST, and {} is not one. Nothing was sent",
            call.operation()
        );
        return Err(ToolError::new(ErrorKind::InvalidParams, message).fix(without()));
    }
    let Some(files) = &tools.files else {
        let message = format!("`save_to` is denied: {UNSET}. Nothing was sent");
        return Err(ToolError::new(ErrorKind::Denied, message).fix(without()));
    };
    files.check_free(path).map_err(|error| save_error(&error, request))?;
    Ok(permit.as_download())
}

/// The rules decide on a call before its local files are read.
fn unchecked(path: &str, command: &QuickCommand) -> ToolError {
    let message = format!(
        "{path:?} has the quick action /{}, which GitLab would execute. Nothing was sent",
        present::line(&command.name)
    );
    ToolError::new(ErrorKind::Denied, message)
        .hint("Give the file by its `content`: the rules on what a quick action does are then checked.")
}

fn load_upload(tools: &Tools, path: &str) -> Result<Vec<u8>, ToolError> {
    let instead = "A file can also be given by its `content` or `content_base64`.";
    let Some(files) = &tools.files else {
        let message = format!("{path:?} is not read: {UNSET}. Nothing was sent");
        return Err(ToolError::new(ErrorKind::Denied, message).hint(instead));
    };
    files.load(path).map_err(|error| {
        ToolError::new(error_kind(&error), format!("{}. Nothing was sent", error_text(&error))).hint(instead)
    })
}

/// Saves a download, and answers with its path.
pub fn save_download(
    tools: &Tools,
    (request, path): (&ExecuteRequest, &str),
    call: &Call,
    reply: Reply,
    mut notes: Vec<String>,
) -> Result<Answer, ToolError> {
    let mut structured = header::head(call);
    let (bytes, content_type) = match reply.content {
        Content::Binary { bytes, content_type, .. } => (bytes, present::line(&content_type)),
        _ => (Vec::new(), String::new()),
    };
    if let Some(files) = &tools.files {
        files.write(path, &bytes).map_err(|error| save_error(&error, request))?;
    }
    if bytes.is_empty() {
        notes.push("GitLab's answer was empty, and so is the file".to_owned());
    }
    let data = json!({"saved": path, "bytes": bytes.len(), "content_type": content_type});
    let mut text = format!("Saved {} bytes ({}) to {}.\n", bytes.len(), json!(content_type), json!(path));
    structured.insert("data".to_owned(), data);
    header::add_resolved(&mut text, call.resolved());
    header::add_notes(&mut structured, &mut text, &notes);
    Ok(Answer::new(structured, text))
}

/// The call that saves content which is shown only in part or not at all.
pub fn save_call(files: Option<&Files>, request: &ExecuteRequest) -> Value {
    if files.is_none() {
        return json!("`save_to` saves it, if GITLAB_FILES_DIR is set");
    }
    let arguments = Map::from_iter([
        ("action".to_owned(), json!(request.action)),
        ("params".to_owned(), Value::Object(request.params.clone())),
        ("save_to".to_owned(), json!(file_name(request))),
    ]);
    json!(NextCall::new(EXECUTE, Value::Object(arguments)))
}

/// A file name for the answer: that of the repository file, or the action with its numbers.
fn file_name(request: &ExecuteRequest) -> String {
    let own = ["file_path", "file_name", "filename", "artifact_path"].iter().find_map(|name| {
        let last = request.params.get(*name)?.as_str()?.rsplit('/').next()?;
        (!last.is_empty() && !last.starts_with('.')).then(|| last.to_owned())
    });
    own.unwrap_or_else(|| {
        let numbers = request.params.values().filter_map(Value::as_u64).map(|number| format!("-{number}"));
        format!("{}{}", request.action.replace('.', "-"), numbers.collect::<String>())
    })
}

/// The error of a file that cannot be written, with the call that would save it elsewhere.
fn save_error(error: &FilesError, request: &ExecuteRequest) -> ToolError {
    let refused = ToolError::new(error_kind(error), format!("`save_to`: {}", error_text(error)));
    let elsewhere = match error {
        FilesError::Taken { other, .. } => other.clone(),
        FilesError::Outside { given, .. } => {
            let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
            (!last.trim_matches('.').is_empty()).then(|| last.to_owned())
        }
        _ => None,
    };
    match elsewhere {
        Some(path) => {
            let request = ExecuteRequest { save_to: Some(path), ..request.clone() };
            refused.fix(NextCall::for_request(&request))
        }
        None => {
            refused.hint("Give a new file as a path relative to the directory, such as \"out/trace.log\".")
        }
    }
}

fn error_kind(error: &FilesError) -> ErrorKind {
    match error {
        FilesError::TooLarge { .. } => ErrorKind::TooLarge,
        FilesError::Missing { .. } => ErrorKind::NotFound,
        FilesError::Taken { .. } => ErrorKind::Conflict,
        _ => ErrorKind::InvalidParams,
    }
}

fn error_text(error: &FilesError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
