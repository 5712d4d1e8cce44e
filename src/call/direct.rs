//! A call that no action of the catalog makes: a REST request or a GraphQL document as it was given. What it comes
//! down to is looked up in the catalog all the same, so that it is decided on like the actions that it stands for.

use serde_json::{Map, Value, json};

use super::address::{self, Address};
use super::check::Context;
use super::{Body, Call, Fault, Place, Reach, document, places};
use crate::catalog::{Action, Interface, Method, Risk, Surface, Touched};

const METHODS: [Method; 6] =
    [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];

/// By which Rails takes a POST for another method.
const OVERRIDE: &str = "_method";

/// Writes the call. The parameters are made what was understood of them, so that a further call begins with that.
pub fn write(
    interface: Interface,
    action: &Action,
    params: &mut Map<String, Value>,
    context: &Context<'_>,
) -> Result<Call, Fault> {
    match interface {
        Interface::Rest => rest(action, params, context),
        Interface::Graphql => graphql(action, params, context.surface),
        // A plan is nothing that is sent.
        Interface::Plan => Err(Fault::NoPath { given: action.id.clone(), reason: "it is a plan".to_owned() }),
    }
}

fn graphql(action: &Action, params: &Map<String, Value>, surface: &Surface<'_>) -> Result<Call, Fault> {
    let text = params.get("document").and_then(Value::as_str).unwrap_or_default();
    let read = document::read(text, surface)?;
    let variables = params.get("variables").cloned().unwrap_or_else(|| json!({}));
    Ok(Call {
        action: action.id.clone(),
        operation: read.operation,
        reach: Box::new(Reach {
            touches: read.touches,
            cursors: read.cursors,
            field_names: read.field_names,
            // What a document selects may be anywhere.
            places: vec![Place::unknown("document")],
            is_document: true,
            plan: None,
        }),
        method: Method::Post,
        path: "/api/graphql".to_owned(),
        query: Vec::new(),
        // What is sent is what was read, written anew: no comment, escape or line end of the given text can mean
        // one thing here and another to GitLab.
        body: Body::Json(json!({"query": read.text, "variables": variables})),
        resolved: Vec::new(),
        lookups: 0,
        download: false,
    })
}

fn rest(action: &Action, params: &mut Map<String, Value>, context: &Context<'_>) -> Result<Call, Fault> {
    let given = params.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
    let (segments, in_path) = match address::read(&given, context.base) {
        Ok(Address::Rest { segments, query }) => (segments, query),
        Ok(Address::Graphql) => return Err(Fault::IsGraphql { body: params.get("body").cloned() }),
        Err(reason) => return Err(Fault::NoPath { given, reason }),
    };
    let path = address::written(&segments).map_err(|reason| Fault::NoPath { given, reason })?;
    params.insert("path".to_owned(), json!(path));
    let query = query(params, in_path);
    if !query.is_empty() {
        params.insert("query".to_owned(), Value::Object(query.clone()));
    }
    let method = method(params);
    let body = body(params, method, &query)?;
    let touches = touches(method, &segments, &path, context.surface);
    let places = places_of(&segments, &query, params);
    Ok(Call {
        action: action.id.clone(),
        operation: touches.first().map(|touched| touched.operation.clone()).unwrap_or_default(),
        reach: Reach::of(touches),
        method,
        path: format!("/api/v4{path}"),
        query: query.iter().flat_map(|(name, value)| pairs(name, value)).collect(),
        body,
        resolved: Vec::new(),
        lookups: 0,
        download: false,
    }
    .at(places))
}

/// The project or group that a path begins with, and those that the query and the body name.
fn places_of(segments: &[String], query: &Map<String, Value>, params: &Map<String, Value>) -> Vec<Place> {
    let holder = match segments {
        [root, holder, ..] if matches!(root.as_str(), "projects" | "groups" | "namespaces") => {
            places::of_fields(&Map::from_iter([("fullPath".to_owned(), json!(holder))]))
        }
        [root] if matches!(root.as_str(), "projects" | "groups") => Vec::new(),
        // What a body names says nothing of where another path leads.
        _ => vec![Place::unknown("path")],
    };
    let body = params.get("body").and_then(Value::as_object).map(places::of_fields).unwrap_or_default();
    holder.into_iter().chain(places::of_fields(query)).chain(body).collect()
}

/// Its choices are these methods' names; a request that says none changes nothing.
fn method(params: &Map<String, Value>) -> Method {
    let said = params.get("method").and_then(Value::as_str).unwrap_or_default();
    METHODS.into_iter().find(|method| method.name() == said).unwrap_or(Method::Get)
}

/// The query of `path` and `query` as one; what both say is as `query` has it.
fn query(params: &Map<String, Value>, in_path: Vec<(String, String)>) -> Map<String, Value> {
    let mut query: Map<String, Value> = Map::new();
    for (name, value) in in_path {
        match query.get_mut(&name) {
            Some(Value::Array(values)) => values.push(json!(value)),
            _ if name.ends_with("[]") => {
                query.insert(name, json!([value]));
            }
            _ => {
                query.insert(name, json!(value));
            }
        }
    }
    query.extend(params.get("query").and_then(Value::as_object).cloned().unwrap_or_default());
    query
}

fn body(params: &Map<String, Value>, method: Method, query: &Map<String, Value>) -> Result<Body, Fault> {
    let body = params.get("body").and_then(Value::as_object).filter(|body| !body.is_empty());
    for (name, fields) in [("query", Some(query)), ("body", body)] {
        if fields.is_some_and(|fields| fields.contains_key(OVERRIDE)) {
            let reason = format!("`{OVERRIDE}` would make it another method than `method` says");
            let instead = fields.map(|fields| {
                let kept = fields.iter().filter(|(field, _)| *field != OVERRIDE);
                let kept: Map<String, Value> = kept.map(|(k, v)| (k.clone(), v.clone())).collect();
                (name.to_owned(), Value::Object(kept))
            });
            return Err(Fault::NotTaken { name: name.to_owned(), reason, instead });
        }
    }
    match body {
        None => Ok(Body::Empty),
        Some(body) if method.is_safe() => {
            let merged: Map<String, Value> =
                query.iter().chain(body).map(|(k, v)| (k.clone(), v.clone())).collect();
            Err(Fault::NotTaken {
                name: "body".to_owned(),
                reason: format!("{} has no body; its parameters are `query`", method.name()),
                instead: Some(("query".to_owned(), Value::Object(merged))),
            })
        }
        Some(body) => Ok(Body::Json(Value::Object(body.clone()))),
    }
}

/// Every operation of the catalog that the request may be; itself, where the catalog has none.
fn touches(method: Method, segments: &[String], path: &str, surface: &Surface<'_>) -> Vec<Touched> {
    let mut found = surface.rest(method, segments);
    if method == Method::Head {
        // GitLab answers HEAD wherever it answers GET.
        found.extend(surface.rest(Method::Get, segments));
    }
    if found.is_empty() {
        let operation = format!("{} {path}", method.name());
        return vec![Touched { operation, ids: Vec::new(), risk: unknown(method) }];
    }
    let least = least(method);
    found.into_iter().map(|touched| Touched { risk: touched.risk.max(least), ..touched }).collect()
}

/// What HTTP calls a change is none the less for the catalog's calling its operation a read (a POST that lints):
/// a path is matched by its form, and the method is all that is certain of it. The action itself is the way there.
fn least(method: Method) -> Risk {
    match method {
        Method::Get | Method::Head => Risk::Read,
        Method::Post | Method::Put | Method::Patch => Risk::Write,
        Method::Delete => Risk::Destructive,
    }
}

/// Of a change that the catalog does not know, nobody here can say whether it can be taken back: PUT may replace
/// and POST may merge, revoke or transfer. To be asked once too often costs a call; once too seldom, somebody's work.
fn unknown(method: Method) -> Risk {
    if method.is_safe() { Risk::Read } else { Risk::Destructive }
}

/// A parameter as Rails reads it: `iids[]=1&iids[]=2`, `not[labels]=a`.
fn pairs(name: &str, value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => {
            let name = format!("{}[]", name.strip_suffix("[]").unwrap_or(name));
            items.iter().flat_map(|item| pairs(&name, item)).collect()
        }
        Value::Object(fields) => {
            fields.iter().flat_map(|(field, value)| pairs(&format!("{name}[{field}]"), value)).collect()
        }
        Value::String(text) => vec![(name.to_owned(), text.clone())],
        scalar => vec![(name.to_owned(), scalar.to_string())],
    }
}
