//! How answers show the fields of GitLab's objects, from `catalog/presentation.toml`. Compiled in as constants.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The lists as they are written in the file.
#[derive(Debug, Deserialize)]
pub struct PresentationLists {
    said_better: Vec<(String, String)>,
    defaults: Vec<(String, String)>,
    told_null: Vec<(String, String)>,
    repeated: Vec<(String, String, RepeatedPart)>,
    mentioned: Vec<(String, Vec<String>)>,
    /// All other lists. The compiler refuses one that `Presentation` does not have, and requires those that it has.
    #[serde(flatten)]
    names: BTreeMap<String, Vec<String>>,
}

/// The part of another value that a repeated value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatedPart {
    All,
    Beginning,
    End,
}

impl PresentationLists {
    /// The lists as a Rust expression of `Presentation`.
    pub fn to_expression(&self) -> String {
        let mentioned: Vec<String> =
            self.mentioned.iter().map(|(kind, fields)| format!("({kind:?}, &{fields:?})")).collect();
        let mut fields = vec![
            format!("repeated: &{:?}", self.repeated),
            format!("mentioned: &[{}]", mentioned.join(", ")),
        ];
        let pairs = [
            ("said_better", &self.said_better),
            ("defaults", &self.defaults),
            ("told_null", &self.told_null),
        ];
        fields.extend(pairs.map(|(name, pairs)| format!("{name}: &{pairs:?}")));
        fields.extend(self.names.iter().map(|(name, list)| format!("{name}: &{list:?}")));
        format!("Presentation {{ {} }}", fields.join(", "))
    }
}
