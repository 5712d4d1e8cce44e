//! Calls that a token's scopes allow (GitLab: personal access tokens, token scopes). This is a convenience, not
//! protection: GitLab enforces scopes itself. It avoids offering and sending calls that would fail.

use super::Rule;
use crate::call::Effects;
use crate::catalog::{Action, Method, Operation};

/// Path that every token may read: its own details.
const OWN: &str = "/personal_access_tokens/self";

/// The scopes of the token in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scopes(Vec<String>);

impl Scopes {
    /// Creates it from scope names. An unknown name is assumed to allow everything.
    pub fn new(names: Vec<String>) -> Scopes {
        Scopes(names)
    }

    /// The rule that denies a call, if the scopes do not suffice.
    pub fn deny(&self, effects: &Effects) -> Option<Rule> {
        let reads = effects.touches().iter().all(|touched| {
            ["query ", "GET ", "HEAD "].iter().any(|start| touched.operation.starts_with(start))
        });
        let path = effects.operation().split_once(' ').map_or("", |(_, path)| path);
        self.rule(reads, path)
    }

    /// The rule that denies every operation of an action, if the scopes do not suffice.
    pub fn deny_action(&self, action: &Action) -> Option<Rule> {
        if action.direct().is_some() || action.plan.is_some() {
            return self.rule(true, "");
        }
        let rules: Option<Vec<Rule>> =
            action.choices().map(|operation| self.rule(is_read(operation), &operation.path)).collect();
        rules.and_then(|rules| rules.into_iter().next())
    }

    fn rule(&self, reads: bool, path: &str) -> Option<Rule> {
        let reads_below = |root: &str| reads && is_below(path, root);
        let allows = |name: &String| match name.as_str() {
            // GET, HEAD and GraphQL queries.
            "read_api" => reads,
            "read_user" => reads_below("/user") || reads_below("/users"),
            "read_repository" | "write_repository" => reads_below("/projects/:id/repository"),
            "create_runner" => is_below(path, "/user/runners"),
            "manage_runner" => is_below(path, "/runners"),
            "self_rotate" => is_below(path, OWN),
            // Git, registries and agents: no part of the API.
            "read_registry"
            | "write_registry"
            | "read_virtual_registry"
            | "write_virtual_registry"
            | "k8s_proxy"
            | "openid"
            | "profile" => false,
            // `api`, and scopes of a newer GitLab.
            _ => true,
        };
        let own = reads && path == OWN;
        let needs = if reads { "`read_api` or `api`" } else { "`api`" };
        (!own && !self.0.iter().any(allows)).then(|| Rule::Scope { scopes: self.0.clone(), needs })
    }
}

fn is_read(operation: &Operation) -> bool {
    match &operation.graphql {
        Some(_) => operation.to_string().starts_with("query "),
        None => matches!(operation.method, Method::Get | Method::Head),
    }
}

fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn is_denied(scopes: &[&str], action: &str) -> bool {
        let action = Catalog::embedded().unwrap().get(action).unwrap().unwrap();
        Scopes::new(scopes.iter().map(|name| (*name).to_owned()).collect()).deny_action(&action).is_some()
    }

    #[test]
    fn scopes_limit_actions() {
        for (scopes, action, is_barred) in [
            (&["api"][..], "issue.create", false),
            (&["read_api"], "issue.create", true),
            (&["read_api"], "issue.list", false),
            (&["read_api"], "work_item.add_children", true),
            (&["read_api", "create_runner"], "issue.create", true),
            (&["read_user"], "issue.list", true),
            (&["read_repository"], "issue.list", true),
            (&["write_registry"], "issue.list", true),
            (&["a_scope_of_tomorrow"], "issue.create", false),
            (&["read_registry"], "api.rest", true),
            (&["read_api"], "api.rest", false),
        ] {
            assert_eq!(is_denied(scopes, action), is_barred, "{scopes:?} {action}");
        }
    }
}
