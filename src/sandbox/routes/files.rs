//! Trees, files, blobs and archives.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::sandbox::answer::{Answer, created, ok};
use crate::sandbox::diff::Tree;
use crate::sandbox::errors::Fault;
use crate::sandbox::reply::Reply;
use crate::sandbox::repo::{Commit, sha_of};
use crate::sandbox::request::Request;
use crate::sandbox::route::{Route, Rule, delete, get, post, put};
use crate::sandbox::row::{Row, object};

const CHANGE: &[Rule] =
    &[Rule::Required("branch"), Rule::Required("commit_message"), Rule::Required("content")];
const GONE: &[Rule] = &[Rule::Required("branch"), Rule::Required("commit_message")];

pub const ROUTES: &[Route] = &[
    get("/projects/:id/repository/tree", tree),
    get("/projects/:id/repository/files/:file_path", file).rules(&[Rule::Required("ref")]),
    get("/projects/:id/repository/files/:file_path/raw", raw),
    get("/projects/:id/repository/files/:file_path/blame", blame).rules(&[Rule::Required("ref")]),
    post("/projects/:id/repository/files/:file_path", create).rules(CHANGE),
    put("/projects/:id/repository/files/:file_path", update).rules(CHANGE),
    delete("/projects/:id/repository/files/:file_path", remove).rules(GONE),
    get("/projects/:id/repository/blobs/:sha", blob),
    get("/projects/:id/repository/blobs/:sha/raw", raw_blob),
    get("/projects/:id/repository/archive", archive),
    get("/projects/:id/repository/archive.zip", archive),
    get("/projects/:id/repository/archive.tar.gz", archive),
    get("/projects/:id/repository/archive.tar.bz2", archive),
];

/// The smallest zip there is: one without files.
pub const EMPTY_ZIP: &[u8] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// An empty file, compressed by gzip.
pub const EMPTY_GZIP: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0";

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
        let id = tree.get(path).map_or_else(|| sha_of(path.as_bytes()), |bytes| sha_of(bytes));
        json!({"id": id, "name": path.rsplit('/').next(), "type": kind, "path": path, "mode": mode})
    };
    let folders = folders.iter().map(|path| entry(path, "tree"));
    folders.chain(files.iter().map(|path| entry(path, "blob"))).collect()
}

/// The file in the path: the commit looked at, its path and its bytes.
fn the(request: &Request<'_>) -> Result<(Commit, String, Vec<u8>), Fault> {
    let commit = request.commit_at("ref", "Commit")?;
    let path = request.param("file_path").to_owned();
    let bytes = commit.tree.get(&path).map(|bytes| bytes.to_vec()).ok_or(Fault::missing("File"))?;
    Ok((commit, path, bytes))
}

/// A file's description without its content.
fn described(request: &Request<'_>) -> Result<(Row, Vec<u8>), Fault> {
    let (commit, path, bytes) = the(request)?;
    let last = request.repo()?.last_change(&commit, &path).map(|commit| commit.id.clone());
    let row = object(json!({
        "file_name": path.rsplit('/').next(), "file_path": path, "size": bytes.len(), "encoding": "base64",
        "content_sha256": format!("{}{}", sha_of(&bytes), "0".repeat(24)),
        "ref": request.args.text("ref").unwrap_or_else(|| request.default_branch()), "blob_id": sha_of(&bytes),
        "commit_id": commit.id, "last_commit_id": last, "execute_filemode": false
    }));
    Ok((row, bytes))
}

/// A file's description as headers, which is how `HEAD` asks for it.
fn with_headers(mut reply: Reply, row: &Row) -> Reply {
    let names = [
        ("x-gitlab-blob-id", "blob_id"),
        ("x-gitlab-commit-id", "commit_id"),
        ("x-gitlab-content-sha256", "content_sha256"),
        ("x-gitlab-encoding", "encoding"),
        ("x-gitlab-file-name", "file_name"),
        ("x-gitlab-file-path", "file_path"),
        ("x-gitlab-last-commit-id", "last_commit_id"),
        ("x-gitlab-ref", "ref"),
        ("x-gitlab-size", "size"),
        ("x-gitlab-execute-filemode", "execute_filemode"),
    ];
    for (header, field) in names {
        reply =
            reply.with(header, row.get(field).and_then(crate::sandbox::args::text_of).unwrap_or_default());
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

/// The whole file is blamed on its last commit.
fn blame(request: &mut Request<'_>) -> Answer {
    let (commit, path, bytes) = the(request)?;
    let last = request.repo()?.last_change(&commit, &path).cloned().unwrap_or(commit);
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let fields = [
        "id",
        "parent_ids",
        "message",
        "authored_date",
        "author_name",
        "author_email",
        "committed_date",
        "committer_name",
        "committer_email",
    ];
    let mut commit = object(last.json(&request.web()));
    commit.retain(|name, _| fields.contains(&name.as_str()));
    ok(json!([{"commit": commit, "lines": lines}]))
}

/// Makes a commit of one action on the file in the path.
fn change(request: &mut Request<'_>, action: &str) -> Result<Value, Fault> {
    let (branch, message) = (request.args.text("branch"), request.args.text("commit_message"));
    let branch = branch.unwrap_or_default();
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
    all.find(|bytes| sha_of(bytes) == wanted).map(|bytes| bytes.to_vec()).ok_or(Fault::missing("Blob"))
}

fn blob(request: &mut Request<'_>) -> Answer {
    let bytes = blob_bytes(request)?;
    ok(
        json!({"size": bytes.len(), "encoding": "base64", "content": STANDARD.encode(&bytes), "sha": request.param("sha")}),
    )
}

fn raw_blob(request: &mut Request<'_>) -> Answer {
    Ok(Reply::bytes("application/octet-stream", blob_bytes(request)?))
}

/// An archive that holds nothing: enough to be downloaded.
fn archive(request: &mut Request<'_>) -> Answer {
    let commit = request.commit_at("sha", "File")?;
    let name = request.full_path().replace('/', "-");
    let disposition = format!("attachment; filename=\"{name}-{}.zip\"", commit.id);
    Ok(Reply::bytes("application/octet-stream", EMPTY_ZIP).with("content-disposition", disposition))
}
