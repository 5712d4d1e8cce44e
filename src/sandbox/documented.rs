//! GitLab's own operations and their parameters, from the catalog, to distinguish parameters that the sandbox lacks
//! from those that GitLab does not have either.

use serde_json::Value;

use crate::catalog::{Action, Base, Catalog, CatalogError, Method, Operation, Param, Place, Version};

use super::args::{Args, switch, text_of};

/// The methods of HTTP that GitLab uses.
const METHODS: [Method; 6] =
    [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];

/// The operations of GitLab's REST interface.
#[derive(Debug)]
pub struct Documented {
    catalog: Catalog,
    /// A version that lacks what came later.
    older: Option<Version>,
}

/// The parts of an operation that an older version lacks.
pub enum Newer {
    Operation,
    /// Names of parameters, as they are sent.
    Params(Vec<String>),
}

impl Documented {
    /// Opens the embedded catalog.
    pub fn load(older: Option<Version>) -> Result<Self, CatalogError> {
        Ok(Self { catalog: Catalog::embedded()?, older })
    }

    /// The version of GitLab that the operations are of.
    pub fn version(&self) -> Version {
        self.older.or(env!("CATALOG_GITLAB_VERSION").parse().ok()).unwrap_or_default()
    }

    /// The parts of a route's operation that the version lacks.
    pub fn newer(&self, method: &str, pattern: &str) -> Result<Newer, CatalogError> {
        let mut params = Vec::new();
        let Some(version) = self.older else { return Ok(Newer::Params(params)) };
        let is_newer = |since: Option<Version>| since.is_some_and(|since| since > version);
        for (action, operation) in self.of_route(method, pattern)? {
            if is_newer(operation.since) {
                return Ok(Newer::Operation);
            }
            let newer = action.params.iter().filter(|param| is_newer(param.since));
            params.extend(newer.map(|param| param.wire.clone().unwrap_or_else(|| param.name.clone())));
        }
        Ok(Newer::Params(params))
    }

    /// The actions of a route, with their operations there.
    fn of_route(&self, method: &str, pattern: &str) -> Result<Vec<(Action, Operation)>, CatalogError> {
        let Some(method) = METHODS.iter().find(|known| known.name() == method) else { return Ok(Vec::new()) };
        let path = normal(pattern);
        let same = |operation: &&Operation| {
            operation.method == *method && operation.graphql.is_none() && normal(&operation.path) == path
        };
        let mut found = Vec::new();
        for (_, id) in self.catalog.operations()?.paths(*method).filter(|(known, _)| normal(known) == path) {
            let Some(action) = self.catalog.get(id)? else { continue };
            found.extend(
                action.operations.iter().filter(same).map(|operation| (action.clone(), operation.clone())),
            );
        }
        Ok(found)
    }

    /// The methods that GitLab has for a path.
    pub fn methods(&self, parts: &[String]) -> Result<Vec<&'static str>, CatalogError> {
        let operations = self.catalog.operations()?;
        let served = METHODS.iter().filter(|method| !operations.rest(**method, parts).is_empty());
        Ok(served.map(|method| method.name()).collect())
    }

    /// The problems of arguments whose type or values GitLab declares, in the words of Grape
    /// (<https://github.com/ruby-grape/grape>, locale/en.yml).
    pub fn problems(&self, method: &str, pattern: &str, args: &Args) -> Result<Vec<String>, CatalogError> {
        let mut problems = Vec::new();
        for (action, operation) in self.of_route(method, pattern)? {
            let declared = action.params.iter().filter(|param| {
                let of_scope = param.scopes.is_empty() || param.scopes.contains(&operation.scope);
                of_scope && !param.undocumented && matches!(param.place, Place::Query | Place::Body)
            });
            problems.extend(declared.filter_map(|param| problem(param, args)));
        }
        problems.dedup();
        Ok(problems)
    }

    /// The first of these names that is a parameter of the operation of a route.
    pub fn param<'n>(
        &self,
        method: &str,
        pattern: &str,
        names: &'n [String],
    ) -> Result<Option<&'n String>, CatalogError> {
        for (action, operation) in self.of_route(method, pattern)? {
            let taken = action.params.iter().filter(|param| {
                !matches!(param.place, Place::Path | Place::Selector)
                    && (param.scopes.is_empty() || param.scopes.contains(&operation.scope))
            });
            let taken: Vec<&str> = taken.map(|param| param.wire.as_deref().unwrap_or(&param.name)).collect();
            // `not[labels]` is a parameter of its own or a field of `not`.
            let bare = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
            let is_taken = |name: &&String| {
                taken.iter().any(|known| *known == name.as_str() || bare(known) == bare(name))
            };
            if let Some(name) = names.iter().find(is_taken) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }
}

/// The problem of an argument: a value of another type, or none of the declared ones.
fn problem(param: &Param, args: &Args) -> Option<String> {
    let name = param.wire.as_deref().unwrap_or(&param.name);
    // The interface of GraphQL takes lists where this one has single values.
    let values = match args.peek(name)? {
        Value::Array(_) if !param.kind.many => return None,
        Value::Array(values) => values.iter().filter_map(text_of).collect(),
        one if param.kind.many => text_of(one)?.split(',').map(str::to_owned).collect(),
        one => vec![text_of(one)?],
    };
    let is_typed = |value: &String| match param.kind.base {
        Base::Integer => value.is_empty() || value.parse::<i64>().is_ok(),
        Base::Boolean => value.is_empty() || switch(value).is_some(),
        _ => true,
    };
    if !values.iter().all(is_typed) {
        return Some(format!("{name} is invalid"));
    }
    let is_declared = |value: &String| param.choices.is_empty() || param.choices.contains(value);
    (!values.iter().all(is_declared)).then(|| format!("{name} does not have a valid value"))
}

/// A path with `{}` for each placeholder, without the `-` that GitLab leaves to choice.
pub fn normal(path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != "-");
    let parts = parts.map(|part| if part.starts_with([':', '*']) { "{}" } else { part });
    parts.collect::<Vec<_>>().join("/")
}
