//! Revisions of a repository: the head of a merge request in place of a branch, a tag or a commit.

use serde_json::{Map, Value, json};

use crate::catalog::{self, Action, Risk};

/// The ref of `!5`: the head of that merge request, which GitLab keeps in the target project even if the source branch
/// is in a fork or was deleted (<https://docs.gitlab.com/user/project/merge_requests/versions/>).
pub fn merge_request_head(name: &str) -> Option<String> {
    let iid: u64 = name.trim().strip_prefix('!')?.parse().ok()?;
    Some(format!("refs/merge-requests/{iid}/head"))
}

/// The parameter for the revision that a read of a repository is at.
pub fn ref_param(action: &Action) -> Option<&str> {
    revision_params(action).find(|name| name.starts_with(REF))
}

/// Beginning of the parameters that hold one revision; a comparison has two.
const REF: &str = "ref";

/// The parameters for revisions of a read of a repository.
fn revision_params(action: &Action) -> impl Iterator<Item = &str> {
    let revisions = &catalog::kinds().revisions;
    let is_of_code =
        action.risk == Risk::Read && revisions.domains.iter().any(|domain| domain == action.domain());
    let params = action.params.iter().map(|param| param.name.as_str());
    params.filter(move |name| is_of_code && revisions.params.iter().any(|known| known == name))
}

/// Replaces `!5` for a revision by the head of the merge request.
pub fn resolve(action: &Action, params: &mut Map<String, Value>, understood: &mut Vec<String>) {
    for name in revision_params(action) {
        let Some(given) = params.get(name).and_then(Value::as_str) else { continue };
        if let Some(head) = merge_request_head(given) {
            understood.push(format!("`{name}: {given}` as its head, `{head}`"));
            params.insert(name.to_owned(), json!(head));
        }
    }
}
