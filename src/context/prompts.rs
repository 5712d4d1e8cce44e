//! Prompts, with the configured project filled in and denied actions noted.

use serde_json::{Map, Value, json};

use crate::guides::{ArgType, PROMPTS, Prompt, PromptParam, mentions};
use crate::present;
use crate::text::excerpt;
use crate::tools::{Capabilities, ErrorKind, ToolError, Tools};

/// A prompt in the form that clients receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilledPrompt {
    pub title: &'static str,
    pub what: &'static str,
    pub text: String,
}

impl Tools {
    /// The prompts that a user can select.
    pub fn prompts(&self) -> &'static [Prompt] {
        if self.capabilities == Capabilities::Full { &PROMPTS } else { &[] }
    }

    /// True if an argument is required; a configured project is not.
    pub fn requires(&self, argument: &PromptParam) -> bool {
        argument.required && !self.is_configured(argument)
    }

    fn is_configured(&self, argument: &PromptParam) -> bool {
        argument.takes == ArgType::Project && self.project.is_some()
    }

    /// Fills in a prompt's message with the given arguments.
    ///
    /// `invalid_params` if there is no such prompt, or an argument is missing, unknown or invalid.
    pub fn prompt(&self, name: &str, mut given: Map<String, Value>) -> Result<FilledPrompt, ToolError> {
        let Some(prompt) = self.prompts().iter().find(|prompt| prompt.name == name) else {
            return Err(no_prompt(name));
        };
        for argument in
            prompt.arguments.iter().filter(|argument| argument.required && self.is_configured(argument))
        {
            let missing = given.get(argument.name).is_none_or(|value| value.is_null() || value == "");
            if let (Some(project), true) = (&self.project, missing) {
                given.insert(argument.name.to_owned(), json!(project));
            }
        }
        let mut text = prompt
            .message(&given)
            .map_err(|wrong| ToolError::new(ErrorKind::InvalidParams, wrong.to_string()))?;
        for (id, rule) in self.denied_in(prompt.text) {
            text.push_str(&format!("`{id}` does not run here: {rule}.\n"));
        }
        Ok(FilledPrompt { title: prompt.title, what: prompt.what, text })
    }

    /// The denied actions that a text mentions, each once, with the rule.
    fn denied_in<'t>(&self, text: &'t str) -> Vec<(&'t str, String)> {
        let mut denied: Vec<(&str, String)> = Vec::new();
        for mention in mentions(text) {
            let action = self.catalog.get(mention.id).ok().flatten();
            let rule = action.and_then(|action| self.withholds(&action));
            if let (Some(rule), false) = (rule, denied.iter().any(|(id, _)| *id == mention.id)) {
                denied.push((mention.id, rule.to_string()));
            }
        }
        denied
    }
}

fn no_prompt(name: &str) -> ToolError {
    let short: String = excerpt(&present::line(name), 80);
    let error = ToolError::new(ErrorKind::InvalidParams, format!("there is no prompt `{short}`"));
    match crate::search::nearest(name, PROMPTS.iter().map(|prompt| prompt.name)) {
        Some(nearest) => error.hint(format!("Did you mean {nearest}?")),
        None => error.hint("prompts/list has all prompts."),
    }
}
