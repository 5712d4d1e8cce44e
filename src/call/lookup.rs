//! What is asked of GitLab before a call can be written, the reads that answer it, and what their answers say.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::rest_lookups::{self, Ask, Read, Resolver};
use crate::catalog::{Names, Scope};

/// Something to ask GitLab before a call can be written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lookup {
    /// Is this path a project or a group?
    KindOf { full_path: String },
    /// Which id has what is called this?
    IdOf {
        names: Names,
        name: String,
        /// The parameters of the call that say where it is.
        within: BTreeMap<&'static str, String>,
    },
}

/// A read that may answer a question.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupRequest {
    /// The action's id.
    pub action: &'static str,
    pub params: Map<String, Value>,
    expects: Expects,
}

/// What an answer has to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expects {
    /// Nothing: that it came says what the path names.
    Kind(Scope),
    Id {
        by: &'static [&'static str],
        id: &'static str,
        of: Option<&'static str>,
    },
}

/// What is remembered of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Kind(Scope),
    Id(u64),
}

/// What a read's answer says to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum LookupResult {
    Found(Answer),
    Nothing,
    Several(Vec<Candidate>),
}

/// One of several things that a name may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub name: String,
    pub id: u64,
}

impl Lookup {
    /// The reads that answer it, to be tried in order.
    pub fn reads(&self) -> Vec<LookupRequest> {
        match self {
            Lookup::KindOf { full_path } => kind_reads(full_path),
            Lookup::IdOf { names, name, within } => rest_lookups::resolver(*names)
                .into_iter()
                .flat_map(|resolver| resolver.reads)
                .filter_map(|read| reading(read, name, within))
                .collect(),
        }
    }

    /// What an answer to one of its reads says.
    pub fn finding(&self, reading: &LookupRequest, answer: &Value) -> LookupResult {
        match (reading.expects, self) {
            (Expects::Kind(scope), _) => LookupResult::Found(Answer::Kind(scope)),
            (Expects::Id { by: [], id, of }, _) => {
                select_candidate(number_at(answer, id, of).into_iter().collect(), "")
            }
            (Expects::Id { by, id, of }, Lookup::IdOf { name, .. }) => among(answer, by, (id, of), name),
            (Expects::Id { .. }, Lookup::KindOf { .. }) => LookupResult::Nothing,
        }
    }

    /// The question as a message has it: looking up the user `alice`.
    pub fn wanted(&self) -> String {
        match self {
            Lookup::KindOf { full_path } => {
                format!("looking up whether `{full_path}` is a project or a group")
            }
            Lookup::IdOf { names, name, .. } => {
                let noun = rest_lookups::resolver(*names).map_or("thing", |resolver| resolver.noun);
                format!("looking up the {noun} `{name}`")
            }
        }
    }

    /// What was looked for and where, where nothing was found.
    pub fn missed(&self) -> String {
        match self {
            Lookup::KindOf { full_path } => {
                format!("`{full_path}` is neither a project nor a group that can be seen")
            }
            Lookup::IdOf { names, name, within } => {
                let noun = rest_lookups::resolver(*names).map_or("thing", |resolver| resolver.noun);
                let place = within.get("fullPath").map(|path| format!(" in `{path}`")).unwrap_or_default();
                format!("no {noun} `{name}`{place} that can be seen")
            }
        }
    }
}

impl LookupRequest {
    /// Where the name was compared, for messages: `username`.
    pub fn compared(&self) -> Vec<&'static str> {
        match self.expects {
            Expects::Kind(_) => Vec::new(),
            Expects::Id { by, .. } => by.iter().map(|pointer| pointer.trim_start_matches('/')).collect(),
        }
    }
}

/// What the reads of a resolver want to know of the call, with whether any can do without.
pub fn wants(resolver: &Resolver) -> impl Iterator<Item = (&'static str, Ask)> {
    resolver
        .reads
        .iter()
        .flat_map(|read| read.ask.iter().copied())
        .filter(|(_, ask)| matches!(ask, Ask::Same | Ask::May | Ask::Scope))
}

fn kind_reads(full_path: &str) -> Vec<LookupRequest> {
    let reading = |action, params: Value, scope| LookupRequest {
        action,
        params: params.as_object().cloned().unwrap_or_default(),
        expects: Expects::Kind(scope),
    };
    vec![
        reading("project.get", json!({"fullPath": full_path}), Scope::Project),
        reading("group.get", json!({"fullPath": full_path, "with_projects": false}), Scope::Group),
    ]
}

fn reading(read: &Read, name: &str, within: &BTreeMap<&'static str, String>) -> Option<LookupRequest> {
    let mut params = Map::new();
    for (param, ask) in read.ask {
        if let Some(value) = build_request(*ask, param, name, within)? {
            params.insert((*param).to_owned(), json!(value));
        }
    }
    Some(LookupRequest {
        action: read.action,
        params,
        expects: Expects::Id { by: read.by, id: read.id, of: read.of },
    })
}

/// The value of a read's parameter. None: the read cannot be made; within: the parameter is left out.
fn build_request(
    ask: Ask,
    param: &str,
    name: &str,
    within: &BTreeMap<&'static str, String>,
) -> Option<Option<String>> {
    let numbered = || name.rsplit_once(['#', '!', '&']);
    let marked = |mark: char| name.rsplit_once(mark).filter(|(_, number)| is_digits(number));
    match ask {
        Ask::Name => Some(Some(name.to_owned())),
        Ask::Digits => is_digits(name).then(|| Some(name.to_owned())),
        Ask::Path => numbered().map(|(path, _)| Some(path.to_owned())),
        Ask::PathOf(mark) => marked(mark).map(|(path, _)| Some(path.to_owned())),
        Ask::Number => numbered().map(|(_, number)| Some(number.to_owned())),
        Ask::Same => within.get(param).map(|value| Some(value.clone())),
        Ask::May | Ask::Scope => Some(within.get(param).cloned()),
        Ask::Text(text) => Some(Some(text.to_owned())),
    }
}

/// True if a text is a number and nothing else.
pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// How global ids begin.
pub const GLOBAL: &str = "gid://gitlab/";

/// Where a row has its id, and the type of a global one.
type Place = (&'static str, Option<&'static str>);

/// The rows that have the name: those that spell it exactly, else those in another case.
fn among(answer: &Value, by: &[&str], id: Place, name: &str) -> LookupResult {
    let rows = answer.as_array().map(Vec::as_slice).unwrap_or_default();
    let named = |same: &dyn Fn(&str) -> bool| -> Vec<Candidate> {
        rows.iter().filter_map(|row| candidate(row, by, id, same)).collect()
    };
    let exact = named(&|text| text == name);
    if !exact.is_empty() {
        return select_candidate(exact, name);
    }
    let folded = name.to_lowercase();
    select_candidate(named(&|text| text.to_lowercase() == folded), name)
}

fn candidate(row: &Value, by: &[&str], id: Place, same: &dyn Fn(&str) -> bool) -> Option<Candidate> {
    let name = by.iter().filter_map(|pointer| text_at(row, pointer)).find(|text| same(text))?;
    Some(Candidate { name, ..number_at(row, id.0, id.1)? })
}

fn select_candidate(mut candidates: Vec<Candidate>, name: &str) -> LookupResult {
    candidates.sort_by_key(|candidate| candidate.id);
    candidates.dedup_by_key(|candidate| candidate.id);
    match candidates.as_slice() {
        [] => LookupResult::Nothing,
        [only] => LookupResult::Found(Answer::Id(only.id)),
        _ if name.is_empty() => LookupResult::Nothing,
        _ => LookupResult::Several(candidates),
    }
}

/// The id there: a number, or the number of a global id of that type.
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
