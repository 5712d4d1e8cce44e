//! How answers show the fields of GitLab's objects, from `catalog/presentation.toml`. Compiled in as constants.

use serde::Deserialize;

/// The lists as they are written in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresentationLists {
    noise: Vec<String>,
    silent_noise: Vec<String>,
    told_off: Vec<String>,
    counted: Vec<String>,
    counts: Vec<String>,
    surroundings: Vec<String>,
    object_names: Vec<String>,
    identity: Vec<String>,
    columns: Vec<String>,
    row_identity: Vec<String>,
    row_names: Vec<String>,
    headings: Vec<String>,
    url_parts: Vec<String>,
    subject_names: Vec<String>,
    sibling_names: Vec<String>,
    selected_names: Vec<String>,
    summary: Vec<String>,
    bound: Vec<String>,
    merge_request_overview: Vec<String>,
    resolved_project: Vec<String>,
    said_better: Vec<(String, String)>,
    defaults: Vec<(String, String)>,
    told_null: Vec<(String, String)>,
    repeated: Vec<(String, String, RepeatedPart)>,
    mentioned: Vec<(String, Vec<String>)>,
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
        let lists = [
            ("noise", &self.noise),
            ("silent_noise", &self.silent_noise),
            ("told_off", &self.told_off),
            ("counted", &self.counted),
            ("counts", &self.counts),
            ("surroundings", &self.surroundings),
            ("object_names", &self.object_names),
            ("identity", &self.identity),
            ("columns", &self.columns),
            ("row_identity", &self.row_identity),
            ("row_names", &self.row_names),
            ("headings", &self.headings),
            ("url_parts", &self.url_parts),
            ("subject_names", &self.subject_names),
            ("sibling_names", &self.sibling_names),
            ("selected_names", &self.selected_names),
            ("summary", &self.summary),
            ("bound", &self.bound),
            ("merge_request_overview", &self.merge_request_overview),
            ("resolved_project", &self.resolved_project),
        ];
        fields.extend(lists.map(|(name, list)| format!("{name}: &{list:?}")));
        format!("Presentation {{ {} }}", fields.join(", "))
    }
}
