//! Names where GitLab wants ids: which of the parameters hold some, what has to be asked, and the parameters with
//! the ids in their place.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::global_id::numbered;
use super::lookup::{GLOBAL, is_digits, wants};
use super::rest_lookups::{self, Ask, Form, Resolver};
use super::{Fault, Lookup, LookupCache, global_id};
use crate::catalog::{Action, GraphqlKind, Names, Operation, Param, Place, Scope};

/// The parameters of a call, their names being turned into ids.
#[derive(Debug)]
pub struct Filled {
    /// With an id for every name that is known.
    pub params: Map<String, Value>,
    /// What is not known yet, each once, with the parameter that asks.
    pub open: BTreeMap<Lookup, String>,
    /// Everything that was asked, whether it is known or not.
    pub asked: BTreeSet<Lookup>,
    pub resolved: Vec<Resolved>,
    pub faults: Vec<Fault>,
}

/// A name and the id that it turned out to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The parameter that holds it.
    pub param: String,
    pub name: String,
    pub id: u64,
}

/// Fills in the ids of everything that the parameters name.
pub fn fill(
    action: &Action,
    operation: &Operation,
    params: &Map<String, Value>,
    known: &LookupCache,
) -> Filled {
    let mut filling = Filling {
        around: params,
        scope: holder(action, operation, params),
        known,
        filled: Filled {
            params: Map::new(),
            open: BTreeMap::new(),
            asked: BTreeSet::new(),
            resolved: Vec::new(),
            faults: Vec::new(),
        },
    };
    let filled = filling.object(&action.params, params, "");
    Filled { params: filled, ..filling.filled }
}

struct Filling<'a> {
    /// All parameters of the call: a title is looked for within their `fullPath`.
    around: &'a Map<String, Value>,
    /// What that names, where it can only be one thing.
    scope: Option<Scope>,
    known: &'a LookupCache,
    filled: Filled,
}

impl Filling<'_> {
    fn object(&mut self, params: &[Param], values: &Map<String, Value>, within: &str) -> Map<String, Value> {
        let mut object = Map::new();
        for (name, value) in values {
            let path = if within.is_empty() { name.clone() } else { format!("{within}.{name}") };
            let filled = match params.iter().find(|param| param.name == *name) {
                Some(param) => self.value(param, value, &path),
                None => value.clone(),
            };
            object.insert(name.clone(), filled);
        }
        object
    }

    fn value(&mut self, param: &Param, value: &Value, path: &str) -> Value {
        match (value, param.names) {
            (Value::Array(items), _) => items.iter().map(|item| self.value(param, item, path)).collect(),
            (Value::Object(fields), _) => Value::Object(self.object(&param.fields, fields, path)),
            (scalar, Some(names)) => self.named(param, names, scalar, path),
            (scalar, None) => scalar.clone(),
        }
    }

    /// The id in place of a name; the value itself where it is an id, and where the id is not known yet.
    fn named(&mut self, param: &Param, names: Names, value: &Value, path: &str) -> Value {
        let Some(resolver) = rest_lookups::resolver(names) else { return value.clone() };
        let text = match (value, names) {
            (Value::Number(number), Names::EpicIid) => format!("&{number}"),
            (Value::Number(number), Names::Issuable) => number.to_string(),
            (Value::String(text), _) => text.trim().to_owned(),
            _ => return value.clone(),
        };
        if text.starts_with(GLOBAL) {
            return value.clone();
        }
        if names == Names::Issuable && is_id(&text) {
            // A number alone does not say what it is the number of.
            self.filled.faults.push(no_name(resolver, &text, path));
            return value.clone();
        }
        if is_id(&text) {
            return text.parse::<u64>().map_or_else(|_| value.clone(), |id| json!(id));
        }
        if param.place == Place::Query
            && param.gid.is_none()
            && resolver.words.contains(&text.to_lowercase().as_str())
        {
            return value.clone();
        }
        match self.question(resolver, &text, path) {
            Ok(question) => self.answered(param, question, value, path),
            Err(fault) => {
                self.filled.faults.push(fault);
                value.clone()
            }
        }
    }

    fn answered(&mut self, param: &Param, question: Lookup, value: &Value, path: &str) -> Value {
        let id = self.known.id(&question);
        let kind = param.gid.as_deref().map(|kind| typed(kind, &question));
        self.filled.asked.insert(question.clone());
        match id {
            Some(id) => {
                if let Some(name) = value.as_str() {
                    let name = name.trim().to_owned();
                    self.filled.resolved.push(Resolved { param: path.to_owned(), name, id });
                }
                kind.map_or_else(|| json!(id), |kind| json!(format!("{GLOBAL}{kind}/{id}")))
            }
            None => {
                self.filled.open.entry(question).or_insert_with(|| path.to_owned());
                value.clone()
            }
        }
    }

    fn question(&self, resolver: &Resolver, text: &str, path: &str) -> Result<Lookup, Fault> {
        let name = self.name(resolver, text).ok_or_else(|| no_name(resolver, text, path))?;
        let question = Lookup::IdOf { names: resolver.names, name, within: self.within(resolver) };
        if question.reads().is_empty() {
            return Err(Fault::NoPlace {
                name: path.to_owned(),
                given: text.to_owned(),
                noun: resolver.noun,
                needs: wants(resolver)
                    .filter(|(_, ask)| *ask == Ask::Same)
                    .map(|(name, _)| name.to_owned())
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect(),
            });
        }
        Ok(question)
    }

    /// The name as it is compared: without mark and quotes, a number below its full path.
    fn name(&self, resolver: &Resolver, text: &str) -> Option<String> {
        match resolver.form {
            Form::Name { mark } => {
                let bare = text.strip_prefix(mark).unwrap_or(text);
                let bare = bare.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(bare);
                Some(bare.trim_matches('/').to_owned()).filter(|bare| !bare.is_empty())
            }
            Form::Word(word) => text.eq_ignore_ascii_case(word).then(|| word.to_owned()),
            Form::Number { marks } => {
                let (path, mark, number) = numbered(text, marks)?;
                let path = if path.is_empty() { self.here(mark)? } else { path.to_owned() };
                Some(format!("{path}{mark}{number}"))
            }
        }
    }

    /// The path that a bare number is below: the call's own; for an epic of a project, the group it is in.
    fn here(&self, mark: char) -> Option<String> {
        let path = self.around.get("fullPath")?.as_str()?.trim_matches('/');
        match (mark, self.scope) {
            ('&', Some(Scope::Project)) => path.rsplit_once('/').map(|(group, _)| group.to_owned()),
            ('&', Some(Scope::Group)) | ('#' | '!', Some(Scope::Project)) | (_, None) => {
                Some(path.to_owned())
            }
            _ => None,
        }
    }

    fn within(&self, resolver: &Resolver) -> BTreeMap<&'static str, String> {
        wants(resolver)
            .filter_map(|(name, ask)| match ask {
                // An action on the instance names things of the project or group that its `fullPath` is.
                Ask::Scope => {
                    Some((name, self.scope.filter(|scope| *scope != Scope::Instance)?.name().to_owned()))
                }
                _ => Some((name, text(self.around.get(name)?))),
            })
            .collect()
    }
}

/// What is given is an id, or several.
fn is_id(text: &str) -> bool {
    text.is_empty() || text.split(',').all(|part| is_digits(part.trim()))
}

fn expected(resolver: &Resolver) -> String {
    match resolver.form {
        Form::Name { .. } => "a name".to_owned(),
        Form::Word(word) => format!("`{word}`"),
        Form::Number { marks } => {
            let forms: Vec<String> = marks.iter().map(|mark| written(*mark)).collect();
            forms.join(" or ")
        }
    }
}

fn written(mark: char) -> String {
    if mark == '&' { "`group&7`".to_owned() } else { format!("`group/project{mark}12`") }
}

fn no_name(resolver: &Resolver, given: &str, name: &str) -> Fault {
    Fault::NoName {
        name: name.to_owned(),
        given: given.to_owned(),
        noun: resolver.noun,
        expected: expected(resolver),
    }
}

/// The type of the global id that answers a question; where several may, it is told by the mark.
fn typed<'a>(kind: &'a str, question: &Lookup) -> &'a str {
    match question {
        Lookup::IdOf { names: Names::Issuable, name, .. } => rest_lookups::marked(name).unwrap_or(kind),
        _ => kind,
    }
}

/// What `fullPath` names: what the operation works on, unless that may be either.
fn holder(action: &Action, operation: &Operation, params: &Map<String, Value>) -> Option<Scope> {
    if let Some(addressed) = global_id::addressed(action) {
        let reference = params.get(&addressed.name).and_then(Value::as_str)?;
        let (_, mark, _) = numbered(reference, global_id::marks(addressed))?;
        return match mark {
            '!' => Some(Scope::Project),
            '&' => Some(Scope::Group),
            _ if addressed.names == Some(Names::WorkItem) => None,
            _ => Some(Scope::Project),
        };
    }
    let either = operation.graphql.as_ref().is_some_and(|graphql| {
        let wire = action.param("fullPath").and_then(|path| path.wire.as_deref());
        let by_kind = wire.is_some_and(|wire| matches!(wire, "projectPath" | "groupPath"));
        match graphql.kind {
            GraphqlKind::Query => {
                !graphql.field.starts_with("project.") && !graphql.field.starts_with("group.")
            }
            GraphqlKind::Mutation => !by_kind,
        }
    });
    (!either).then_some(operation.scope)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
