//! The catalog as the documentation of GitLab that the sandbox imitates.

use std::path::PathBuf;
use std::sync::Arc;

use crate::catalog::{Action, Base, Catalog, CatalogError, Method, Operation, Param, Place, Version};
use gitlab_mcp_sandbox::{
    Documentation, DocumentedOperation, DocumentedParam, ParamKind, Unreadable, normal_path,
};

pub use gitlab_mcp_sandbox::{Sandbox, SandboxError};

/// The methods of HTTP that GitLab uses.
const METHODS: [Method; 6] =
    [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];

/// Starts a sandbox on the current tokio runtime; with a file it keeps its changes for the next start, with an older
/// version of GitLab it lacks the operations and parameters that came later.
pub async fn start_sandbox(file: Option<PathBuf>, older: Option<Version>) -> Result<Sandbox, SandboxError> {
    let documentation =
        CatalogDocumentation::load(older).map_err(|error| SandboxError::Documentation(error.into()))?;
    Sandbox::start(file, Arc::new(documentation)).await
}

/// The embedded catalog.
#[derive(Debug)]
struct CatalogDocumentation {
    catalog: Catalog,
    /// A version that lacks what came later.
    older: Option<Version>,
}

impl CatalogDocumentation {
    fn load(older: Option<Version>) -> Result<Self, CatalogError> {
        Ok(Self { catalog: Catalog::embedded()?, older })
    }

    fn is_newer(&self, since: Option<Version>) -> bool {
        since.zip(self.older).is_some_and(|(since, version)| since > version)
    }

    /// The accepted values of the version.
    fn choices(&self, param: &Param) -> Vec<String> {
        let is_known = |choice: &&String| !self.is_newer(param.choices_since.get(*choice).copied());
        param.choices.iter().filter(is_known).cloned().collect()
    }

    fn operation(&self, action: &Action, operation: &Operation) -> DocumentedOperation {
        let of_scope = |param: &&Param| param.is_of_scope(operation.scope);
        let params = action.params.iter().filter(of_scope).map(|param| DocumentedParam {
            name: param.wire.clone().unwrap_or_else(|| param.name.clone()),
            is_newer: self.is_newer(param.since),
            in_path: matches!(param.place, Place::Path | Place::Selector),
            is_declared: !param.undocumented && matches!(param.place, Place::Query | Place::Body),
            kind: match param.kind.base {
                Base::Integer => ParamKind::Integer,
                Base::Boolean => ParamKind::Boolean,
                _ => ParamKind::Other,
            },
            many: param.kind.many,
            choices: self.choices(param),
        });
        DocumentedOperation { is_newer: self.is_newer(operation.since), params: params.collect() }
    }
}

impl Documentation for CatalogDocumentation {
    fn version(&self) -> String {
        self.older.or(env!("CATALOG_GITLAB_VERSION").parse().ok()).unwrap_or_default().to_string()
    }

    fn operations(&self, method: &str, path: &str) -> Result<Vec<DocumentedOperation>, Unreadable> {
        let Some(method) = METHODS.iter().find(|known| known.name() == method) else { return Ok(Vec::new()) };
        let path = normal_path(path);
        let same = |operation: &&Operation| {
            operation.method == *method && operation.graphql.is_none() && normal_path(&operation.path) == path
        };
        let mut found = Vec::new();
        for (_, id) in
            self.catalog.operations()?.paths(*method).filter(|(known, _)| normal_path(known) == path)
        {
            let Some(action) = self.catalog.get(id)? else { continue };
            let operations = action.operations.iter().filter(same);
            found.extend(operations.map(|operation| self.operation(&action, operation)));
        }
        Ok(found)
    }

    fn methods(&self, segments: &[String]) -> Result<Vec<&'static str>, Unreadable> {
        let operations = self.catalog.operations()?;
        let served = METHODS.iter().filter(|method| !operations.rest(**method, segments).is_empty());
        Ok(served.map(|method| method.name()).collect())
    }
}
