//! Mutations: the request that each is, and its answer as a payload.

use apollo_compiler::schema::FieldDefinition;
use serde_json::{Value, json};

use super::super::args::{list_of, text_of};
use super::super::row::{Fields, Row};
use super::node::{NoValue, Node, lower};
use super::session::Refusal;
use super::table::{Crowd, Mutation};
use super::template::{Filled, request, snake};

/// Runs a mutation; reports a failed validation of the model in the payload, all else as an error.
pub fn run(root: &Node<'_, '_>, field: &FieldDefinition, args: &Row) -> Result<Value, NoValue> {
    let mutation = root.engine.table.mutation(&field.name).ok_or(NoValue::NotAvailable)?;
    let input = field.argument_by_name("input").map(|input| input.ty.inner_named_type().as_str());
    let mut given = Row::new();
    flatten(root, input.unwrap_or_default(), "", args.get("input"), &mut given);
    let (method, filled, used) = address(root, mutation, &given).ok_or(NoValue::NotAvailable)?;
    let mut body = Row::new();
    for (name, value) in given.iter().filter(|(name, _)| !used.contains(name)) {
        let word = |text: &str| mutation.values.get(text).map(|word| Value::from(word.as_str()));
        let value = value.as_str().and_then(word).unwrap_or_else(|| root.session.plain(value.clone()));
        body.set(mutation.names.get(name).unwrap_or(name), value);
    }
    if let Some(crowd) = &mutation.set {
        set(root, crowd, &filled, &mut body)?;
    }
    let mut payload = Row::new();
    payload.set("client_mutation_id", given.get("client_mutation_id").cloned().unwrap_or_default());
    payload.set("errors", json!([]));
    match root.session.send(&method, &filled, body) {
        Ok(answer) => {
            if let Some(gives) = &mutation.gives {
                payload.set(&snake(gives), answer);
            }
        }
        Err(refusal @ Refusal { status: 400 | 409 | 422, .. }) => {
            payload.set("errors", sentences(&refusal.message));
        }
        Err(Refusal { status: 401 | 403 | 404, .. }) => return Err(NoValue::NotAvailable),
        Err(refusal) => return Err(NoValue::Refused(refusal)),
    }
    Ok(Value::Object(payload))
}

/// The members of an input object, those of the objects in it as `outer.inner`, all in snake_case.
fn flatten(root: &Node<'_, '_>, name: &str, prefix: &str, value: Option<&Value>, given: &mut Row) {
    let schema = &root.engine.schema;
    let Some((input, Value::Object(members))) = schema.get_input_object(name).zip(value) else { return };
    for (member, value) in members {
        let Some(field) = input.fields.get(member.as_str()) else { continue };
        let inner = field.ty.inner_named_type();
        let path = format!("{prefix}{}", snake(member));
        if schema.get_input_object(inner).is_some() {
            flatten(root, inner, &format!("{path}."), Some(value), given);
        } else if schema.get_enum(inner).is_some() {
            given.set(&path, lower(value.clone()));
        } else {
            given.set(&path, value.clone());
        }
    }
}

/// Method and request of a mutation, and the given arguments that they use up.
fn address(root: &Node<'_, '_>, mutation: &Mutation, given: &Row) -> Option<(String, Filled, Vec<String>)> {
    let plain = |name: &str| given.get(name).and_then(|value| text_of(&root.session.plain(value.clone())));
    mutation.send.split(" | ").find_map(|line| {
        let (line, condition) =
            line.split_once(" if ").map_or((line, None), |(line, only)| (line, Some(only)));
        if let Some((name, wanted)) = condition.and_then(|only| only.split_once('='))
            && plain(name).as_deref() != Some(wanted)
        {
            return None;
        }
        let (method, template) = line.split_once(' ')?;
        let used = template
            .split('{')
            .skip(1)
            .filter_map(|part| part.split('}').next())
            .map(str::to_owned)
            .collect();
        // A global id at the beginning is a whole path.
        let filled = match template.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            Some((name, rest)) => {
                let mut filled = request(rest, &plain)?;
                filled.path.insert_str(0, &root.session.path_of(given.text(name))?);
                filled
            }
            None => request(template, &plain)?,
        };
        Some((method.to_owned(), filled, used))
    })
}

/// Sets a list of people or labels, or adds to it or takes from it as `operationMode` says.
fn set(root: &Node<'_, '_>, crowd: &Crowd, filled: &Filled, body: &mut Row) -> Result<(), NoValue> {
    let named = body.remove(&crowd.from).map(|names| list_of(&names)).unwrap_or_default();
    let people = crowd.of == "assignees";
    let id = |name: &String| root.session.user(name).map(|id| id.to_string());
    let named: Vec<String> = if people { named.iter().filter_map(id).collect() } else { named };
    let held = root.session.send("GET", filled, Row::new()).map_err(|_| NoValue::NotAvailable)?;
    let held = held.get(&crowd.of).and_then(Value::as_array).cloned().unwrap_or_default();
    let held = held.iter().filter_map(|one| text_of(one.get("id").unwrap_or(one)));
    let mode = body.remove("operation_mode");
    let wanted: Vec<String> = match mode.as_ref().and_then(Value::as_str) {
        Some("append") => held.chain(named).collect(),
        Some("remove") => held.filter(|one| !named.contains(one)).collect(),
        _ => named,
    };
    body.set(&crowd.to, wanted);
    Ok(())
}

/// Renders errors as sentences: `{"title": ["can't be blank"]}` is "Title can't be blank".
fn sentences(message: &Value) -> Vec<String> {
    match message {
        Value::Array(messages) => messages.iter().flat_map(sentences).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(field, problems)| {
                let mut name = field.replace('_', " ");
                name.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
                list_of(problems).into_iter().map(move |problem| format!("{name} {problem}"))
            })
            .collect(),
        other => text_of(other).into_iter().collect(),
    }
}
