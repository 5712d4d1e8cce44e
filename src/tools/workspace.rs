//! The directories that the client works in: which project they are of, and which of its files are there too.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use url::Url;

use super::{Answer, Tools, remote};
use crate::catalog::Action;
use crate::files::{Checkout, checkout};

/// How many directories are looked at.
const MOST: usize = 20;

/// What ends the paths of operations that read a file of a repository, and of those that list some.
const FILES: [&str; 2] = ["/repository/files/", "/repository/tree"];

/// The ref of the default branch.
pub const DEFAULT_REF: &str = "HEAD";

/// The directories, as the client named them.
#[derive(Debug, Default)]
pub struct Workspace {
    roots: Mutex<Vec<PathBuf>>,
}

/// A working copy whose remote is on this GitLab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    pub checkout: Checkout,
    /// The name of the remote.
    pub remote: String,
    /// The full paths that it may mean, the likeliest first.
    pub paths: Vec<String>,
}

impl Workspace {
    /// Takes the addresses (`file:///home/me/project`) of the directories; what is no file's is passed over.
    pub fn name(&self, roots: &[String]) {
        let paths = roots.iter().filter_map(|root| Url::parse(root).ok()?.to_file_path().ok());
        *self.roots.lock().unwrap_or_else(PoisonError::into_inner) = paths.take(MOST).collect();
    }

    fn roots(&self) -> Vec<PathBuf> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The working copies in the client's directories, each with the remote that it follows; read anew, as a branch may
/// have been changed.
pub fn remotes(tools: &Tools) -> Vec<(Checkout, String, String)> {
    tools.workspace.roots().iter().filter_map(|root| followed(root)).collect()
}

fn followed(root: &Path) -> Option<(Checkout, String, String)> {
    let checkout = checkout(root)?;
    let (name, address) = remote::upstream(&checkout.config, remote::branch(&checkout.head))?;
    Some((checkout, name, address))
}

/// The project of this GitLab's that a directory is a working copy of, by its address.
pub fn project_of(tools: &Tools, root: &str) -> Option<String> {
    let (_, _, address) = followed(&Url::parse(root).ok()?.to_file_path().ok()?)?;
    remote::paths(&address, &tools.base).ok()?.into_iter().next()
}

/// The first of them that comes from this GitLab.
pub fn own(tools: &Tools) -> Option<Own> {
    remotes(tools).into_iter().find_map(|(checkout, remote, address)| {
        let paths = remote::paths(&address, &tools.base).ok()?;
        Some(Own { checkout, remote, paths })
    })
}

/// The project that is meant where a call names none, with why.
pub fn default_project(tools: &Tools) -> Option<(String, &'static str)> {
    let configured = tools.project.clone().map(|path| (path, "the configured project"));
    let of_workspace = || Some((own(tools)?.paths.into_iter().next()?, "the workspace's project"));
    configured.or_else(of_workspace)
}

/// Whether the action shows GitLab's copy of what a workspace may have as well.
pub fn is_remote(tools: &Tools, action: &Action) -> bool {
    let is_of_files = |path: &str| FILES.iter().any(|part| path.contains(part));
    tools.local_hints && action.operations.iter().any(|operation| is_of_files(&operation.path))
}

/// The note on a file of GitLab's that the workspace has too: this is GitLab's copy, and where the local file is.
pub fn hint(tools: &Tools, action: &Action, params: &serde_json::Map<String, Value>) -> Option<String> {
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    let path = text("file_path").filter(|_| is_remote(tools, action))?;
    let (own, copy) = copy(tools, text("fullPath")?, &[(path, text("ref"))])?;
    Some(format!(
        "{copy}; the workspace has its own, which may differ: {}",
        own.checkout.root.join(path).display()
    ))
}

/// The same note on several files, each with the ref that it is read at.
pub fn hint_on_files(tools: &Tools, project: &str, files: &[(&str, Option<&str>)]) -> Option<String> {
    let is_kept = |file: &&(&str, Option<&str>)| copy(tools, project, &[**file]).is_some();
    let kept: Vec<(&str, Option<&str>)> = files.iter().filter(is_kept).copied().collect();
    let (own, copy) = copy(tools, project, &kept)?;
    let mut names: Vec<&str> = kept.iter().map(|(path, _)| *path).collect();
    names.dedup();
    Some(format!(
        "{}: {copy}; the workspace has its own, which may differ: {}",
        names.join(", "),
        own.checkout.root.display()
    ))
}

/// The working copy of a project, if it has the files and they are read at its branch or at the default branch; and
/// what GitLab's copy is called.
fn copy(tools: &Tools, project: &str, files: &[(&str, Option<&str>)]) -> Option<(Own, String)> {
    let (_, first) = files.first().filter(|_| tools.local_hints)?;
    let own = own(tools)?;
    let project = project.trim_matches('/');
    let is_project = own.paths.iter().any(|path| path.eq_ignore_ascii_case(project));
    let branch = remote::branch(&own.checkout.head);
    let is_own = |at: &Option<&str>| at.is_none_or(|at| at == DEFAULT_REF || branch == Some(at));
    if !is_project || !files.iter().all(|(path, at)| is_own(at) && own.checkout.has(path)) {
        return None;
    }
    let copy = match first.filter(|at| *at != DEFAULT_REF) {
        Some(at) => format!("this is GitLab's copy at {at}"),
        None => "this is GitLab's copy at the default branch".to_owned(),
    };
    Some((own, copy))
}

/// The answer that begins by saying so.
pub fn told(hint: Option<String>, mut answer: Answer) -> Answer {
    let Some(hint) = hint else { return answer };
    let hint = crate::present::line(&hint);
    answer.text = format!("Note: {hint}.\n{}", answer.text);
    let notes = answer.structured.entry("notes").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(notes) = notes {
        notes.insert(0, Value::String(hint));
    }
    answer
}
