//! Operations of GitLab's interfaces, and the pieces of their paths.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::version::Version;

/// An operation of GitLab: a method and path of its REST interface, or a field of its GraphQL interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    pub method: Method,
    /// Path as in GitLab's documentation: `/projects/:id/issues/:issue_iid`, a glob as `*file_path`. Relative to
    /// `/api/v4`, or to the instance's root if it begins with `/api/`.
    pub path: String,
    /// Scope; the operations of one action differ in it.
    pub scope: Scope,
    /// Placeholders that are filled by a parameter of another name: `id` by `fullPath`.
    #[serde(default)]
    pub bind: BTreeMap<String, String>,
    #[serde(default)]
    pub body: BodyForm,
    /// Alternative of another operation of the action (an old path, PATCH in addition to PUT): listed but never sent.
    #[serde(default)]
    pub alternate: bool,
    #[serde(default)]
    pub deprecated: bool,
    /// The GitLab version that introduced it, where GitLab's files tell.
    pub since: Option<Version>,
    /// The first GitLab version that is known to lack it.
    pub until: Option<Version>,
    /// GraphQL request; `None` for REST.
    pub graphql: Option<Graphql>,
    /// Set if it is not an operation of GitLab: it represents any operation of that interface, which the parameters
    /// select, or a plan. For a plan, path and scope describe its target; nothing is sent there.
    pub any: Option<Interface>,
}

/// An interface of GitLab, or this catalog's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interface {
    Rest,
    Graphql,
    /// Actions of this catalog, by a plan.
    Plan,
}

/// An operation of GitLab's GraphQL interface: a root field, or a field reached through one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Graphql {
    pub kind: GraphqlKind,
    /// Fields from the root: `project.branchRules`, `workItemCreate`.
    pub field: String,
    /// Selection of that field, as spreads of fragments that [`Self::fragments`] defines. Empty for a scalar.
    #[serde(default)]
    pub selection: String,
    /// Arguments that are needed to reach the field, each with the parameter that fills it: `project.fullPath` by
    /// `fullPath`, `input.projectPath` by `fullPath`. Every other argument is a parameter of the action by its wire
    /// name.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// Types of parameters, by name, that differ from those of the parameter, which are another operation's; also the type
    /// of a mutation's `input` if it is not named after the mutation.
    #[serde(default)]
    pub types: BTreeMap<String, String>,
    /// Types in the global ids that parameters accept, by name, that differ from those of the parameter, which are another
    /// operation's.
    #[serde(default)]
    pub gids: BTreeMap<String, String>,
    /// GitLab version that introduced it as an experiment, if it still is one.
    pub experiment: Option<String>,
    /// Definitions of the fragments in the selection. The catalog stores each once, apart from the actions, and adds
    /// them when an action is loaded.
    #[serde(skip)]
    pub fragments: String,
}

/// Kind of a GraphQL operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GraphqlKind {
    Query,
    Mutation,
}

/// An HTTP method of GitLab's interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

/// Scope of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Project,
    Group,
    /// A project or a group, depending on `fullPath`.
    Namespace,
    /// The whole GitLab instance, as far as the token can see it.
    #[default]
    Instance,
    /// One user, named by `user_id`.
    User,
    /// The token's user.
    Current,
}

/// Encoding of a request body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyForm {
    #[default]
    None,
    Json,
    Multipart,
    /// The content of a single file, byte for byte.
    Raw,
}

impl Method {
    /// Name in HTTP.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }

    /// True if the method is safe (RFC 9110, 9.2.1).
    pub fn is_safe(self) -> bool {
        matches!(self, Method::Get | Method::Head)
    }

    /// True if the method has its parameters in a body.
    pub fn has_body(self) -> bool {
        matches!(self, Method::Post | Method::Put | Method::Patch)
    }
}

impl GraphqlKind {
    /// Keyword in GraphQL.
    pub fn name(self) -> &'static str {
        match self {
            GraphqlKind::Query => "query",
            GraphqlKind::Mutation => "mutation",
        }
    }
}

impl Scope {
    /// Name as a value of `scope`.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Project => "project",
            Scope::Group => "group",
            Scope::Instance => "instance",
            Scope::Namespace => "namespace",
            Scope::User => "user",
            Scope::Current => "current",
        }
    }
}

impl Operation {
    /// Placeholders of the path in order, each with true if it is a glob that keeps its slashes; for GraphQL, the
    /// arguments that lead to its field.
    pub fn placeholders(&self) -> impl Iterator<Item = (&str, bool)> {
        let in_path = pieces(&self.path).filter_map(|piece| match piece {
            Piece::Placeholder { name, glob } => Some((name, glob)),
            Piece::Text(_) => None,
        });
        let arguments = self.graphql.iter().flat_map(|graphql| graphql.variables.keys());
        in_path.chain(arguments.map(|argument| (argument.as_str(), false)))
    }

    /// The parameter that fills a placeholder.
    pub fn filled_by<'a>(&'a self, placeholder: &'a str) -> &'a str {
        let argument = || self.graphql.as_ref().and_then(|graphql| graphql.variables.get(placeholder));
        self.bind.get(placeholder).or_else(argument).map_or(placeholder, String::as_str)
    }

    /// True if the parameter fills a placeholder of the path.
    pub fn is_filled_by(&self, param: &str) -> bool {
        self.placeholders().any(|(name, _)| self.filled_by(name) == param)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.graphql, self.any) {
            (Some(graphql), _) => write!(f, "{} {}", graphql.kind.name(), graphql.field),
            (None, Some(Interface::Rest)) => write!(f, "ANY {}", self.path),
            (None, Some(Interface::Plan)) => write!(f, "PLAN {}", self.path),
            (None, _) => write!(f, "{} {}", self.method.name(), self.path),
        }
    }
}

/// A piece of a path: literal text or a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    /// `:name`, or `*name` if the value keeps its slashes.
    Placeholder {
        name: &'a str,
        glob: bool,
    },
}

/// Splits a path into its pieces. A placeholder may be inside a segment (`:file_name.tgz`), and a segment may have two.
pub fn pieces(path: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = path;
    std::iter::from_fn(move || {
        let (piece, length) = first_piece(rest)?;
        rest = rest.get(length..).unwrap_or_default();
        Some(piece)
    })
}

fn first_piece(rest: &str) -> Option<(Piece<'_>, usize)> {
    if rest.is_empty() {
        return None;
    }
    if let Some(name) = rest.strip_prefix([':', '*']).map(leading_name).filter(|name| !name.is_empty()) {
        return Some((Piece::Placeholder { name, glob: rest.starts_with('*') }, name.len() + 1));
    }
    let end = rest
        .char_indices()
        .skip(1)
        .find(|(at, c)| {
            matches!(c, ':' | '*') && !leading_name(rest.get(at + 1..).unwrap_or_default()).is_empty()
        })
        .map_or(rest.len(), |(at, _)| at);
    rest.get(..end).map(|text| (Piece::Text(text), end))
}

/// The letters, digits and underscores that a text begins with.
pub fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}
