//! Look-ups before a call: the facts that it needs from GitLab, the reads that return them, and how the responses are
//! interpreted.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::FullPath;
use super::location::GLOBAL;
use crate::catalog::{
    self, KindRead, NameForm, Names, Param, Place as ParamPlace, Resolver, ResolverRead, Scope, TRACKED_MARKS,
};
use crate::text::is_digits;

/// The word for the latest run, in place of an id.
pub const LATEST: &str = "latest";

/// The word for the user of the token.
pub const ME: &str = "me";

/// A fact to look up before a call can be built.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lookup {
    /// The kind of a path: project or group.
    KindOf { full_path: String },
    /// The path of the project or group with this id.
    PathOf { scope: Scope, id: String },
    /// The id of the object with this name.
    IdOf {
        names: Names,
        name: String,
        /// Parameters of the call that locate the object.
        within: BTreeMap<&'static str, String>,
    },
}

/// A read that may answer a look-up.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupRequest {
    /// The action's id.
    pub action: &'static str,
    pub params: Map<String, Value>,
    expects: Expects,
}

/// Expected content of a response.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expects {
    /// Nothing: success alone determines the kind of the path.
    Kind(Scope),
    /// The field with the path.
    Path(&'static str),
    Id {
        by: &'static [String],
        id: &'static str,
        of: Option<&'static str>,
    },
}

/// The cached part of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupAnswer {
    Kind(Scope),
    Path(FullPath),
    Id(u64),
}

/// Outcome of a read for a look-up.
#[derive(Clone, Debug, PartialEq)]
pub enum LookupResult {
    Found(LookupAnswer),
    Nothing,
    Several(Vec<Candidate>),
}

/// One of several objects with the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub name: String,
    pub id: u64,
}

impl Lookup {
    /// The reads to try, in order.
    pub fn reads(&self) -> Vec<LookupRequest> {
        match self {
            Lookup::KindOf { full_path } => kind_reads(full_path),
            Lookup::PathOf { scope, id } => path_read(*scope, id).into_iter().collect(),
            Lookup::IdOf { names, name, within } => catalog::resolver(*names)
                .into_iter()
                .flat_map(|resolver| &resolver.reads)
                .filter_map(|read| lookup_request(read, &Name { text: name, names: *names }, within))
                .collect(),
        }
    }

    /// Interprets the response to one of its reads.
    pub fn finding(&self, reading: &LookupRequest, answer: &Value) -> LookupResult {
        match (reading.expects, self) {
            (Expects::Kind(scope), _) => LookupResult::Found(LookupAnswer::Kind(scope)),
            (Expects::Path(field), _) => answer
                .get(field)
                .and_then(Value::as_str)
                .and_then(FullPath::parse)
                .map_or(LookupResult::Nothing, |path| LookupResult::Found(LookupAnswer::Path(path))),
            (Expects::Id { by: [], id, of }, _) => {
                select_candidate(number_at(answer, id, of).into_iter().collect(), "")
            }
            (Expects::Id { by, id, of }, Lookup::IdOf { names, name, .. }) => {
                match_rows(answer, by, (id, of), &Name { text: name, names: *names })
            }
            (Expects::Id { .. }, Lookup::KindOf { .. } | Lookup::PathOf { .. }) => LookupResult::Nothing,
        }
    }

    /// The name, if it is a title whose words a search may find.
    pub fn title(&self) -> Option<&str> {
        match self {
            Lookup::IdOf { names, name, .. } => Some(name.as_str()).filter(|_| names.is_titled()),
            Lookup::KindOf { .. } | Lookup::PathOf { .. } => None,
        }
    }

    /// True if GitLab refuses (403) what it does not find: the latest pipeline of a branch that has none.
    pub fn is_refused_if_missing(&self) -> bool {
        matches!(self, Lookup::IdOf { names, .. } if names.is_pipeline())
    }

    /// The read whose rows have names to compare with one that is not found: the list without the filter by the name.
    /// Users are searched, since the list of an instance is too long; nothing else of the whole instance is compared.
    pub fn similar_names(&self) -> Option<(&str, LookupRequest)> {
        let Lookup::IdOf { names, name, .. } = self else { return None };
        let mut reads = self.reads().into_iter();
        let mut list = reads.rfind(|reading| !reading.compared().is_empty())?;
        list.params.retain(|_, value| value.as_str() != Some(name));
        match names {
            Names::User => drop(list.params.insert("search".to_owned(), json!(name))),
            names if names.is_global() => return None,
            _ => {}
        }
        Some((name, list))
    }

    /// True if each run has an object of this name: a read takes the newest.
    pub fn is_of_runs(&self) -> bool {
        matches!(self, Lookup::IdOf { names: Names::Job, .. })
    }

    /// True for the user of the token, whom only a read of its own finds.
    pub fn is_own_user(&self) -> bool {
        matches!(self, Lookup::IdOf { names: Names::User, name, .. } if name.eq_ignore_ascii_case(ME))
    }

    /// The name of an object.
    pub fn given_name(&self) -> Option<&str> {
        match self {
            Lookup::IdOf { name, .. } => Some(name),
            Lookup::KindOf { .. } | Lookup::PathOf { .. } => None,
        }
    }

    /// The name, if it is that of a user.
    pub fn username(&self) -> Option<&str> {
        match self {
            Lookup::IdOf { names: Names::User, name, .. } => Some(name),
            _ => None,
        }
    }

    /// The name, if it can only be the display name of a user: usernames have no spaces.
    pub fn display_name(&self) -> Option<&str> {
        self.username().filter(|name| name.contains(char::is_whitespace))
    }

    /// True if the name may be that of another object at the next call: its answer is not kept.
    pub fn is_passing(&self) -> bool {
        match self {
            _ if self.is_of_runs() => true,
            Lookup::IdOf { names, .. } if names.is_pipeline() || *names == Names::Todo => true,
            // Everybody can change the own display name.
            _ if self.display_name().is_some() => true,
            // The token may become that of another user.
            _ if self.is_own_user() => true,
            Lookup::IdOf { names: names @ (Names::Epic | Names::Issue), name, .. } => {
                Name { text: name, names: *names }.numbered().is_none() && !is_digits(name)
            }
            _ => self.title().is_some(),
        }
    }

    /// The names of the rows of a list that the read searches, with the numbers that they stand for.
    pub fn candidates(&self, reading: &LookupRequest, answer: &Value) -> Vec<Candidate> {
        let Expects::Id { by, id, of } = reading.expects else { return Vec::new() };
        let rows = answer.as_array().map(Vec::as_slice).unwrap_or_default();
        rows.iter().filter_map(|row| candidate(row, by, (id, of), &|_| true)).collect()
    }

    /// Describes the look-up for a message: "looking up the user `alice`".
    pub fn wanted(&self) -> String {
        match self {
            Lookup::KindOf { full_path } => {
                format!("looking up whether `{full_path}` is a project or a group")
            }
            Lookup::PathOf { scope, id } => format!("looking up the path of the {} {id}", scope.name()),
            Lookup::IdOf { names, name, .. } => {
                let noun = catalog::resolver(*names).map_or("thing", |resolver| resolver.noun.as_str());
                format!("looking up the {noun} `{name}`")
            }
        }
    }

    /// Describes the look-up and the place that was searched, for a message that nothing was found.
    pub fn missed(&self) -> String {
        match self {
            Lookup::KindOf { full_path } => {
                format!("`{full_path}` is neither a project nor a group that can be seen")
            }
            Lookup::PathOf { scope, id } => format!("no {} with the id {id} that can be seen", scope.name()),
            Lookup::IdOf { names, name, within } => {
                let noun = catalog::resolver(*names).map_or("thing", |resolver| resolver.noun.as_str());
                let place = within.get("fullPath").map(|path| format!(" in `{path}`")).unwrap_or_default();
                match self.title() {
                    Some(title) => format!("no {noun}{place} that can be seen is called `{title}`"),
                    None => format!("no {noun} `{name}`{place} that can be seen"),
                }
            }
        }
    }
}

impl LookupRequest {
    /// Fields that the name was compared with, for messages: `username`.
    pub fn compared(&self) -> Vec<&'static str> {
        match self.expects {
            Expects::Kind(_) | Expects::Path(_) => Vec::new(),
            Expects::Id { by, .. } => by.iter().map(|pointer| pointer.trim_start_matches('/')).collect(),
        }
    }
}

/// The list of the objects that a parameter of the path may name, in the project or group of the other parameters, and of
/// their `title` if they have one.
pub fn list_of(param: &Param, given: &Map<String, Value>) -> Option<(&'static str, Map<String, Value>)> {
    let resolver = catalog::resolver(param.names.filter(|_| param.place == ParamPlace::Path)?)?;
    let read = resolver.reads.iter().find(|read| !read.by.is_empty())?;
    let mut params = Map::new();
    for (name, ask) in &read.ask {
        let value = match ask {
            KindRead::Same => Some(given.get(name)?),
            KindRead::Group => Some(given.get("fullPath")?),
            KindRead::Name | KindRead::Title => given.get("title").filter(|_| name == "search"),
            _ => None,
        };
        params.extend(value.map(|value| (name.clone(), value.clone())));
    }
    Some((&read.action, params))
}

/// Parameters of the call that the reads of a resolver use, and whether each is optional.
pub fn wants(resolver: &'static Resolver) -> impl Iterator<Item = (&'static str, &'static KindRead)> {
    resolver
        .reads
        .iter()
        .flat_map(|read| read.ask.iter().map(|(name, ask)| (name.as_str(), ask)))
        .filter(|(_, ask)| matches!(ask, KindRead::Same | KindRead::Group | KindRead::May | KindRead::Scope))
}

fn kind_reads(full_path: &str) -> Vec<LookupRequest> {
    let scopes = [Scope::Project, Scope::Group].into_iter();
    scopes.filter_map(|scope| holder_read(scope, full_path, Expects::Kind(scope))).collect()
}

fn path_read(scope: Scope, id: &str) -> Option<LookupRequest> {
    let field = if scope == Scope::Project { "path_with_namespace" } else { "full_path" };
    holder_read(scope, id, Expects::Path(field))
}

/// The read that shows a project or group.
fn holder_read(scope: Scope, full_path: &str, expects: Expects) -> Option<LookupRequest> {
    let (action, params) = match scope {
        Scope::Project => ("project.get", json!({"fullPath": full_path})),
        Scope::Group => ("group.get", json!({"fullPath": full_path, "with_projects": false})),
        _ => return None,
    };
    Some(LookupRequest { action, params: params.as_object().cloned()?, expects })
}

fn lookup_request(
    read: &'static ResolverRead,
    name: &Name<'_>,
    within: &BTreeMap<&'static str, String>,
) -> Option<LookupRequest> {
    let mut params = Map::new();
    for (param, ask) in &read.ask {
        if let Some(value) = build_value(ask, param, name, within)? {
            params.insert(param.clone(), json!(value));
        }
    }
    Some(LookupRequest {
        action: &read.action,
        params,
        expects: Expects::Id { by: &read.by, id: &read.id, of: read.of.as_deref() },
    })
}

/// The name of an object of a kind.
struct Name<'a> {
    text: &'a str,
    names: Names,
}

impl<'a> Name<'a> {
    /// Path and number of a reference such as `group&7`. Another mark than those of the kind makes no reference: rules read
    /// the same place from the text (`affected_paths`).
    fn numbered(&self) -> Option<(&'a str, &'a str)> {
        let marks = match catalog::resolver(self.names).map(|resolver| &resolver.form) {
            Some(NameForm::Number(marks) | NameForm::NumberOrTitle(marks)) => marks.as_slice(),
            _ => &TRACKED_MARKS,
        };
        self.text.rsplit_once(marks).filter(|(_, number)| is_digits(number))
    }

    /// The name of an object of the kind without its prefix.
    fn without_prefix<'t>(&self, text: &'t str) -> &'t str {
        let prefixes = catalog::resolver(self.names).map(|resolver| resolver.prefixes.as_slice());
        let bare = prefixes.unwrap_or_default().iter().find_map(|prefix| text.strip_prefix(prefix.as_str()));
        bare.map_or(text, str::trim_start)
    }

    fn marked(&self, mark: char) -> Option<(&'a str, &'a str)> {
        self.text.rsplit_once(mark).filter(|(_, number)| is_digits(number))
    }
}

/// Builds the value of a read's parameter. The outer `None` means that the read is impossible; the inner that the
/// parameter is omitted.
fn build_value(
    ask: &KindRead,
    param: &str,
    name: &Name<'_>,
    within: &BTreeMap<&'static str, String>,
) -> Option<Option<String>> {
    let text = name.text;
    match ask {
        KindRead::Name => Some(Some(text.to_owned())),
        KindRead::Title => name.numbered().is_none().then(|| Some(text.to_owned())),
        KindRead::LatestOn => Some((!text.eq_ignore_ascii_case(LATEST)).then(|| text.to_owned())),
        KindRead::Only(word) => text.eq_ignore_ascii_case(word).then_some(None),
        KindRead::After(beginning) => text
            .strip_prefix(beginning.as_str())
            .filter(|rest| is_digits(rest))
            .map(|rest| Some(rest.to_owned())),
        KindRead::Digits => is_digits(text).then(|| Some(text.to_owned())),
        KindRead::Path => name.numbered().map(|(path, _)| Some(path.to_owned())),
        KindRead::PathOf(mark) => name.marked(*mark).map(|(path, _)| Some(path.to_owned())),
        KindRead::NumberOf(mark) => name.marked(*mark).map(|(_, number)| Some(number.to_owned())),
        KindRead::Number => name.numbered().map(|(_, number)| Some(number.to_owned())),
        KindRead::Same | KindRead::Group => within.get(param).map(|value| Some(value.clone())),
        KindRead::Absent => (!within.contains_key(param)).then_some(None),
        KindRead::May | KindRead::Scope => Some(within.get(param).cloned()),
        KindRead::Text(fixed) => Some(Some(fixed.clone())),
    }
}

/// Pointer to the id of a row, and the type of a global id.
type PathPart = (&'static str, Option<&'static str>);

/// Finds the row with the name: exact matches first, then matches that differ in case.
fn match_rows(answer: &Value, by: &[String], id: PathPart, name: &Name<'_>) -> LookupResult {
    let rows = answer.as_array().map(Vec::as_slice).unwrap_or_default();
    let named = |same: &dyn Fn(&str) -> bool| -> Vec<Candidate> {
        rows.iter().filter_map(|row| candidate(row, by, id, same)).collect()
    };
    let exact = named(&|text| text == name.text);
    if !exact.is_empty() {
        return select_candidate(exact, name.text);
    }
    let folded = name.text.to_lowercase();
    let same = named(&|text| text.to_lowercase() == folded);
    // A webhook is named by its host too, and a merge request without the mark of a draft.
    let is_alike =
        |text: &str| host(text) == Some(&folded) || name.without_prefix(&text.to_lowercase()) == folded;
    let rows = if same.is_empty() { named(&is_alike) } else { same };
    select_candidate(rows, name.text)
}

/// The host of a URL with a scheme, as it is written.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', ':', '?', '#']).next()
}

fn candidate(row: &Value, by: &[String], id: PathPart, same: &dyn Fn(&str) -> bool) -> Option<Candidate> {
    let name = by.iter().filter_map(|pointer| text_at(row, pointer)).find(|text| same(text))?;
    Some(Candidate { name, ..number_at(row, id.0, id.1)? })
}

fn select_candidate(mut candidates: Vec<Candidate>, name: &str) -> LookupResult {
    candidates.sort_by_key(|candidate| candidate.id);
    candidates.dedup_by_key(|candidate| candidate.id);
    match candidates.as_slice() {
        [] => LookupResult::Nothing,
        [only] => LookupResult::Found(LookupAnswer::Id(only.id)),
        _ if name.is_empty() => LookupResult::Nothing,
        _ => LookupResult::Several(candidates),
    }
}

/// Parses the id at a pointer: a number, or a global id of the type.
fn number_at(row: &Value, pointer: &str, of: Option<&str>) -> Option<Candidate> {
    let id = match (row.pointer(pointer)?, of) {
        (Value::Number(number), _) => number.as_u64()?,
        (Value::String(text), Some(of)) => {
            let (kind, number) = text.strip_prefix(GLOBAL)?.rsplit_once('/')?;
            number.parse().ok().filter(|_| kind == of)?
        }
        _ => return None,
    };
    Some(Candidate { name: String::new(), id })
}

fn text_at(row: &Value, pointer: &str) -> Option<String> {
    match row.pointer(pointer)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
