//! The schema of a tool as a pipeline: a source with one branch an action; the branches that the policy denies dropped,
//! with the parameters that only they had; descriptions overridden; then one object, or one alternative an action.
//! Pure: nothing here knows a client or a setting's origin.

mod output;
mod overrides;
mod source;
#[cfg(test)]
mod tests;

pub use overrides::{Level, Override, OverrideSpellings, Unmatched, squashed};
pub use source::{Branch, Form, ParamSchema, SchemaMode, Source};

use super::tool_definition::ToolSpec;

impl Source {
    /// Puts other descriptions in place of its own, the last that is about a thing. `spellings` resolves another
    /// spelling of an action's parameter.
    pub fn describe(&mut self, overrides: &[Override], spellings: &OverrideSpellings<'_>) {
        for change in overrides {
            change.apply(self, spellings);
        }
    }

    /// The tool as clients see it.
    pub fn finished(self, mode: SchemaMode) -> ToolSpec {
        let input_schema = output::input_schema(&self, mode);
        let described = self.branches.first().filter(|_| self.description.is_empty());
        ToolSpec {
            description: described.map_or(self.description, |branch| branch.description.clone()),
            input_schema,
            name: self.name,
            title: self.title,
            output_schema: self.output,
            annotations: self.annotations,
        }
    }
}
