//! A repository: commits that each hold their whole tree, branches and tags.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::diff::{Change, Tree, aligned, between};
use super::git_object::commit_id;

/// The author of a commit.
#[derive(Debug, Clone)]
pub struct Author {
    /// Their name.
    pub name: String,
    /// Their address.
    pub email: String,
}

/// One commit.
#[derive(Debug, Clone)]
pub struct Commit {
    /// Its id.
    pub id: String,
    /// Ids of the parent commits.
    pub parents: Vec<String>,
    /// The author.
    pub author: Author,
    /// The commit date.
    pub date: String,
    /// The commit message.
    pub message: String,
    /// All files.
    pub tree: Tree,
    order: usize,
}

impl Commit {
    /// The first line of the message.
    pub fn title(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    /// As GitLab sends it; `web` is the project's page.
    pub fn json(&self, web: &str) -> Value {
        json!({
            "id": self.id,
            "short_id": self.id.chars().take(8).collect::<String>(),
            "created_at": self.date,
            "parent_ids": self.parents,
            "title": self.title(),
            "message": self.message,
            "author_name": self.author.name,
            "author_email": self.author.email,
            "authored_date": self.date,
            "committer_name": self.author.name,
            "committer_email": self.author.email,
            "committed_date": self.date,
            "trailers": {},
            "extended_trailers": {},
            "web_url": format!("{web}/-/commit/{}", self.id)
        })
    }
}

/// A tag.
#[derive(Debug, Clone)]
pub struct Tag {
    /// The commit it is on.
    pub commit: String,
    /// Its message, where it is annotated.
    pub message: Option<String>,
    /// The tag's date.
    pub date: String,
}

/// Commits of one file that are made when somebody asks for them, a day apart and each with another number for `{n}`.
#[derive(Debug, Clone)]
pub struct Journal {
    /// The branch, which has a commit.
    pub branch: String,
    /// The author of all.
    pub author: Author,
    /// The day before the first.
    pub first: OffsetDateTime,
    /// Number of commits.
    pub times: u32,
    /// The message of each.
    pub message: String,
    /// Path of the file.
    pub path: String,
    /// Content of the file.
    pub text: String,
}

/// A whole repository.
#[derive(Debug, Clone, Default)]
pub struct Repo {
    /// The commits that are not made yet.
    pub journal: Option<Journal>,
    /// Branches and the commits they are at.
    pub branches: BTreeMap<String, String>,
    /// Tags.
    pub tags: BTreeMap<String, Tag>,
    commits: BTreeMap<String, Commit>,
}

impl Repo {
    /// The commit that a branch, a tag, an id or the beginning of one names.
    pub fn resolve(&self, name: &str) -> Option<&Commit> {
        let name = name.trim_start_matches("refs/heads/").trim_start_matches("refs/tags/");
        let id = match name {
            "HEAD" => self.branches.get("main"),
            name => self.branches.get(name).or_else(|| self.tags.get(name).map(|tag| &tag.commit)),
        };
        let named = id.and_then(|id| self.commits.get(id)).or_else(|| self.commits.get(name));
        named.or_else(|| {
            let begins = |commit: &&Commit| name.len() >= 7 && commit.id.starts_with(name);
            self.commits.values().find(begins)
        })
    }

    /// The commit that a branch is at.
    pub fn head(&self, branch: &str) -> Option<&Commit> {
        self.branches.get(branch).and_then(|id| self.commits.get(id))
    }

    /// Everything that led to a commit, newest first, itself included.
    pub fn log(&self, from: &str) -> Vec<&Commit> {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&str> = vec![from];
        let mut found = Vec::new();
        while let Some(id) = next.pop() {
            if let Some(commit) = self.commits.get(id)
                && seen.insert(id)
            {
                found.push(commit);
                next.extend(commit.parents.iter().map(String::as_str));
            }
        }
        found.sort_by(|one, other| (&other.date, other.order).cmp(&(&one.date, one.order)));
        found
    }

    /// Commits that `to` has and `from` has not, newest first.
    pub fn ahead(&self, from: &str, to: &str) -> Vec<&Commit> {
        let known: BTreeSet<&str> = self.log(from).iter().map(|commit| commit.id.as_str()).collect();
        self.log(to).into_iter().filter(|commit| !known.contains(commit.id.as_str())).collect()
    }

    /// The newest commit that both have.
    pub fn merge_base(&self, one: &str, other: &str) -> Option<&Commit> {
        let known: BTreeSet<&str> = self.log(one).iter().map(|commit| commit.id.as_str()).collect();
        self.log(other).into_iter().find(|commit| known.contains(commit.id.as_str()))
    }

    /// All commits, newest first.
    pub fn everything(&self) -> Vec<&Commit> {
        let mut all: Vec<&Commit> = self.commits.values().collect();
        all.sort_by_key(|commit| std::cmp::Reverse(commit.order));
        all
    }

    /// The commits of a line of first parents, newest first.
    pub fn first_parents(&self, from: &str) -> Vec<&Commit> {
        let next = |commit: &&Commit| commit.parents.first().and_then(|id| self.commits.get(id));
        std::iter::successors(self.commits.get(from), next).collect()
    }

    /// Makes the commits that are not made yet.
    pub fn complete(&mut self) {
        let Some(journal) = self.journal.take() else { return };
        for number in 1..=journal.times {
            let fill = |text: &str| text.replace("{n}", &number.to_string());
            let (parents, mut tree) = match self.head(&journal.branch) {
                Some(head) => (vec![head.id.clone()], head.tree.clone()),
                None => Default::default(),
            };
            tree.insert(journal.path.clone(), fill(&journal.text).into_bytes().into());
            let date = journal.first + Duration::days(i64::from(number));
            let date = date.format(&Rfc3339).unwrap_or_default().replace('Z', ".000Z");
            let message = fill(&journal.message);
            self.commit(&journal.branch, parents, tree, &message, journal.author.clone(), &date);
        }
    }

    /// Adds a commit that no branch is moved to.
    pub fn detached(
        &mut self,
        parents: Vec<String>,
        tree: Tree,
        message: &str,
        author: Author,
        date: &str,
    ) -> Commit {
        let order = self.commits.len();
        let id = commit_id(&tree, &parents, (&author.name, &author.email), date, message);
        let (date, message) = (date.to_owned(), message.to_owned());
        let commit = Commit { id: id.clone(), parents, author, date, message, tree, order };
        self.commits.insert(id, commit.clone());
        commit
    }

    /// Adds a commit and moves the branch to it, making the branch where it is new.
    pub fn commit(
        &mut self,
        branch: &str,
        parents: Vec<String>,
        tree: Tree,
        message: &str,
        author: Author,
        date: &str,
    ) -> Commit {
        let commit = self.detached(parents, tree, message, author, date);
        self.branches.insert(branch.to_owned(), commit.id.clone());
        commit
    }

    /// Changes of a commit from its first parent.
    pub fn changes(&self, commit: &Commit) -> Vec<Change> {
        let parent = commit.parents.first().and_then(|id| self.commits.get(id));
        between(&parent.map(|parent| parent.tree.clone()).unwrap_or_default(), &commit.tree)
    }

    /// The commit that last changed a path, looking back from another.
    pub fn last_change(&self, from: &Commit, path: &str) -> Option<&Commit> {
        let touched = |commit: &&Commit| {
            let before = commit.parents.first().and_then(|id| self.commits.get(id));
            commit.tree.get(path) != before.and_then(|before| before.tree.get(path))
        };
        self.log(&from.id).into_iter().filter(|commit| commit.parents.len() < 2).find(touched)
    }

    /// The lines of a file, in groups that come from the same commit.
    pub fn blame(&self, at: &Commit, path: &str) -> Vec<(&Commit, Vec<String>)> {
        let content = |commit: &Commit| commit.tree.get(path).cloned().unwrap_or_default();
        let parent = |commit: &Commit| commit.parents.first().and_then(|id| self.commits.get(id));
        let touched = |commit: &&Commit| {
            commit.parents.len() < 2 && parent(commit).map(content).unwrap_or_default() != content(commit)
        };
        let mut history: Vec<&Commit> = self.log(&at.id).into_iter().filter(touched).collect();
        history.reverse();
        history.extend(self.commits.get(&at.id));
        let (mut text, mut origins): (String, Vec<&Commit>) = Default::default();
        for commit in history {
            let new = String::from_utf8_lossy(&content(commit)).into_owned();
            let old = |line: Option<usize>| line.and_then(|line| origins.get(line).copied());
            origins = aligned(&text, &new).into_iter().map(|line| old(line).unwrap_or(commit)).collect();
            text = new;
        }
        let mut groups: Vec<(&Commit, Vec<String>)> = Vec::new();
        for (commit, line) in origins.into_iter().zip(text.lines()) {
            match groups.last_mut().filter(|(last, _)| last.id == commit.id) {
                Some((_, lines)) => lines.push(line.to_owned()),
                None => groups.push((commit, vec![line.to_owned()])),
            }
        }
        groups
    }

    /// Three trees made one: what `theirs` changed since `base`, over `ours`. Where both changed a file the
    /// two are in conflict and nothing comes of it.
    pub fn merged(base: &Tree, ours: &Tree, theirs: &Tree) -> Option<Tree> {
        let mut tree = ours.clone();
        let paths: BTreeSet<&String> = base.keys().chain(theirs.keys()).collect();
        for path in paths {
            let (was, our, their) = (base.get(path), ours.get(path), theirs.get(path));
            if was == their || our == their {
                continue;
            }
            if was != our {
                return None;
            }
            match their {
                Some(bytes) => tree.insert(path.clone(), Arc::clone(bytes)),
                None => tree.remove(path),
            };
        }
        Some(tree)
    }
}
