//! Builds the request of a GraphQL operation: one document with only the given parameters, and its variables.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Body, Call, Effects, Fault, Part, Resolved, request};
use crate::catalog::{Action, Base, Graphql, GraphqlKind, Json, Operation, Param, Place};
use crate::text::{capitalize, is_digits};

/// Builds the request. The parameters are known, of the right type and accepted by the operation.
pub fn write(
    action: &Action,
    operation: &Operation,
    graphql: &Graphql,
    params: &Map<String, Value>,
    resolved: Vec<Resolved>,
    effects: Effects,
) -> Result<Call, Fault> {
    let mut given = collect_variables(action, operation, params);
    let files = files(&mut given)?;
    let (query, variables) = match graphql.kind {
        GraphqlKind::Query => query(graphql, &given),
        GraphqlKind::Mutation => mutation(graphql, &given),
    };
    let body = json!({"query": query, "variables": variables});
    let body = if files.is_empty() { Body::Json(body) } else { multipart(&body, files) };
    Ok(Call { resolved, ..Call::new(effects, operation.path.clone(), Vec::new(), body) })
}

/// A file with its path among the variables: `variables.input.files.0`.
struct Upload {
    place: String,
    file: Part,
}

/// Takes the files out of the variables, leaving nulls: they are separate parts of the request.
fn files(given: &mut [(&Param, Value)]) -> Result<Vec<Upload>, Fault> {
    let mut files = Vec::new();
    for (param, value) in given.iter_mut().filter(|(param, _)| param.kind.base == Base::File) {
        let name = param.wire.as_ref().unwrap_or(&param.name);
        let place = match param.place {
            Place::Body => format!("variables.input.{name}"),
            _ => format!("variables.{}", param.name),
        };
        match value {
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    let file = request::file(param, &item.take())?;
                    files.push(Upload { place: format!("{place}.{at}"), file });
                }
            }
            one => files.push(Upload { place, file: request::file(param, &one.take())? }),
        }
    }
    Ok(files)
}

/// Builds the multipart body of a document with files, by
/// <https://github.com/jaydenseric/graphql-multipart-request-spec>.
fn multipart(operations: &Value, files: Vec<Upload>) -> Body {
    let places: Map<String, Value> =
        files.iter().enumerate().map(|(at, upload)| (at.to_string(), json!([upload.place]))).collect();
    let text = |name: &str, value: String| Part::Text { name: name.to_owned(), value };
    let mut parts =
        vec![text("operations", operations.to_string()), text("map", Value::Object(places).to_string())];
    parts.extend(files.into_iter().enumerate().map(|(at, upload)| match upload.file {
        Part::File { filename, bytes, .. } => Part::File { name: at.to_string(), filename, bytes },
        Part::Local { filename, path, .. } => Part::Local { name: at.to_string(), filename, path },
        other @ Part::Text { .. } => other,
    }));
    Body::Multipart(parts)
}

/// Collects the parameters that the operation takes and that have a value, converted for GraphQL. The page length
/// is always among them: GitLab's default is a hundred.
fn collect_variables<'a>(
    action: &'a Action,
    operation: &Operation,
    params: &Map<String, Value>,
) -> Vec<(&'a Param, Value)> {
    let taken = |param: &&Param| param.place != Place::Selector && param.is_of_scope(operation.scope);
    let page = |param: &Param| match &param.default {
        Some(Json(default)) if param.name == "first" && !params.contains_key("last") => Some(default.clone()),
        _ => None,
    };
    action
        .params
        .iter()
        .filter(taken)
        .filter_map(|param| {
            let value = params.get(&param.name).cloned().or_else(|| page(param))?;
            let gid = operation.graphql.as_ref().and_then(|graphql| graphql.gids.get(&param.name));
            Some((param, wired(param, gid.or(param.gid.as_ref()), value)))
        })
        .collect()
}

/// `query($fullPath:ID!,$first:Int!){project(fullPath:$fullPath){branchRules(first:$first){…}}}`
fn query(graphql: &Graphql, given: &[(&Param, Value)]) -> (String, Value) {
    let mut declared = Vec::new();
    let mut variables = Map::new();
    let mut leading: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut own = Vec::new();
    for (param, value) in given {
        let Some(kind) = graphql.types.get(&param.name).or(param.graphql.as_ref()) else { continue };
        declared.push(format!("${}:{kind}", param.name));
        variables.insert(param.name.clone(), value.clone());
        let place = graphql.variables.iter().find(|(_, name)| **name == param.name);
        match place.and_then(|(place, _)| place.split_once('.')) {
            Some((step, argument)) => {
                leading.entry(step).or_default().push(format!("{argument}:${}", param.name));
            }
            None => own.push(format!("{}:${}", param.wire.as_ref().unwrap_or(&param.name), param.name)),
        }
    }
    let last = graphql.field.split('.').count().saturating_sub(1);
    let steps: Vec<String> = graphql
        .field
        .split('.')
        .enumerate()
        .map(|(at, step)| {
            // Two steps may have one name; the path arguments belong to the first.
            let mut arguments = leading.remove(step).unwrap_or_default();
            if at == last {
                arguments.append(&mut own);
            }
            format!("{step}{}", in_parentheses(&arguments))
        })
        .collect();
    let mut document = format!("query{}{{{}", in_parentheses(&declared), steps.join("{"));
    document.push_str(&in_braces(&graphql.selection));
    document.push_str(&"}".repeat(steps.len()));
    (with_fragments(document, graphql), Value::Object(variables))
}

/// `mutation($input:WorkItemCreateInput!){workItemCreate(input:$input){…}}`
fn mutation(graphql: &Graphql, given: &[(&Param, Value)]) -> (String, Value) {
    let field = &graphql.field;
    // Path arguments have the operation's own name: `projectPath` of a project, `groupPath` of a group.
    let leading = |name: &str| {
        let (place, _) = graphql.variables.iter().find(|(_, filled_by)| *filled_by == name)?;
        place.strip_prefix("input.").map(str::to_owned)
    };
    let wire = |param: &Param| {
        leading(&param.name).unwrap_or_else(|| param.wire.as_ref().unwrap_or(&param.name).clone())
    };
    let input: Map<String, Value> = given.iter().map(|(param, value)| (wire(param), value.clone())).collect();
    let selection = in_braces(&graphql.selection);
    let kind = graphql.types.get("input").cloned().unwrap_or_else(|| format!("{}Input!", capitalize(field)));
    let document = format!("mutation($input:{kind}){{{field}(input:$input){selection}}}");
    (with_fragments(document, graphql), json!({"input": input}))
}

fn with_fragments(document: String, graphql: &Graphql) -> String {
    if graphql.fragments.is_empty() { document } else { format!("{document}\n{}", graphql.fragments) }
}

fn in_parentheses(items: &[String]) -> String {
    if items.is_empty() { String::new() } else { format!("({})", items.join(",")) }
}

fn in_braces(selection: &str) -> String {
    if selection.is_empty() { String::new() } else { format!("{{{selection}}}") }
}

/// Converts a value for GraphQL: an iid to a string, and the number of a typed id to a global id.
fn wired(param: &Param, gid: Option<&String>, value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| wired(param, gid, item)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| {
                let field = param.fields.iter().find(|field| field.name == name);
                let value = field.map_or(value.clone(), |field| wired(field, field.gid.as_ref(), value));
                (name, value)
            })
            .collect(),
        scalar => match gid {
            Some(kind) => global_id(kind, scalar),
            None if is_text(param) && scalar.is_number() => json!(scalar.to_string()),
            None => scalar,
        },
    }
}

fn is_text(param: &Param) -> bool {
    if param.names.is_some() && param.kind.base == Base::String {
        return true;
    }
    param.graphql.as_deref().is_some_and(|kind| matches!(kind.trim_matches(['[', ']', '!']), "String" | "ID"))
}

/// Converts `4711` to `gid://gitlab/Issue/4711`. A global id is kept.
fn global_id(kind: &str, value: Value) -> Value {
    let text = value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned());
    if is_digits(&text) { json!(format!("gid://gitlab/{kind}/{text}")) } else { value }
}
