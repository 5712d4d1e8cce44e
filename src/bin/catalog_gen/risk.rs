//! What an action can do to someone's GitLab, by its methods or kinds and its verb. Curation over these rules has the
//! last word.

use gitlab_mcp::catalog::{GraphqlKind, Method, Operation, Risk};

/// How a verb begins that tells of what cannot be taken back, or is taken from somebody.
const DESTRUCTIVE: [&str; 20] = [
    "ban",
    "block",
    "deactivate",
    "delete",
    "deny",
    "destroy",
    "disable",
    "erase",
    "merge",
    "override",
    "prune",
    "purge",
    "reject",
    "remove",
    "renew",
    "reset",
    "revoke",
    "rotate",
    "transfer",
    "wipe",
];

/// The risk of an action with that verb and these operations.
pub fn risk(verb: &str, operations: &[Operation]) -> Risk {
    let methods = || operations.iter().map(|operation| operation.method);
    let reads = |operation: &Operation| match &operation.graphql {
        Some(graphql) => graphql.kind == GraphqlKind::Query,
        None => operation.method.is_safe(),
    };
    if operations.iter().all(reads) {
        Risk::Read
    } else if methods().any(|method| method == Method::Delete)
        || verb.split('_').next().is_some_and(|first| DESTRUCTIVE.contains(&first))
    {
        Risk::Destructive
    } else {
        Risk::Write
    }
}
