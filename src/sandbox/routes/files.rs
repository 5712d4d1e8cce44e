//! Trees, files, blobs and archives.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::archive;
use crate::args::text_of;
use crate::diff::Tree;
use crate::git_object::{blob_id, sha256, tree_id};
use crate::prelude::*;
use crate::repo::Commit;

use super::branch_rights::can_push;

const CHANGE: &[Rule] =
    &[Rule::Required("branch"), Rule::Required("commit_message"), Rule::Required("content")];
const GONE: &[Rule] = &[Rule::Required("branch"), Rule::Required("commit_message")];

pub const ROUTES: &[Route] = &[
    get("/tree", tree),
    get("/files/:file_path", file).rules(&[Rule::Required("ref")]),
    get("/files/:file_path/raw", raw),
    get("/files/:file_path/blame", blame).rules(&[Rule::Required("ref")]),
    post("/files/:file_path", create).rules(CHANGE),
    put("/files/:file_path", update).rules(CHANGE),
    delete("/files/:file_path", remove).rules(GONE),
    post("/blobs/batch", blobs).rules(&[Rule::Required("files")]),
    get("/blobs/:sha", blob),
    get("/blobs/:sha/raw", raw_blob),
    get("/archive(|.zip|.tar.gz|.tar|.tar.bz2)", archive),
];

fn tree(request: &mut Request<'_>) -> Answer {
    let commit = request.commit_at("ref", "Tree")?;
    let path = request.args.text("path").unwrap_or_default();
    let prefix = if path.is_empty() { String::new() } else { format!("{}/", path.trim_end_matches('/')) };
    let rows = entries(&commit.tree, &prefix, request.args.flag("recursive"));
    if rows.is_empty() && !prefix.is_empty() {
        return Err(Fault::missing("invalid revision or path"));
    }
    if request.args.text("pagination").as_deref() == Some("keyset") {
        // Two files may be the same blob, so that its id would not do as GitLab's own token does.
        let path = |row: &Value| row.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
        return request.page_after(rows, "page_token", path);
    }
    request.page(rows)
}

/// Entries of a directory, the directories first.
fn entries(tree: &Tree, prefix: &str, recursive: bool) -> Vec<Value> {
    let mut folders: Vec<String> = Vec::new();
    let mut files = Vec::new();
    for path in tree.keys().filter(|path| path.starts_with(prefix)) {
        let rest = path.strip_prefix(prefix).unwrap_or_default();
        let mut at = prefix.to_owned();
        let mut parts = rest.split('/').peekable();
        while let Some(part) = parts.next() {
            at.push_str(part);
            if parts.peek().is_none() {
                files.push(at.clone());
            } else if !folders.contains(&at) {
                folders.push(at.clone());
            }
            if !recursive {
                break;
            }
            at.push('/');
        }
    }
    let entry = |path: &String, kind: &str| {
        let mode = if kind == "tree" { "040000" } else { "100644" };
        let id = tree.get(path).map_or_else(|| tree_id(tree, &format!("{path}/")), |bytes| blob_id(bytes));
        json!({"id": id, "name": path.rsplit('/').next(), "type": kind, "path": path, "mode": mode})
    };
    let folders = folders.iter().map(|path| entry(path, "tree"));
    folders.chain(files.iter().map(|path| entry(path, "blob"))).collect()
}

/// The file in the path: the commit looked at, its path and its bytes.
fn find_file(request: &Request<'_>) -> Result<(Commit, String, Vec<u8>), Fault> {
    let commit = request.commit_at("ref", "Commit")?;
    let path = request.param("file_path").to_owned();
    let bytes = commit.tree.get(&path).map(|bytes| bytes.to_vec()).ok_or(Fault::missing("File"))?;
    Ok((commit, path, bytes))
}

/// A file's description without its content.
fn described(request: &Request<'_>) -> Result<(Row, Vec<u8>), Fault> {
    let (commit, path, bytes) = find_file(request)?;
    let last = request.repo()?.last_change(&commit, &path).map(|commit| commit.id.clone());
    let row = object(json!({
        "file_name": path.rsplit('/').next(), "file_path": path, "size": bytes.len(), "encoding": "base64",
        "content_sha256": sha256(&bytes),
        "ref": request.args.text("ref").unwrap_or_else(|| request.default_branch()), "blob_id": blob_id(&bytes),
        "commit_id": commit.id, "last_commit_id": last, "execute_filemode": false
    }));
    Ok((row, bytes))
}

/// A file's description as headers, which is how `HEAD` asks for it.
fn with_headers(mut reply: Reply, row: &Row) -> Reply {
    for (field, value) in row {
        let header = format!("x-gitlab-{}", field.replace('_', "-"));
        reply = reply.with(header, text_of(value).unwrap_or_default());
    }
    reply
}

fn file(request: &mut Request<'_>) -> Answer {
    let (mut row, bytes) = described(request)?;
    let headers = row.clone();
    row.insert("content".to_owned(), Value::from(STANDARD.encode(bytes)));
    Ok(with_headers(Reply::json(200, row), &headers))
}

fn raw(request: &mut Request<'_>) -> Answer {
    let (row, bytes) = described(request)?;
    let text = std::str::from_utf8(&bytes).is_ok();
    let kind = if text { "text/plain; charset=utf-8" } else { "application/octet-stream" };
    Ok(with_headers(Reply::bytes(kind, bytes), &row))
}

/// The lines of a file, each with the commit that it comes from.
fn blame(request: &mut Request<'_>) -> Answer {
    let (commit, path, _) = find_file(request)?;
    let left_out = ["short_id", "created_at", "title", "trailers", "extended_trailers", "web_url"];
    let web = request.web();
    let shown = request.repo()?.blame(&commit, &path).into_iter().map(|(commit, lines)| {
        let mut commit = object(commit.json(&web));
        commit.retain(|name, _| !left_out.contains(&name.as_str()));
        json!({"commit": commit, "lines": lines})
    });
    ok(shown.collect::<Vec<_>>())
}

/// Makes a commit of one action on the file in the path.
fn change(request: &mut Request<'_>, action: &str) -> Result<Value, Fault> {
    let (branch, message) = (request.args.text("branch"), request.args.text("commit_message"));
    let branch = branch.unwrap_or_default();
    if !can_push(request, &branch) {
        return Err(Fault::refused(400, super::commits::NO_PUSH));
    }
    let path = request.param("file_path").to_owned();
    let given = ["content", "encoding", "last_commit_id"];
    let given = given.iter().filter_map(|name| Some(((*name).to_owned(), request.args.get(name)?.clone())));
    let mut row: Row = given.collect();
    row.insert("action".to_owned(), Value::from(action));
    row.insert("file_path".to_owned(), Value::from(path.clone()));
    super::commits::commit(request, &branch, &message.unwrap_or_default(), &[row])?;
    Ok(json!({"file_path": path, "branch": branch}))
}

fn create(request: &mut Request<'_>) -> Answer {
    created(change(request, "create")?)
}

fn update(request: &mut Request<'_>) -> Answer {
    ok(change(request, "update")?)
}

fn remove(request: &mut Request<'_>) -> Answer {
    change(request, "delete")?;
    Ok(Reply::empty())
}

fn blob_bytes(request: &Request<'_>) -> Result<Vec<u8>, Fault> {
    let wanted = request.param("sha");
    let repo = request.repo()?;
    let heads = repo.branches.values().filter_map(|id| repo.resolve(id));
    let mut all = heads.flat_map(|head| head.tree.values());
    all.find(|bytes| blob_id(bytes) == wanted).map(|bytes| bytes.to_vec()).ok_or(Fault::missing("Blob"))
}

fn blob(request: &mut Request<'_>) -> Answer {
    let bytes = blob_bytes(request)?;
    ok(
        json!({"size": bytes.len(), "encoding": "base64", "content": STANDARD.encode(&bytes), "sha": request.param("sha")}),
    )
}

/// Files by path and ref; one that is not there is left out.
fn blobs(request: &mut Request<'_>) -> Answer {
    let repo = request.repo()?;
    let files = request.args.rows("files");
    let shown = files.iter().filter_map(|file| {
        let at = Some(file.text("ref")).filter(|at| !at.is_empty()).unwrap_or("HEAD");
        let commit = repo.resolve(at)?;
        let bytes = commit.tree.get(file.text("path"))?;
        let content = STANDARD.encode(&**bytes);
        Some(json!({
            "path": file.text("path"), "ref": commit.id, "size": bytes.len(), "truncated": false,
            "encoding": "base64", "content": content
        }))
    });
    ok(shown.collect::<Value>())
}

fn raw_blob(request: &mut Request<'_>) -> Answer {
    Ok(Reply::bytes("application/octet-stream", blob_bytes(request)?))
}

/// The files of a commit as an archive, in the format that the path ends with.
fn archive(request: &mut Request<'_>) -> Answer {
    let reference = request.args.text("sha").unwrap_or_else(|| request.default_branch());
    let commit = request.commit_at("sha", "File")?;
    let mut files = commit.tree;
    if let Some(path) = request.args.text("path") {
        let inside = format!("{}/", path.trim_end_matches('/'));
        files.retain(|file, _| *file == path || file.starts_with(&inside));
    }
    let project = request.place_row()?.text("path").to_owned();
    let name = match reference == commit.id {
        true => format!("{project}-{reference}"),
        false => format!("{project}-{}-{}", reference.replace('/', "-"), commit.id),
    };
    let prefix = format!("{name}/");
    let (ending, bytes) = match request.pattern.rsplit_once("/archive").map(|(_, ending)| ending) {
        Some(".zip") => (".zip", archive::zip(&files, &prefix)),
        Some(".tar.bz2") => return Err(Fault::NotHeld("archives compressed by bzip2".to_owned())),
        Some(".tar") => (".tar", archive::tar(&files, &prefix)),
        _ => (".tar.gz", archive::tar_gz(&files, &prefix)?),
    };
    let disposition = format!("attachment; filename=\"{name}{ending}\"");
    Ok(Reply::bytes("application/octet-stream", bytes).with("content-disposition", disposition))
}
