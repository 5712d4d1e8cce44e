//! Normalization of operations: every parameter as `{}`, no `/api/v4`, no optional parts.

/// Normalizes an operation: `GET /api/v4/projects/{id}/issues(/)` and `GET /projects/:id/issues` are both `GET
/// /projects/{}/issues`. An action id is left unchanged.
pub fn normal(operation: &str) -> String {
    let Some((method, path)) = operation.trim().split_once(' ') else { return operation.trim().to_owned() };
    if matches!(method, "query" | "mutation") {
        return operation.trim().to_owned();
    }
    let path = path.trim();
    let path = path.strip_prefix("/api/v4").filter(|rest| rest.starts_with('/')).unwrap_or(path);
    let path = parameters(&without_options(path));
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

fn without_options(path: &str) -> String {
    let mut depth = 0_usize;
    let mut kept = String::new();
    for c in path.chars() {
        match c {
            '\\' => {}
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}

fn parameters(path: &str) -> String {
    let mut normal = String::new();
    let mut rest = path.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '{' => {
                for skipped in rest.by_ref() {
                    if skipped == '}' {
                        break;
                    }
                }
                normal.push_str("{}");
            }
            ':' | '*' if rest.peek().is_some_and(|next| is_name(*next)) => {
                while rest.next_if(|next| is_name(*next)).is_some() {}
                normal.push_str("{}");
            }
            _ => normal.push(c),
        }
    }
    normal
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
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
