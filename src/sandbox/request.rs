//! One request, with everything a handler needs: the user, the project or group, and the world.

use std::collections::BTreeMap;

use serde_json::Value;

use super::access;
use super::answer::Answer;
use super::args::{Args, Upload};
use super::errors::Fault;
use super::level::Level;
use super::reply::Reply;
use super::row::{Fields, Row};
use super::state::{Place, World};

/// The incoming request, decoded.
#[derive(Debug, Default)]
pub struct Incoming {
    /// The HTTP method.
    pub method: String,
    /// The path as sent, still encoded.
    pub path: String,
    /// The query as pairs.
    pub query: Vec<(String, String)>,
    /// Query and body together.
    pub args: Args,
    /// Files of a multipart body.
    pub files: Vec<Upload>,
    /// The token, from whichever header had it.
    pub token: Option<String>,
}

/// A request whose route is known and whose user may make it.
#[derive(Debug)]
pub struct Request<'w> {
    /// Everything there is.
    pub world: &'w mut World,
    /// The path as sent, for links.
    pub raw_path: String,
    /// The query as pairs, for links.
    pub query: Vec<(String, String)>,
    /// Query and body together.
    pub args: Args,
    /// Files of a multipart body.
    pub files: Vec<Upload>,
    /// Values of the route's placeholders.
    pub params: BTreeMap<String, String>,
    /// The route's pattern.
    pub pattern: String,
    /// The project or group that the path begins with.
    pub place: Option<Place>,
    /// The signed-in user.
    pub user: Option<u64>,
    /// The personal access token used, as a row.
    pub token: Option<Row>,
}

impl Request<'_> {
    /// The groups above the project or group, nearest first.
    pub fn groups_above(&self) -> Vec<Place> {
        let parent = |place: &Place| access::parent(self.world, *place);
        std::iter::successors(self.place, parent).skip(1).collect()
    }

    /// The signed-in user's id; 401 if there is none.
    pub fn me(&self) -> Result<u64, Fault> {
        self.user.ok_or(Fault::Unauthorized)
    }

    /// Value of a placeholder of the route.
    pub fn param(&self, name: &str) -> &str {
        self.params.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The word that the path ends with: `star` or `unstar`.
    pub fn path_end(&self) -> &str {
        self.pattern.rsplit('/').next().unwrap_or_default()
    }

    /// The id of the project or group in the path.
    pub fn place_id(&self) -> u64 {
        self.place.map(|place| place.id).unwrap_or_default()
    }

    /// The row of the project or group in the path.
    pub fn place_row(&self) -> Result<Row, Fault> {
        let place = self.place.ok_or(Fault::Nowhere)?;
        self.world.find(place.kind, "id", &place.id.to_string()).cloned().ok_or(Fault::missing(place.noun()))
    }

    /// A shelf under the project or group in the path: `hooks` is `projects/1/hooks`.
    pub fn shelf(&self, name: &str) -> String {
        self.place.map_or_else(|| name.to_owned(), |place| place.shelf(name))
    }

    /// The shelves of this name that the project or group in the path has, its own first, then those of the groups above.
    pub fn shelves(&self, name: &str) -> Vec<String> {
        let places = self.place.into_iter().chain(self.groups_above());
        places.map(|place| place.shelf(name)).collect()
    }

    /// The shelf that a pattern names in this request, its parents having been found.
    ///
    /// `/projects/:id/issues/:issue_iid/notes` is `projects/1/issues/3/notes`; a parent that is not there is
    /// a 404 in its own name.
    pub fn shelf_of(&self, pattern: &str) -> Result<String, Fault> {
        let mut shelf = String::new();
        for part in pattern.trim_start_matches('/').split('/') {
            let Some(name) = part.strip_prefix(':') else {
                if !shelf.is_empty() {
                    shelf.push('/');
                }
                shelf.push_str(part);
                continue;
            };
            let key = match self.place {
                Some(place) if shelf == place.kind => place.id.to_string(),
                _ => self.key_on(&shelf, name)?,
            };
            shelf.push('/');
            shelf.push_str(&key);
        }
        Ok(shelf)
    }

    /// The row that a placeholder names on a shelf.
    pub fn row_on(&self, shelf: &str, placeholder: &str) -> Result<Row, Fault> {
        if let Some(place) = self.place.filter(|place| place.kind == shelf) {
            return Ok(self.world.row_of(place));
        }
        let wanted = self.param(placeholder);
        let kind = self.world.kinds.of(shelf);
        let by_id = placeholder == "epic_id";
        let keys: Vec<&str> =
            if by_id { vec!["id"] } else { kind.map(|kind| kind.keys()).unwrap_or_default() };
        let row = keys.iter().find_map(|key| self.world.find(shelf, key, wanted)).cloned();
        let row = row.filter(|row| super::access::may_see(self.world, self.user, shelf, row));
        row.ok_or_else(|| Fault::missing(kind.map(|kind| kind.noun()).unwrap_or_default()))
    }

    fn key_on(&self, shelf: &str, placeholder: &str) -> Result<String, Fault> {
        let Some(kind) = self.world.kinds.of(shelf) else { return Ok(self.param(placeholder).to_owned()) };
        let row = self.row_on(shelf, placeholder)?;
        let key = kind.keys().first().and_then(|key| row.get(*key)).and_then(super::args::text_of);
        Ok(key.unwrap_or_default())
    }

    /// The shelf and row of the issue, merge request, snippet or other object of a route: the last
    /// placeholder of `pattern`.
    pub fn subject(&self, pattern: &str) -> Result<(String, Row), Fault> {
        let (parents, placeholder) = pattern.rsplit_once("/:").ok_or(Fault::Nowhere)?;
        let shelf = self.shelf_of(parents)?;
        let row = self.row_on(&shelf, placeholder)?;
        Ok((shelf, row))
    }

    /// The shelf that the path ends with, as in `/projects/:id/boards/:board_id/lists`.
    pub fn path_shelf(&self) -> Result<String, Fault> {
        self.shelf_of(&self.pattern)
    }

    /// The shelf and row of the object that the path names last, as in `/projects/:id/jobs/:job_id/retry`.
    pub fn found(&self) -> Result<(String, Row), Fault> {
        let (parents, rest) = self.pattern.rsplit_once("/:").ok_or(Fault::Nowhere)?;
        let placeholder = rest.split('/').next().unwrap_or_default();
        self.subject(&format!("{parents}/:{placeholder}"))
    }

    /// The row that the path names last.
    pub fn row(&self) -> Result<Row, Fault> {
        Ok(self.found()?.1)
    }

    /// A row as it is shown alone.
    pub fn show(&self, row: &Row) -> Value {
        Value::Object(self.world.show(row))
    }

    /// A row as a view of its kind shows it.
    pub fn show_as(&self, kind: &str, view: &str, row: &Row) -> Value {
        self.world.show_as(kind, view, row)
    }

    /// A row as it is shown, without some fields.
    pub fn show_without(&self, row: &Row, fields: &[&str]) -> Value {
        let shown = self.world.show(row);
        Value::Object(shown.into_iter().filter(|(name, _)| !fields.contains(&name.as_str())).collect())
    }

    /// A row as it is shown in a list.
    pub fn show_in_list(&self, kind: &str, row: &Row) -> Value {
        let mut shown = self.world.show(row);
        if let Some(kind) = self.world.kinds.named(kind) {
            kind.strip_details(&mut shown);
        }
        Value::Object(shown)
    }

    /// Adds a new row to a shelf, with the signed-in user as its author.
    pub fn add(&mut self, shelf: &str, values: Value) -> Row {
        self.world.add(shelf, super::row::object(values), self.user)
    }

    /// The fields of a kind that the parameters give.
    pub fn given(&self, kind: &str) -> Row {
        self.world.kinds.named(kind).map(|kind| kind.given(&self.args)).unwrap_or_default()
    }

    /// The same, of some fields.
    pub fn given_of(&self, kind: &str, fields: &[&str]) -> Row {
        self.world.kinds.named(kind).map(|kind| kind.given_of(&self.args, fields)).unwrap_or_default()
    }

    /// Takes a row off its shelf, which is answered with 204.
    pub fn delete(&mut self, shelf: &str, row: &Row) -> Answer {
        self.world.remove(shelf, |other| other.num("id") == row.num("id"));
        Ok(Reply::empty())
    }

    /// Writes fields of a row, and when it was updated; gives the row back.
    pub fn write(&mut self, shelf: &str, id: u64, values: Value) -> Row {
        self.world.write(shelf, id, super::row::object(values))
    }

    /// The full path of the project or group in the path.
    pub fn full_path(&self) -> String {
        self.place.map(|place| self.world.full_path(place)).unwrap_or_default()
    }

    /// True if the signed-in user has at least this access to the project or group in the path.
    pub fn at_least(&self, level: Level) -> bool {
        super::access::level(self.world, self.user, self.place) >= level
    }

    /// True if the signed-in user wrote this row.
    pub fn wrote(&self, row: &Row) -> bool {
        self.user.is_some_and(|user| row.num("author") == user)
    }
}
