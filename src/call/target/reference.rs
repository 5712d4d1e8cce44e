//! References: an object and its project or group. One table has the nouns and parameters of each kind of object.

use std::fmt;

use crate::call::global_id;
use crate::catalog::{
    self, Action, GraphqlKind, KindRow, ObjectKind, Operation, Param, Piece, Scope, pieces,
};

/// The parameter with the comment of a URL's anchor.
pub const NOTE: &str = "note_id";

/// An object and its project or group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Full path of the project or group; empty if the reference has none.
    pub path: String,
    /// Project or group, if the reference determines it.
    pub holder: Option<Scope>,
    pub kind: ObjectKind,
    /// Its number, name or SHA; empty for the project or group itself.
    pub value: String,
    /// The comment that a URL's anchor points to.
    pub note: Option<String>,
}

/// Noun of a kind with its article, for messages.
pub fn noun(kind: ObjectKind) -> &'static str {
    catalog::kind_of_object(kind).map_or("something else", |row| row.noun.as_str())
}

/// Kinds of objects in the action's paths, the outermost first; empty if it works on a whole project or group.
pub fn takes(action: &Action) -> Vec<&'static KindRow> {
    let segments: Vec<&str> =
        action.choices().flat_map(|operation| slots(&operation.path).map(|(segment, _)| segment)).collect();
    let addressed = global_id::addressed(action).map(global_id::marks).unwrap_or_default();
    let by_field = |row: &KindRow| {
        action.param("iid").is_some()
            && action.choices().any(|operation| graphql_holds(action, operation, row))
    };
    let holds = |row: &&KindRow| {
        row.segments.iter().any(|segment| segments.contains(&segment.as_str()))
            || row.sigil.is_some_and(|sigil| addressed.contains(&sigil))
            || by_field(row)
    };
    let objects = catalog::kinds().kinds.iter().filter(|row| row.object.is_some());
    objects.filter(|row| row.object != Some(ObjectKind::WorkItem)).filter(holds).collect()
}

/// Returns the action's parameter for such an object: that of its placeholder in the path, else one by name.
pub fn parameter(action: &Action, kind: ObjectKind) -> Option<&str> {
    let row = catalog::kind_of_object(kind)?;
    let in_path = action.choices().find_map(|operation| {
        let (_, placeholder) =
            slots(&operation.path).find(|(segment, _)| row.segments.iter().any(|known| known == segment))?;
        Some(operation.bind.get(placeholder).map_or(placeholder, String::as_str))
    });
    let by_field = || {
        let held = action.choices().any(|operation| graphql_holds(action, operation, row));
        action.param("iid").filter(|_| held).map(|iid| iid.name.as_str())
    };
    let named = || row.params.iter().find(|name| action.param(name).is_some()).map(String::as_str);
    in_path.or_else(by_field).or_else(named)
}

/// True if the parameter accepts a reference to such an object.
pub fn is_reference(reference: &Reference, param: &Param) -> bool {
    let mark = reference.to_string().trim_end_matches(|c: char| c.is_ascii_digit()).chars().next_back();
    mark.is_some_and(|mark| global_id::marks(param).contains(&mark))
}

/// True if `fullPath` can be a project or a group.
pub fn is_of_either(operation: &Operation) -> bool {
    operation.graphql.as_ref().is_some_and(|graphql| graphql.field.starts_with("namespace."))
}

/// True if a GraphQL action works on objects of the row: by the names of its fields, or by its `iid`.
fn graphql_holds(action: &Action, operation: &Operation, row: &KindRow) -> bool {
    let Some(graphql) = &operation.graphql else { return false };
    let mut steps = graphql.field.split('.').map(str::to_lowercase);
    let is_held = |step: String| row.graphql_fields.iter().any(|field| step.contains(field.as_str()));
    let elsewhere = match row.object {
        Some(ObjectKind::Issue) => operation.scope == Scope::Group && !is_of_either(operation),
        Some(ObjectKind::Epic) => operation.scope == Scope::Project,
        _ => false,
    };
    match graphql.kind {
        _ if elsewhere => false,
        GraphqlKind::Query => action.param("iid").is_some_and(|iid| iid.required) && steps.any(is_held),
        GraphqlKind::Mutation => steps.any(is_held),
    }
}

/// Iterates over the placeholders of a path, each with the segment before it.
fn slots(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut before = "";
    pieces(path).filter_map(move |piece| match piece {
        Piece::Text(text) => {
            before = text.split('/').rfind(|word| !word.is_empty()).unwrap_or(before);
            None
        }
        Piece::Placeholder { name, .. } => Some((before, name)),
    })
}

impl fmt::Display for Reference {
    /// Writes the short reference, if the kind has one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sigil = catalog::kind_of_object(self.kind).and_then(|row| row.sigil);
        let mark = sigil.map(String::from).unwrap_or_default();
        write!(f, "{}{mark}{}", self.path, self.value)
    }
}
