//! A checked request and what it carries.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use serde_json::Value;

use super::document::{self, UnknownField};
use super::effects::Effects;
use super::location::Location;
use super::name_resolution::Resolved;
use crate::catalog::{Method, Risk, Touched};

/// Path of GraphQL's one endpoint, from the instance's root.
pub(super) const GRAPHQL_PATH: &str = "/api/graphql";

/// One checked request. Its fields are private to `call`: only that module builds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub(super) effects: Box<Effects>,
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) body: Body,
    pub(super) resolved: Vec<Resolved>,
    pub(super) lookups: usize,
    pub(super) download: bool,
    /// Lists in the response to a GraphQL document, by their path, with the variable that feeds `after`.
    pub(super) cursors: BTreeMap<String, String>,
    /// Aliased fields of a GraphQL document, by their paths in the response.
    pub(super) field_names: BTreeMap<String, BTreeSet<String>>,
}

/// Body of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Empty,
    Json(Value),
    Multipart(Vec<Part>),
    /// A file by itself.
    Raw(Bytes),
    /// A local file by itself, not read yet; see [`Call::filled`].
    Local(String),
}

/// A part of a multipart body.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text {
        name: String,
        value: String,
    },
    File {
        name: String,
        filename: String,
        bytes: Bytes,
    },
    /// A local file, not read yet; see [`Call::filled`].
    Local {
        name: String,
        filename: String,
        path: String,
    },
}

impl Call {
    /// The effects that policy decides on.
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// The id of the action, such as `issue.list`.
    pub fn action(&self) -> &str {
        self.effects.action()
    }

    /// The operation as GitLab's documentation writes it, such as `GET /projects/:id/issues`.
    pub fn operation(&self) -> &str {
        self.effects.operation()
    }

    /// Possible operations of the call: one for an action, all that match for a raw request.
    pub fn touches(&self) -> &[Touched] {
        self.effects.touches()
    }

    /// The first of the operations with the highest risk: policy decides by it.
    pub fn strictest(&self) -> Option<&Touched> {
        self.effects.strictest()
    }

    /// True if it may be sent again, and to another address: some GETs make GitLab write
    /// (`GET /projects/:id/merge_requests/:iid/merge_ref`).
    pub fn is_repeatable(&self) -> bool {
        self.method().is_safe() && self.risk() == Risk::Read
    }

    /// The highest risk of its operations.
    pub fn risk(&self) -> Risk {
        self.effects.risk()
    }

    pub fn method(&self) -> Method {
        self.effects.method()
    }

    /// The percent-encoded path from the instance's root: `/api/v4/projects/acme%2Fwidget/issues`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// True for a request to GraphQL's one endpoint, for which path and status say less than those of REST.
    pub fn is_graphql(&self) -> bool {
        self.path.ends_with(GRAPHQL_PATH)
    }

    /// The query's pairs in order, not yet encoded. A list repeats its name with brackets (`iids[]`).
    pub fn query(&self) -> &[(String, String)] {
        &self.query
    }

    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Names in the call that were resolved to ids.
    pub fn resolved(&self) -> &[Resolved] {
        &self.resolved
    }

    /// The variable of a GraphQL document that feeds `after` of the list at a path of the response.
    pub fn cursor(&self, place: &str) -> Option<&str> {
        self.cursors.get(place).map(String::as_str)
    }

    /// Aliased fields of a GraphQL document by their paths in the response (`a.nodes.k`). Empty without aliases.
    pub fn field_names(&self) -> &BTreeMap<String, BTreeSet<String>> {
        &self.field_names
    }

    /// Marks the call as a step of the composite action with this id.
    pub fn within(mut self, plan: &str) -> Call {
        self.effects.set_plan(plan);
        self
    }

    /// Replaces ids by the locations that were looked up for policy; see [`Effects::unlocated`].
    pub fn located(mut self, locate: impl Fn(&Location) -> Option<Location>) -> Call {
        self.effects.locate(locate);
        self
    }

    /// Removes fields that the instance does not know from a GraphQL request. None for other requests, and if a selection
    /// would become empty.
    pub fn without_fields(&self, unknown: &[UnknownField]) -> Option<Call> {
        let Body::Json(body) = &self.body else { return None };
        let text = document::without_fields(body.get("query")?.as_str()?, unknown)?;
        let mut call = self.clone();
        if let Body::Json(body) = &mut call.body {
            body["query"] = Value::from(text);
        }
        Some(call)
    }

    /// Number of requests that resolved its names.
    pub fn lookups(&self) -> usize {
        self.lookups
    }

    /// Sets the number of requests that resolved its names.
    pub fn with_lookups(self, lookups: usize) -> Call {
        Call { lookups, ..self }
    }

    pub(super) fn new(effects: Effects, path: String, query: Vec<(String, String)>, body: Body) -> Call {
        let (effects, resolved) = (Box::new(effects), Vec::new());
        let (cursors, field_names) = (BTreeMap::new(), BTreeMap::new());
        Call { effects, path, query, body, resolved, lookups: 0, download: false, cursors, field_names }
    }

    /// Reads the local files of the body with `read`.
    pub fn filled<E>(self, read: impl Fn(&str) -> Result<Vec<u8>, E>) -> Result<Call, E> {
        let fill = |part: Part| match part {
            Part::Local { name, filename, path } => {
                Ok(Part::File { name, filename, bytes: read(&path)?.into() })
            }
            other => Ok(other),
        };
        let body = match self.body {
            Body::Local(path) => Body::Raw(read(&path)?.into()),
            Body::Multipart(parts) => {
                Body::Multipart(parts.into_iter().map(fill).collect::<Result<Vec<_>, E>>()?)
            }
            other => other,
        };
        Ok(Call { body, ..self })
    }

    /// Marks the call as a download: the body of its response is kept byte for byte, whatever its type.
    pub fn as_download(self) -> Call {
        Call { download: true, ..self }
    }

    pub fn is_download(&self) -> bool {
        self.download
    }

    /// Builds a call without a check, for tests of policy and of the client.
    #[cfg(test)]
    pub(crate) fn for_test(
        risk: Risk,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Body,
    ) -> Call {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let operation = format!("{} /test", method.name());
        let touched = Touched::new(operation.clone(), "test.action", risk);
        let effects = Effects::new("test.action", method, operation, vec![touched], Vec::new());
        Call::new(effects, path.to_owned(), query, body)
    }
}
