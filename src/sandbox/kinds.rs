//! Kinds of rows: the shape of each, and where those are served that need no code of their own.
//!
//! Many things in GitLab are lists that one adds to, changes and deletes from: webhooks, variables, badges, deploy
//! keys. They differ only in data, in `kinds/*.json`: where they are, what identifies one, what a new one must be
//! given, and the shape of a row. In a shape `"{id}"`, `"{iid}"`, `"{now}"`, `"{me}"`, `"{place}"` (the id of the
//! project or group), `"{full}"` (its path), `"{web}"` (its page), `"{url}"` and any given field are filled in.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::args::{like, text_of};
use super::errors::Fault;
use super::level::Level;
use super::row::{Row, is};
use super::start_error::SandboxError;

/// The embedded descriptions.
const FILES: &[(&str, &str)] = &[
    ("kinds/people.json", include_str!("kinds/people.json")),
    ("kinds/places.json", include_str!("kinds/places.json")),
    ("kinds/planning.json", include_str!("kinds/planning.json")),
    ("kinds/code.json", include_str!("kinds/code.json")),
    ("kinds/ci.json", include_str!("kinds/ci.json")),
    ("kinds/instance.json", include_str!("kinds/instance.json")),
];

/// Fields that no request may write.
const FIXED: &[&str] = &["id", "iid", "created_at", "updated_at", "web_url", "author", "user_id", "token"];

/// Operations on the rows of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// `GET` the shelf.
    List,
    /// `GET` one.
    Get,
    /// `POST` to the shelf.
    Create,
    /// `PUT` one.
    Update,
    /// `DELETE` one.
    Delete,
}

impl Verb {
    /// The method, and whether the path ends with a row's key.
    pub fn http(self) -> (&'static str, bool) {
        match self {
            Self::List => ("GET", false),
            Self::Get => ("GET", true),
            Self::Create => ("POST", false),
            Self::Update => ("PUT", true),
            Self::Delete => ("DELETE", true),
        }
    }
}

/// One kind of rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// Name of such an object in an error.
    #[serde(default)]
    noun: String,
    /// The patterns of the shelves served without code.
    #[serde(default)]
    pub at: Vec<String>,
    /// The operations that exist there.
    #[serde(default = "every_verb")]
    pub verbs: Vec<Verb>,
    /// The fields that identify one in a path, the first being the usual one.
    #[serde(default = "by_id")]
    keys: Vec<String>,
    /// Parameters required to create one.
    #[serde(default)]
    required: Vec<String>,
    /// The field that no two may share.
    #[serde(default)]
    pub unique: Option<String>,
    /// The allowed values of fields.
    #[serde(default)]
    choices: BTreeMap<String, Vec<String>>,
    /// The access needed to read.
    #[serde(default)]
    pub read: Option<Level>,
    /// The access needed to write.
    #[serde(default)]
    pub write: Option<Level>,
    /// Fields that are shown only in the answer to their creation.
    #[serde(default)]
    pub once: Vec<String>,
    /// Fields that a list leaves out.
    #[serde(default)]
    details: Vec<String>,
    /// Fields that `search` looks in; a list can also be narrowed by each.
    #[serde(default)]
    pub search: Vec<String>,
    /// The shape of a row.
    shape: Row,
}

fn every_verb() -> Vec<Verb> {
    vec![Verb::List, Verb::Get, Verb::Create, Verb::Update, Verb::Delete]
}

fn by_id() -> Vec<String> {
    vec!["id".to_owned()]
}

impl Kind {
    /// Name of such an object in an error.
    pub fn noun(&self) -> String {
        self.noun.clone()
    }

    /// The fields that identify one in a path.
    pub fn keys(&self) -> Vec<&str> {
        self.keys.iter().map(String::as_str).collect()
    }

    /// The shape of a row.
    pub fn shape(&self) -> &Row {
        &self.shape
    }

    /// Takes out the fields that a list does not show.
    pub fn strip_details(&self, row: &mut Row) {
        row.retain(|name, _| !self.details.contains(name) && !self.once.contains(name));
    }

    /// The row with this key.
    pub fn find<'r>(&self, rows: &'r [Row], wanted: &str) -> Option<&'r Row> {
        self.keys.iter().find_map(|key| rows.iter().find(|row| is(row, key, wanted)))
    }

    /// The fields a request gives, in the types of the shape.
    pub fn given(&self, args: &Row) -> Row {
        let written = |name: &str| self.shape.contains_key(name) && !FIXED.contains(&name);
        args.iter()
            .filter(|(name, _)| written(name))
            .map(|(name, value)| {
                (name.clone(), like(self.shape.get(name.as_str()).unwrap_or(&Value::Null), value))
            })
            .collect()
    }

    /// Checks the given fields of a row, of a new one also that none is missing.
    pub fn check(&self, args: &Row, new: bool) -> Result<(), Fault> {
        let missing = self.required.iter().filter(|name| new && !args.contains_key(*name));
        let missing = missing.map(|name| format!("{name} is missing"));
        let wrong = self.choices.iter().filter(|(name, choices)| {
            args.get(*name).and_then(text_of).is_some_and(|given| !choices.contains(&given))
        });
        let wrong = wrong.map(|(name, _)| format!("{name} does not have a valid value"));
        let problems: Vec<String> = missing.chain(wrong).collect();
        if !problems.is_empty() {
            return Err(Fault::Bad(problems.join(", ")));
        }
        match self.required.iter().find(|name| args.get(*name).and_then(Value::as_str) == Some("")) {
            Some(name) => Err(Fault::invalid(name, "can't be blank")),
            None => Ok(()),
        }
    }
}

/// All kinds, by name.
#[derive(Debug)]
pub struct Kinds(BTreeMap<String, Arc<Kind>>);

impl Kinds {
    /// Reads the embedded descriptions.
    pub fn load() -> Result<Self, SandboxError> {
        let mut all = BTreeMap::new();
        for (file, text) in FILES {
            let kinds: BTreeMap<String, Arc<Kind>> = serde_json::from_str::<BTreeMap<String, Kind>>(text)
                .map_err(|source| SandboxError::Kinds { file, source })?
                .into_iter()
                .map(|(name, kind)| (name, Arc::new(kind)))
                .collect();
            all.extend(kinds);
        }
        Ok(Self(all))
    }

    /// The kinds and their names.
    pub fn all(&self) -> impl Iterator<Item = (&String, &Arc<Kind>)> {
        self.0.iter()
    }

    /// The kind of this name.
    pub fn named(&self, name: &str) -> Option<&Arc<Kind>> {
        self.0.get(name)
    }

    /// The kind of the rows on a shelf.
    pub fn of(&self, shelf: &str) -> Option<&Arc<Kind>> {
        self.named(shelf.rsplit('/').next()?)
    }
}
