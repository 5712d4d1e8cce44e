//! One GraphQL request's way to the REST interface.

use std::cell::RefCell;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::super::args::text_of;
use super::super::reply::Body;
use super::super::request::Incoming;
use super::super::router::{Routes, answer};
use super::super::routes::diff_stats;
use super::super::row::{Fields, Row};
use super::super::state::World;
use super::template::Filled;

/// The kinds of rows that a global id names.
const KINDS: &[(&str, &str)] = &[
    ("Issue", "issues"),
    ("WorkItem", "issues"),
    ("MergeRequest", "merge_requests"),
    ("Epic", "epics"),
    ("Note", "notes"),
    ("DiscussionNote", "notes"),
    ("DiffNote", "notes"),
    ("Project", "projects"),
    ("Group", "groups"),
    ("User", "users"),
    ("Milestone", "milestones"),
    ("Label", "labels"),
    ("ProjectLabel", "labels"),
    ("GroupLabel", "labels"),
    ("Todo", "todos"),
    ("ProjectSnippet", "snippets"),
    ("PersonalSnippet", "snippets"),
    ("Environment", "environments"),
    ("Ci::Pipeline", "pipelines"),
    ("Projects::BranchRule", "protected_branches"),
];

/// The ids of the types of work items.
const WORK_ITEM_TYPES: &[(&str, &str)] =
    &[("1", "issue"), ("2", "incident"), ("3", "test_case"), ("5", "task"), ("8", "epic")];

/// The REST interface with the permissions of the sender of the GraphQL request.
#[derive(Debug)]
pub struct Session<'w> {
    world: RefCell<&'w mut World>,
    routes: &'w Routes,
    token: Option<String>,
}

/// Why the REST interface refused: its status and its words.
#[derive(Debug, thiserror::Error)]
#[error("{status}: {message}")]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// GitLab's message.
    pub message: Value,
}

impl<'w> Session<'w> {
    /// A session with the token of this request.
    pub fn new(world: &'w mut World, routes: &'w Routes, incoming: &Incoming) -> Self {
        Self { world: RefCell::new(world), routes, token: incoming.token.clone() }
    }

    /// Sends one request; a project that moved is found where it is now.
    pub fn send(&self, method: &str, request: &Filled, body: Row) -> Result<Value, Refusal> {
        let mut incoming = Incoming {
            method: method.to_owned(),
            path: format!("/api/v4{}", request.path),
            query: request.query.clone(),
            token: self.token.clone(),
            ..Incoming::default()
        };
        for (name, value) in &request.query {
            incoming.args.add(name, value);
        }
        incoming.args.extend(body.clone());
        let reply = answer(&mut self.world.borrow_mut(), self.routes, incoming);
        let value = match reply.body {
            Body::Json(value) => value,
            Body::Empty | Body::Bytes(..) => Value::Null,
        };
        let moved = reply.headers.iter().find(|(name, _)| *name == "location").map(|(_, to)| to);
        match (reply.status, moved.and_then(|to| to.split_once("/api/v4"))) {
            (200..=299 | 304, _) => Ok(value),
            (301, Some((_, path))) => {
                let path = path.split('?').next().unwrap_or_default().to_owned();
                self.send(method, &Filled { path, query: request.query.clone() }, body)
            }
            (status, _) => {
                let said = value.get("message").or_else(|| value.get("error")).cloned();
                Err(Refusal { status, message: said.unwrap_or_default() })
            }
        }
    }

    /// A `GET`: one row, or all rows of a list, page after page.
    pub fn read(&self, request: &Filled, args: &Row) -> Result<Value, Refusal> {
        let mut all = Vec::new();
        for page in 1_u64.. {
            let mut args = args.clone();
            args.set("per_page", 100);
            args.set("page", page);
            let rows = match self.send("GET", request, args)? {
                Value::Array(rows) => rows,
                one => return Ok(one),
            };
            let last = rows.len() < 100;
            all.extend(rows);
            if last {
                break;
            }
        }
        Ok(Value::Array(all))
    }

    /// The path below `/api/v4` of the object with a global id.
    pub fn path_of(&self, gid: &str) -> Option<String> {
        let (kind, id) = parts(gid)?;
        let (_, shelf) = KINDS.iter().find(|(name, _)| *name == kind)?;
        let world = self.world.borrow();
        let (shelf, row) = world.anywhere(shelf, id.parse().ok()?)?;
        let key = world.kinds.of(&shelf)?.keys().first().copied().unwrap_or("id").to_owned();
        let key = row.get(&key).and_then(text_of)?;
        Some(format!("/{shelf}/{}", utf8_percent_encode(&key, NON_ALPHANUMERIC)))
    }

    /// Path and changed lines of each file of the merge request with this id, up to a commit.
    pub fn diff_stats(&self, id: u64, head: &str) -> Vec<Value> {
        diff_stats(&self.world.borrow(), id, head)
    }

    /// Translates a value for the REST interface: a label's global id into its name, any other global id into its id;
    /// leaves all else as is.
    pub fn plain(&self, value: Value) -> Value {
        match value {
            Value::Array(values) => values.into_iter().map(|value| self.plain(value)).collect(),
            Value::Object(row) => {
                Value::Object(row.into_iter().map(|(name, value)| (name, self.plain(value))).collect())
            }
            Value::String(text) => match parts(&text) {
                Some((kind, id)) => self.meaning(kind, id),
                None => Value::String(text),
            },
            other => other,
        }
    }

    fn meaning(&self, kind: &str, id: &str) -> Value {
        if kind == "WorkItems::Type" {
            let known = WORK_ITEM_TYPES.iter().find(|(number, _)| *number == id);
            return known.map_or(Value::from(id), |(_, name)| Value::from(*name));
        }
        let number = id.parse::<u64>();
        if kind.ends_with("Label")
            && let Ok(number) = number
            && let Some((_, label)) = self.world.borrow().anywhere("labels", number)
        {
            return Value::from(label.text("name"));
        }
        number.map_or_else(|_| Value::from(id), Value::from)
    }

    /// The id of a user by name.
    pub fn user(&self, name: &str) -> Option<u64> {
        self.world.borrow().user_named(name)
    }
}

/// The kind and the id in a global id.
fn parts(gid: &str) -> Option<(&str, &str)> {
    gid.strip_prefix("gid://gitlab/")?.rsplit_once('/')
}
