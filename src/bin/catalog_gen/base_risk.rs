//! Risk of an action, by its methods or GraphQL kinds and its verb. Curation overrides these rules.

use gitlab_mcp::catalog::{GraphqlKind, Method, Operation, Risk};

use crate::rules::NamingRules;

/// The risk of an action with this verb and these operations.
pub fn risk(verb: &str, operations: &[Operation], rules: &NamingRules) -> Risk {
    let methods = || operations.iter().map(|operation| operation.method);
    let reads = |operation: &Operation| match &operation.graphql {
        Some(graphql) => graphql.kind == GraphqlKind::Query,
        None => operation.method.is_safe(),
    };
    if operations.iter().all(reads) {
        Risk::Read
    } else if methods().any(|method| method == Method::Delete)
        || verb.split('_').next().is_some_and(|first| rules.is_destructive(first))
    {
        Risk::Destructive
    } else {
        Risk::Write
    }
}
