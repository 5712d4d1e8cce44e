//! Normalization of operations: every parameter as `{}`, no `/api/v4`, no optional parts.

use crate::paths::{documented, unnamed};

/// Normalizes an operation: `GET /api/v4/projects/{id}/issues(/)` and `GET /projects/:id/issues` are both `GET
/// /projects/{}/issues`. An action id is left unchanged.
pub fn normal(operation: &str) -> String {
    let Some((method, path)) = operation.trim().split_once(' ') else { return operation.trim().to_owned() };
    if matches!(method, "query" | "mutation") {
        return operation.trim().to_owned();
    }
    // A placeholder needs a name to be one.
    let path = unnamed(&documented(&path.trim().replace("{}", "{id}")));
    format!("{} {}", method.to_ascii_uppercase(), path.trim_end_matches('/'))
}

/// Names of an operation: its normal spelling; for a field far below the root also its last two parent fields, as cases
/// write it.
pub fn names(operation: &str) -> Vec<String> {
    let whole = normal(operation);
    let fields: Vec<&str> = whole.split('.').collect();
    let leading = match fields.as_slice() {
        [root, below, _, ..] if root.starts_with("query ") => Some(format!("{root}.{below}")),
        _ => None,
    };
    [whole.clone()].into_iter().chain(leading).collect()
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn spellings_of_one_operation_are_one() {
        let one = "GET /projects/{}/repository/files/{}/raw";
        assert_eq!(normal("GET /projects/:id/repository/files/*file_path/raw"), one);
        assert_eq!(normal("get /api/v4/projects/{id}/repository/files/{file_path}/raw"), one);
    }

    #[test]
    fn optional_parts_go() {
        assert_eq!(normal("GET /groups/{id}/(-/)search"), "GET /groups/{}/search");
        assert_eq!(normal("GET /a/latest(/)(*suffix_path)"), "GET /a/latest");
    }

    #[test]
    fn scim_keeps_its_root_and_graphql_its_name() {
        assert_eq!(normal("GET /api/scim/v4/groups/:group/Users"), "GET /api/scim/v4/groups/{}/Users");
        assert_eq!(normal(" query project.branchRules"), "query project.branchRules");
    }
}
