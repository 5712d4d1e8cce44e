//! Fields of an older schema that a newer one lacks, as extensions of it in SDL.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gitlab_mcp::catalog::Version;

use super::reach::find_operations;
use super::sdl::{Field, Input, Sdl, Shape, Status};
use crate::rules::GraphqlRules;

impl Sdl {
    /// The operations of this schema that a newer one lacks, as extensions with the types that it lacks as well.
    pub fn lacking_in(&self, newer: &Sdl, rules: &GraphqlRules, until: Version) -> String {
        let mut fields: BTreeMap<&str, Vec<&Field>> = BTreeMap::new();
        for reached in find_operations(self, rules) {
            let Some(field) = reached.steps.last() else { continue };
            if newer.shape(reached.owner).is_some() && newer.field(reached.owner, &field.name).is_none() {
                fields.entry(reached.owner).or_default().push(field);
            }
        }
        let mut text = String::new();
        let mut types: Vec<&str> = Vec::new();
        for (owner, fields) in &fields {
            let _ = writeln!(text, "extend type {owner} {{");
            for field in fields {
                let _ = writeln!(text, "  {} @until(version: \"{until}\")", described(field));
                types.extend(types_of(field));
            }
            text.push_str("}\n");
        }
        let mut kept: BTreeMap<&str, String> = BTreeMap::new();
        while let Some(name) = types.pop() {
            let Some(shape) = self.shape(name).filter(|_| newer.shape(name).is_none()) else { continue };
            if !kept.contains_key(name) {
                kept.insert(name, self.definition(name, shape, &mut types));
            }
        }
        text + &kept.into_values().collect::<String>()
    }

    /// A type as SDL. Adds the types that it refers to.
    fn definition<'a>(&'a self, name: &str, shape: &'a Shape, types: &mut Vec<&'a str>) -> String {
        let (keyword, lines): (&str, Vec<String>) = match shape {
            Shape::Scalar(None) => return format!("scalar {name}\n"),
            Shape::Scalar(Some(of)) => return format!("\"gid://gitlab/{of}/1\"\nscalar {name}\n"),
            Shape::Union(members) => {
                types.extend(members.iter().map(String::as_str));
                return format!("union {name} = {}\n", members.join(" | "));
            }
            Shape::Enum(values) => ("enum", values.clone()),
            Shape::Input(fields) => {
                types.extend(fields.iter().map(|field| field.ty.name.as_str()));
                ("input", fields.iter().map(argument).collect())
            }
            Shape::Object(fields) | Shape::Interface(fields) => {
                types.extend(fields.iter().flat_map(types_of));
                let is_object = matches!(shape, Shape::Object(_));
                (if is_object { "type" } else { "interface" }, fields.iter().map(described).collect())
            }
        };
        format!("{keyword} {name} {{\n  {}\n}}\n", lines.join("\n  "))
    }
}

/// Names of the types in a field and its arguments.
fn types_of(field: &Field) -> impl Iterator<Item = &str> {
    std::iter::once(field.ty.name.as_str()).chain(field.arguments.iter().map(|one| one.ty.name.as_str()))
}

fn described(field: &Field) -> String {
    let arguments: Vec<String> = field.arguments.iter().map(argument).collect();
    let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
    format!("{}{arguments}: {}{}", field.name, field.ty.text, mark(&field.status))
}

fn argument(input: &Input) -> String {
    let default = input.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
    format!("{}: {}{default}{}", input.name, input.ty.text, mark(&input.status))
}

fn mark(status: &Status) -> String {
    match status {
        Status::Stable => String::new(),
        Status::Deprecated => " @deprecated".to_owned(),
        Status::Experiment(version) => {
            format!(" @deprecated(reason: \"{}{version}.\")", super::sdl::EXPERIMENT)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_newer_schema_lacks_is_read_back_from_its_extensions() {
        let older = Sdl::parse(
            r#"type Query { bot: Bot }
               type Mutation { botCreate(input: BotCreateInput!): BotCreatePayload @deprecated(reason: "**Status**: Experiment. Introduced in GitLab 17.1.")
                               botStop(id: ID!): String }
               input BotCreateInput { kind: BotKind = TALL, name: String! }
               enum BotKind { TALL SMALL }
               type BotCreatePayload { bot: Bot, errors: [String!]! }
               type Bot { id: BotID! }
               "gid://gitlab/Ai::Bot/1"
               scalar BotID"#,
        )
        .unwrap();
        let newer =
            "type Query { bot: Bot } type Mutation { botStop(id: ID!): String } type Bot { id: BotID! }
                     scalar BotID";
        let gone =
            older.lacking_in(&Sdl::parse(newer).unwrap(), &GraphqlRules::default(), "19.5".parse().unwrap());
        assert!(!gone.contains("botStop") && !gone.contains("type Bot "), "{gone}");
        let both = Sdl::parse(newer).unwrap().extended(&gone).unwrap();
        let field = both.field("Mutation", "botCreate").unwrap();
        assert_eq!(field.until, Some("19.5".parse().unwrap()));
        assert_eq!(field.status, Status::Experiment("17.1".to_owned()));
        assert_eq!(both.field("Mutation", "botStop").unwrap().until, None);
        let Some(Shape::Input(input)) = both.shape("BotCreateInput") else { panic!("no input: {gone}") };
        assert_eq!(input.len(), 2);
        assert!(matches!(both.shape("BotKind"), Some(Shape::Enum(values)) if values.len() == 2));
        assert_eq!(both.fields("BotCreatePayload").len(), 2);
    }
}
