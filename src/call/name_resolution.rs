//! Resolution of names to ids: finds the parameters that hold names, lists the look-ups that they need, and puts the
//! ids in their place.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::global_id::numbered;
use super::location::GLOBAL;
use super::lookup::LATEST;
use super::lookup::wants;
use super::{Fault, Lookup, LookupCache, global_id};
use crate::catalog::{
    self, Action, GraphqlKind, KindRead, NameForm, Names, Operation, Param, Place, Resolver, Scope,
};
use crate::text::{is_digits, plain_text};

/// The parameters of a call during name resolution.
#[derive(Debug, Default)]
pub struct Filled {
    /// The parameters, with an id in place of each known name.
    pub params: Map<String, Value>,
    /// Open look-ups, each once, with the parameter that needs it.
    pub open: BTreeMap<Lookup, String>,
    /// All look-ups, open or answered.
    pub asked: BTreeSet<Lookup>,
    pub resolved: Vec<Resolved>,
    pub faults: Vec<Fault>,
}

/// A name and its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The parameter with the name.
    pub param: String,
    pub name: String,
    pub id: u64,
}

/// Replaces the names in the parameters by the known ids.
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
        filled: Filled::default(),
    };
    let filled = filling.object(&action.params, params, "");
    Filled { params: filled, ..filling.filled }
}

struct Filling<'a> {
    /// All parameters of the call: a title is searched in the project or group of their `fullPath`.
    around: &'a Map<String, Value>,
    /// Kind of `fullPath`, if the operation allows only one.
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
            (scalar, Some(names)) => self.resolve_names(param, names, scalar, path),
            (scalar, None) => scalar.clone(),
        }
    }

    /// Replaces a name by its id. An id, and a name whose id is not known yet, are kept.
    fn resolve_names(&mut self, param: &Param, names: Names, value: &Value, path: &str) -> Value {
        let Some(resolver) = catalog::resolver(names) else { return value.clone() };
        let text = match (value, names) {
            (Value::Number(number), Names::EpicIid) => format!("&{number}"),
            (Value::Number(number), Names::Issuable) => number.to_string(),
            (Value::String(text), _) => text.trim().to_owned(),
            _ => return value.clone(),
        };
        if text.starts_with(GLOBAL) {
            return value.clone();
        }
        let marked = resolver.id_mark.and_then(|mark| text.strip_prefix(mark));
        let text = marked.filter(|id| is_digits(id)).map_or_else(|| text.clone(), str::to_owned);
        if is_cleared(param, resolver, &text) {
            return json!(0);
        }
        if names == Names::Issuable && is_id(&text) {
            // A bare number has no mark, so its kind is unknown.
            self.filled.faults.push(no_name(resolver, &text, path));
            return value.clone();
        }
        if is_id(&text) {
            return text.parse::<u64>().map_or_else(|_| value.clone(), |id| json!(id));
        }
        if param.place == Place::Query && param.gid.is_none() && resolver.words.contains(&text.to_lowercase())
        {
            return value.clone();
        }
        let text = self.by_title(names, &text, path);
        let question =
            text.and_then(|text| text.map(|text| self.question(resolver, &text, path)).transpose());
        match question {
            Ok(Some(question)) => self.resolve_question(param, question, value, path),
            Ok(None) => value.clone(),
            Err(fault) => {
                self.filled.faults.push(fault);
                value.clone()
            }
        }
    }

    /// The name of a pipeline with the number of its merge request in place of the title: `!Turn both ways` is `!12`. None
    /// until the number is known.
    fn by_title(&mut self, names: Names, text: &str, path: &str) -> Result<Option<String>, Fault> {
        let title = text.strip_prefix('!').filter(|title| names.is_pipeline() && !is_digits(title));
        let (Some(title), Some(titles)) = (title, catalog::resolver(Names::MergeRequestTitle)) else {
            return Ok(Some(text.to_owned()));
        };
        let question = self.question(titles, title, path)?;
        self.filled.asked.insert(question.clone());
        let known = self.known.id(&question);
        if known.is_none() {
            self.filled.open.entry(question).or_insert_with(|| path.to_owned());
        }
        Ok(known.map(|iid| format!("!{iid}")))
    }

    fn resolve_question(&mut self, param: &Param, question: Lookup, value: &Value, path: &str) -> Value {
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

    fn question(&self, resolver: &'static Resolver, text: &str, path: &str) -> Result<Lookup, Fault> {
        let name = self.name(resolver, text).ok_or_else(|| no_name(resolver, text, path))?;
        let question = Lookup::IdOf { names: resolver.names, name, within: self.within(resolver) };
        if question.reads().is_empty() {
            return Err(Fault::NoPlace {
                name: path.to_owned(),
                given: text.to_owned(),
                noun: &resolver.noun,
                needs: wants(resolver)
                    .filter(|(_, ask)| **ask == KindRead::Same)
                    .map(|(name, _)| name.to_owned())
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect(),
            });
        }
        Ok(question)
    }

    /// Normalizes a name for comparison: without mark and quotes; a number with its full path.
    fn name(&self, resolver: &Resolver, text: &str) -> Option<String> {
        match &resolver.form {
            NameForm::Name(mark) => {
                let bare = text.strip_prefix(mark.as_str()).unwrap_or(text);
                let bare = bare.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(bare);
                Some(bare.trim_matches('/').to_owned()).filter(|bare| !bare.is_empty())
            }
            NameForm::Number(marks) => self.number(text, marks),
            NameForm::NumberOrTitle(marks) => match numbered(text, marks) {
                Some(_) => self.number(text, marks),
                None => Some(text.to_owned()).filter(|title| !title.is_empty()),
            },
        }
    }

    /// Path of the call's group, or of the group of its project. The id of a project has none.
    fn group(&self) -> Option<String> {
        let path = plain_text(self.around.get("fullPath")?);
        let path = path.trim_matches('/');
        match self.scope {
            Some(Scope::Project) => path.rsplit_once('/').map(|(group, _)| group.to_owned()),
            _ => Some(path.to_owned()),
        }
    }

    /// A number behind one of the marks with its full path.
    fn number(&self, text: &str, marks: &[char]) -> Option<String> {
        let (path, mark, number) = numbered(text, marks)?;
        let path = if path.is_empty() { self.base_path(mark)? } else { path.to_owned() };
        Some(format!("{path}{mark}{number}"))
    }

    /// Path of a reference that has none: the call's own; for an epic of a project, the group of the project.
    fn base_path(&self, mark: char) -> Option<String> {
        let path = self.around.get("fullPath")?.as_str()?.trim_matches('/');
        match (mark, self.scope) {
            ('&', Some(Scope::Project)) => path.rsplit_once('/').map(|(group, _)| group.to_owned()),
            ('&', Some(Scope::Group)) | ('#' | '!', Some(Scope::Project)) | (_, None) => {
                Some(path.to_owned())
            }
            _ => None,
        }
    }

    fn within(&self, resolver: &'static Resolver) -> BTreeMap<&'static str, String> {
        wants(resolver)
            .filter_map(|(name, ask)| match ask {
                // The names in an action on the instance are searched in the project or group of its `fullPath`.
                KindRead::Scope => {
                    Some((name, self.scope.filter(|scope| *scope != Scope::Instance)?.name().to_owned()))
                }
                KindRead::Group => Some((name, self.group()?)),
                _ => Some((name, plain_text(self.around.get(name)?))),
            })
            .collect()
    }
}

/// True if a text takes away what an optional parameter of a body names: GitLab does so by the id 0.
fn is_cleared(param: &Param, resolver: &Resolver, text: &str) -> bool {
    const NONE: &str = "none";
    let is_optional = param.place == Place::Body && !param.required && param.gid.is_none();
    is_optional && resolver.words.iter().any(|word| word == NONE) && text.eq_ignore_ascii_case(NONE)
}

/// True if a text is an id or a list of ids.
fn is_id(text: &str) -> bool {
    text.is_empty() || text.split(',').all(|part| is_digits(part.trim()))
}

/// Accepted values for an object in the path: its id, or its name.
pub fn expected_id(names: Names) -> Option<String> {
    catalog::resolver(names).map(|resolver| format!("id, or {}", expected(resolver)))
}

fn expected(resolver: &Resolver) -> String {
    match &resolver.form {
        NameForm::Name(_) if resolver.names.is_pipeline() => {
            format!("`{LATEST}`, a branch or a merge request (`!12`) for its latest pipeline")
        }
        NameForm::Name(_) => "a name".to_owned(),
        NameForm::Number(marks) | NameForm::NumberOrTitle(marks) => {
            let forms: Vec<String> = marks.iter().map(|mark| written(*mark)).collect();
            forms.join(" or ")
        }
    }
}

fn written(mark: char) -> String {
    if mark == '&' { "`group&7`".to_owned() } else { format!("`group/project{mark}12`") }
}

fn no_name(resolver: &'static Resolver, given: &str, name: &str) -> Fault {
    Fault::NoName {
        name: name.to_owned(),
        given: given.to_owned(),
        noun: &resolver.noun,
        expected: expected(resolver),
    }
}

/// Type of the global id for a look-up. If several types are possible, the mark of the reference decides.
fn typed<'a>(kind: &'a str, question: &Lookup) -> &'a str {
    match question {
        Lookup::IdOf { names: Names::Issuable, name, .. } => global_id_type(name).unwrap_or(kind),
        _ => kind,
    }
}

/// Type of global ids for the sigil of a reference.
fn global_id_type(name: &str) -> Option<&'static str> {
    let sigil = name.trim_end_matches(|c: char| c.is_ascii_digit()).chars().next_back();
    let mut kinds = catalog::kinds().kinds.iter().filter(|row| row.sigil.is_some() && row.sigil == sigil);
    kinds.find_map(|row| row.global_id_type.as_deref())
}

/// Kind of `fullPath`: that of the operation. None if it can be either.
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
