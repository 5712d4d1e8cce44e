//! Kind of an answer by the action that asked for it, for answers whose shape is not enough.

use crate::catalog::{Action, Answers};

/// Kind of an answer, known before its content is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentKind {
    /// A log, read from its end.
    pub log: bool,
    /// Variables of CI/CD, whose values are often secrets.
    pub variables: bool,
    /// A file that is kept apart because it is secret.
    pub secret_file: bool,
    /// True if the call made a token, which GitLab shows only this once.
    pub made: bool,
}

/// Words of a verb that make a token: `create`, `rotate_self`, `reset_authentication_token`.
const MAKING: [&str; 6] = ["create", "rotate", "reset", "renew", "regenerate", "register"];

impl ContentKind {
    /// Kind of the answer to these actions; `changes` is true if the call may have changed something.
    pub fn of<'a>(actions: impl IntoIterator<Item = &'a Action>, changes: bool) -> ContentKind {
        actions.into_iter().fold(ContentKind::default(), |kind, action| ContentKind {
            log: kind.log || action.answers == Answers::Log,
            variables: kind.variables || action.answers == Answers::Variables,
            secret_file: kind.secret_file || action.answers == Answers::SecretFile,
            made: kind.made || (changes && action.verb().split('_').any(|word| MAKING.contains(&word))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn action(id: &str) -> Action {
        Catalog::embedded().unwrap().get(id).unwrap().unwrap()
    }

    #[test]
    fn what_makes_a_token_is_told_by_its_verb() {
        let made = |id: &str, changes| ContentKind::of([&action(id)], changes).made;
        for id in
            ["deploy_token.create", "runner.reset_authentication_token", "graphql.pipeline_trigger_create"]
        {
            assert!(made(id, true), "{id}");
        }
        assert!(!made("pipeline_trigger.list", false) && !made("project.update", true));
        assert!(!made("personal_access_token.create_self", false), "what only reads makes none");
    }

    #[test]
    fn several_actions_say_all_that_each_says() {
        let kind = ContentKind::of(&["issue.list", "ci_variable.list", "job.log"].map(action), false);
        assert!(kind.log && kind.variables && !kind.secret_file);
    }

    #[test]
    fn curation_says_what_an_action_answers_with() {
        let variables = |id: &str| ContentKind::of([&action(id)], false).variables;
        for id in [
            "ci_variable.get",
            "ci_variable.list_inherited",
            "pipeline_schedule_variable.get",
            "pipeline.list_variables",
            "pipeline.list_manual_variables",
            "graphql.project_ci_variables",
        ] {
            assert!(variables(id), "{id}");
        }
        assert!(!variables("ci_variable.list_prefilled"), "a configuration file that everybody reads");
        assert!(ContentKind::of([&action("secure_file.download")], false).secret_file);
    }
}
