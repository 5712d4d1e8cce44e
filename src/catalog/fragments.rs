//! The definitions of the fragments that GraphQL selections spread: one a type, kept once for all actions.

use std::sync::OnceLock;

use gitlab_mcp_embed::catalog::model::{Action, leading_name};

use super::error::CatalogError;

static FRAGMENTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalog_fragments.bin"));

/// Every definition by its fragment's name, sorted; read when a GraphQL action first is.
#[derive(Debug, Default)]
pub struct Fragments {
    table: OnceLock<Vec<(&'static str, &'static str)>>,
}

impl Fragments {
    /// Adds to each operation of the action the definitions that its selection needs.
    pub fn complete(&self, action: &mut Action) -> Result<(), CatalogError> {
        for graphql in action.operations.iter_mut().filter_map(|operation| operation.graphql.as_mut()) {
            graphql.fragments = definitions(self.table()?, &graphql.selection);
        }
        Ok(())
    }

    fn table(&self) -> Result<&[(&'static str, &'static str)], CatalogError> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let table = postcard::from_bytes(FRAGMENTS).map_err(CatalogError::Fragments)?;
        Ok(self.table.get_or_init(|| table))
    }
}

/// Returns the definitions of the fragments in a selection; no fragment spreads another.
fn definitions(table: &[(&str, &str)], selection: &str) -> String {
    let mut names: Vec<&str> = selection.split("...").skip(1).map(leading_name).collect();
    names.sort_unstable();
    names.dedup();
    let found = names.into_iter().filter_map(|name| {
        let at = table.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
        table.get(at).map(|(_, definition)| *definition)
    });
    found.collect::<Vec<_>>().join("\n")
}
