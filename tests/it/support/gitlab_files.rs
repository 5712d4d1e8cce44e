//! GitLab's own files, where `GITLAB_API_FILES` says they are.

use std::path::PathBuf;

/// The folder with `openapi.yaml` and `schema.graphql` of the version that the catalog describes: the one of the variable,
/// or the folder in it that is named after the version.
pub fn folder() -> PathBuf {
    let folder = PathBuf::from(std::env::var_os("GITLAB_API_FILES").expect("GITLAB_API_FILES"));
    let of_version = folder.join(env!("CATALOG_GITLAB_VERSION"));
    if of_version.is_dir() { of_version } else { folder }
}

/// The folder of recorded answers, which are of several versions: beside the files, or beside their folder.
pub fn answers() -> PathBuf {
    let folder = folder();
    let within = folder.join("answers");
    if within.is_dir() { within } else { folder.with_file_name("answers") }
}
