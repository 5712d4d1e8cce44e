//! Names of fields with secrets, from `[secrets]` in `catalog/rules.toml`. They are compiled in as a constant, so that no
//! answer is shown because a table could not be read.

use serde::Deserialize;

/// Maximum number of held fields: the holders around a value are the bits of one number.
const MAX_HELD_FIELDS: usize = 64;

/// The table as it is written in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretNameRules {
    endings: Vec<String>,
    cursors: Vec<String>,
    names: Vec<String>,
    held: Vec<String>,
    beside_value: Vec<String>,
    marks: Vec<String>,
    query: Vec<String>,
    urls: Vec<String>,
}

impl SecretNameRules {
    /// The table as a Rust expression of `SecretNames`.
    pub fn to_expression(&self) -> Result<String, String> {
        if self.held.len() > MAX_HELD_FIELDS {
            return Err(format!("secrets: {} held fields; at most {MAX_HELD_FIELDS} fit", self.held.len()));
        }
        let mut fields = Vec::new();
        for path in &self.held {
            let (holder, name) =
                path.split_once('.').ok_or_else(|| format!("secrets: {path} has no holder"))?;
            fields.push(format!("HeldField {{ holder: {holder:?}, name: {name:?} }}"));
        }
        Ok(format!(
            "SecretNames {{ endings: &{:?}, cursors: &{:?}, names: &{:?}, held: &[{}], beside_value: &{:?}, marks: &{:?}, query: &{:?}, urls: &{:?} }}",
            self.endings,
            self.cursors,
            self.names,
            fields.join(", "),
            self.beside_value,
            self.marks,
            self.query,
            self.urls,
        ))
    }
}
