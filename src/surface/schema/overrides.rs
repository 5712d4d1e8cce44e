//! Descriptions in place of the catalog's, at three levels: a tool, an action of it, a parameter of it. Names are
//! written as variables of the environment have them, in any case and with underscores for all other characters.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::source::{Branch, Source};
use crate::search::nearest;

/// The parameter of an action, by its id, that another spelling means.
pub type OverrideSpellings<'a> = dyn Fn(&str, &str) -> Option<String> + 'a;

/// The object of an override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `TOOL`
    Tool,
    /// `TOOL_ACTION`
    Action,
    /// `TOOL_PARAM`
    Param,
}

impl Level {
    /// Each with how the variables that hold it begin, and the table of the file that does.
    pub const ALL: [(Level, &'static str, &'static str); 3] = [
        (Level::Tool, "GITLAB_TOOL_", "tools"),
        (Level::Action, "GITLAB_ACTION_", "actions"),
        (Level::Param, "GITLAB_PARAM_", "params"),
    ];
}

/// A description in place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    pub level: Level,
    /// Lower case, words between underscores: `manage_milestones_create`.
    name: String,
    pub text: String,
    /// The name as written, and the text before and after it in messages.
    written: String,
    before: String,
    after: String,
}

impl Override {
    /// By a name as it is written, after `before` and followed by `after`: the variable's prefix; a file's words.
    pub fn new(level: Level, name: &str, text: String, before: &str, after: &str) -> Override {
        let (before, after) = (before.to_owned(), after.to_owned());
        Override { level, name: normal(name), text, written: name.to_owned(), before, after }
    }

    /// Puts the text wherever it belongs in this tool; whether it belongs anywhere.
    pub fn apply(&self, source: &mut Source, spellings: &OverrideSpellings<'_>) -> bool {
        match self.level {
            Level::Tool => {
                let is_it = names_tool(&self.name, &source.name);
                if is_it {
                    source.description.clone_from(&self.text);
                    source.described = true;
                }
                is_it
            }
            Level::Action => self.apply_to_actions(source),
            Level::Param => self.apply_to_params(source, spellings),
        }
    }

    fn apply_to_actions(&self, source: &mut Source) -> bool {
        let named: Vec<bool> = source.branches.iter().map(|branch| self.is_action(source, branch)).collect();
        let mut found = false;
        for (branch, named) in source.branches.iter_mut().zip(named).filter(|(_, named)| *named) {
            branch.description.clone_from(&self.text);
            branch.told = true;
            found |= named;
        }
        found
    }

    /// True if a branch is the action that is named: `milestone_create` by itself, or after the name of its tool.
    fn is_action(&self, source: &Source, branch: &Branch) -> bool {
        let id = normal(&branch.action);
        let (prefix, rest) = parted(&self.name);
        if rest == id && agree(prefix, &source.name) {
            return true;
        }
        let Some(tail) = after_tool(&self.name, &source.name) else { return false };
        let same_verb = |other: &&Branch| other.verb() == branch.verb();
        let is_only = source.branches.iter().filter(same_verb).count() == 1;
        // Among several actions with that verb, the one that the tool is named after.
        let is_head = id
            .strip_suffix(branch.verb())
            .is_some_and(|domain| singular(domain.trim_end_matches('_')) == singular(parted(&source.name).1));
        tail == id || (tail == branch.verb() && (is_only || is_head))
    }

    fn apply_to_params(&self, source: &mut Source, spellings: &OverrideSpellings<'_>) -> bool {
        let of_family = || after_tool(&self.name, source.family_tool.as_deref()?);
        let Some(written) = after_tool(&self.name, &source.name).or_else(of_family) else { return false };
        let tail = squashed(written);
        let named = |branch: &Branch| branch.params.keys().find(|name| squashed(name) == tail).cloned();
        let mut found = false;
        for branch in &mut source.branches {
            let spelled = || spellings(&branch.action, written);
            let Some(name) = named(branch).or_else(spelled) else { continue };
            if describe(branch.params.get_mut(&name), &self.text) {
                branch.told_params.insert(name);
                found = true;
            }
        }
        for (_, schema) in source.own.iter_mut().filter(|(name, _)| squashed(name) == tail) {
            found |= describe(Some(schema), &self.text);
        }
        found
    }
}

fn describe(schema: Option<&mut Value>, text: &str) -> bool {
    let Some(schema) = schema.and_then(Value::as_object_mut) else { return false };
    schema.insert("description".to_owned(), json!(text));
    true
}

/// The overrides that have matched nothing yet, and the names they are compared with.
#[derive(Debug)]
pub struct Unmatched<'a> {
    left: Vec<&'a Override>,
    tools: Vec<String>,
    actions: Vec<String>,
    params: BTreeSet<String>,
}

impl<'a> Unmatched<'a> {
    pub fn new(overrides: &'a [Override]) -> Unmatched<'a> {
        let (tools, actions, params) = Default::default();
        Unmatched { left: overrides.iter().collect(), tools, actions, params }
    }

    /// Takes out those that are about this tool.
    pub fn look_at(&mut self, source: &Source, spellings: &OverrideSpellings<'_>) {
        if self.left.is_empty() {
            return;
        }
        let mut copy = source.clone();
        self.left.retain(|change| !change.apply(&mut copy, spellings));
        if self.left.is_empty() {
            return;
        }
        // The spelling that people use, which a misspelt name is compared with.
        let tool = source.name.strip_prefix("gitlab_").unwrap_or(&source.name);
        self.tools.push(tool.to_owned());
        let several = source.branches.len() > 1;
        for branch in &source.branches {
            let id = normal(&branch.action);
            self.actions.push(if several { format!("{tool}_{id}") } else { id.clone() });
            self.actions.extend(several.then_some(id));
            self.params.extend(branch.params.keys().map(|name| format!("{tool}_{}", normal(name))));
        }
        self.params.extend(source.own.keys().map(|name| format!("{tool}_{}", normal(name))));
    }

    /// A line for each that is left, with the nearest name.
    pub fn warnings(&self, surface: &str) -> Vec<String> {
        // A side that no tool has is no part of the name.
        let has_sides = self.tools.iter().any(|tool| !parted(tool).0.is_empty());
        let warning = |change: &&Override| {
            let name = if has_sides { &change.name } else { parted(&change.name).1 };
            let nearest = match change.level {
                Level::Tool => nearest(name, self.tools.iter().map(String::as_str)),
                Level::Action => nearest(name, self.actions.iter().map(String::as_str)),
                Level::Param => nearest(name, self.params.iter().map(String::as_str)),
            };
            let said = |name: &str| format!("{}{name}{}", change.before, change.after);
            let written = said(&change.written);
            let nothing = format!("{written} describes nothing that the {surface} surface has");
            match nearest {
                Some(name) if change.before.ends_with('_') => {
                    format!("{nothing}; the nearest is {}", said(&name.to_uppercase()))
                }
                Some(name) => format!("{nothing}; the nearest is {}", said(name)),
                None => nothing,
            }
        };
        self.left.iter().map(warning).collect()
    }
}

/// Prefix of a name, and the rest. Other servers' tools have the same prefixes.
fn parted(name: &str) -> (&str, &str) {
    let prefix = ["gitlab_", "browse_", "manage_"].into_iter().find(|prefix| name.starts_with(prefix));
    name.split_at(prefix.map_or(0, str::len))
}

/// True if the prefix of a name fits a tool: a tool that reads is not one that changes.
fn agree(prefix: &str, tool: &str) -> bool {
    let sides = ["browse_", "manage_"];
    let of_tool = parted(tool).0;
    prefix == of_tool || !(sides.contains(&prefix) && sides.contains(&of_tool))
}

fn names_tool(name: &str, tool: &str) -> bool {
    let (prefix, rest) = parted(name);
    agree(prefix, tool) && singular(rest) == singular(parted(tool).1)
}

/// The part of a name after the name of a tool, in the singular or the plural.
fn after_tool<'n>(name: &'n str, tool: &str) -> Option<&'n str> {
    let (prefix, rest) = parted(name);
    let plural = parted(tool).1;
    let after = |tool: &str| rest.strip_prefix(tool)?.strip_prefix('_');
    agree(prefix, tool).then(|| after(plural).or_else(|| after(singular(plural)))).flatten()
}

fn singular(noun: &str) -> &str {
    noun.strip_suffix('s').unwrap_or(noun)
}

fn normal(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.trim().chars().map(plain).collect()
}

/// `fullPath` and `FULL_PATH` are one.
pub fn squashed(name: impl AsRef<str>) -> String {
    let plain = name.as_ref().chars().filter(char::is_ascii_alphanumeric);
    plain.map(|c| c.to_ascii_lowercase()).collect()
}
