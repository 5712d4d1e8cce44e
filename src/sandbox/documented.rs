//! GitLab's own operations and their parameters, to distinguish parameters that the sandbox lacks from those that
//! GitLab does not have either.

use std::sync::Arc;

use serde_json::Value;

use super::args::{Args, switch, text_of};
use super::documentation::{Documentation, DocumentedOperation, DocumentedParam, ParamKind, Unreadable};

/// The operations of GitLab's REST interface.
#[derive(Clone, Debug)]
pub struct Documented(Arc<dyn Documentation>);

/// The parts of a route that an older version lacks.
pub enum Newer<'a> {
    Operation,
    /// Names of parameters, as they are sent.
    Params(Vec<&'a str>),
}

impl Documented {
    /// The operations of a documentation.
    pub fn new(documentation: Arc<dyn Documentation>) -> Self {
        Self(documentation)
    }

    /// The version of GitLab that the operations are of.
    pub fn version(&self) -> String {
        self.0.version()
    }

    /// The operations of a route.
    pub fn route(&self, method: &str, pattern: &str) -> Result<DocumentedRoute, Unreadable> {
        Ok(DocumentedRoute(self.0.operations(method, pattern)?))
    }

    /// The methods that GitLab has for a path.
    pub fn methods(&self, segments: &[String]) -> Result<Vec<&'static str>, Unreadable> {
        self.0.methods(segments)
    }
}

/// The operations of one route.
#[derive(Debug)]
pub struct DocumentedRoute(Vec<DocumentedOperation>);

impl DocumentedRoute {
    /// The parts that the version lacks.
    pub fn newer(&self) -> Newer<'_> {
        if self.0.iter().any(|operation| operation.is_newer) {
            return Newer::Operation;
        }
        let params = self.0.iter().flat_map(|operation| &operation.params);
        Newer::Params(params.filter(|param| param.is_newer).map(|param| param.name.as_str()).collect())
    }

    /// The problems of arguments whose type or values GitLab declares, in the words of Grape
    /// (<https://github.com/ruby-grape/grape>, locale/en.yml).
    pub fn problems(&self, args: &Args) -> Vec<String> {
        let params = self.0.iter().flat_map(|operation| &operation.params);
        let mut problems: Vec<String> =
            params.filter(|param| param.is_declared).filter_map(|param| problem(param, args)).collect();
        problems.dedup();
        problems
    }

    /// The first of these names that is a parameter.
    pub fn param<'n>(&self, names: &'n [String]) -> Option<&'n String> {
        // `not[labels]` is a parameter of its own or a field of `not`.
        let bare = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
        let params = self.0.iter().flat_map(|operation| &operation.params).filter(|param| !param.in_path);
        let taken: Vec<String> = params.map(|param| bare(&param.name)).collect();
        names.iter().find(|name| taken.contains(&bare(name)))
    }
}

/// The problem of an argument: a value of another type, or none of the declared ones.
fn problem(param: &DocumentedParam, args: &Args) -> Option<String> {
    let name = &param.name;
    // The interface of GraphQL takes lists where this one has single values.
    let values = match args.peek(name)? {
        Value::Array(_) if !param.many => return None,
        Value::Array(values) => values.iter().filter_map(text_of).collect(),
        one if param.many => text_of(one)?.split(',').map(str::to_owned).collect(),
        one => vec![text_of(one)?],
    };
    let is_typed = |value: &String| match param.kind {
        ParamKind::Integer => value.is_empty() || value.parse::<i64>().is_ok(),
        ParamKind::Boolean => value.is_empty() || switch(value).is_some(),
        ParamKind::Other => true,
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
