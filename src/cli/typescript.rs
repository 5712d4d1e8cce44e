//! `catalog types --ts` command: the parameters of actions as TypeScript types.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::Failure;
use crate::catalog::{Action, Catalog, CatalogError, input_schema};

/// Types that follow those of the actions: the call of an action, as the tool takes it.
const CALL: &str = "\
/** The id of an action. */
export type ActionId = keyof Actions;

/** The arguments of gitlab_execute_action. */
export interface ExecuteArguments<A extends ActionId = ActionId> {
  action: A;
  /** `target` takes a URL or a reference such as group/project#12 in place of fullPath and the object's number. */
  params?: Actions[A] | ({ target: string } & Partial<Actions[A]>);
  /** True to run an action that needs confirmation; ask the user first. */
  confirm?: boolean;
  confirmation_token?: string;
  /** Only these fields of the answer, such as author.username. */
  fields?: string[];
  view?: \"compact\" | \"full\";
  /** Show the request; send nothing. */
  dry_run?: boolean;
  offset?: number;
  lines?: string;
  /** A new file for a download. */
  save_to?: string;
  /** Read all pages of a list. */
  all?: boolean;
  count_by?: string;
  sum?: string;
  top?: number;
  /** The GitLab instance, if several are configured. */
  instance?: string;
}

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
    writeln!(out, "}}\n\n{}", CALL.trim_end())?;
    Ok(())
}

/// True if the name is the id or its domain.
fn is_named(id: &str, name: &str) -> bool {
    id == name || id.split_once('.').is_some_and(|(domain, _)| domain == name)
}

fn write_action(catalog: &Catalog, action: &Action, out: &mut dyn Write) -> Result<(), Failure> {
    let schema = params_schema(catalog, action)?;
    let summary = action.summary.replace("*/", "* /");
    writeln!(out, "  /** {summary}. ({}) */", action.risk.name())?;
    writeln!(out, "  {}: {};", json!(action.id), type_of(&schema))?;
    Ok(())
}

fn params_schema(catalog: &Catalog, action: &Action) -> Result<Value, CatalogError> {
    Ok(input_schema(action, catalog.words()?))
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
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    fields(properties, &required)
}

fn fields(properties: &Map<String, Value>, required: &[&str]) -> String {
    if properties.is_empty() {
        return "Record<string, never>".to_owned();
    }
    let field = |(name, schema): (&String, &Value)| {
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{}{mark}: {}", key(name), type_of(schema))
    };
    format!("{{ {} }}", properties.iter().map(field).collect::<Vec<_>>().join("; "))
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
