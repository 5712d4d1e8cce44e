//! An action and its parameters to a [`Call`]: a request that was checked before it was written. Nothing else
//! can make one, and the client sends nothing else.
//!
//! [`check`] looks at every parameter; [`Checked::step`] chooses the operation and either gives the call or asks
//! what has to be looked up first.

mod address;
mod batch;
mod check;
mod choose;
mod date;
mod direct;
mod document;
mod encode;
mod fields;
mod graphql;
mod handle;
mod invalid;
mod known;
mod places;
mod question;
mod reference;
mod request;
mod resolvers;
mod route;
mod target;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;

pub use batch::{Batch, batch};
use bytes::Bytes;
pub use check::{Checked, Context, check};
pub use fields::{FieldsError, asking};
pub use invalid::{Fault, Invalid};
pub use known::Known;
pub use places::{Place, can_be_placed};
pub use question::{Answer, Candidate, Finding, Question, Reading};
pub use reference::Resolved;
pub use resolvers::{Ask, RESOLVERS};
pub use route::{Routed, request, routed};
use serde_json::Value;
pub use target::{Kind, Page, TARGET, page, pointed, takes};

use crate::catalog::{Method, Risk, Touched};

/// One checked request. Its fields are private: only this module builds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    action: String,
    operation: String,
    reach: Box<Reach>,
    method: Method,
    path: String,
    query: Vec<(String, String)>,
    body: Body,
    resolved: Vec<Resolved>,
    lookups: usize,
    download: bool,
}

/// What a call comes down to.
#[derive(Clone, Debug, PartialEq)]
struct Reach {
    /// Every operation that it may be; never nothing.
    touches: Vec<Touched>,
    /// Of a GraphQL document: where in the reply a list stands, with the variable that feeds its `after`.
    cursors: BTreeMap<String, String>,
    /// Every project and group that it names.
    places: Vec<Place>,
    is_document: bool,
    /// The id of the plan whose step it is.
    plan: Option<String>,
}

impl Reach {
    fn of(touches: Vec<Touched>) -> Box<Reach> {
        let (cursors, places) = (BTreeMap::new(), Vec::new());
        Box::new(Reach { touches, cursors, places, is_document: false, plan: None })
    }
}

/// What a request carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Empty,
    Json(Value),
    Multipart(Vec<Part>),
    /// A file by itself.
    Raw(Bytes),
    /// The same of a file that is still to be read from its path; see [`Call::filled`].
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
    /// A file that is still to be read from its path; see [`Call::filled`].
    Local {
        name: String,
        filename: String,
        path: String,
    },
}

/// What follows a check: the call, or what must be known before it can be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Ready(Call),
    /// Each question once; they can be asked side by side.
    Ask(Vec<Question>),
    /// It is a plan's: each of its steps makes a call of its own.
    Plan,
}

impl Call {
    /// The id of the action, such as `issue.list`.
    pub fn action(&self) -> &str {
        &self.action
    }

    /// The operation as GitLab's documentation writes it, such as `GET /projects/:id/issues`.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Every operation that it comes down to: one, of an action; of a direct call, all that it may be.
    pub fn touches(&self) -> &[Touched] {
        &self.reach.touches
    }

    /// The operation that decides what it may do: the first of those with the highest risk.
    pub fn strictest(&self) -> Option<&Touched> {
        self.reach.touches.iter().rev().max_by_key(|touched| touched.risk)
    }

    /// The highest risk of what it touches.
    pub fn risk(&self) -> Risk {
        self.strictest().map_or(Risk::Destructive, |touched| touched.risk)
    }

    pub fn method(&self) -> Method {
        self.method
    }

    /// The percent-encoded path from the instance's root: `/api/v4/projects/acme%2Fwidget/issues`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The query's pairs in order, not yet encoded; a list in brackets is a name that repeats (`iids[]`).
    pub fn query(&self) -> &[(String, String)] {
        &self.query
    }

    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The names that were given where GitLab wants ids.
    pub fn resolved(&self) -> &[Resolved] {
        &self.resolved
    }

    /// The variable of a GraphQL document that feeds the `after` of the list at that place in the reply.
    pub fn cursor(&self, place: &str) -> Option<&str> {
        self.reach.cursors.get(place).map(String::as_str)
    }

    /// Every project and group that its parameters name; nothing of a call that works on no place in particular.
    pub fn places(&self) -> &[Place] {
        &self.reach.places
    }

    /// Whether it is a document of GraphQL that was given as it is.
    pub fn is_document(&self) -> bool {
        self.reach.is_document
    }

    /// The id of the plan whose step it is: what is decided on that is decided on its steps.
    pub fn plan(&self) -> Option<&str> {
        self.reach.plan.as_deref()
    }

    /// The call, as a step of the plan with that id.
    pub fn within(mut self, plan: &str) -> Call {
        self.reach.plan = Some(plan.to_owned());
        self
    }

    /// The call, with the places that its parameters name.
    fn at(mut self, places: Vec<Place>) -> Call {
        self.reach.places = places;
        self
    }

    /// How many requests its names took.
    pub fn lookups(&self) -> usize {
        self.lookups
    }

    /// The call, with how many requests its names took.
    pub fn after(self, lookups: usize) -> Call {
        Call { lookups, ..self }
    }

    /// The call with the files in it that were named by their paths, each as `read` has it.
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

    /// The call, whose answer is to be kept byte for byte, whatever it is.
    pub fn as_download(self) -> Call {
        Call { download: true, ..self }
    }

    pub fn is_download(&self) -> bool {
        self.download
    }

    /// A call as it stands, for the client's own tests.
    #[cfg(test)]
    pub(crate) fn for_test(
        risk: Risk,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Body,
    ) -> Call {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let action = "test.action".to_owned();
        let operation = format!("{} /test", method.name());
        let reach =
            Reach::of(vec![Touched { operation: operation.clone(), ids: vec![action.clone()], risk }]);
        let (path, resolved) = (path.to_owned(), Vec::new());
        Call { action, operation, reach, method, path, query, body, resolved, lookups: 0, download: false }
    }
}
