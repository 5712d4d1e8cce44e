//! The world: rows of JSON on shelves that are named like the API's own paths.
//!
//! `projects/1/issues` holds the issues of project 1, `projects/1/issues/3/notes` the notes of its third issue.
//! Ids count up per kind, iids per shelf, and the clock moves one second with every write.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

use super::kinds::Kinds;
use super::repo::Repo;
use super::row::{Fields, Row, is};

/// Time of the first write.
pub const START: OffsetDateTime = datetime!(2026-03-02 09:00:00 UTC);

/// Fields in which a number is the id of a user, who is shown in full.
const PEOPLE: &[&str] = &[
    "author",
    "assignee",
    "user",
    "merged_by",
    "merge_user",
    "closed_by",
    "owner",
    "created_by",
    "resolved_by",
    "set_by",
];
/// Fields in which numbers are ids of users.
const CROWDS: &[&str] = &["assignees", "reviewers"];

/// A project or a group: what most paths begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// `projects` or `groups`.
    pub kind: &'static str,
    /// Its id.
    pub id: u64,
}

impl Place {
    /// A project.
    pub fn project(id: u64) -> Self {
        Self { kind: "projects", id }
    }

    /// A group.
    pub fn group(id: u64) -> Self {
        Self { kind: "groups", id }
    }

    /// The noun for it in an error.
    pub fn noun(self) -> &'static str {
        if self.kind == "projects" { "Project" } else { "Group" }
    }

    /// A shelf of it: `projects/1/labels`.
    pub fn shelf(self, name: &str) -> String {
        format!("{}/{}/{name}", self.kind, self.id)
    }

    /// The place a shelf is in.
    pub fn of(shelf: &str) -> Option<Self> {
        let mut parts = shelf.split('/');
        let kind = match parts.next()? {
            "projects" => "projects",
            "groups" => "groups",
            _ => return None,
        };
        Some(Self { kind, id: parts.next()?.parse().ok()? })
    }
}

/// Everything there is. A copy shares what neither it nor the original writes, as one is made before each write.
#[derive(Debug, Clone)]
pub struct World {
    /// Base address, without a slash at the end.
    pub url: String,
    /// The version of GitLab that it says it is.
    pub version: String,
    /// The kinds of rows, with their shapes.
    pub kinds: Kinds,
    /// The repositories, by project.
    pub repos: BTreeMap<u64, Arc<Repo>>,
    /// Uploaded files, by shelf and id.
    pub files: BTreeMap<String, Arc<[u8]>>,
    shelves: BTreeMap<String, Arc<Vec<Row>>>,
    last: BTreeMap<String, u64>,
    clock: OffsetDateTime,
}

impl World {
    /// An empty world.
    pub fn new(url: String, kinds: Kinds, version: String) -> Self {
        Self {
            url,
            version,
            kinds,
            repos: BTreeMap::new(),
            files: BTreeMap::new(),
            shelves: BTreeMap::new(),
            last: BTreeMap::new(),
            clock: START,
        }
    }

    /// The time, which has moved on by a second.
    pub fn now(&mut self) -> String {
        self.clock += Duration::seconds(1);
        written(self.clock)
    }

    /// Sets the clock to when the first request's write happens, however much was written before.
    pub fn start_clock(&mut self) {
        self.clock = START;
    }

    /// Today's date.
    pub fn today(&self) -> String {
        self.clock.date().to_string()
    }

    pub fn tomorrow(&self) -> String {
        self.clock.date().next_day().map(|day| day.to_string()).unwrap_or_default()
    }

    /// The rows on a shelf.
    pub fn rows(&self, shelf: &str) -> &[Row] {
        self.shelves.get(shelf).map(|rows| rows.as_slice()).unwrap_or_default()
    }

    /// All rows of a kind, wherever they are, with their shelves.
    pub fn all<'w>(&'w self, kind: &'w str) -> impl Iterator<Item = (&'w str, &'w Row)> {
        let of_kind = move |shelf: &str| shelf.rsplit('/').next() == Some(kind);
        self.shelves
            .iter()
            .filter(move |(shelf, _)| of_kind(shelf))
            .flat_map(|(shelf, rows)| rows.iter().map(move |row| (shelf.as_str(), row)))
    }

    /// The row of a kind with this id, wherever it is.
    pub fn anywhere(&self, kind: &str, id: u64) -> Option<(String, Row)> {
        self.all(kind)
            .find(|(_, row)| row.num("id") == id)
            .map(|(shelf, row)| (shelf.to_owned(), row.clone()))
    }

    /// The row on a shelf whose field has this value.
    pub fn find(&self, shelf: &str, field: &str, value: &str) -> Option<&Row> {
        self.rows(shelf).iter().find(|row| is(row, field, value))
    }

    /// The same, to be changed.
    pub fn find_mut(&mut self, shelf: &str, field: &str, value: &str) -> Option<&mut Row> {
        Arc::make_mut(self.shelves.get_mut(shelf)?).iter_mut().find(|row| is(row, field, value))
    }

    /// The row with this id on a shelf; an empty one where there is none.
    pub fn by_id(&self, shelf: &str, id: u64) -> Row {
        self.rows(shelf).iter().find(|row| row.num("id") == id).cloned().unwrap_or_default()
    }

    /// The project or group with this id or path.
    pub fn place_named(&self, kind: &str, wanted: &str) -> Option<&Row> {
        let path = if kind == "projects" { "path_with_namespace" } else { "full_path" };
        let named = |row: &&Row| is(row, "id", wanted) || row.text(path).eq_ignore_ascii_case(wanted);
        self.rows(kind).iter().find(named)
    }

    /// The label of this name, wherever it is.
    pub fn label_named(&self, name: &str) -> Option<&Row> {
        self.all("labels").map(|(_, row)| row).find(|row| row.text("name") == name)
    }

    /// Puts a new row on a shelf: the shape of its kind, filled in, with `values` over it.
    pub fn add(&mut self, shelf: &str, mut values: Row, user: Option<u64>) -> Row {
        let kind = shelf.rsplit('/').next().unwrap_or_default().to_owned();
        let shape = self.kinds.named(&kind).map(|kind| kind.shape_on(shelf)).unwrap_or_default();
        let now = self.now();
        let id = values.get("id").and_then(Value::as_u64).unwrap_or_else(|| self.next_id(&kind));
        let last = self.last.entry(kind).or_default();
        *last = id.max(*last);
        if shape.contains_key("iid") && !values.contains_key("iid") {
            let last = self.rows(shelf).iter().map(|row| row.num("iid")).max().unwrap_or_default();
            values.set("iid", last + 1);
        }
        if !shape.get("id").is_some_and(Value::is_string) || values.blank("id") {
            values.set("id", id);
        }
        let place = Place::of(shelf);
        let known = json!({
            "id": id,
            "now": values.get("created_at").cloned().unwrap_or_else(|| now.clone().into()),
            "today": self.today(),
            "me": user,
            "url": self.url,
            "place": place.map(|place| place.id),
            "full": place.map(|place| self.full_path(place)),
            "web": place.map(|place| self.row_of(place).text("web_url").to_owned()),
            "fingerprint": super::git_object::key_fingerprint(values.text("key")),
            "token": format!("sandbox-{}", super::git_object::sha1(&format!("{shelf}{id}"))),
        });
        let mut row = Row::new();
        for (name, model) in &shape {
            let value = fill(model, &|name| values.get(name).or_else(|| known.get(name)).cloned());
            row.insert(name.clone(), value);
        }
        row.extend(values);
        if !shape.is_empty() && !shape.contains_key("id") {
            row.set("_unnumbered", true);
        }
        Arc::make_mut(self.shelves.entry(shelf.to_owned()).or_default()).push(row.clone());
        row
    }

    /// Writes fields of the row with this id, and when it was updated; gives the row back.
    pub fn write(&mut self, shelf: &str, id: u64, values: Row) -> Row {
        let now = self.now();
        let Some(row) = self
            .shelves
            .get_mut(shelf)
            .and_then(|rows| Arc::make_mut(rows).iter_mut().find(|row| row.num("id") == id))
        else {
            return values;
        };
        if row.contains_key("updated_at") {
            row.set("updated_at", now);
        }
        row.extend(values);
        row.clone()
    }

    /// Removes rows from a shelf, with all shelves below them; returns their number.
    pub fn remove(&mut self, shelf: &str, goes: impl Fn(&Row) -> bool) -> usize {
        let key =
            self.kinds.of(shelf).and_then(|kind| kind.keys().first().copied()).unwrap_or("id").to_owned();
        let Some(rows) = self.shelves.get_mut(shelf).map(Arc::make_mut) else { return 0 };
        let gone: Vec<String> = rows
            .iter()
            .filter(|row| goes(row))
            .filter_map(|row| row.get(&key).and_then(super::args::text_of))
            .collect();
        rows.retain(|row| !goes(row));
        for key in &gone {
            let under = format!("{shelf}/{key}/");
            self.shelves.retain(|name, _| !name.starts_with(&under));
        }
        gone.len()
    }

    /// Writes into an issue which epic it is in.
    pub fn set_epic(&mut self, issue: u64, epic: Option<&Row>) {
        let Some((shelf, _)) = self.anywhere("issues", issue) else { return };
        let Some(row) = self.find_mut(&shelf, "id", &issue.to_string()) else { return };
        row.set("epic_iid", epic.map(|epic| epic.num("iid")));
        let shown = epic.map(|epic| {
            json!({
                "id": epic.num("id"), "iid": epic.num("iid"), "title": epic.text("title"), "url": epic.text("web_url"),
                "group_id": epic.num("group_id"), "human_readable_end_date": null, "human_readable_timestamp": null
            })
        });
        row.set("epic", shown.unwrap_or_default());
    }

    /// An id that no row of the kind has.
    pub fn next_id(&mut self, kind: &str) -> u64 {
        let last = self.last.entry(kind.to_owned()).or_default();
        *last += 1;
        *last
    }

    /// The repository of a project, to be changed; a new one where it has none.
    pub fn repo_mut(&mut self, project: u64) -> &mut Repo {
        Arc::make_mut(self.repos.entry(project).or_default())
    }

    /// Completes the repository of a project, or of all.
    pub fn complete(&mut self, project: Option<u64>) {
        let wanted = |id: &u64| project.is_none_or(|project| project == *id);
        let repos = self.repos.iter_mut().filter(|(id, repo)| wanted(id) && repo.journal.is_some());
        repos.for_each(|(_, repo)| Arc::make_mut(repo).complete());
    }

    /// The row of a project or group.
    pub fn row_of(&self, place: Place) -> Row {
        self.by_id(place.kind, place.id)
    }

    /// The full path of a project or group.
    pub fn full_path(&self, place: Place) -> String {
        let row = self.row_of(place);
        let field = if place.kind == "projects" { "path_with_namespace" } else { "full_path" };
        row.text(field).to_owned()
    }

    /// A group, or without one a user, as a namespace.
    pub fn namespace(&self, group: u64, user: u64) -> Value {
        let row = self.by_id("groups", group);
        if !row.is_empty() {
            return json!({
                "id": group, "name": row.text("name"), "path": row.text("path"), "kind": "group",
                "full_path": row.text("full_path"), "parent_id": row.get("parent_id"),
                "avatar_url": row.get("avatar_url"), "web_url": row.text("web_url")
            });
        }
        let row = self.by_id("users", user);
        json!({
            "id": row.num("namespace_id"), "name": row.text("name"), "path": row.text("username"), "kind": "user",
            "full_path": row.text("username"), "parent_id": null, "avatar_url": row.get("avatar_url"),
            "web_url": row.text("web_url")
        })
    }

    /// The user with this name, without regard to case and a leading `@`.
    pub fn user_named(&self, name: &str) -> Option<u64> {
        let name = name.trim_start_matches('@').to_lowercase();
        self.rows("users").iter().find(|user| user.text("username") == name).map(|user| user.num("id"))
    }

    /// A user as one is shown wherever one is mentioned.
    pub fn basic_user(&self, id: u64) -> Value {
        let user = self.by_id("users", id);
        if user.is_empty() { Value::Null } else { self.show_as("users", "basic", &user) }
    }

    /// A user with the profile that everybody may see.
    fn full_user(&self, id: u64) -> Value {
        let (Some(kind), Value::Object(mut shown)) = (self.kinds.named("users"), self.basic_user(id)) else {
            return Value::Null;
        };
        let profile: Vec<&str> = kind.details().chain(["created_at"]).collect();
        shown.extend(self.by_id("users", id).pick(&profile));
        Value::Object(shown)
    }

    /// A row as it is served: people in full, nothing of ours.
    pub fn show(&self, row: &Row) -> Row {
        let mut shown = Row::new();
        for (name, value) in row.iter().filter(|(name, _)| *name == "_links" || !name.starts_with('_')) {
            shown.insert(name.clone(), self.show_field(name, value));
        }
        if row.flag("_unnumbered") {
            shown.remove("id");
        }
        // A job shows all of its user.
        if row.contains_key("stage") {
            shown.set("user", self.full_user(row.num("user")));
        }
        if row.contains_key("cron") {
            let next = super::cron::next_run(row.text("cron"), row.text("cron_timezone"), self.clock);
            shown.set("next_run_at", next.map(written));
        }
        if row.contains_key("assignees") {
            let first = shown.list("assignees").first().cloned().unwrap_or_default();
            shown.set("assignee", first);
        }
        shown
    }

    /// The fields of a row that a view of its kind has.
    pub fn show_as(&self, kind: &str, view: &str, row: &Row) -> Value {
        let fields = self.kinds.named(kind).map(|kind| kind.view(view)).unwrap_or_default();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        Value::Object(self.show(&row.pick(&fields)))
    }

    fn show_field(&self, name: &str, value: &Value) -> Value {
        match value {
            Value::Number(id) if PEOPLE.contains(&name) => self.basic_user(id.as_u64().unwrap_or_default()),
            Value::Number(id) if name == "milestone" => self
                .anywhere("milestones", id.as_u64().unwrap_or_default())
                .map_or(Value::Null, |(_, row)| Value::Object(self.show(&row))),
            Value::Array(ids) if CROWDS.contains(&name) => {
                ids.iter().filter_map(Value::as_u64).map(|id| self.basic_user(id)).collect()
            }
            Value::Array(values) => values.iter().map(|value| self.show_field("", value)).collect(),
            Value::Object(row) => Value::Object(self.show(row)),
            other => other.clone(),
        }
    }
}

/// A time as GitLab writes it.
fn written(time: OffsetDateTime) -> String {
    time.format(&Rfc3339).unwrap_or_default().replace('Z', ".000Z")
}

/// A model with its placeholders filled in: `"{id}"` becomes the value of `id`, `"a/{id}"` a text.
fn fill(model: &Value, known: &dyn Fn(&str) -> Option<Value>) -> Value {
    match model {
        Value::String(text) => fill_text(text, known),
        Value::Array(values) => values.iter().map(|value| fill(value, known)).collect(),
        Value::Object(row) => {
            Value::Object(row.iter().map(|(name, value)| (name.clone(), fill(value, known))).collect())
        }
        other => other.clone(),
    }
}

fn fill_text(text: &str, known: &dyn Fn(&str) -> Option<Value>) -> Value {
    let whole = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    if let Some(name) = whole.filter(|name| !name.contains('{')) {
        return known(name).unwrap_or_default();
    }
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        filled.push_str(before);
        filled.push_str(&known(name).as_ref().and_then(super::args::text_of).unwrap_or_default());
        rest = after;
    }
    filled.push_str(rest);
    Value::String(filled)
}
