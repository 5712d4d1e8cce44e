//! Actions that still need words, as tables to fill in and to add to `catalog/curation`.

use std::collections::{BTreeMap, BTreeSet};

use gitlab_mcp::catalog::{Action, Base, Param};

use crate::curation::Curation;
use crate::summary::plural;

/// A table for each ranked action without a summary, by curation file, and the parameters whose example would be a
/// placeholder.
pub fn tables(
    actions: &[Action],
    curation: &Curation,
    descriptions: &BTreeMap<String, String>,
) -> Vec<String> {
    let bare: Vec<&Action> =
        actions.iter().filter(|action| action.twin.is_none() && !action.curated).collect();
    let ids: BTreeSet<&str> = actions.iter().map(|action| action.id.as_str()).collect();
    let mut files: BTreeMap<&str, Vec<&Action>> = BTreeMap::new();
    for action in &bare {
        let family = curation.domains.get(action.domain()).map_or("", |domain| domain.family.as_str());
        files.entry(family).or_default().push(action);
    }
    let mut lines = Vec::new();
    for (family, actions) in files {
        lines.push(String::new());
        lines.push(format!("# {} without words; to catalog/curation/{family}.toml:", actions.len()));
        for action in actions {
            lines.extend(table(action, &ids, descriptions));
        }
    }
    lines.extend(bare_params(&bare, curation));
    lines
}

fn table(action: &Action, ids: &BTreeSet<&str>, descriptions: &BTreeMap<String, String>) -> Vec<String> {
    let (domain, verb) = action.id.split_once('.').unwrap_or((&action.id, ""));
    let mut lines = vec![String::new(), format!("[action.\"{}\"]", action.id)];
    for operation in action.choices() {
        let name = operation.to_string();
        let description = descriptions.get(&name).and_then(|text| text.trim().lines().next());
        lines.push(format!("# {}, {name}: {}", action.risk.name(), description.unwrap_or("not described")));
    }
    lines.push("summary = \"\"".to_owned());
    let alias = match verb {
        "list" => Some(format!("list_{}", plural(domain))),
        "get" | "create" | "update" | "delete" => Some(format!("{verb}_{domain}")),
        _ => None,
    };
    lines.extend(alias.map(|alias| format!("aliases = [\"{alias}\"]")));
    lines.push("phrases = []".to_owned());
    let related = ["list", "get"].map(|verb| format!("{domain}.{verb}"));
    let related = related.iter().find(|id| **id != action.id && ids.contains(id.as_str()));
    lines.extend(related.map(|id| format!("related = [\"{id}\"]")));
    lines
}

/// Required parameters of these actions for which neither curation nor the type has an example.
fn bare_params(actions: &[&Action], curation: &Curation) -> Vec<String> {
    let mut params: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for action in actions {
        for param in action.params.iter().filter(|param| has_no_example(param)) {
            let known = curation.glossary.get(&param.name).is_some_and(|entry| entry.example.is_some());
            if !known && !action.example.contains_key(&param.name) {
                params.entry(&param.name).or_default().push(&action.id);
            }
        }
    }
    let line = |(name, ids): (&str, Vec<&str>)| {
        let what = "has no example; add it to catalog/curation/glossary.toml, or to the action's";
        format!("parameter {name} of {} {what}", ids.join(", "))
    };
    params.into_iter().map(line).collect()
}

fn has_no_example(param: &Param) -> bool {
    let is_text = matches!(param.kind.base, Base::String | Base::IntegerOrString | Base::Any);
    param.required && is_text && param.choices.is_empty() && param.names.is_none() && param.name != "fullPath"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_without_words_is_listed_as_a_table_to_fill_in() {
        let action = |text: &str| serde_json::from_str::<Action>(text).unwrap();
        let actions = [
            action(
                r#"{"action": "topic.list", "summary": "List", "risk": "read", "operations": [], "curated": true}"#,
            ),
            action(
                r#"{"action": "topic.get", "summary": "", "risk": "read", "params": [{"name": "topic_key", "type": "string", "required": true}],
                    "operations": [{"method": "GET", "path": "/topics/:topic_key", "scope": "instance"}]}"#,
            ),
        ];
        let domain = crate::curation::Domain { family: "projects".to_owned(), ..Default::default() };
        let curation = Curation { domains: [("topic".to_owned(), domain)].into(), ..Curation::default() };
        let descriptions = [("GET /topics/:topic_key".to_owned(), "Get a topic.\nMore.".to_owned())].into();
        assert_eq!(
            tables(&actions, &curation, &descriptions),
            [
                "",
                "# 1 without words; to catalog/curation/projects.toml:",
                "",
                "[action.\"topic.get\"]",
                "# read, GET /topics/:topic_key: Get a topic.",
                "summary = \"\"",
                "aliases = [\"get_topic\"]",
                "phrases = []",
                "related = [\"topic.list\"]",
                "parameter topic_key of topic.get has no example; add it to catalog/curation/glossary.toml, or to the action's",
            ]
        );
    }
}
