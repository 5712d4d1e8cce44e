//! The GitLab objects that have a URI, from `catalog/kinds.toml`: the URI template, and the action that reads the object.

use std::sync::LazyLock;

use crate::catalog::{self, CompletionRow, ResourceRow, ResourceVariable};

/// Container of an object, the first segment of its URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespace {
    Project,
    Group,
    /// None: the object has a name or number of its own.
    Nothing(&'static str),
}

impl Namespace {
    /// The first segment of the URI.
    pub fn first_segment(self) -> &'static str {
        match self {
            Namespace::Project => "project",
            Namespace::Group => "group",
            Namespace::Nothing(word) => word,
        }
    }

    /// Minimum number of path segments.
    pub fn min_segments(self) -> usize {
        if self == Namespace::Project { 2 } else { 1 }
    }
}

/// A part of a URI after the path of its namespace.
#[derive(Clone, Copy, Debug)]
pub enum UriPart {
    /// A fixed word.
    Word(&'static str),
    Value(UriVariable),
}

/// A variable part.
#[derive(Clone, Copy, Debug)]
pub struct UriVariable {
    pub name: &'static str,
    pub form: VariableForm,
    /// The action's parameter, and the prefix of its value.
    pub param: &'static str,
    pub mark: &'static str,
}

/// Syntax of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableForm {
    /// Digits.
    Number,
    /// One segment, with its slashes encoded.
    Segment,
    /// The rest of the URI.
    Rest,
}

/// An object that can be read.
#[derive(Debug)]
pub struct ResourceKind {
    pub row: &'static ResourceRow,
    pub holder: Namespace,
    pub parts: Vec<UriPart>,
    /// Allowed query names: `lines`, or parameters of the action.
    pub query: Vec<&'static str>,
}

/// The whole table.
pub static RESOURCE_KINDS: LazyLock<Vec<ResourceKind>> =
    LazyLock::new(|| catalog::kinds().resources.iter().map(ResourceKind::new).collect());

/// The variable of the namespace's path.
const PATH: &str = "fullPath";

impl ResourceKind {
    /// Parses the template of a row.
    fn new(row: &'static ResourceRow) -> ResourceKind {
        let (uri, query) = row.template.split_once("{?").unwrap_or((&row.template, ""));
        let query = query.trim_end_matches('}').split(',').filter(|name| !name.is_empty()).collect();
        let mut segments = uri.trim_start_matches("gitlab://").split('/');
        let holder = match segments.next().unwrap_or_default() {
            "project" => Namespace::Project,
            "group" => Namespace::Group,
            word => Namespace::Nothing(word),
        };
        let is_path = |segment: &&str| segment.trim_matches(['{', '+', '}']) == PATH;
        let parts = segments.filter(|segment| !is_path(segment)).map(|segment| UriPart::new(row, segment));
        ResourceKind { row, holder, parts: parts.collect(), query }
    }

    /// The completions of a variable, if it has some; `None` if the template has no such variable.
    pub fn completion(&self, variable: &str) -> Option<Option<&'static CompletionRow>> {
        if variable == PATH && !matches!(self.holder, Namespace::Nothing(_)) {
            return Some(catalog::completion(self.holder.first_segment()));
        }
        let is_it =
            |part: &UriPart| matches!(part, UriPart::Value(UriVariable { name, .. }) if *name == variable);
        let is_there = self.query.contains(&variable) || self.parts.iter().any(is_it);
        let complete = self.row.variables.get(variable).and_then(|known| known.complete.as_deref());
        is_there.then(|| complete.and_then(catalog::completion))
    }
}

impl UriPart {
    /// Parses a segment of a template.
    fn new(row: &'static ResourceRow, segment: &'static str) -> UriPart {
        let variable = segment.strip_prefix('{').and_then(|segment| segment.strip_suffix('}'));
        let Some(variable) = variable else { return UriPart::Word(segment) };
        let (name, form) = match variable.strip_prefix('+') {
            Some(name) => (name, VariableForm::Rest),
            None if variable.ends_with("id") => (variable, VariableForm::Number),
            None => (variable, VariableForm::Segment),
        };
        let known = row.variables.get(name);
        let param = known.and_then(|known| known.param.as_deref()).unwrap_or(name);
        let mark = known.map_or("", |known: &ResourceVariable| known.mark.as_str());
        UriPart::Value(UriVariable { name, form, param, mark })
    }
}

/// Finds the kind with this URI template.
pub fn kind_at(template: &str) -> Option<&'static ResourceKind> {
    RESOURCE_KINDS.iter().find(|kind| kind.row.template == template)
}
