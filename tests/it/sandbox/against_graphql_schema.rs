//! The sandbox's GraphQL schema against GitLab's own, where `GITLAB_API_FILES` says it is.

use std::path::Path;

use apollo_compiler::Schema;
use apollo_compiler::ast::InputValueDefinition;
use apollo_compiler::schema::{ExtendedType, FieldDefinition};

use crate::support::gitlab_files;

fn gitlabs() -> Schema {
    let text = std::fs::read_to_string(gitlab_files::folder().join("schema.graphql")).unwrap();
    Schema::builder().adopt_orphan_extensions().parse(text, "schema.graphql").build().unwrap()
}

fn ours() -> Schema {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sandbox/graphql/schema");
    let mut builder = Schema::builder();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        builder = builder.parse(std::fs::read_to_string(&path).unwrap(), &path);
    }
    builder.build().unwrap()
}

/// Members of a type, each with its whole signature.
fn members(kind: &ExtendedType) -> Vec<String> {
    let argument = |at: &str, value: &InputValueDefinition| format!("{at}({}: {})", value.name, value.ty);
    let field = |field: &FieldDefinition| {
        let arguments = field.arguments.iter().map(|value| argument(&field.name, value));
        std::iter::once(format!("{}: {}", field.name, field.ty)).chain(arguments).collect::<Vec<_>>()
    };
    match kind {
        ExtendedType::Object(kind) => {
            let interfaces = kind.implements_interfaces.iter().map(|name| format!("implements {name}"));
            kind.fields.values().flat_map(|one| field(one)).chain(interfaces).collect()
        }
        ExtendedType::Interface(kind) => kind.fields.values().flat_map(|one| field(one)).collect(),
        ExtendedType::InputObject(kind) => kind.fields.values().map(|one| argument("", one)).collect(),
        ExtendedType::Enum(kind) => kind.values.keys().map(ToString::to_string).collect(),
        ExtendedType::Union(kind) => kind.members.iter().map(ToString::to_string).collect(),
        ExtendedType::Scalar(_) => vec!["scalar".to_owned()],
    }
}

/// The arguments that must be given.
fn required(kind: &ExtendedType) -> Vec<String> {
    let ExtendedType::Object(kind) = kind else { return Vec::new() };
    let of = |field: &FieldDefinition| {
        let required = field.arguments.iter().filter(|argument| argument.is_required());
        required.map(|argument| format!("{}({})", field.name, argument.name)).collect::<Vec<_>>()
    };
    kind.fields.values().flat_map(|field| of(field)).collect()
}

#[test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's schema.graphql")]
fn the_sandboxs_schema_is_a_part_of_gitlabs() {
    let (gitlabs, ours) = (gitlabs(), ours());
    let mut faults = Vec::new();
    for (name, kind) in ours.types.iter().filter(|(_, kind)| !kind.is_built_in()) {
        let Some(theirs) = gitlabs.types.get(name) else {
            faults.push(format!("{name} is not GitLab's"));
            continue;
        };
        let known = members(theirs);
        faults.extend(
            members(kind).iter().filter(|one| !known.contains(one)).map(|one| format!("{name}.{one}")),
        );
        let fields: Vec<String> = members(kind);
        let has = |one: &&String| {
            fields.iter().any(|field| field.split([':', '(']).next() == one.split('(').next())
        };
        let needs = required(kind);
        let theirs = required(theirs);
        faults.extend(
            theirs
                .iter()
                .filter(has)
                .filter(|one| !needs.contains(one))
                .map(|one| format!("{name}.{one} is required")),
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(ours.types.len() > 150);
}
