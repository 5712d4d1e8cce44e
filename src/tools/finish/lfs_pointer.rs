//! Files that are Git LFS pointers: the answer says so, with the call that has the content.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::gitlab::Content;
use crate::messages::error::ToolError;
use crate::messages::request::NextCall;
use crate::text::LfsPointer;
use crate::tools::finish::finishing::Finishing;

/// The read of a file's content, and its parameter for what a pointer stands for (lib/api/files.rb).
const READ: &str = "repository_file.get_raw";
const LFS: &str = "lfs";

/// Notes that the file of an answer is a pointer.
pub async fn name_pointer(finishing: &mut Finishing<'_>) -> Result<(), ToolError> {
    let params = finishing.checked.params();
    let response = &mut finishing.response;
    let Some(pointer) = file(&response.reply.content).as_deref().and_then(LfsPointer::parse) else {
        return Ok(());
    };
    let size = pointer.size.map(|size| format!(" of {size} bytes")).unwrap_or_default();
    let mut note = format!("this is a Git LFS pointer; the file itself{size} is stored apart");
    if let (Some(path), Some(file)) = (params.get("fullPath"), params.get("file_path")) {
        let mut read =
            Map::from_iter([("fullPath".to_owned(), path.clone()), ("file_path".to_owned(), file.clone())]);
        read.extend(params.get("ref").map(|at| ("ref".to_owned(), at.clone())));
        read.insert(LFS.to_owned(), json!(true));
        note = format!("{note}: {}", NextCall::execute(READ, &read));
    }
    response.notes.push(note);
    Ok(())
}

/// The content of an answer that is a file.
fn file(content: &Content) -> Option<Vec<u8>> {
    match content {
        Content::Text(text) => Some(text.as_bytes().to_vec()),
        Content::Binary { bytes, .. } => Some(bytes.to_vec()),
        Content::Json(Value::Object(object)) => {
            let text = object.get("content")?.as_str()?;
            match object.get("encoding").and_then(Value::as_str) {
                Some("base64") => STANDARD.decode(text.replace(['\n', '\r'], "")).ok(),
                _ => Some(text.as_bytes().to_vec()),
            }
        }
        _ => None,
    }
}
