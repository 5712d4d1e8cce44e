//! The fields that a caller wants of a GraphQL action, as what is asked of GitLab in place of what would be.

use crate::catalog::{Action, CatalogError, Graphql, GraphqlKind, Holds, Type, TypeField, Types};

/// Where each row and the page of a connection ends.
const PLACES: &str = "edges{cursor}pageInfo{endCursor hasNextPage}";

/// What an object is called, where nothing of it is said: the first few of these that it has.
const NAMES: [&str; 9] = ["id", "iid", "username", "fullPath", "title", "name", "status", "state", "value"];
const NAMED_BY: usize = 3;

/// Why fields cannot be asked for.
#[derive(Debug, thiserror::Error)]
pub enum FieldsError {
    #[error("`{step}` of `{path}` is no field of {of}")]
    Unknown { path: String, step: String, of: String, accepted: Vec<String> },
    #[error("`{path}`: `{step}` has no fields of its own")]
    Leaf { path: String, step: String },
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

/// A wanted field and what is wanted of it, in the order of the paths.
#[derive(Debug, Default)]
struct Wanted {
    name: String,
    /// The first path that says it, for errors.
    path: String,
    inner: Vec<Wanted>,
}

/// An object of a mutation's payload.
#[derive(Clone, Copy)]
struct Changed<'a> {
    field: &'a str,
    of: &'a str,
    /// True if it is a list of pages.
    pages: bool,
}

/// What an operation answers with.
enum Root<'a> {
    /// Nothing that has fields.
    Leaf,
    Object(&'a str),
    Rows(&'a str),
    /// What a mutation changed.
    Payload(Vec<Changed<'a>>),
}

/// The action asking for those fields, and the paths by which its answers have them. An operation that does not
/// have them all is left as it is, unless none has.
pub fn asking(
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
        Root::Leaf => return Ok(None),
        Root::Object(name) => of_type(name, &wanted, types)?,
        Root::Rows(name) => {
            let (text, paths) = of_type(name, &opened(wanted), types)?;
            (format!("nodes{{{text}}}{PLACES}"), paths)
        }
        Root::Payload(parts) => of_payload(&parts, wanted, types)?,
    };
    Ok(Some(found))
}

/// What the selection of the catalog says that an operation answers with.
fn root(graphql: &Graphql) -> Root<'_> {
    let selection = graphql.selection.as_str();
    if graphql.kind == GraphqlKind::Mutation {
        return Root::Payload(parts(selection));
    }
    match (selection.strip_prefix("..."), selection.strip_prefix("nodes{...")) {
        (Some(name), _) => Root::Object(name),
        (_, Some(rest)) => Root::Rows(rest.split('}').next().unwrap_or_default()),
        _ => Root::Leaf,
    }
}

/// The objects of `errors workItem{...WorkItem} notes{nodes{...Note}edges{…}}`.
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

/// The paths as a tree; `labels[].title` is `labels.title`.
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

/// What is wanted of each node: `nodes` may be said or left out.
fn opened(wanted: Vec<Wanted>) -> Vec<Wanted> {
    wanted.into_iter().flat_map(|one| if one.name == "nodes" { one.inner } else { vec![one] }).collect()
}

/// Of a payload: its objects by their field, or, where the field is left out, the first that has what is wanted.
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
        // What was changed alone stands in the answer without its field.
        paths.extend(below.into_iter().map(|path| match (alone && !pages, path.is_empty()) {
            (true, _) => path,
            (false, true) => field.to_owned(),
            (false, false) => format!("{field}.{path}"),
        }));
    }
    paths.retain(|path| !path.is_empty());
    Ok((text.join(" "), paths))
}

/// True if the type, or what may stand for it, has the field.
fn has_field(of: &Type<'_>, name: &str, types: &Types) -> bool {
    of.field(name).is_some()
        || of
            .members()
            .any(|member| types.get(member).ok().flatten().is_some_and(|member| member.field(name).is_some()))
}

/// What is asked of a type, and the paths to it. An object of which nothing is wanted is named.
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
        Holds::Leaf => Err(FieldsError::Leaf { path: path_of(one), step: name.clone() }),
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
            let rows: Vec<Wanted> = opened(rows.into_iter().map(copied).collect());
            let (text, paths) = of_type(of, &rows, types)?;
            if number.is_empty() {
                return Ok((format!("{name}{{nodes{{{text}}}}}"), below(paths, "")));
            }
            // Beside their number the rows keep their name.
            let mut paths = below(paths, ".nodes");
            paths.push(format!("{name}.count"));
            Ok((format!("{name}{{count nodes{{{text}}}}}"), paths))
        }
    }
}

fn copied(one: &Wanted) -> Wanted {
    Wanted { name: one.name.clone(), path: one.path.clone(), inner: one.inner.iter().map(copied).collect() }
}

/// The path that goes on below a field.
fn path_of(one: &Wanted) -> String {
    one.inner.first().map_or(&one.path, |inner| &inner.path).clone()
}

fn naming(of: &Type<'_>) -> String {
    let is_leaf = |name: &str| of.field(name).is_some_and(|field| field.holds == Holds::Leaf);
    let mut names: Vec<&str> = NAMES.into_iter().filter(|name| is_leaf(name)).take(NAMED_BY).collect();
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
