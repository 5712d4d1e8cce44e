//! Names of labels before a change. GitLab creates a label that it does not know: here that takes `create_labels: true`,
//! and is refused without, with the labels that are alike. A name that differs from an existing label only in case,
//! spaces, hyphens or underscores is that label.

use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::catalog::LabelNames;
use crate::gitlab::Content;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::NextCall;
use crate::search::nearest;
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;
use crate::untrusted::quote;

/// Maximum number of pages of labels, of a hundred each. In a longer list, no name is reported as unknown.
const MAX_PAGES: u64 = 5;

/// The parameters with the names of existing labels, and notes; none if nothing is different. A list of labels that
/// cannot be read has no effect.
pub async fn resolve(
    tools: &Tools,
    checked: &Checked,
) -> Result<Option<(Option<Map<String, Value>>, Vec<String>)>, ToolError> {
    let Some(rule) = checked.action().label_names.as_ref() else { return Ok(None) };
    let is_name = |name: &Value| name.as_str().is_some_and(|name| !name.is_empty());
    let names = |param: &String| checked.params().get(param).and_then(Value::as_array);
    let has_names = |param: &&String| names(param).is_some_and(|names| names.iter().any(is_name));
    let named: Vec<&String> = rule.params.iter().filter(has_names).collect();
    if named.is_empty() {
        return Ok(None);
    }
    let creates = tools.catalog.get(&rule.creates).ok().flatten();
    let may_be_unsure = creates.is_none_or(|creates| tools.may_run(&creates));
    let Some(labels) = ExistingLabels::fetch(tools, rule, checked.params()).await else {
        return if may_be_unsure { Ok(None) } else { Err(unsure(checked, rule)) };
    };
    let may_create = checked.params().get(CREATE).and_then(Value::as_bool).unwrap_or_default();
    let mut params = checked.params().clone();
    let mut notes = Vec::new();
    let mut unknown = Vec::new();
    for name in named {
        let is_removed = rule.removed.contains(name);
        let names = params.get_mut(name).and_then(Value::as_array_mut);
        for value in names.into_iter().flatten() {
            let Some(label) = value.as_str().filter(|label| !label.is_empty()).map(str::to_owned) else {
                continue;
            };
            match labels.find(&label) {
                LabelMatch::Unsure if !is_removed && !may_be_unsure && !labels.is_whole => {
                    return Err(unsure(checked, rule));
                }
                LabelMatch::Existing | LabelMatch::Unsure => {}
                LabelMatch::Alike(existing) => {
                    notes.push(format!("`{name}`: {} is the label {}", quote(&label), quote(existing)));
                    *value = json!(existing);
                }
                LabelMatch::Unknown(_) if is_removed => {
                    notes.push(format!("`{name}`: there was no label {}: nothing to remove", quote(&label)));
                }
                LabelMatch::Unknown(_) if may_create => {
                    notes.push(format!("`{name}`: GitLab creates the label {}", quote(&label)));
                }
                LabelMatch::Unknown(near) => {
                    if let Some(near) = near {
                        *value = json!(near);
                    }
                    unknown.push((label, near.map(str::to_owned)));
                }
            }
        }
    }
    if !unknown.is_empty() {
        return Err(labels.refusal(checked, &unknown, &params));
    }
    let is_changed = params != *checked.params();
    Ok((!notes.is_empty()).then(|| (is_changed.then_some(params), notes)))
}

/// The error of names that cannot be compared with the existing ones, where no label may be created.
fn unsure(checked: &Checked, rule: &LabelNames) -> ToolError {
    let message = format!(
        "{}: whether the labels exist cannot be seen, and {} is denied: GitLab would create them. Nothing was sent",
        checked.action().id,
        rule.creates
    );
    ToolError::new(ErrorKind::Denied, message)
}

/// The parameter that lets GitLab create labels.
const CREATE: &str = "create_labels";

/// Maximum number of labels that an error lists.
const MAX_LISTED: usize = 10;

struct ExistingLabels {
    names: Vec<String>,
    /// True if the list was read to its end.
    is_whole: bool,
}

enum LabelMatch<'l> {
    Existing,
    /// The one label with the same letters.
    Alike(&'l str),
    /// No label, with the most similar one.
    Unknown(Option<&'l str>),
    /// Several labels, or a list that was not read to its end.
    Unsure,
}

impl ExistingLabels {
    async fn fetch(tools: &Tools, rule: &LabelNames, params: &Map<String, Value>) -> Option<ExistingLabels> {
        let mut read: Map<String, Value> =
            rule.with.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect();
        read.insert("fullPath".to_owned(), params.get("fullPath")?.clone());
        read.insert("per_page".to_owned(), json!(100));
        let mut names = Vec::new();
        for page in 1..=MAX_PAGES {
            read.insert("page".to_owned(), json!(page));
            let (_, reply) =
                lookups::read_once(tools, &rule.read, read.clone(), Purpose::LookUp).await.ok()?;
            let Content::Json(Value::Array(rows)) = &reply.content else { return None };
            names.extend(rows.iter().filter_map(|row| Some(row.get("name")?.as_str()?.to_owned())));
            if reply.page.next_page.is_none() && reply.page.next_query.is_none() {
                return Some(ExistingLabels { names, is_whole: true });
            }
        }
        Some(ExistingLabels { names, is_whole: false })
    }

    fn find(&self, name: &str) -> LabelMatch<'_> {
        if self.names.iter().any(|known| known == name) {
            return LabelMatch::Existing;
        }
        let mut alike = self.names.iter().filter(|known| folded(known) == folded(name));
        match (alike.next(), alike.next()) {
            _ if !self.is_whole => LabelMatch::Unsure,
            (Some(only), None) => LabelMatch::Alike(only),
            (Some(_), Some(_)) => LabelMatch::Unsure,
            (None, _) => LabelMatch::Unknown(nearest(name, self.names.iter().map(String::as_str))),
        }
    }
}

impl ExistingLabels {
    /// The error of labels that do not exist. Its call has the labels that are most like them, if each has one.
    fn refusal(
        &self,
        checked: &Checked,
        unknown: &[(String, Option<String>)],
        mended: &Map<String, Value>,
    ) -> ToolError {
        let action = checked.action();
        let written: Vec<String> = unknown.iter().map(|(label, _)| quote(label)).collect();
        let are = if written.len() == 1 { "is no label" } else { "are no labels" };
        let message = format!("{}: there {are} {}. Nothing was sent", action.id, written.join(", "));
        let near: Vec<&str> = unknown.iter().filter_map(|(_, near)| near.as_deref()).collect();
        let existing = match (near.is_empty(), self.names.len()) {
            (false, _) => {
                let near: Vec<String> = near.iter().map(|near| quote(near)).collect();
                format!("Did you mean {}? ", near.join(", "))
            }
            (true, 0) => "There are no labels. ".to_owned(),
            (true, count) if count <= MAX_LISTED => {
                let names: Vec<String> = self.names.iter().map(|name| quote(name)).collect();
                format!("There are {}. ", names.join(", "))
            }
            (true, _) => String::new(),
        };
        let error = ToolError::new(ErrorKind::InvalidParams, message)
            .hint(format!("{existing}`{CREATE}: true` creates what does not exist."));
        match near.len() == unknown.len() {
            true => error.fix(NextCall::execute(&action.id, mended)),
            false => {
                let mut params: Map<String, Value> = checked
                    .params()
                    .get("fullPath")
                    .map(|path| ("fullPath".to_owned(), path.clone()))
                    .into_iter()
                    .collect();
                if let Some(rule) = &action.label_names {
                    params.extend(rule.with.iter().map(|(name, value)| (name.clone(), value.0.clone())));
                    return error.fix(NextCall::execute(&rule.read, &params));
                }
                error
            }
        }
    }
}

/// A name in lower case, without spaces, hyphens and underscores.
fn folded(name: &str) -> String {
    let is_kept = |c: &char| !c.is_whitespace() && !matches!(c, '-' | '_');
    name.chars().filter(is_kept).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_the_same_letters_are_the_same() {
        let labels = |is_whole| ExistingLabels {
            names: ["needs triage", "Bug", "priority::high", "ui-bug", "UI bug"].map(str::to_owned).to_vec(),
            is_whole,
        };
        let found = |name: &str| match labels(true).find(name) {
            LabelMatch::Existing => "existing".to_owned(),
            LabelMatch::Alike(label) => label.to_owned(),
            LabelMatch::Unknown(near) => format!("near {near:?}"),
            LabelMatch::Unsure => "unsure".to_owned(),
        };
        assert_eq!(found("Bug"), "existing");
        assert_eq!(found("bug"), "Bug");
        assert_eq!(found("Needs_Triage"), "needs triage");
        // A scope is part of the name.
        assert_eq!(found("priority high"), "near Some(\"priority::high\")");
        assert_eq!(found("ui_bug"), "unsure", "two labels have these letters");
        assert_eq!(found("xyzzy"), "near None");
        assert!(matches!(labels(false).find("bug"), LabelMatch::Unsure));
    }
}
