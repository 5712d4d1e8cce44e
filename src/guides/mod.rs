//! Workflow guides and prompts: Markdown from `catalog/guides/`, embedded in the binary. A test checks the actions and
//! parameters they mention against the catalog.

mod mentions;
mod prompts;
#[cfg(test)]
mod tests;

pub use mentions::{Mention, mentions};
pub use prompts::{ArgType, PROMPTS, Prompt, PromptError, PromptParam, is_full_path};

/// Guide to a workflow, action by action.
#[derive(Debug)]
pub struct Guide {
    /// Name in its URI, `gitlab://guides/{name}`.
    pub name: &'static str,
    pub title: &'static str,
    pub what: &'static str,
    /// Markdown.
    pub text: &'static str,
}

/// All guides.
pub static GUIDES: [Guide; 6] = [
    Guide {
        name: "review-merge-request",
        title: "Review a merge request",
        what: "From the description to comments on lines and a verdict.",
        text: include_str!("../../catalog/guides/review-merge-request.md"),
    },
    Guide {
        name: "diagnose-pipeline",
        title: "Diagnose a failing pipeline",
        what: "From a red pipeline to the line of the log that says why.",
        text: include_str!("../../catalog/guides/diagnose-pipeline.md"),
    },
    Guide {
        name: "cut-release",
        title: "Cut a release",
        what: "What changed, whether it is ready, the notes, the tag.",
        text: include_str!("../../catalog/guides/cut-release.md"),
    },
    Guide {
        name: "triage-issues",
        title: "Triage issues",
        what: "New issues: duplicates, labels, people, milestones.",
        text: include_str!("../../catalog/guides/triage-issues.md"),
    },
    Guide {
        name: "manage-access",
        title: "Manage access safely",
        what: "Who can do what, and how to give and take it without locking anyone out.",
        text: include_str!("../../catalog/guides/manage-access.md"),
    },
    Guide {
        name: "raw-api",
        title: "Call REST and GraphQL directly",
        what: "What no action does, and what holds for it all the same.",
        text: include_str!("../../catalog/guides/raw-api.md"),
    },
];

/// Finds a guide by name.
pub fn guide(name: &str) -> Option<&'static Guide> {
    GUIDES.iter().find(|guide| guide.name == name)
}
