//! The client's working copies: the project that they belong to, and local copies of files.

use std::path::Path;

use serde_json::{Map, Value};
use url::Url;

use crate::catalog::Action;
pub use crate::files::git_remote;
use crate::files::git_remote::RemoteError;
use crate::files::{Checkout, checkout};
use crate::messages::request::Answer;
use crate::tools::state::Tools;

/// Parts of the paths of operations that read or list files of a repository.
const FILES: [&str; 2] = ["/repository/files/", "/repository/tree"];

/// The ref of the default branch.
pub const DEFAULT_REF: &str = "HEAD";

/// The composite action that reads several files.
const READ_FILES: &str = "repository.read_files";

/// A working copy whose remote is on this GitLab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnCheckout {
    pub checkout: Checkout,
    /// The name of the remote.
    pub remote: String,
    /// The full paths that it may mean, the likeliest first.
    pub paths: Vec<String>,
}

/// The working copies in the client's directories, each with the remote that it follows; read anew, as a branch may
/// have been changed.
pub fn remotes(tools: &Tools) -> Vec<(Checkout, String, String)> {
    tools.workspace.roots().iter().filter_map(|root| followed_remote(root)).collect()
}

fn followed_remote(root: &Path) -> Option<(Checkout, String, String)> {
    let checkout = checkout(root)?;
    let (name, address) = git_remote::upstream(&checkout.config, git_remote::branch(&checkout.head))?;
    Some((checkout, name, address))
}

/// The project that a directory is a working copy of, by its address, and the name of its instance if several are
/// configured.
pub fn project_of(tools: &Tools, root: &str) -> Option<(String, Option<String>)> {
    let (_, _, address) = followed_remote(&Url::parse(root).ok()?.to_file_path().ok()?)?;
    let at = |base: &Url| {
        let ssh_host = tools.ssh_host.as_deref().filter(|_| *base == tools.base);
        git_remote::paths(&address, base, ssh_host).ok()?.into_iter().next()
    };
    if tools.instances.is_empty() {
        return Some((at(&tools.base)?, None));
    }
    tools.instances.iter().find_map(|label| Some((at(&label.base)?, Some(label.name.clone()))))
}

/// The full paths that a git remote may mean on this GitLab, the likeliest first.
pub fn remote_paths(tools: &Tools, address: &str) -> Result<Vec<String>, RemoteError> {
    git_remote::paths(address, &tools.base, tools.ssh_host.as_deref())
}

/// The first of them that comes from this GitLab.
pub fn own_checkout(tools: &Tools) -> Option<OwnCheckout> {
    remotes(tools).into_iter().find_map(|(checkout, remote, address)| {
        let paths = remote_paths(tools, &address).ok()?;
        Some(OwnCheckout { checkout, remote, paths })
    })
}

/// The default project of a call, with its origin.
pub fn default_project(tools: &Tools) -> Option<(String, &'static str)> {
    let configured = tools.project.clone().map(|path| (path, "the configured project"));
    let of_workspace = || Some((own_checkout(tools)?.paths.into_iter().next()?, "the workspace's project"));
    configured.or_else(of_workspace)
}

/// True if the action reads GitLab's copy of files that a workspace may have too.
pub fn is_remote(tools: &Tools, action: &Action) -> bool {
    let is_of_files = |path: &str| FILES.iter().any(|part| path.contains(part));
    let reads_files = || action.operations.iter().any(|operation| is_of_files(&operation.path));
    tools.local_hints && (action.id == READ_FILES || reads_files())
}

/// The note that a file of the workspace was read from GitLab, with the path of the local file.
pub fn copy_note(tools: &Tools, action: &Action, params: &Map<String, Value>) -> Option<String> {
    if !is_remote(tools, action) {
        return None;
    }
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    let project = match text("fullPath") {
        Some(project) => project.to_owned(),
        // An alias or `target` may name another project.
        None if !params.keys().all(|name| action.param(name).is_some()) => return None,
        None => default_project(tools)?.0,
    };
    let own = own_checkout(tools)?;
    let is_own = |path: &String| path.eq_ignore_ascii_case(project.trim_matches('/'));
    if !own.paths.iter().any(is_own) {
        return None;
    }
    if action.id != READ_FILES {
        return local_copy(&own, text("file_path")?, text("ref"));
    }
    let files = params.get("files")?.as_array()?.iter();
    let mut copies = files.filter_map(|file| {
        let text = |name: &str| file.get(name).and_then(Value::as_str);
        local_copy(&own, text("path")?, text("ref"))
    });
    copies.next()
}

/// The note on one file. Without a ref the default branch was read, which may not be the one that is checked out.
fn local_copy(own: &OwnCheckout, path: &str, git_ref: Option<&str>) -> Option<String> {
    let path = path.trim_start_matches('/');
    let git_ref = git_ref.filter(|name| *name != DEFAULT_REF);
    let is_branch = git_ref.is_none_or(|name| git_remote::branch(&own.checkout.head) == Some(name));
    if !is_branch || !own.checkout.has(path) {
        return None;
    }
    let local = own.checkout.root.join(path);
    Some(format!(
        "this is GitLab's copy at {}; the workspace has its own, which may differ: {}",
        git_ref.unwrap_or("the default branch"),
        local.display()
    ))
}

/// The answer that begins by saying so.
pub fn with_note(hint: Option<String>, mut answer: Answer) -> Answer {
    let Some(hint) = hint else { return answer };
    let hint = crate::present::line(&hint);
    answer.text = format!("Note: {hint}.\n{}", answer.text);
    let notes = answer.structured.entry("notes").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(notes) = notes {
        notes.insert(0, Value::String(hint));
    }
    answer
}
