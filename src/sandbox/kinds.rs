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
use time::macros::format_description;

use super::args::{Args, like, text_of};
use super::cron::{is_cron, is_zone};
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

/// Form that GitLab wants a value to have.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    /// A name of letters, digits and underscores.
    Word,
    /// An HTTP URL.
    Url,
    /// A cron expression.
    Cron,
    /// A time zone.
    Zone,
}

impl Form {
    /// GitLab's refusal of a value.
    fn check(self, field: &str, value: &str) -> Result<(), Fault> {
        let is_word = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_url = ["http://", "https://"].iter().any(|scheme| value.starts_with(scheme));
        match self {
            Self::Word if !is_word => Err(Fault::invalid(field, "can contain only letters, digits and '_'.")),
            Self::Url if !is_url => Err(Fault::Unprocessable("Invalid url given")),
            Self::Cron if !is_cron(value) => Err(Fault::invalid(field, "syntax is invalid")),
            Self::Zone if !is_zone(value) => Err(Fault::invalid(field, "syntax is invalid")),
            _ => Ok(()),
        }
    }
}

/// One kind of rows.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Kind {
    /// Name of such an object in an error.
    noun: String,
    /// The same, of one in a group.
    noun_in_groups: Option<String>,
    /// Parameters that are taken and never shown.
    pub unseen: Vec<String>,
    /// GitLab's words on an update that gives nothing.
    pub empty: Option<String>,
    /// True if the value can be masked and hidden (app/models/concerns/ci/maskable.rb).
    pub maskable: bool,
    /// The patterns of the shelves served without code.
    pub at: Vec<String>,
    /// The operations that exist there.
    #[serde(default = "every_verb")]
    pub verbs: Vec<Verb>,
    /// The fields that identify one in a path, the first being the usual one.
    #[serde(default = "by_id")]
    keys: Vec<String>,
    /// Parameters required to create one.
    required: Vec<String>,
    /// The field that no two may share.
    pub unique: Option<String>,
    /// True if values that differ in case are the same.
    #[serde(default)]
    pub folds_case: bool,
    /// A further field in which two that share the value of `unique` may differ.
    pub scope: Option<String>,
    /// GitLab's words for a value that is taken, with the value as `{value}`.
    #[serde(default = "taken_message")]
    pub taken: String,
    /// The allowed values of fields.
    choices: BTreeMap<String, Vec<String>>,
    /// Fields that are written by parameters of other names.
    renamed: BTreeMap<String, String>,
    /// Fields that are lists of access levels.
    pub levels: Vec<String>,
    /// The fields whose values must have a form.
    forms: BTreeMap<String, Form>,
    /// The access needed to read.
    pub read: Option<Level>,
    /// The access needed to write.
    pub write: Option<Level>,
    /// Fields that are shown only in the answer to their creation.
    pub once: Vec<String>,
    /// Fields that a list leaves out.
    details: Vec<String>,
    /// The fields that other objects and shorter answers show of a row, by the name of the view.
    views: BTreeMap<String, Vec<String>>,
    /// The only fields that are shown of one that is asked for alone; all if empty.
    pub alone: Vec<String>,
    /// Fields that `search` looks in; a list can also be narrowed by each.
    pub search: Vec<String>,
    /// Routes that are not there although the verbs have them, as `GET /path`.
    pub except: Vec<String>,
    /// The patterns where a deletion is answered with the deleted row, and the status; `*` is every other.
    deleted: BTreeMap<String, u16>,
    /// The values of `state`, `states` or `scope`, each with a field and the value that it has.
    pub states: BTreeMap<String, (String, Value)>,
    /// Fields of the shape that a row has not under these shelves.
    without: BTreeMap<String, Vec<String>>,
    /// Fields of the shape that a row has under these shelves alone.
    only: BTreeMap<String, Vec<String>>,
    /// The shape of a row.
    shape: Row,
}

fn every_verb() -> Vec<Verb> {
    vec![Verb::List, Verb::Get, Verb::Create, Verb::Update, Verb::Delete]
}

fn taken_message() -> String {
    "has already been taken".to_owned()
}

fn by_id() -> Vec<String> {
    vec!["id".to_owned()]
}

impl Kind {
    /// Name of such an object in an error.
    pub fn noun(&self) -> String {
        self.noun.clone()
    }

    /// The same, of one at a path.
    pub fn noun_at(&self, pattern: &str) -> String {
        let in_group = self.noun_in_groups.as_ref().filter(|_| pattern.starts_with("/groups/"));
        in_group.unwrap_or(&self.noun).clone()
    }

    /// The fields that identify one in a path.
    pub fn keys(&self) -> Vec<&str> {
        self.keys.iter().map(String::as_str).collect()
    }

    /// The shape of a row on a shelf.
    pub fn shape_on(&self, shelf: &str) -> Row {
        let under = |part: &&String| shelf.split('/').any(|name| name == part.as_str());
        let without = self.without.iter().filter(|(part, _)| under(part));
        let absent = without.chain(self.only.iter().filter(|(part, _)| !under(part)));
        let absent: Vec<&String> = absent.flat_map(|(_, names)| names).collect();
        let shape = self.shape.iter().filter(|(name, _)| !absent.contains(name));
        shape.map(|(name, model)| (name.clone(), model.clone())).collect()
    }

    /// Status of a deletion that is answered with the deleted row; none for 204.
    pub fn deleted(&self, pattern: &str) -> Option<u16> {
        self.deleted.get(pattern).or_else(|| self.deleted.get("*")).copied()
    }

    /// The fields of a view.
    pub fn view(&self, name: &str) -> &[String] {
        self.views.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The fields that a list does not show.
    pub fn details(&self) -> impl Iterator<Item = &str> {
        self.details.iter().map(String::as_str)
    }

    /// Takes out the fields that a list does not show.
    pub fn strip_details(&self, row: &mut Row) {
        row.retain(|name, _| !self.details.contains(name) && !self.once.contains(name));
    }

    /// The row with this key.
    pub fn find<'r>(&self, rows: &'r [Row], wanted: &str) -> Option<&'r Row> {
        self.keys.iter().find_map(|key| rows.iter().find(|row| is(row, key, wanted)))
    }

    /// Number of the rows with this key.
    pub fn count_matches(&self, rows: &[Row], wanted: &str) -> usize {
        rows.iter().filter(|row| self.keys.iter().any(|key| is(row, key, wanted))).count()
    }

    /// The fields a request gives, in the types of the shape.
    pub fn given(&self, args: &Args) -> Row {
        let names: Vec<&str> =
            self.shape.keys().map(String::as_str).filter(|name| !FIXED.contains(name)).collect();
        self.given_of(args, &names)
    }

    /// The same, of some fields.
    pub fn given_of(&self, args: &Args, names: &[&str]) -> Row {
        let field = |name: &&str| {
            let parameter = self.renamed.get(*name).map_or(*name, String::as_str);
            let value = args.get(parameter)?;
            let value = like(self.shape.get(*name).unwrap_or(&Value::Null), value);
            Some(((*name).to_owned(), if name.ends_with("_date") { date(value) } else { value }))
        };
        names.iter().filter_map(field).collect()
    }

    /// Checks the given fields of a row, of a new one also that none is missing.
    pub fn check(&self, args: &Args, new: bool) -> Result<(), Fault> {
        let missing = self.required.iter().filter(|name| new && args.peek(name).is_none());
        let missing = missing.map(|name| format!("{name} is missing"));
        let wrong = self.choices.iter().filter(|(name, choices)| {
            args.peek(name).and_then(text_of).is_some_and(|given| !choices.contains(&given))
        });
        let wrong = wrong.map(|(name, _)| format!("{name} does not have a valid value"));
        let problems: Vec<String> = missing.chain(wrong).collect();
        if !problems.is_empty() {
            return Err(Fault::Bad(problems.join(", ")));
        }
        if let Some(name) =
            self.required.iter().find(|name| args.peek(name).and_then(Value::as_str) == Some(""))
        {
            return Err(Fault::invalid(name, "can't be blank"));
        }
        let given = self
            .forms
            .iter()
            .filter_map(|(name, form)| Some((name, form, args.peek(name).and_then(text_of)?)));
        given.into_iter().try_for_each(|(name, form, value)| form.check(name, &value))
    }
}

/// All kinds, by name.
#[derive(Debug, Clone)]
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

/// A date as a column of the database takes it: a text that is none becomes null, without an error.
fn date(value: Value) -> Value {
    let form = format_description!("[year]-[month]-[day]");
    let day = value.as_str().and_then(|text| text.get(..10));
    let is_date = day.is_some_and(|day| time::Date::parse(day, form).is_ok());
    if is_date { value } else { Value::Null }
}
