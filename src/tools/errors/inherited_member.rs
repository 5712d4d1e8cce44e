//! Members that a project or group has from elsewhere: GitLab answers a change of one with 404, as if there were none.

use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::catalog::Risk;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::NextCall;
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;
use crate::untrusted::quote;

/// Maximum number of parent groups that are asked.
const MAX_PARENTS: usize = 8;

/// The error with the parent group that the member comes from; unchanged if there is none.
pub async fn name_origin(tools: &Tools, checked: &Checked, refused: ToolError) -> ToolError {
    let Ok(words) = tools.catalog.words() else { return refused };
    let members = &words.changes.members;
    let params = checked.params();
    let is_member = refused.kind == ErrorKind::NotFound && members.on_direct.contains(&checked.action().id);
    let user = params.get("user_id").filter(|_| is_member);
    let (Some(user), Some(path)) = (user, params.get("fullPath").and_then(Value::as_str)) else {
        return refused;
    };
    let mut parent = path;
    for _ in 0..MAX_PARENTS {
        let Some((group, _)) = parent.rsplit_once('/') else { break };
        let read =
            Map::from_iter([("fullPath".to_owned(), json!(group)), ("user_id".to_owned(), user.clone())]);
        if lookups::read_once(tools, &members.get, read.clone(), Purpose::Diagnosis).await.is_ok() {
            let through = format!(
                "{} is a member of {} through the group {}",
                user.as_str().map_or_else(|| user.to_string(), quote),
                quote(path),
                quote(group)
            );
            if checked.action().risk == Risk::Read {
                let message = format!("{through}, and {} shows direct members alone", checked.action().id);
                return ToolError { message, ..refused }.fix(NextCall::execute(&members.get_any, params));
            }
            let message = format!("{through}: {} has to be called there", checked.action().id);
            let hint = format!(
                "Nothing was changed. What is changed in {} holds for all its projects.",
                quote(group)
            );
            return ToolError { message, ..refused }.hint(hint).fix(NextCall::execute(&members.get, &read));
        }
        parent = group;
    }
    refused
}
