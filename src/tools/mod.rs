//! The two tools, apart from the protocol that carries them: what they take, what they answer, and the way a
//! request goes through the other modules. The server and the command line both call these.

mod error;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, CatalogError};
use crate::gitlab;

pub use error::{ErrorKind, ToolError};

/// What `gitlab_find_action` takes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FindRequest {
    /// What you want to do, in words; or an action id, a REST path, or a GitLab URL.
    pub query: String,
    /// How many actions to return, 1 to 50. Default 5.
    pub limit: Option<u32>,
    /// Only actions of this domain, the part of an id before the dot.
    pub domain: Option<String>,
    /// Only actions that change nothing.
    pub read_only: Option<bool>,
    /// How much to say of each action's parameters.
    pub detail: Option<Detail>,
    /// Say why each action is where it is.
    pub explain: Option<bool>,
}

/// How much a find says of parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Signatures, and the schema of the first result where it is clear.
    #[default]
    Auto,
    Signature,
    Schema,
}

/// What `gitlab_execute_action` takes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExecuteRequest {
    /// The action's id, as gitlab_find_action returned it.
    pub action: String,
    /// The action's parameters.
    pub params: Map<String, Value>,
    /// True to run an action that destroys something.
    pub confirm: Option<bool>,
    /// Return only these fields, such as `author.username`.
    pub fields: Option<Vec<String>>,
    /// `compact` (default) or `full`.
    pub view: Option<View>,
    /// Show the request that would be sent; send nothing.
    pub dry_run: Option<bool>,
    /// Continue a long text at this byte, as an earlier answer said.
    pub offset: Option<u64>,
}

/// How much of a reply is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum View {
    #[default]
    Compact,
    Full,
}

/// What a tool answers: the same as structure and as Markdown, each complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub structured: Map<String, Value>,
    pub text: String,
}

/// What the tools are told by whoever starts them.
#[derive(Clone, Debug)]
pub struct Settings {
    pub gitlab: gitlab::Settings,
    /// Refuse every action that changes something.
    pub read_only: bool,
    /// Show a write instead of sending it.
    pub safe_mode: bool,
    /// The `fullPath` of a call that names none.
    pub project: Option<String>,
    /// How long an answer may be, in bytes.
    pub max_bytes: usize,
}

/// Why the tools cannot work at all.
#[derive(Debug, thiserror::Error)]
pub enum ToolsError {
    #[error("the embedded catalog is damaged")]
    Catalog(#[from] CatalogError),
}

/// The tools of one server, with everything they work on.
#[derive(Debug)]
pub struct Tools {
    catalog: Catalog,
}

impl Tools {
    /// The tools over the embedded catalog.
    pub fn new(_settings: Settings) -> Result<Tools, ToolsError> {
        Ok(Tools { catalog: Catalog::embedded()? })
    }

    /// Ranked actions for a request in words. Pure computation, well under a millisecond.
    pub fn find(&self, request: &FindRequest) -> Result<Answer, ToolError> {
        let ids: Vec<&str> = self.catalog.ids().collect();
        let structured = json!({
            "query": request.query, "confidence": "low", "total": ids.len(),
            "results": ids.iter().map(|id| json!({"action": id})).collect::<Vec<_>>(),
        });
        Ok(Answer { structured: into_map(structured), text: ids.join("\n") })
    }

    /// Checks, decides, sends and presents one action.
    pub async fn execute(&self, request: &ExecuteRequest) -> Result<Answer, ToolError> {
        if self.catalog.number(&request.action).is_none() {
            let message = format!("There is no action `{}`.", request.action);
            return Err(ToolError::new(ErrorKind::UnknownAction, message)
                .fix("gitlab_find_action", json!({"query": request.action})));
        }
        let structured = json!({"action": request.action, "data": request.params});
        Ok(Answer { text: structured.to_string(), structured: into_map(structured) })
    }
}

fn into_map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}
