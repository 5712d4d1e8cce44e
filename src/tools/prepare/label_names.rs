//! Names of labels before a change: GitLab creates a label that it does not know. A name that differs from an existing
//! label only in case, spaces, hyphens or underscores is that label; of any other unknown name, a note says so.

use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::catalog::LabelNames;
use crate::gitlab::Content;
use crate::search::nearest;
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;
use crate::untrusted::quote;

/// Maximum number of pages of labels, of a hundred each. In a longer list, no name is reported as unknown.
const MAX_PAGES: u64 = 5;

/// The parameters with the names of existing labels, and notes; none if nothing is different. A list of labels that
/// cannot be read has no effect.
pub async fn resolve(tools: &Tools, checked: &Checked) -> Option<(Option<Map<String, Value>>, Vec<String>)> {
    let rule = checked.action().label_names.as_ref()?;
    let given = |name: &&String| {
        checked.params().get(*name).and_then(Value::as_array).is_some_and(|names| !names.is_empty())
    };
    let named: Vec<&String> = rule.params.iter().filter(given).collect();
    if named.is_empty() {
        return None;
    }
    let labels = ExistingLabels::fetch(tools, rule, checked.params()).await?;
    let mut params = checked.params().clone();
    let mut notes = Vec::new();
    for name in named {
        let is_removed = rule.removed.contains(name);
        let names = params.get_mut(name).and_then(Value::as_array_mut);
        for value in names.into_iter().flatten() {
            let Some(label) = value.as_str().map(str::to_owned) else { continue };
            match labels.find(&label) {
                LabelMatch::Existing => {}
                LabelMatch::Alike(existing) => {
                    notes.push(format!("`{name}`: {} is the label {}", quote(&label), quote(existing)));
                    *value = json!(existing);
                }
                LabelMatch::Unknown(near) => {
                    let effect = if is_removed { "nothing to remove" } else { "GitLab creates it" };
                    let near = near.map(|near| format!("; the most similar is {}", quote(near)));
                    let near = near.unwrap_or_default();
                    notes.push(format!("`{name}`: there was no label {}: {effect}{near}", quote(&label)));
                }
                LabelMatch::Unsure => {}
            }
        }
    }
    let is_changed = params != *checked.params();
    (!notes.is_empty()).then(|| (is_changed.then_some(params), notes))
}

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
