//! Names of fields with secrets, from `[secrets]` in `catalog/rules.toml`. They are compiled in as a constant, so that no
//! answer is shown because a table could not be read.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Maximum number of held fields: the holders around a value are the bits of one number.
const MAX_HELD_FIELDS: usize = 64;

/// The table as it is written in the file.
#[derive(Debug, Default, Deserialize)]
pub struct SecretNameRules {
    held: Vec<String>,
    /// All other lists. The compiler refuses one that `SecretNames` does not have, and requires those that it has.
    #[serde(flatten)]
    lists: BTreeMap<String, Vec<String>>,
}

impl SecretNameRules {
    /// The table as a Rust expression of `SecretNames`.
    pub fn to_expression(&self) -> Result<String, String> {
        if self.held.len() > MAX_HELD_FIELDS {
            return Err(format!("secrets: {} held fields; at most {MAX_HELD_FIELDS} fit", self.held.len()));
        }
        let mut held = Vec::new();
        for path in &self.held {
            let (holder, name) =
                path.split_once('.').ok_or_else(|| format!("secrets: {path} has no holder"))?;
            held.push(format!("HeldField {{ holder: {holder:?}, name: {name:?} }}"));
        }
        let lists = self.lists.iter().map(|(name, list)| format!("{name}: &{list:?}"));
        let fields: Vec<String> = lists.chain([format!("held: &[{}]", held.join(", "))]).collect();
        Ok(format!("SecretNames {{ {} }}", fields.join(", ")))
    }
}
