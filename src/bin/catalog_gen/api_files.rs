//! Arguments that name GitLab's files and their versions.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{FILES_VARIABLE, GeneratorError};
use crate::{older, output};

/// GitLab's own files.
#[derive(Args)]
pub struct ApiFiles {
    /// GitLab's OpenAPI document, `doc/api/openapi/openapi_v3.yaml` of its repository [default:
    /// $GITLAB_API_FILES/openapi.yaml, or that in the folder of the catalog's version]
    #[arg(long, value_name = "FILE")]
    openapi: Option<PathBuf>,
    /// GitLab's GraphQL schema as SDL [default: $GITLAB_API_FILES/schema.graphql]
    #[arg(long, value_name = "FILE")]
    graphql: Option<PathBuf>,
    /// Files of an older GitLab: operations that they lack were introduced later. May be given several times
    #[arg(long, value_name = "VERSION=FOLDER")]
    pub also: Vec<older::OlderFiles>,
}

impl ApiFiles {
    pub fn openapi(&self, catalog: &Path) -> Result<PathBuf, GeneratorError> {
        find_file(&self.openapi, "--openapi", "openapi.yaml", catalog)
    }

    pub fn graphql(&self, catalog: &Path) -> Result<PathBuf, GeneratorError> {
        find_file(&self.graphql, "--graphql", "schema.graphql", catalog)
    }
}

/// The given file, else that of the folder; or of the folder in it that is named after the version of the catalog.
fn find_file(
    given: &Option<PathBuf>,
    flag: &'static str,
    name: &str,
    catalog: &Path,
) -> Result<PathBuf, GeneratorError> {
    if let Some(given) = given {
        return Ok(given.clone());
    }
    let folder = std::env::var_os(FILES_VARIABLE).ok_or(GeneratorError::NoFile { flag })?;
    let of_version = Path::new(&folder).join(output::gitlab_version(catalog)?.to_string()).join(name);
    Ok(if of_version.exists() { of_version } else { Path::new(&folder).join(name) })
}
