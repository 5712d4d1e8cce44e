//! `catalog types --ts` command: the parameters of actions as TypeScript types.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::Failure;
use crate::catalog::{Action, Catalog, input_schema};
use crate::surface::execute_schema;

/// Types of a call that depend on its action, in place of those of the schema.
const GENERIC: [(&str, &str); 2] =
    [("action", "A"), ("params", "Actions[A] | ({ target: string } & Partial<Actions[A]>)")];

/// Type that follows the arguments of a call.
const CALL: &str = "\
/** Calls gitlab_execute_action; the sandbox provides it. */
export type Execute = <A extends ActionId>(call: ExecuteArguments<A>) => Promise<{ data?: unknown; [field: string]: unknown }>;
";

/// Writes the types of the actions of these domains or with these ids; of all if there is no name.
pub(super) fn write(catalog: &Catalog, names: &[String], out: &mut dyn Write) -> Result<(), Failure> {
    let is_known = |name: &String| catalog.ids().any(|id| is_named(id, name));
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        return Err(Failure::NoSuchAction(unknown.clone()));
    }
    let words = catalog.words()?;
    writeln!(
        out,
        "// Actions of gitlab-mcp {} for GitLab {}, written by `gitlab-mcp catalog types --ts`.\n\n\
         /** The parameters of each action by its id. */\nexport interface Actions {{",
        env!("CARGO_PKG_VERSION"),
        words.gitlab_version
    )?;
    for action in catalog.actions() {
        let action = action?;
        let is_wanted = names.is_empty() || names.iter().any(|name| is_named(&action.id, name));
        if is_wanted && action.is_offered() {
            write_action(catalog, &action, out)?;
        }
    }
    writeln!(out, "}}\n\n/** The id of an action. */\nexport type ActionId = keyof Actions;\n")?;
    write_call(&execute_schema(), out)?;
    write!(out, "\n{CALL}")?;
    Ok(())
}

/// Writes the arguments of a call, by the schema of the tool.
fn write_call(schema: &Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "/** The arguments of gitlab_execute_action. */\n\
         export interface ExecuteArguments<A extends ActionId = ActionId> {{"
    )?;
    let required = required(schema);
    for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let generic =
            GENERIC.iter().find(|(known, _)| known == name).map(|(_, written)| (*written).to_owned());
        let comment = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        writeln!(out, "  /** {} */", comment.replace("*/", "* /"))?;
        writeln!(out, "  {}: {};", property(name, &required), generic.unwrap_or_else(|| type_of(schema)))?;
    }
    writeln!(out, "}}")
}

/// True if the name is the id or its domain.
fn is_named(id: &str, name: &str) -> bool {
    id == name || id.split_once('.').is_some_and(|(domain, _)| domain == name)
}

fn write_action(catalog: &Catalog, action: &Action, out: &mut dyn Write) -> Result<(), Failure> {
    let schema = input_schema(action, catalog.words()?);
    let summary = action.summary.replace("*/", "* /");
    writeln!(out, "  /** {summary}. ({}) */", action.risk.name())?;
    writeln!(out, "  {}: {};", json!(action.id), type_of(&schema))?;
    Ok(())
}

/// The TypeScript type of a JSON Schema.
fn type_of(schema: &Value) -> String {
    if let Some(Value::Array(choices)) = schema.get("enum") {
        return union(choices.iter().map(Value::to_string).collect());
    }
    match schema.get("type") {
        Some(Value::Array(types)) => {
            let of_one = |one: &Value| {
                let mut schema = schema.clone();
                if let Some(kind) = schema.get_mut("type") {
                    *kind = one.clone();
                }
                type_of(&schema)
            };
            union(types.iter().map(of_one).collect())
        }
        Some(Value::String(name)) => match name.as_str() {
            "string" => "string".to_owned(),
            "integer" | "number" => "number".to_owned(),
            "boolean" => "boolean".to_owned(),
            "array" => list_of(schema.get("items")),
            "object" => object(schema),
            _ => "unknown".to_owned(),
        },
        _ => "unknown".to_owned(),
    }
}

fn list_of(items: Option<&Value>) -> String {
    let one = items.map_or_else(|| "unknown".to_owned(), type_of);
    if one.contains('|') { format!("({one})[]") } else { format!("{one}[]") }
}

fn object(schema: &Value) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return "Record<string, unknown>".to_owned();
    };
    fields(properties, &required(schema))
}

/// Names of the required properties of an object.
fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn fields(properties: &Map<String, Value>, required: &[&str]) -> String {
    if properties.is_empty() {
        return "Record<string, never>".to_owned();
    }
    let field =
        |(name, schema): (&String, &Value)| format!("{}: {}", property(name, required), type_of(schema));
    format!("{{ {} }}", properties.iter().map(field).collect::<Vec<_>>().join("; "))
}

/// A property name with the mark of an optional one.
fn property(name: &str, required: &[&str]) -> String {
    let mark = if required.contains(&name) { "" } else { "?" };
    format!("{}{mark}", key(name))
}

/// A property name, quoted unless it is an identifier.
fn key(name: &str) -> String {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_plain = name.starts_with(is_start) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain { name.to_owned() } else { json!(name).to_string() }
}

fn union(parts: Vec<String>) -> String {
    let mut known: Vec<String> = Vec::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !known.contains(&part) {
            known.push(part);
        }
    }
    if known.is_empty() { "unknown".to_owned() } else { known.join(" | ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_its_type() {
        for (schema, expected) in [
            (json!({"type": "string", "enum": ["a", "b"]}), "\"a\" | \"b\""),
            (json!({"type": ["integer", "string"]}), "number | string"),
            (json!({"type": "array", "items": {"type": ["integer", "string"]}}), "(number | string)[]"),
            (json!({"type": "array", "items": {"type": "string"}}), "string[]"),
            (json!({"type": ["string", "array"], "items": {"type": "integer"}}), "string | number[]"),
            (
                json!({"type": ["integer", "object"], "properties": {"id": {"type": "string"}}}),
                "number | { id?: string }",
            ),
            (json!({"type": "object"}), "Record<string, unknown>"),
            (json!({}), "unknown"),
            (
                json!({"type": "object", "required": ["iid"], "properties": {
                    "iid": {"type": "integer"}, "not[labels]": {"type": "boolean"}
                }}),
                "{ iid: number; \"not[labels]\"?: boolean }",
            ),
        ] {
            assert_eq!(type_of(&schema), expected, "{schema}");
        }
    }
}
