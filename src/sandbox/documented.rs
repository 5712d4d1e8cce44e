//! GitLab's own operations and their parameters, from the catalog, to distinguish parameters that the sandbox lacks
//! from those that GitLab does not have either.

use crate::catalog::{Catalog, CatalogError, Method, Operation, Place};

/// The methods of HTTP that GitLab uses.
const METHODS: [Method; 6] =
    [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];

/// The operations of GitLab's REST interface.
#[derive(Debug)]
pub struct Documented(Catalog);

impl Documented {
    /// Opens the embedded catalog.
    pub fn load() -> Result<Self, CatalogError> {
        Catalog::embedded().map(Self)
    }

    /// The methods that GitLab has for a path.
    pub fn methods(&self, parts: &[String]) -> Result<Vec<&'static str>, CatalogError> {
        let operations = self.0.operations()?;
        let served = METHODS.iter().filter(|method| !operations.rest(**method, parts).is_empty());
        Ok(served.map(|method| method.name()).collect())
    }

    /// The first of these names that is a parameter of the operation of a route.
    pub fn param<'n>(
        &self,
        method: &str,
        pattern: &str,
        names: &'n [String],
    ) -> Result<Option<&'n String>, CatalogError> {
        let Some(method) = METHODS.iter().find(|known| known.name() == method) else { return Ok(None) };
        let operations = self.0.operations()?;
        let path = normal(pattern);
        let owners = operations.paths(*method).filter(|(known, _)| normal(known) == path);
        for (_, id) in owners {
            let Some(action) = self.0.get(id)? else { continue };
            let same = |operation: &&Operation| {
                operation.method == *method && operation.graphql.is_none() && normal(&operation.path) == path
            };
            for operation in action.operations.iter().filter(same) {
                let taken = action.params.iter().filter(|param| {
                    !matches!(param.place, Place::Path | Place::Selector)
                        && (param.scopes.is_empty() || param.scopes.contains(&operation.scope))
                });
                let taken: Vec<&str> =
                    taken.map(|param| param.wire.as_deref().unwrap_or(&param.name)).collect();
                // `not[labels]` is a parameter of its own or a field of `not`.
                let bare = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
                let is_taken = |name: &&String| {
                    taken.iter().any(|known| *known == name.as_str() || bare(known) == bare(name))
                };
                if let Some(name) = names.iter().find(is_taken) {
                    return Ok(Some(name));
                }
            }
        }
        Ok(None)
    }
}

/// A path with `{}` for each placeholder, without the `-` that GitLab leaves to choice.
fn normal(path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != "-");
    let parts = parts.map(|part| if part.starts_with([':', '*']) { "{}" } else { part });
    parts.collect::<Vec<_>>().join("/")
}
