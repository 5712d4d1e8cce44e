//! Requests and answers of the two tools.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::arguments::{Argument, EXECUTE_ARGUMENTS};
use super::declines::CallDigest;
use crate::call::{Call, Checked};
use crate::present::Attachment;
use crate::untrusted::is_invisible;

/// The names of the two tools.
pub const FIND: &str = "gitlab_find_action";
pub const EXECUTE: &str = "gitlab_execute_action";

/// The tool that executes reads only, if it is offered.
pub const READ: &str = "gitlab_read_action";

/// Arguments of `gitlab_find_action`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FindRequest {
    /// The task in words; or an action id, a REST path, or a GitLab URL.
    pub query: String,
    /// Maximum number of actions, 1 to 50. Default 5.
    pub limit: Option<u32>,
    /// Only actions of this domain, the part of an id before the dot.
    pub domain: Option<String>,
    /// Only actions that change nothing.
    pub read_only: Option<bool>,
    /// Detail of each action's parameters.
    pub detail: Option<Detail>,
    /// Explain the rank of each action.
    pub explain: Option<bool>,
    /// The GitLab instance by its name, if several are configured.
    pub instance: Option<String>,
}

/// Detail of the parameters in a find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Signatures, and the schema of the first result if the confidence is high.
    #[default]
    Auto,
    /// Signatures alone.
    Signature,
    /// The schema of every result.
    Schema,
}

/// Arguments of `gitlab_execute_action`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExecuteRequest {
    /// The action's id, as gitlab_find_action returned it.
    pub action: String,
    /// The action's parameters; a list as `iid` runs it for each.
    pub params: Map<String, Value>,
    /// True to run an action that destroys something.
    pub confirm: Option<bool>,
    /// Token from a needs_confirmation error; send it back to run exactly that call.
    #[serde(alias = "plan")]
    pub confirmation_token: Option<String>,
    /// Return only these fields, such as `author.username`.
    pub fields: Option<Vec<String>>,
    /// `compact` (default) or `full`.
    pub view: Option<View>,
    /// Show the request that would be sent; send nothing.
    pub dry_run: Option<bool>,
    /// Continue a long text at this byte, as in the continuation of an earlier answer.
    pub offset: Option<u64>,
    /// Lines of a long text: `120-180`, `120-` to the end, `-50` for the last fifty.
    pub lines: Option<String>,
    /// Path of a new file in GITLAB_FILES_DIR for a download, which is then not shown.
    pub save_to: Option<String>,
    /// Read all pages of a list.
    pub all: Option<bool>,
    /// Count the rows of a list by this field, over all pages.
    pub count_by: Option<String>,
    /// Add up this field over all rows of a list, or over each group of `count_by`.
    pub sum: Option<String>,
    /// Keep only so many groups of `count_by`, the largest.
    pub top: Option<u64>,
    /// The GitLab instance by its name, if several are configured.
    pub instance: Option<String>,
    /// The calls that a person has agreed to, which no client can say.
    #[serde(skip)]
    pub agreed: Vec<CallDigest>,
    /// The identity of the object that was agreed to by the question of an enclosing action.
    #[serde(skip)]
    pub agreed_identity: Option<Value>,
}

impl ExecuteRequest {
    /// The name of the first argument of this kind that is given.
    pub fn first_given(&self, is_wanted: impl Fn(&Argument) -> bool) -> Option<&'static str> {
        let given = json!(self);
        let is_given = |argument: &&Argument| given.get(argument.name).is_some_and(|value| !value.is_null());
        EXECUTE_ARGUMENTS
            .iter()
            .filter(|argument| is_wanted(argument))
            .find(is_given)
            .map(|argument| argument.name)
    }
}

/// Detail of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    #[default]
    Compact,
    Full,
}

/// Answer of a tool, as structure and as Markdown, each complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub structured: Map<String, Value>,
    pub text: String,
    /// The file that was asked for, if it is no text.
    pub file: Option<Attachment>,
}

impl Answer {
    pub fn new(structured: Map<String, Value>, text: String) -> Answer {
        Answer { structured, text, file: None }
    }

    /// True for a request that is shown and was not sent.
    pub fn is_preview(&self) -> bool {
        self.structured.contains_key("preview")
    }
}

/// The amount of context offered in addition to the tools (`CAPABILITY_SURFACE`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capabilities {
    /// Resources on the tools and the workspace.
    Minimal,
    /// Resources on GitLab's objects, guides, prompts and completions as well.
    #[default]
    Full,
}

/// A call of a tool, as answers and errors offer it: `{"tool": …, "arguments": {…}}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NextCall {
    pub tool: String,
    pub arguments: Value,
    /// True if it was made of a whole request: an option that it lacks was left out on purpose.
    #[serde(skip)]
    pub is_whole: bool,
}

impl NextCall {
    pub fn new(tool: &str, arguments: Value) -> NextCall {
        NextCall { tool: tool.to_owned(), arguments, is_whole: false }
    }

    /// An action with its parameters.
    pub fn execute(action: &str, params: &impl Serialize) -> NextCall {
        NextCall::new(EXECUTE, json!({"action": action, "params": params}))
    }

    /// A request as a whole, without the consent that was given to it: what comes next is another call.
    pub fn for_request(request: &ExecuteRequest) -> NextCall {
        NextCall::whole(&ExecuteRequest { confirm: None, confirmation_token: None, ..request.clone() })
    }

    /// A request as a whole, with its consent.
    pub fn whole(request: &ExecuteRequest) -> NextCall {
        let mut arguments = json!(request);
        if let Value::Object(arguments) = &mut arguments {
            arguments.retain(|_, value| !value.is_null());
        }
        NextCall { is_whole: true, ..NextCall::new(EXECUTE, arguments) }
    }

    /// The search that shows the parameters of one action.
    pub fn schema_of(action: &str) -> NextCall {
        NextCall::find(json!({"query": action, "limit": 1, "detail": "schema"}))
    }

    /// A search by the arguments of `gitlab_find_action`.
    pub fn find(arguments: Value) -> NextCall {
        NextCall::new(FIND, arguments)
    }
}

impl fmt::Display for NextCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name from GitLab in it can neither close a tag nor hide or turn what follows: JSON has another spelling of each
        // character.
        for c in json!(self).to_string().chars() {
            match c {
                '<' | '>' => write!(f, "\\u{:04x}", u32::from(c))?,
                c if is_invisible(c) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        write!(f, "\\u{unit:04x}")?;
                    }
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A call with the checked parameters that it was made from.
#[derive(Clone, Copy, Debug)]
pub struct CheckedCall<'a> {
    pub call: &'a Call,
    pub checked: &'a Checked,
}
