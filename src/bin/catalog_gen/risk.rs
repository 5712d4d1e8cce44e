//! What an action can do to someone's GitLab, by its methods and its verb. Curation over these rules has the
//! last word.

use gitlab_mcp::catalog::{Method, Operation, Risk};

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
    if methods().all(Method::is_safe) {
        Risk::Read
    } else if methods().any(|method| method == Method::Delete)
        || verb.split('_').next().is_some_and(|first| DESTRUCTIVE.contains(&first))
    {
        Risk::Destructive
    } else {
        Risk::Write
    }
}
