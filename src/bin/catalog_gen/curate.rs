//! Updates texts of curation in the generated files, without GitLab's files: summaries, aliases, phrases, related
//! actions, examples, notes of parameters, and whole composite actions. Names, operations and risks need `generate`.

use std::io::Write as _;
use std::path::Path;

use gitlab_mcp::catalog::{Action, Param};

use crate::curation::{self, CuratedAction, Curation};
use crate::error::GeneratorError;
use crate::{actions, output};

/// Applies `catalog/curation` to the committed actions and writes changed files; with `is_check` it writes nothing and
/// returns false if something differs.
pub fn run(catalog: &Path, is_check: bool) -> Result<bool, GeneratorError> {
    let curation = curation::load(catalog)?;
    let committed = output::load_actions(catalog)?;
    let curated = apply(committed.clone(), &curation)?;
    let files = output::render_actions(&curated, &curation);
    if is_check {
        return output::check_actions(catalog, &files);
    }
    let is_new = |action: &&Action| !committed.iter().any(|known| known.id == action.id);
    let changed = curated.iter().filter(|action| !committed.contains(action));
    output::write_over(catalog, &files)?;
    let mut out = std::io::stdout().lock();
    for action in changed {
        let word = if is_new(&action) { "new" } else { "changed" };
        writeln!(out, "{word}: {}", action.id)?;
    }
    if curated.iter().any(|action| is_new(&action)) {
        writeln!(out, "next: `catalog_gen vectors`, so that the finder knows the new actions")?;
    }
    Ok(true)
}

/// The actions with the current texts of curation, and the composite actions.
fn apply(mut actions: Vec<Action>, curation: &Curation) -> Result<Vec<Action>, GeneratorError> {
    let mut faults = Vec::new();
    for own in actions::of_curation(curation, &mut faults) {
        match actions.iter_mut().find(|known| known.id == own.id) {
            // Rules set the rest, and need every action of GitLab's files.
            Some(known) => {
                let params = with_locates(own.params, &known.params);
                let Action { summary, curated, audience, answers, operations, twin, plan, one_of, .. } = own;
                let texts = Action { summary, curated, twin, one_of, ..std::mem::take(known) };
                *known = Action { audience, answers, operations, plan, params, ..texts };
            }
            None => actions.push(own),
        }
    }
    for action in &mut actions {
        let nothing = CuratedAction::default();
        let written = curation.actions.get(&action.id).unwrap_or(&nothing);
        if written.summary.is_empty() && action.curated {
            faults.push(format!("{} has lost its summary: only `generate` can build one", action.id));
            continue;
        }
        action.aliases = actions::aliases(&action.id, written, curation);
        written.clone().apply(action);
        actions::curate_notes(action, written, &mut faults);
    }
    faults.extend(actions::unknown_actions(&actions, curation));
    actions.sort_by(|a, b| a.id.cmp(&b.id));
    if faults.is_empty() { Ok(actions) } else { Err(GeneratorError::Faults(faults)) }
}

/// Copies to parameters and their fields the places that rules set on those of the same name.
fn with_locates(mut params: Vec<Param>, known: &[Param]) -> Vec<Param> {
    for param in &mut params {
        if let Some(known) = known.iter().find(|known| known.name == param.name) {
            param.locates.clone_from(&known.locates);
            param.fields = with_locates(std::mem::take(&mut param.fields), &known.fields);
        }
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed() -> (Vec<Action>, Curation) {
        let catalog = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalog");
        (output::load_actions(&catalog).unwrap(), curation::load(&catalog).unwrap())
    }

    #[test]
    fn committed_actions_have_the_words_of_curation() {
        let (actions, curation) = committed();
        let curated = apply(actions.clone(), &curation).unwrap();
        for (one, other) in actions.iter().zip(&curated) {
            assert_eq!(one, other);
        }
        assert_eq!(actions.len(), curated.len());
    }

    #[test]
    fn a_changed_summary_and_note_reach_the_action() {
        let (actions, mut curation) = committed();
        let written = curation.actions.get_mut("issue.get").unwrap();
        written.summary = "Read one issue".to_owned();
        written.aliases.push("read_one_issue".to_owned());
        let curated = apply(actions, &curation).unwrap();
        let action = curated.iter().find(|action| action.id == "issue.get").unwrap();
        assert_eq!(action.summary, "Read one issue");
        assert!(action.aliases.contains(&"read_one_issue".to_owned()));
    }

    #[test]
    fn changes_that_need_gitlabs_files_are_refused() {
        let (actions, mut curation) = committed();
        curation.actions.get_mut("issue.get").unwrap().summary.clear();
        curation.actions.get_mut("issue.list").unwrap().related.push("issue.lst".to_owned());
        let Err(GeneratorError::Faults(faults)) = apply(actions, &curation) else { panic!("it is accepted") };
        assert_eq!(
            faults,
            [
                "issue.get has lost its summary: only `generate` can build one",
                "issues.toml: issue.list is related to issue.lst, which there is not",
            ]
        );
    }
}
