//! Raw requests: a REST request or a GraphQL document written by the caller. It is matched with the operations of the
//! catalog, and its parameters are renamed to the catalog's, so that policy decides on it like on the actions.

use serde_json::{Map, Value, json};

use super::checked_call::GRAPHQL_PATH;
use super::context::Context;
use super::document::add_value;
use super::location::Location;
use super::path_match::METHODS;
use super::quick_action::{self, QuickActions, Scanned};
use super::raised_risk::{added_effects, call_risk, created_labels};
use super::raw_path::{self, Address};
use super::{Body, Call, Effects, Fault, Role, TouchedPlace, affected_paths, document, encode};
use crate::catalog::{Action, Interface, Method, Operation, Param, Risk, Touched};

/// Parameter by which Rails treats a POST as another method.
const OVERRIDE: &str = "_method";

/// Parameters from which GitLab takes the token or the user of a request (`lib/gitlab/auth/auth_finders.rb` and
/// `lib/api/helpers.rb`; the first two are Doorkeeper's).
const CREDENTIAL_PARAMS: [&str; 5] = ["access_token", "bearer_token", "private_token", "job_token", "sudo"];

/// True for a parameter that GitLab takes for another token, user or method of the request, whatever the route. None is
/// let through without a description.
pub fn is_reserved_param(name: &str) -> bool {
    let root = root_name(name);
    root == OVERRIDE || CREDENTIAL_PARAMS.contains(&root)
}

/// The name of a parameter as Rack reads it: `sudo` of `sudo[]` and of `[sudo]` (`Rack::QueryParser#normalize_params`).
fn root_name(name: &str) -> &str {
    let name = name.trim_start_matches(['[', ']']);
    name.split(['[', ']']).next().unwrap_or(name)
}

/// Builds the call. Replaces the parameters by their interpretation, which a next call uses.
pub fn write(
    interface: Interface,
    action: &Action,
    params: &mut Map<String, Value>,
    context: &Context<'_>,
) -> Result<Call, Fault> {
    match interface {
        Interface::Rest => rest(action, params, context),
        Interface::Graphql => graphql(action, params, context),
        // A composite action has no request.
        Interface::Plan => {
            Err(Fault::NoPath { given: action.id.clone(), reason: "it is a composite action".to_owned() })
        }
    }
}

fn graphql(action: &Action, params: &Map<String, Value>, context: &Context<'_>) -> Result<Call, Fault> {
    let text = params.get("document").and_then(Value::as_str).unwrap_or_default();
    let variables = params.get("variables").and_then(Value::as_object).cloned().unwrap_or_default();
    let read = document::parse(text, &variables, context.surface)?;
    let mut found = FoundOperation::default();
    if read.mutations.is_empty() {
        found.touches = read.touches;
    }
    for mutation in &read.mutations {
        found.add_mutation(&mutation.field, &mutation.arguments, context)?;
    }
    // The selections of a document may read any project.
    found.places.push(TouchedPlace::unknown("document").with_role(Role::Reads));
    let effects = Effects::new(&action.id, Method::Post, read.operation, found.touches, found.places);
    // The parsed document is sent, not the given text: a comment, escape or line end cannot be read differently
    // here and by GitLab.
    let body = Body::Json(json!({"query": read.text, "variables": variables}));
    let call = Call::new(effects.of_document(), GRAPHQL_PATH.to_owned(), Vec::new(), body);
    Ok(Call { cursors: read.cursors, field_names: read.field_names, ..call })
}

fn rest(action: &Action, params: &mut Map<String, Value>, context: &Context<'_>) -> Result<Call, Fault> {
    let given = params.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
    let (segments, in_path) = match raw_path::parse(&given, context.base) {
        Ok(Address::Rest { segments, query }) => (segments, query),
        Ok(Address::Graphql) => return Err(Fault::IsGraphql { body: params.get("body").cloned() }),
        Err(reason) => return Err(Fault::NoPath { given, reason }),
    };
    let path = raw_path::written(&segments).map_err(|reason| Fault::NoPath { given, reason })?;
    params.insert("path".to_owned(), json!(path));
    let query = query(params, in_path)?;
    if !query.is_empty() {
        params.insert("query".to_owned(), Value::Object(query.clone()));
    }
    let method = method(params);
    let body = body(params, method, &query)?;
    refuse_credentials("query", &query, (method, &segments), context)?;
    if let Body::Json(Value::Object(body)) = &body {
        refuse_credentials("body", body, (method, &segments), context)?;
    }
    let mut fields = nested(&query)?;
    if let Body::Json(Value::Object(body)) = &body {
        // GitLab takes the value of the body; policy decides on both.
        add_all(&mut fields, body);
    }
    let mut found = FoundOperation::default();
    found.add_routes(method, &segments, &path, &fields, context)?;
    let operation = found.touches.first().map(|touched| touched.operation.clone()).unwrap_or_default();
    let effects = Effects::new(&action.id, method, operation, found.touches, found.places);
    let query = query.iter().flat_map(|(name, value)| pairs(name, value)).collect();
    Ok(Call::new(effects, format!("/api/v4{path}"), query, body))
}

/// The operations and places of a raw request.
#[derive(Debug, Default)]
struct FoundOperation {
    touches: Vec<Touched>,
    places: Vec<TouchedPlace>,
}

impl FoundOperation {
    /// Adds every operation of the catalog that matches the request, or the request as an unknown operation.
    fn add_routes(
        &mut self,
        method: Method,
        segments: &[String],
        path: &str,
        fields: &Map<String, Value>,
        context: &Context<'_>,
    ) -> Result<(), Fault> {
        let mut routes = context.surface.rest(method, segments);
        if method == Method::Head {
            // GitLab accepts HEAD for every GET route.
            routes.extend(context.surface.rest(Method::Get, segments));
        }
        if routes.is_empty() {
            self.touches.push(Touched::unknown(format!("{} {path}", method.name()), unknown_risk(method)));
            self.places.push(TouchedPlace::unknown("path"));
            self.places.extend(affected_paths::undescribed_places(fields));
            return match method.is_safe() {
                true => Ok(()),
                false => self.add_commands("", None, quick_action::scan_all(fields), context),
            };
        }
        for route in routes {
            let Some((action, operation)) = operation(&route, context)? else { continue };
            let mut params = by_our_names(&action, &operation, fields);
            for (placeholder, value) in captures(&operation.path, segments) {
                add_value(&mut params, operation.filled_by(&placeholder), json!(value));
            }
            self.add(&action, &operation, &params, least_risk(method), context)?;
        }
        Ok(())
    }

    /// Adds a root field of a mutation with its arguments.
    fn add_mutation(
        &mut self,
        field: &str,
        arguments: &Map<String, Value>,
        context: &Context<'_>,
    ) -> Result<(), Fault> {
        let touched = document::mutation(field, context.surface);
        for touched in touched {
            let Some((action, operation)) = operation(&touched, context)? else {
                // The input of a field that the catalog lacks is unknown.
                if field != "__typename" {
                    self.places.push(TouchedPlace::unknown(field));
                }
                self.touches.push(touched);
                self.add_commands("", None, quick_action::scan_all(arguments), context)?;
                continue;
            };
            let mut input = Map::new();
            add_input(&mut input, arguments.get("input").unwrap_or(&Value::Null));
            let mut params = by_our_names(&action, &operation, &input);
            // A mutation of the catalog has no other argument.
            for (name, value) in arguments.iter().filter(|(name, _)| *name != "input") {
                add_value(&mut params, &format!("{UNDESCRIBED}{name}"), value.clone());
            }
            self.add(&action, &operation, &params, touched.risk, context)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        action: &Action,
        operation: &Operation,
        params: &Map<String, Value>,
        least: Risk,
        context: &Context<'_>,
    ) -> Result<(), Fault> {
        let mut touched = Touched::by(action, operation.to_string());
        touched.risk = call_risk(action, params).max(least);
        touched.effects.extend(added_effects(action, params).cloned());
        touched.effects.extend(created_labels(action, params));
        let touched_risk = touched.risk;
        self.touches.push(touched);
        self.places.extend(affected_paths::raw_places(action, operation, params));
        self.places.extend(quick_action::closed_places(action, params));
        let mut scanned = quick_action::scan(action, params);
        if touched_risk != Risk::Read {
            scanned.extend(quick_action::scan_all(&undescribed(params)));
        }
        self.add_commands(action.domain(), affected_paths::place_of(params), scanned, context)
    }

    /// Adds the effects of the quick actions in texts of a kind of object and a project or group, or refuses the texts.
    fn add_commands(
        &mut self,
        domain: &str,
        own: Option<Location>,
        scanned: Vec<Scanned>,
        context: &Context<'_>,
    ) -> Result<(), Fault> {
        let Some(first) = scanned.first() else { return Ok(()) };
        if context.quick_actions != QuickActions::Check {
            let commands = first.commands.iter().map(|command| format!("/{}", command.name)).collect();
            return Err(Fault::QuickAction { name: first.param.clone(), commands });
        }
        let quick = quick_action::effects(domain, own.as_ref(), &scanned, context.words, context.catalog);
        let (touches, places) = quick.map_err(|error| Fault::Catalog { reason: error.to_string() })?;
        self.touches.extend(touches);
        self.places.extend(places);
        Ok(())
    }
}

/// Finds the action and operation of an effect in the catalog.
fn operation(touched: &Touched, context: &Context<'_>) -> Result<Option<(Action, Operation)>, Fault> {
    let Some(id) = touched.ids.first() else { return Ok(None) };
    let action = context.catalog.get(id).map_err(|error| Fault::Catalog { reason: error.to_string() })?;
    Ok(action.and_then(|action| {
        let operation =
            action.operations.iter().find(|known| known.to_string() == touched.operation)?.clone();
        Some((action, operation))
    }))
}

/// Parses brackets in the names of a query like Rack: `actions[][action]=delete` is a field of a list. Names that Rack
/// could parse differently are refused.
fn nested(query: &Map<String, Value>) -> Result<Map<String, Value>, Fault> {
    let mut fields: Map<String, Value> = Map::new();
    for (name, value) in query {
        let parts = bracketed(name).ok_or_else(|| {
            let name = name.escape_debug();
            Fault::not_taken("query", format!("`{name}` is no name: brackets are `name[field]` or `name[]`"))
        })?;
        let (first, rest) = parts.split_first().map_or(("", [].as_slice()), |(first, rest)| (*first, rest));
        let value = rest.iter().rev().fold(value.clone(), |inner, part| match *part {
            "" => Value::Array(vec![inner]),
            part => json!({part: inner}),
        });
        match (fields.get_mut(first), rest.is_empty()) {
            (Some(Value::Array(items)), false) => items.push(value),
            (Some(existing), _) => *existing = Value::Array(vec![existing.take(), value]),
            (None, true) => drop(fields.insert(first.to_owned(), value)),
            (None, false) => drop(fields.insert(first.to_owned(), Value::Array(vec![value]))),
        }
    }
    Ok(fields)
}

/// Splits `a[b][]` into `a`, `b` and an empty part. None for brackets in other positions.
fn bracketed(name: &str) -> Option<Vec<&str>> {
    let (first, mut rest) = name.split_at(name.find('[').unwrap_or(name.len()));
    // Rack 2 ends its patterns at line ends: `a[][b\n][c]` is the field `b`.
    if first.is_empty() || first.contains(']') || name.contains(char::is_control) {
        return None;
    }
    let mut parts = vec![first];
    while let Some(inner) = rest.strip_prefix('[') {
        let (part, after) = inner.split_once(']')?;
        if part.contains('[') {
            return None;
        }
        parts.push(part);
        rest = after;
    }
    rest.is_empty().then_some(parts)
}

fn add_all(fields: &mut Map<String, Value>, others: &Map<String, Value>) {
    for (name, value) in others {
        add_value(fields, name, value.clone());
    }
}

/// Adds the fields of the input of a mutation, or of several that a document gives.
fn add_input(fields: &mut Map<String, Value>, input: &Value) {
    match input {
        Value::Object(input) => add_all(fields, input),
        Value::Array(inputs) => inputs.iter().for_each(|input| add_input(fields, input)),
        _ => {}
    }
}

/// Prefix of the fields that the action lacks: no parameter has a dot in its name.
const UNDESCRIBED: &str = "field.";

/// The fields that the action lacks.
fn undescribed(params: &Map<String, Value>) -> Map<String, Value> {
    let fields = params.iter().filter_map(|(name, value)| Some((name.strip_prefix(UNDESCRIBED)?, value)));
    fields.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// Renames the fields of a request to the action's parameters. What fills the path has names of its own there: the name of
/// its parameter is none that GitLab knows.
fn by_our_names(action: &Action, operation: &Operation, fields: &Map<String, Value>) -> Map<String, Value> {
    let leading = |name: &str| operation.graphql.as_ref()?.variables.get(&format!("input.{name}"));
    let described =
        |name: &str| by_wire(&action.params, name).filter(|param| !operation.is_filled_by(&param.name));
    let mut named = Map::new();
    for (name, value) in fields {
        match (leading(name), described(name)) {
            (Some(name), _) => add_value(&mut named, name, value.clone()),
            (None, Some(param)) => add_value(&mut named, &param.name, with_our_fields(param, value)),
            (None, None) => add_value(&mut named, &format!("{UNDESCRIBED}{name}"), value.clone()),
        }
    }
    named
}

fn by_wire<'a>(params: &'a [Param], name: &str) -> Option<&'a Param> {
    params.iter().find(|param| param.wire.as_deref().unwrap_or(&param.name) == name)
}

fn with_our_fields(param: &Param, value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| with_our_fields(param, item)).collect(),
        Value::Object(fields) => {
            let mut named = Map::new();
            for (name, value) in fields {
                match by_wire(&param.fields, name) {
                    Some(field) => add_value(&mut named, &field.name, with_our_fields(field, value)),
                    None => add_value(&mut named, name, value.clone()),
                }
            }
            Value::Object(named)
        }
        scalar => scalar.clone(),
    }
}

/// Formats that Grape may accept as the extension of a route.
const FORMATS: [&str; 6] = ["json", "txt", "xml", "atom", "csv", "html"];

/// Captures segments of a request by the placeholders of a path. A glob takes all but those of the later words.
fn captures(pattern: &str, segments: &[String]) -> Vec<(String, String)> {
    let words: Vec<&str> = pattern.split('/').filter(|word| !word.is_empty() && *word != "-").collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).filter(|segment| *segment != "-").collect();
    let mut found = Vec::new();
    let mut at = 0;
    for (number, word) in words.iter().enumerate() {
        let behind = words.len() - number - 1;
        let count = if word.starts_with('*') { segments.len().saturating_sub(at + behind).max(1) } else { 1 };
        let taken = segments.get(at..at + count).unwrap_or_default().join("/");
        at += count;
        let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if let Some(name) = word.strip_prefix([':', '*']).filter(is_name) {
            let is_last = number + 1 == words.len();
            // GitLab also serves `/projects/5.json` and `.txt`: the extension may belong to the name or not, so the
            // location is unknown (no path contains a question mark).
            let has_format = is_last
                && taken.rsplit_once('.').is_some_and(|(_, format)| {
                    FORMATS.iter().any(|known| format.eq_ignore_ascii_case(known))
                });
            let taken = if has_format { format!("{taken}?") } else { taken };
            found.push((name.to_owned(), taken));
        }
    }
    found
}

/// Method of a request; GET by default.
fn method(params: &Map<String, Value>) -> Method {
    let said = params.get("method").and_then(Value::as_str).unwrap_or_default();
    METHODS.into_iter().find(|method| method.name() == said).unwrap_or(Method::Get)
}

/// Merges the query in `path` with `query`. A name that has a value already is refused: one value would replace another.
fn query(params: &Map<String, Value>, in_path: Vec<(String, String)>) -> Result<Map<String, Value>, Fault> {
    let mut query: Map<String, Value> = Map::new();
    for (name, value) in in_path {
        match query.get_mut(&name) {
            Some(Value::Array(values)) => values.push(json!(value)),
            Some(_) => return Err(given_twice(&name)),
            None if name.ends_with("[]") => drop(query.insert(name, json!([value]))),
            None => drop(query.insert(name, json!(value))),
        }
    }
    for (name, value) in params.get("query").and_then(Value::as_object).into_iter().flatten() {
        encode::refuse_unclear_names("query", value)?;
        if query.insert(name.clone(), value.clone()).is_some() {
            return Err(given_twice(name));
        }
    }
    Ok(query)
}

fn given_twice(name: &str) -> Fault {
    let name = name.escape_debug();
    let reason = format!(
        "`{name}` is given twice, in the query of `path` or in both; give it once. A list is `\"name\": [...]`"
    );
    Fault::not_taken("query", reason)
}

/// Refuses parameters that replace the token or the user of the request: the policy is about those of the server. A
/// route that describes such a parameter takes it.
fn refuse_credentials(
    param: &str,
    fields: &Map<String, Value>,
    (method, segments): (Method, &[String]),
    context: &Context<'_>,
) -> Result<(), Fault> {
    let given = |name: &&str| fields.keys().any(|field| root_name(field) == *name);
    let Some(name) = CREDENTIAL_PARAMS.into_iter().find(given) else { return Ok(()) };
    for route in context.surface.rest(method, segments) {
        let found = operation(&route, context)?;
        if found.is_some_and(|(action, _)| by_wire(&action.params, name).is_some()) {
            return Ok(());
        }
    }
    let reason = format!("`{name}` would replace the token or the user that this server is set up with");
    Err(Fault::not_taken(param, reason))
}

fn body(params: &Map<String, Value>, method: Method, query: &Map<String, Value>) -> Result<Body, Fault> {
    let body = params.get("body").and_then(Value::as_object).filter(|body| !body.is_empty());
    for (name, fields) in [("query", Some(query)), ("body", body)] {
        if fields.is_some_and(|fields| fields.keys().any(|field| root_name(field) == OVERRIDE)) {
            let reason = format!("`{OVERRIDE}` would make it another method than `method` says");
            return Err(Fault::not_taken(name, reason));
        }
    }
    encode::refuse_unclear_names("body", params.get("body").unwrap_or(&Value::Null))?;
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

/// Minimum risk of a method. A POST is a write even if the catalog calls its operation a read (such as a lint): a path
/// is matched only by its form. The action itself runs as a read.
fn least_risk(method: Method) -> Risk {
    match method {
        Method::Get | Method::Head => Risk::Read,
        Method::Post | Method::Put | Method::Patch => Risk::Write,
        Method::Delete => Risk::Destructive,
    }
}

/// Risk of a request that the catalog does not know. Changes count as destructive: PUT may replace an object, and POST
/// may merge, revoke or transfer. A needless confirmation costs a call; a missing one may cost data.
fn unknown_risk(method: Method) -> Risk {
    if method.is_safe() { Risk::Read } else { Risk::Destructive }
}

/// Encodes a parameter for Rails: `iids[]=1&iids[]=2`, `not[labels]=a`.
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
