//! A new GitLab version in one step: the generated files, the vectors of new actions, and what came and went.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use gitlab_mcp::catalog::Action;

use crate::{Generated, GeneratorError, Versions, output, vectors};

/// Generates, embeds new actions and prints the ids that came and went.
pub fn run(catalog: &Path, generated: &Generated, versions: &Versions) -> Result<(), GeneratorError> {
    let before = output::load_actions(catalog)?;
    output::write(catalog, &generated.render(catalog, versions)?)?;
    let embedded = vectors::write(catalog, &generated.actions)?;
    let mut out = std::io::stdout().lock();
    for line in changes(&before, &generated.actions) {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{embedded} actions that the training does not know have a vector")?;
    Ok(())
}

/// The ids that are new, those that are gone, and how many changed, with what is left to do by hand.
fn changes(before: &[Action], after: &[Action]) -> Vec<String> {
    let ids =
        |actions: &[Action]| -> BTreeSet<String> { actions.iter().map(|action| action.id.clone()).collect() };
    let (old, new) = (ids(before), ids(after));
    let is_known = |id: &str| after.iter().any(|action| action.aliases.iter().any(|alias| alias == id));
    let mut lines = Vec::new();
    lines.extend(new.difference(&old).map(|id| format!("new: {id}")));
    for id in old.difference(&new) {
        let todo = if is_known(id) { "" } else { ": give it to its successor as an alias" };
        lines.push(format!("gone: {id}{todo}"));
    }
    let changed = after.iter().filter(|action| old.contains(&action.id) && !before.contains(action)).count();
    lines.push(format!("{changed} actions changed"));
    let bare: Vec<&Action> =
        after.iter().filter(|action| !old.contains(&action.id) && !action.curated).collect();
    if !bare.is_empty() {
        lines.push(format!("{} new actions have no summary in catalog/curation", bare.len()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_and_went_is_listed() {
        let action = |id: &str, aliases: &[&str]| Action {
            id: id.to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            ..serde_json::from_str(r#"{"action": "x.y", "summary": "", "risk": "read", "operations": []}"#)
                .unwrap()
        };
        let before = [action("a.get", &[]), action("b.get", &[]), action("c.get", &[]), action("d.get", &[])];
        let after = [action("a.get", &[]), action("d.get", &["c.get"]), action("e.get", &[])];
        assert_eq!(
            changes(&before, &after),
            [
                "new: e.get",
                "gone: b.get: give it to its successor as an alias",
                "gone: c.get",
                "1 actions changed",
                "1 new actions have no summary in catalog/curation",
            ]
        );
    }
}
