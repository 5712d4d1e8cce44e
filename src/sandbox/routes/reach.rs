//! Reach of a request: a project, the projects of a group, or all that its user may see.

use crate::filter::narrow;
use crate::prelude::*;
use crate::repo::{Commit, Repo};

impl Request<'_> {
    /// The projects in the path's place that the user may see: itself, those of the group and the groups
    /// below it, or all.
    pub fn projects(&self) -> Vec<Row> {
        let prefix = match self.place {
            Some(place) if place.kind == "groups" => format!("{}/", self.world.full_path(place)),
            _ => String::new(),
        };
        let only = self.place.filter(|place| place.kind == "projects").map(|place| place.id);
        let rows = self.world.rows("projects").iter().filter(|row| {
            only.is_none_or(|id| row.num("id") == id)
                && row.text("path_with_namespace").starts_with(&prefix)
                && may_see(self.world, self.user, "projects", row)
        });
        rows.cloned().collect()
    }

    /// The rows of a kind in all projects that the request reaches, as far as the user may see them.
    pub fn across(&self, kind: &str) -> Vec<Row> {
        let mut all = Vec::new();
        for project in self.projects() {
            let shelf = format!("projects/{}/{kind}", project.num("id"));
            let rows = self.world.rows(&shelf).iter();
            all.extend(rows.filter(|row| may_see(self.world, self.user, &shelf, row)).cloned());
        }
        all
    }

    /// The rows of a kind that a list asks for; without a project or group, those of the signed-in user unless `scope`
    /// overrides it.
    pub fn listed(&mut self, kind: &str) -> Result<Vec<Row>, Fault> {
        if self.place.is_none() && !self.args.has("scope") {
            self.me()?;
            self.args.add("scope", "created_by_me");
        }
        let whole = self.place.is_none_or(|place| place.kind == "groups");
        let living = whole && self.args.maybe("non_archived") != Some(false);
        let mut rows = self.across(kind);
        rows.retain(|row| {
            let project = || self.world.row_of(Place::project(row.num("project_id")));
            !living || !project().flag("archived")
        });
        Ok(narrow(self.world, self.user, &self.args, rows))
    }

    /// The rows of a shelf, shown as a list.
    pub fn page_of(&self, kind: &str, rows: &[Row]) -> Answer {
        self.page(rows.iter().map(|row| self.show_in_list(kind, row)).collect())
    }

    /// The repository of the project in the path.
    pub fn repo(&self) -> Result<&Repo, Fault> {
        self.world.repos.get(&self.place_id()).map(|repo| &**repo).ok_or(Fault::missing("Repository"))
    }

    /// The same, to be changed.
    pub fn repo_mut(&mut self) -> &mut Repo {
        let project = self.place_id();
        self.world.repo_mut(project)
    }

    /// The project's main branch.
    pub fn default_branch(&self) -> String {
        self.world.row_of(Place::project(self.place_id())).text("default_branch").to_owned()
    }

    /// The commit that a parameter names, or the newest of the main branch.
    pub fn commit_at(&self, parameter: &str, noun: &'static str) -> Result<Commit, Fault> {
        let name = self.args.text(parameter).unwrap_or_else(|| self.default_branch());
        let commit = match self.merge_request_head(&name) {
            Some(commit) => Some(commit),
            None => self.repo()?.resolve(&name),
        };
        commit.cloned().ok_or(Fault::missing(noun))
    }

    /// The commit of `refs/merge-requests/5/head`, which the target project has of forks as well.
    fn merge_request_head(&self, name: &str) -> Option<&Commit> {
        let iid = name.strip_prefix("refs/merge-requests/")?.strip_suffix("/head")?;
        let shelf = format!("projects/{}/merge_requests", self.place_id());
        let row = self.world.find(&shelf, "iid", iid)?;
        let source = self.world.repos.get(&row.num("source_project_id"))?;
        let branch =
            (row.text("state") == "opened").then(|| source.head(row.text("source_branch"))).flatten();
        branch.or_else(|| source.resolve(row.text("sha")))
    }

    /// The project's page.
    pub fn web(&self) -> String {
        self.place.map(|place| self.world.row_of(place).text("web_url").to_owned()).unwrap_or_default()
    }

    /// Notes that something happened, for the lists of events.
    pub fn event(&mut self, action: &str, target_type: &str, target: &Row) {
        let values = serde_json::json!({
            "target_id": target.num("id"), "target_iid": target.num("iid"), "target_type": target_type,
            "target_title": target.text("title"),
        });
        self.event_of(action, values);
    }

    /// The same, of something that is described by these values.
    pub fn event_of(&mut self, action: &str, values: Value) {
        let Some(user) = self.user else { return };
        let mut event = object(serde_json::json!({
            "project_id": self.place_id(), "action_name": action, "author_id": user, "author": user,
            "author_username": self.world.by_id("users", user).text("username"),
        }));
        event.extend(object(values));
        let shelf = self.shelf("events");
        self.add(&shelf, Value::Object(event));
    }

    /// Usernames or ids of users as ids.
    pub fn people(&self, parameter: &str) -> Vec<u64> {
        self.args
            .nums(parameter)
            .into_iter()
            .filter(|id| !self.world.by_id("users", *id).is_empty())
            .collect()
    }
}

/// Each value once, in the order of the first of each.
pub fn unique<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// An array of names.
pub fn names(names: &[String]) -> Value {
    names.iter().cloned().map(Value::String).collect()
}
