//! What an answer is known to be by the action that asked for it, where its shape does not tell.

/// What is known of an answer before it is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// A log, read from its end.
    pub log: bool,
    /// Variables of CI/CD, whose values are often secrets.
    pub variables: bool,
    /// A file that is kept apart because it is secret.
    pub secret_file: bool,
    /// It made a token, which GitLab shows this once.
    pub made: bool,
}

/// Actions whose answer is the log of a job.
const LOGS: [&str; 1] = ["job.log"];

/// Domains of variables, and the actions elsewhere that list some.
const VARIABLES: [&str; 2] = ["ci_variable", "pipeline_schedule_variable"];
const LIST_VARIABLES: [&str; 4] = [
    "pipeline.list_variables",
    "pipeline.list_manual_variables",
    "graphql.project_ci_variables",
    "graphql.ci_variables",
];

/// Those of a configuration file that everybody reads.
const OPEN_VARIABLES: &str = "ci_variable.list_prefilled";

const SECRET_FILES: [&str; 1] = ["secure_file.download"];

/// Words of a verb that make a token: `create`, `rotate_self`, `reset_authentication_token`.
const MAKING: [&str; 6] = ["create", "rotate", "reset", "renew", "regenerate", "register"];

impl Kind {
    /// What the actions say of an answer; `changes` is whether the call may have changed something.
    pub fn of<'a>(actions: impl Iterator<Item = &'a str>, changes: bool) -> Kind {
        actions.fold(Kind::default(), |kind, id| {
            let (domain, verb) = id.split_once('.').unwrap_or((id, ""));
            let of_variables = VARIABLES.contains(&domain) && id != OPEN_VARIABLES;
            Kind {
                log: kind.log || LOGS.contains(&id),
                variables: kind.variables || of_variables || LIST_VARIABLES.contains(&id),
                secret_file: kind.secret_file || SECRET_FILES.contains(&id),
                made: kind.made || (changes && verb.split('_').any(|word| MAKING.contains(&word))),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_a_token_is_told_by_its_verb() {
        let made = |id: &str, changes| Kind::of([id].into_iter(), changes).made;
        for id in
            ["deploy_token.create", "runner.reset_authentication_token", "graphql.pipeline_trigger_create"]
        {
            assert!(made(id, true), "{id}");
        }
        assert!(!made("pipeline_trigger.list", false) && !made("project.update", true));
        assert!(!made("personal_access_token.create_own", false), "what only reads makes none");
    }

    #[test]
    fn several_actions_say_all_that_each_says() {
        let kind = Kind::of(["issue.list", "ci_variable.list", "job.log"].into_iter(), false);
        assert!(kind.log && kind.variables && !kind.secret_file);
    }
}
