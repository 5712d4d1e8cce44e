//! Builds the request of a REST operation.

use serde_json::{Map, Value, json};

use super::encoded;
use super::{Body, Call, Effects, Fault, Part, Resolved, encode};
use crate::catalog::{Action, ArrayForm, Base, BodyForm, Operation, Param, Piece, Place, pieces};
use crate::text::plain_text;

/// Builds the request. The parameters are known, of the right type, resolved, and accepted by the operation.
pub fn write(
    action: &Action,
    operation: &Operation,
    params: &Map<String, Value>,
    resolved: Vec<Resolved>,
    effects: Effects,
) -> Result<Call, Fault> {
    let path = path(operation, params)?;
    let sent: Vec<(&Param, &Value)> = action
        .params
        .iter()
        .filter(|param| !operation.is_filled_by(&param.name) && param.place != Place::Selector)
        .filter_map(|param| Some((param, params.get(&param.name)?)))
        .collect();
    let (in_body, in_query): (Vec<_>, Vec<_>) =
        sent.into_iter().partition(|(param, _)| travels_in_body(operation, param));
    in_query.iter().try_for_each(|(param, value)| encode::refuse_unclear_names(&param.name, value))?;
    let query = in_query.into_iter().flat_map(|(param, value)| pairs(param, &wire(param), value)).collect();
    Ok(Call { resolved, ..Call::new(effects, path, query, body(operation, &in_body)?) })
}

/// True if a parameter is sent in the body. If the body is a file, all others are sent in the query.
fn travels_in_body(operation: &Operation, param: &Param) -> bool {
    match operation.body {
        BodyForm::Raw => param.kind.base == Base::File,
        _ => operation.method.has_body() && param.place != Place::Query,
    }
}

fn wire(param: &Param) -> String {
    param.wire.clone().unwrap_or_else(|| param.name.clone())
}

fn path(operation: &Operation, params: &Map<String, Value>) -> Result<String, Fault> {
    let root = if operation.path.starts_with("/api/") { "" } else { "/api/v4" };
    let mut path = root.to_owned();
    for piece in pieces(&operation.path) {
        match piece {
            Piece::Text(text) => path.push_str(text),
            Piece::Placeholder { name, glob } => {
                let param = operation.filled_by(name);
                let value = params.get(param).map(plain_text).unwrap_or_default();
                path.push_str(&encoded(param, &value, glob)?);
            }
        }
    }
    Ok(path)
}

fn encoded(param: &str, value: &str, glob: bool) -> Result<String, Fault> {
    // File paths are often given with a leading slash. `fullPath` is already parsed.
    let is_file_path = glob || (param.ends_with("path") && param != "fullPath");
    let value = if is_file_path { value.trim_start_matches('/') } else { value };
    let written = if glob { encode::glob(value) } else { encode::segment(value) };
    written.map_err(|reason| Fault::BadPath { name: param.to_owned(), reason })
}

/// Encodes a parameter as pairs of the query: `labels=a,b`, `iids[]=1&iids[]=2`, `not[labels]=a`.
fn pairs(param: &Param, name: &str, value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Array(items) if param.array == ArrayForm::Comma && items.iter().all(is_scalar) => {
            vec![(name.to_owned(), items.iter().map(plain_text).collect::<Vec<_>>().join(","))]
        }
        Value::Array(items) => {
            items.iter().flat_map(|item| nested(param, &format!("{name}[]"), item)).collect()
        }
        one => nested(param, name, one),
    }
}

fn nested(param: &Param, name: &str, value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| {
                let field = param.fields.iter().find(|field| field.name == *key).unwrap_or(param);
                pairs(field, &format!("{name}[{key}]"), value)
            })
            .collect(),
        scalar => vec![(name.to_owned(), plain_text(scalar))],
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// Builds the body: JSON, which GitLab accepts wherever it accepts a form; a multipart form if a parameter is a file; or
/// the bare file if the operation requires it.
fn body(operation: &Operation, sent: &[(&Param, &Value)]) -> Result<Body, Fault> {
    let of_file = sent.iter().find(|(param, _)| param.kind.base == Base::File);
    match (of_file, operation.body) {
        _ if sent.is_empty() => Ok(Body::Empty),
        (Some((param, value)), BodyForm::Raw) => match file(param, value)? {
            Part::File { bytes, .. } => Ok(Body::Raw(bytes)),
            Part::Local { path, .. } => Ok(Body::Local(path)),
            Part::Text { value, .. } => Ok(Body::Raw(value.into_bytes().into())),
        },
        (Some(_), _) => {
            let parts: Result<Vec<Vec<Part>>, Fault> =
                sent.iter().map(|(param, value)| parts(param, value)).collect();
            Ok(Body::Multipart(parts?.into_iter().flatten().collect()))
        }
        (None, _) => Ok(Body::Json(Value::Object(
            sent.iter().map(|(param, value)| (wire(param), (*value).clone())).collect(),
        ))),
    }
}

fn parts(param: &Param, value: &Value) -> Result<Vec<Part>, Fault> {
    if param.kind.base == Base::File {
        return file(param, value).map(|part| vec![part]);
    }
    encode::refuse_unclear_names(&param.name, value)?;
    let brackets = Param { array: ArrayForm::Brackets, ..param.clone() };
    Ok(pairs(&brackets, &wire(param), value)
        .into_iter()
        .map(|(name, value)| Part::Text { name, value })
        .collect())
}

/// Checks the name of a file, without the folders before it, for which GitLab answers 500. It is written to the header of its
/// part, so that line ends are refused.
fn filename(param: &Param, given: Option<&str>) -> Result<String, Fault> {
    match given.filter(|given| given.contains(char::is_control)) {
        Some(_) => Err(Fault::not_taken(&param.name, "the `filename` holds a control character")),
        None => Ok(given.and_then(last_segment).unwrap_or("file").to_owned()),
    }
}

fn last_segment(path: &str) -> Option<&str> {
    path.rsplit(['/', '\\']).next().filter(|last| !last.is_empty())
}

/// True if a text that is given for a file looks like the file's name and not like its content: one word with an ending.
fn is_like_name(text: &str) -> bool {
    let ending = text.rsplit_once('.').map(|(before, ending)| (!before.is_empty()).then_some(ending));
    let is_ending = |ending: &str| {
        ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.len() <= 5
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let is_place = ["/", "./", "../", "~/"].iter().any(|begin| text.starts_with(begin));
    !text.contains(char::is_whitespace) && (is_place || ending.flatten().is_some_and(is_ending))
}

/// The keys of a file.
const FILE_KEYS: [&str; 6] = ["filename", "name", "content", "content_base64", "encoding", "path"];

/// Builds a part from the content of a file, as text or in Base64, or from a path, which is read before sending.
pub fn file(param: &Param, value: &Value) -> Result<Part, Fault> {
    let said = |key: &str| value.get(key).and_then(Value::as_str);
    let spelled = |keys: &[&str]| keys.iter().find_map(|key| said(key));
    let wrong = |given: &str| Fault::WrongType {
        name: param.name.clone(),
        given: given.to_owned(),
        expected: super::coerce::expected(param),
    };
    let mut keys = value.as_object().into_iter().flat_map(Map::keys);
    if let Some(unknown) = keys.find(|key| !FILE_KEYS.contains(&key.as_str())) {
        return Err(Fault::Unknown {
            given: format!("{}.{unknown}", param.name),
            value: value.get(unknown).cloned().unwrap_or_default(),
            accepted: FILE_KEYS.iter().map(|key| format!("{}.{key}", param.name)).collect(),
        });
    }
    if let Some(name) = value.as_str().filter(|text| is_like_name(text)) {
        return Err(Fault::NotTaken {
            name: param.name.clone(),
            reason: "a text is the content of the file, and this is like its name: a local file is {\"path\": …}, a content \
                     {\"content\": …}"
                .to_owned(),
            instead: Some((param.name.clone(), json!({"path": name}))),
        });
    }
    let name = spelled(&["filename", "name"]);
    if let Some(path) = said("path") {
        if said("content").or(said("content_base64")).is_some() {
            return Err(wrong("both a `path` and a content"));
        }
        let filename = filename(param, name.or(last_segment(path)))?;
        return Ok(Part::Local { name: wire(param), filename, path: path.to_owned() });
    }
    let is_encoded = match said("encoding").map(str::to_lowercase).as_deref() {
        None | Some("text" | "utf-8" | "utf8") => false,
        Some("base64") => true,
        Some(_) => return Err(wrong("an `encoding` that is neither `text` nor `base64`")),
    };
    let decoded = |encoded: &str| encoded::decode(encoded).ok_or_else(|| wrong("what is not Base64"));
    let bytes = match (value.as_str().or_else(|| said("content")), said("content_base64")) {
        (Some(content), None) => match content.split_once(";base64,") {
            Some((head, encoded)) if head.starts_with("data:") && !head.contains(char::is_whitespace) => {
                decoded(encoded)?
            }
            _ if is_encoded => decoded(content)?,
            _ => content.as_bytes().to_vec(),
        },
        (None, Some(encoded)) => decoded(encoded)?,
        (Some(_), Some(_)) => return Err(wrong("both `content` and `content_base64`")),
        (None, None) => return Err(wrong("neither `content`, `content_base64` nor `path`")),
    };
    let filename = filename(param, name);
    Ok(Part::File { name: wire(param), filename: filename?, bytes: bytes.into() })
}
