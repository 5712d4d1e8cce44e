//! The two tools, apart from the protocol that carries them: what they take, what they answer, and the way a
//! request goes through the other modules. The server and the command line both call these.

mod candidates;
mod document;
mod error;
mod execute;
mod find;
mod graphql;
mod located;
mod meaning;
mod paging;
mod past_end;
mod refusal;
mod repair;
mod resolve;
mod spelling;
mod whereabouts;

use std::sync::{Mutex, OnceLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

pub use error::{ErrorKind, ToolError};

use crate::call::{Context, Known};
use crate::catalog::{Catalog, CatalogError};
use crate::gitlab::{self, Client};
use crate::policy::Policy;
use crate::search::{Ranker, SearchError};

/// The names of the two tools.
pub const FIND: &str = "gitlab_find_action";
pub const EXECUTE: &str = "gitlab_execute_action";

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

/// What the tools are made from.
#[derive(Clone, Debug)]
pub struct Settings {
    pub gitlab: gitlab::Settings,
    pub read_only: bool,
    pub safe_mode: bool,
    /// The `fullPath` of a call that names none.
    pub project: Option<String>,
    /// How many bytes of data an answer may hold.
    pub max_bytes: usize,
}

/// The tools could not be made: a fault of this build, never of its configuration.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("the catalog cannot be read")]
    Catalog(#[from] CatalogError),
    #[error("the finder cannot be opened")]
    Search(#[from] SearchError),
}

/// The tools of one server, with everything they work on.
#[derive(Debug)]
pub struct Tools {
    catalog: Catalog,
    /// Opened by [`Tools::warm`] or the first find, whichever is first.
    ranker: OnceLock<Ranker>,
    client: Client,
    policy: Policy,
    project: Option<String>,
    max_bytes: usize,
    anonymous: bool,
    /// The address that pasted URLs have to be of.
    base: Url,
    /// What the session has learnt of GitLab.
    known: Mutex<Known>,
}

impl Tools {
    /// Opens the catalog; nothing is asked of GitLab.
    pub fn new(settings: Settings) -> Result<Tools, SetupError> {
        let catalog = Catalog::embedded()?;
        Ok(Tools {
            catalog,
            ranker: OnceLock::new(),
            policy: Policy { read_only: settings.read_only, safe_mode: settings.safe_mode },
            project: settings.project,
            max_bytes: settings.max_bytes,
            anonymous: settings.gitlab.token.is_none(),
            base: settings.gitlab.base.clone(),
            client: Client::new(settings.gitlab),
            known: Mutex::default(),
        })
    }

    /// Opens what the first find needs, so that neither the start nor that find waits for it. Safe to call from
    /// another thread while the tools are used.
    pub fn warm(&self) -> Result<(), SetupError> {
        self.ranker().map(|_| ())
    }

    /// The finder. Two callers who come at once may both open it; one of the two is kept.
    fn ranker(&self) -> Result<&Ranker, SetupError> {
        match self.ranker.get() {
            Some(ranker) => Ok(ranker),
            None => {
                let opened = Ranker::open(&self.catalog)?;
                Ok(self.ranker.get_or_init(|| opened))
            }
        }
    }

    /// What the parameters of a call are checked against.
    fn context(&self) -> Result<Context<'_>, CatalogError> {
        Ok(Context { base: &self.base, words: self.catalog.words()?, surface: self.catalog.surface()? })
    }

    /// Ranked actions for a request in words. Pure computation, well under a millisecond.
    pub fn find(&self, request: &FindRequest) -> Result<Answer, ToolError> {
        find::find(self, request)
    }

    /// Checks, decides, sends and presents one action.
    pub async fn execute(&self, request: &ExecuteRequest) -> Result<Answer, ToolError> {
        execute::execute(self, request).await
    }
}
