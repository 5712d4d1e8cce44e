//! The schema, and the tables that feed it.

use std::sync::OnceLock;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;

use super::super::start_error::SandboxError;
use super::table::Table;

/// The parts of the schema.
const PARTS: &[(&str, &str)] = &[
    ("places.graphql", include_str!("schema/places.graphql")),
    ("things.graphql", include_str!("schema/things.graphql")),
    ("connections.graphql", include_str!("schema/connections.graphql")),
    ("mutations.graphql", include_str!("schema/mutations.graphql")),
    ("values.graphql", include_str!("schema/values.graphql")),
];

/// The schema, and what feeds it.
#[derive(Debug)]
pub struct Engine {
    pub schema: &'static Valid<Schema>,
    pub table: Table,
}

impl Engine {
    /// Reads the embedded schema and tables.
    pub fn load() -> Result<Self, SandboxError> {
        Ok(Self { schema: schema()?, table: Table::load()? })
    }
}

/// The embedded schema, parsed once for all sandboxes of a process.
fn schema() -> Result<&'static Valid<Schema>, SandboxError> {
    static SCHEMA: OnceLock<Valid<Schema>> = OnceLock::new();
    if let Some(schema) = SCHEMA.get() {
        return Ok(schema);
    }
    let mut builder = Schema::builder();
    for (file, text) in PARTS {
        builder = builder.parse(*text, *file);
    }
    let schema = builder.build().and_then(Schema::validate);
    let schema = schema.map_err(|faults| SandboxError::Schema(faults.errors.to_string()))?;
    Ok(SCHEMA.get_or_init(|| schema))
}
