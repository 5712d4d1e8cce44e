//! Replaces the selection of a GraphQL action by the fields that a caller asks for.

use crate::catalog::{
    Action, CatalogError, Graphql, GraphqlKind, Holds, PRESENTATION, Type, TypeField, Types,
};

/// Cursors of the rows and the page of a connection.
const PLACES: &str = "edges{cursor}pageInfo{endCursor hasNextPage}";

const NAMED_BY: usize = 3;

/// Error of the requested fields.
#[derive(Debug, thiserror::Error)]
pub enum FieldsError {
    #[error("`{step}` of `{path}` is no field of {of}")]
    Unknown { path: String, step: String, of: String, accepted: Vec<String> },
    #[error("`{path}`: `{step}` has no fields of its own")]
    Leaf { path: String, step: String },
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

/// A requested field and its subfields, in the order of the paths.
#[derive(Clone, Debug, Default)]
struct Wanted {
    name: String,
    /// The first path with the field, for errors.
    path: String,
    inner: Vec<Wanted>,
}

/// An object of a mutation's payload.
#[derive(Clone, Copy)]
struct Changed<'a> {
    field: &'a str,
    of: &'a str,
    /// True if it is a connection.
    pages: bool,
}

/// Shape of an operation's response.
enum SelectionRoot<'a> {
    /// A value without fields.
    Leaf,
    Object(&'a str),
    Rows(&'a str),
    /// Objects that a mutation changed.
    Payload(Vec<Changed<'a>>),
}

/// Returns the action with these fields selected, and their paths in its responses. An operation that lacks one of the
/// fields is not changed; if every operation lacks one, that is an error.
pub fn select_fields(
    mut action: Action,
    fields: &[String],
    types: &Types,
) -> Result<(Action, Vec<String>), FieldsError> {
    let mut shown: Option<Vec<String>> = None;
    let mut fault = None;
    for graphql in action.operations.iter_mut().filter_map(|operation| operation.graphql.as_mut()) {
        match selected(graphql, fields, types) {
            Ok(Some((selection, paths))) => {
                graphql.selection = selection;
                graphql.fragments.clear();
                shown.get_or_insert(paths);
            }
            Ok(None) => {}
            Err(error) => fault = fault.or(Some(error)),
        }
    }
    match (shown, fault) {
        (Some(paths), _) => Ok((action, paths)),
        (None, Some(fault)) => Err(fault),
        (None, None) => Ok((action, fields.to_vec())),
    }
}

fn selected(
    graphql: &Graphql,
    fields: &[String],
    types: &Types,
) -> Result<Option<(String, Vec<String>)>, FieldsError> {
    let wanted = tree(fields);
    let found = match root(graphql) {
        SelectionRoot::Leaf => return Ok(None),
        SelectionRoot::Object(name) => of_type(name, &wanted, types)?,
        SelectionRoot::Rows(name) => {
            let (text, paths) = of_type(name, &opened(wanted), types)?;
            (format!("nodes{{{text}}}{PLACES}"), paths)
        }
        SelectionRoot::Payload(parts) => of_payload(&parts, wanted, types)?,
    };
    Ok(Some(found))
}

/// Parses the shape of the response from the catalog's selection.
fn root(graphql: &Graphql) -> SelectionRoot<'_> {
    let selection = graphql.selection.as_str();
    if graphql.kind == GraphqlKind::Mutation {
        return SelectionRoot::Payload(parts(selection));
    }
    match (selection.strip_prefix("..."), selection.strip_prefix("nodes{...")) {
        (Some(name), _) => SelectionRoot::Object(name),
        (_, Some(rest)) => SelectionRoot::Rows(rest.split('}').next().unwrap_or_default()),
        _ => SelectionRoot::Leaf,
    }
}

/// Parses the objects of `errors workItem{...WorkItem} notes{nodes{...Note}edges{…}}`.
fn parts(selection: &str) -> Vec<Changed<'_>> {
    selection
        .split("...")
        .zip(selection.split("...").skip(1))
        .filter_map(|(before, after)| {
            let pages = before.ends_with("{nodes{");
            let name = before.trim_end_matches("{nodes{").trim_end_matches('{');
            let field = name.rsplit([' ', '}']).next()?;
            Some(Changed { field, of: after.split('}').next()?, pages })
        })
        .collect()
}

/// Builds a tree of the paths; `labels[].title` equals `labels.title`.
fn tree(fields: &[String]) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for path in fields {
        let steps = path.split('.').map(|step| step.trim_end_matches("[]")).filter(|step| !step.is_empty());
        let mut level = &mut wanted;
        for step in steps {
            let at = level.iter().position(|known: &Wanted| known.name == step).unwrap_or_else(|| {
                level.push(Wanted { name: step.to_owned(), path: path.clone(), inner: Vec::new() });
                level.len() - 1
            });
            match level.get_mut(at) {
                Some(next) => level = &mut next.inner,
                None => break,
            }
        }
    }
    wanted
}

/// Fields of each node; `nodes` is optional in a path.
fn opened(wanted: Vec<Wanted>) -> Vec<Wanted> {
    wanted.into_iter().flat_map(|one| if one.name == "nodes" { one.inner } else { vec![one] }).collect()
}

/// Selects fields of a payload: by the name of an object, or, without that, of the first object that has them.
fn of_payload(
    parts: &[Changed<'_>],
    wanted: Vec<Wanted>,
    types: &Types,
) -> Result<(String, Vec<String>), FieldsError> {
    let mut asked: Vec<(Changed<'_>, Vec<Wanted>)> = Vec::new();
    for one in wanted {
        let named = parts.iter().find(|part| part.field == one.name);
        let having = || {
            let has = |name: &str| {
                types.get(name).ok().flatten().is_some_and(|of| has_field(&of, &one.name, types))
            };
            parts.iter().find(|part| has(part.of)).or(parts.first())
        };
        let (part, inner) = match (named, named.is_none().then(having).flatten()) {
            (Some(part), _) => (*part, one.inner),
            (None, Some(part)) => (*part, vec![one]),
            (None, None) => continue,
        };
        match asked.iter_mut().find(|(known, _)| known.field == part.field) {
            Some((_, known)) => known.extend(inner),
            None => asked.push((part, inner)),
        }
    }
    let alone = asked.len() == 1;
    let mut text = vec!["errors".to_owned()];
    let mut paths = Vec::new();
    for (Changed { field, of, pages }, inner) in asked {
        let (selection, below) = of_type(of, &opened(inner), types)?;
        let selection = if pages { format!("nodes{{{selection}}}{PLACES}") } else { selection };
        text.push(format!("{field}{{{selection}}}"));
        // A single changed object is returned without its field.
        paths.extend(below.into_iter().map(|path| match (alone && !pages, path.is_empty()) {
            (true, _) => path,
            (false, true) => field.to_owned(),
            (false, false) => format!("{field}.{path}"),
        }));
    }
    paths.retain(|path| !path.is_empty());
    Ok((text.join(" "), paths))
}

/// True if the type, or one of its possible types, has the field.
fn has_field(of: &Type<'_>, name: &str, types: &Types) -> bool {
    of.field(name).is_some()
        || of
            .members()
            .any(|member| types.get(member).ok().flatten().is_some_and(|member| member.field(name).is_some()))
}

/// Selects fields of a type and returns their paths. An object without requested fields gets its identifying ones.
fn of_type(name: &str, wanted: &[Wanted], types: &Types) -> Result<(String, Vec<String>), FieldsError> {
    let Some(of) = types.get(name)? else { return Ok(("__typename".to_owned(), Vec::new())) };
    if wanted.is_empty() {
        return Ok((naming(&of), vec![String::new()]));
    }
    let mut texts = Vec::new();
    let mut paths = Vec::new();
    for one in wanted {
        let (text, below) = of_field(&of, one, types)?;
        texts.push(text);
        paths.extend(below);
    }
    Ok((texts.join(" "), paths))
}

fn of_field(of: &Type<'_>, one: &Wanted, types: &Types) -> Result<(String, Vec<String>), FieldsError> {
    if one.name == "__typename" {
        return Ok((one.name.clone(), vec![one.name.clone()]));
    }
    if let Some(field) = of.field(&one.name) {
        return held(&field, one, types);
    }
    let mut texts = Vec::new();
    let mut paths = Vec::new();
    for member in of.members() {
        let Some(field) = types.get(member)?.and_then(|member| member.field(&one.name)) else { continue };
        let (text, below) = held(&field, one, types)?;
        texts.push(format!("...on {member}{{{text}}}"));
        paths = below;
        if of.is_disagreed(&one.name) {
            break;
        }
    }
    if texts.is_empty() { Err(unknown(of, one, types)) } else { Ok((texts.join(" "), paths)) }
}

fn held(field: &TypeField<'_>, one: &Wanted, types: &Types) -> Result<(String, Vec<String>), FieldsError> {
    let name = &one.name;
    let below = |paths: Vec<String>, between: &str| -> Vec<String> {
        let under = |path: String| match path.is_empty() {
            true => format!("{name}{between}"),
            false => format!("{name}{between}.{path}"),
        };
        paths.into_iter().map(under).collect()
    };
    match field.holds {
        Holds::Leaf if one.inner.is_empty() => Ok((name.clone(), vec![name.clone()])),
        Holds::Leaf => {
            let path = one.inner.first().map_or(&one.path, |inner| &inner.path).clone();
            Err(FieldsError::Leaf { path, step: name.clone() })
        }
        Holds::Object(of) => {
            let (text, paths) = of_type(of, &one.inner, types)?;
            Ok((format!("{name}{{{text}}}"), below(paths, "")))
        }
        Holds::Connection { of, counted } => {
            let (number, rows): (Vec<&Wanted>, Vec<&Wanted>) =
                one.inner.iter().partition(|inner| counted && inner.name == "count");
            if !number.is_empty() && rows.is_empty() {
                return Ok((format!("{name}{{count}}"), vec![format!("{name}.count")]));
            }
            let rows: Vec<Wanted> = opened(rows.into_iter().cloned().collect());
            let (text, paths) = of_type(of, &rows, types)?;
            if number.is_empty() {
                return Ok((format!("{name}{{nodes{{{text}}}}}"), below(paths, "")));
            }
            // Besides the count, the rows keep their identifying fields.
            let mut paths = below(paths, ".nodes");
            paths.push(format!("{name}.count"));
            Ok((format!("{name}{{count nodes{{{text}}}}}"), paths))
        }
    }
}

fn naming(of: &Type<'_>) -> String {
    let is_leaf = |name: &str| of.field(name).is_some_and(|field| field.holds == Holds::Leaf);
    let mut names: Vec<&str> =
        PRESENTATION.selected_names.iter().copied().filter(|name| is_leaf(name)).take(NAMED_BY).collect();
    if names.is_empty() {
        let leaves = of.fields().filter(|field| field.holds == Holds::Leaf);
        names = leaves.map(|field| field.name).take(NAMED_BY).collect();
    }
    if names.is_empty() { "__typename".to_owned() } else { names.join(" ") }
}

fn unknown(of: &Type<'_>, one: &Wanted, types: &Types) -> FieldsError {
    let members = of.members().filter_map(|member| types.get(member).ok().flatten());
    let mut accepted: Vec<String> = of
        .fields()
        .chain(members.flat_map(|member| member.fields().collect::<Vec<_>>()))
        .map(|field| field.name.to_owned())
        .collect();
    accepted.sort();
    accepted.dedup();
    FieldsError::Unknown { path: one.path.clone(), step: one.name.clone(), of: of.name.to_owned(), accepted }
}
