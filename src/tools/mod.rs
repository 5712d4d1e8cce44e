//! The two tools, apart from the protocol that carries them: what they take, what they answer, and the way a
//! request goes through the other modules. The server and the command line both call these.

mod answer;
mod audit;
mod candidates;
mod completion;
mod compute;
mod confirmation;
mod default_project;
mod document;
mod error;
mod execute;
mod find;
mod gate;
mod global_ids;
mod graphql;
mod limits;
mod lines;
mod local;
mod local_files;
mod locate;
mod located;
mod log;
mod lost;
mod meaning;
mod missing_file;
mod near_paths;
mod own_read;
mod paging;
mod past_end;
mod plans;
mod prompts;
mod refusal;
mod remote;
mod repair;
mod resolve;
mod resources;
mod spelling;
mod stretch;
mod token;
mod whereabouts;
mod wording;
mod workspace;

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

pub use audit::Audit;
pub use completion::{Completed, Completion};
pub use confirmation::{TOKEN_LIFETIME, random_bytes};
pub use error::{ErrorKind, ToolError};
pub use refusal::{internal, mend};
pub use resources::{Capabilities, Entry, RUNS, Read, Root, Roots, action_resource, is_of_workspace};
pub use wording::Wording;

pub use crate::gitlab::{Event, watched, with_listener};
pub use crate::policy::PolicyError;
pub use crate::present::MARK;

use audit::Auditor;
use gate::Gate;

use crate::call::{self, Context, Known, QuickActions};
use crate::catalog::{self, Action, Catalog, CatalogError, Risk};
use crate::files::Files;
use crate::gitlab::{self, Client, GitlabError, Reply, Token};
use crate::policy::{self, Policy, Rule};
use crate::search::{self, Ranker, SearchError};

/// A pattern that means no action, with the id that is most like it: `manage_milestone:promot` is `milestone.promot`.
fn with_nearest(error: PolicyError, catalog: &Catalog) -> PolicyError {
    let PolicyError::NoAction { origin, pattern, nearest: None } = error else { return error };
    let name = pattern.trim().to_lowercase();
    let written = match name.split_once(':') {
        Some((tool, action)) => format!("{}.{action}", catalog::singular(catalog::bare(tool))),
        None => name,
    };
    let by_id = || search::nearest(&written, catalog.ids());
    let by_alias = || {
        let alias = search::nearest(&written, catalog.aliases())?;
        catalog.by_alias(alias).into_iter().find_map(|number| catalog.id(number))
    };
    let nearest = by_id().or_else(by_alias).map(str::to_owned);
    PolicyError::NoAction { origin, pattern, nearest }
}

/// The names of the two tools.
pub const FIND: &str = "gitlab_find_action";
pub const EXECUTE: &str = "gitlab_execute_action";

/// The bytes that a find may answer with: fifty actions and a schema.
const MOST_FOUND: usize = 200_000;

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
    /// Signatures, and the schema of the first result if the confidence is high.
    #[default]
    Auto,
    /// Signatures alone.
    Signature,
    /// The schema of every result.
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
    /// Token from a needs_confirmation error; send it back to run exactly that call.
    #[serde(alias = "plan")]
    pub confirmation_token: Option<String>,
    /// Return only these fields, such as `author.username`.
    pub fields: Option<Vec<String>>,
    /// `compact` (default) or `full`.
    pub view: Option<View>,
    /// Show the request that would be sent; send nothing.
    pub dry_run: Option<bool>,
    /// Continue a long text at this byte, as an earlier answer said.
    pub offset: Option<u64>,
    /// Lines of a long text: `120-180`, `120-` to the end, `-50` for the last fifty.
    pub lines: Option<String>,
    /// Write what is downloaded to this new file beneath GITLAB_FILES_DIR, and do not show it.
    pub save_to: Option<String>,
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
    pub policy: policy::Settings,
    /// The handling of quick actions in texts.
    pub quick_actions: QuickActions,
    /// The `fullPath` of a call that names none.
    pub project: Option<String>,
    /// How many bytes of data an answer may hold.
    pub max_bytes: usize,
    /// Whether each executed action has its line on standard error.
    pub audit: Audit,
    /// The directory whose files calls may read, and in which they may write.
    pub files_dir: Option<PathBuf>,
    /// How much there is beside the tools.
    pub capabilities: Capabilities,
    /// Whether a file that is in the workspace too is said to be there.
    pub local_hints: bool,
}

/// The tools could not be made: by a fault of this build, or by a policy that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("the catalog cannot be read")]
    Catalog(#[from] CatalogError),
    #[error("the finder cannot be opened")]
    Search(#[from] SearchError),
    #[error("the policy cannot be used")]
    Policy(#[from] PolicyError),
}

/// Why a question of this program's own has no reply.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It never became a request.
    #[error(transparent)]
    Unasked(#[from] ToolError),
    #[error(transparent)]
    Gitlab(#[from] GitlabError),
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
    files: Option<Files>,
    capabilities: Capabilities,
    anonymous: bool,
    /// Whether the token is of a kind that GitLab describes to itself.
    describes_itself: bool,
    /// The address that pasted URLs have to be of.
    base: Url,
    /// What the session has learnt of GitLab.
    known: Mutex<Known>,
    /// None where the system has no random numbers to make a key of.
    tokens: Option<confirmation::TokenIssuer>,
    quick_actions: QuickActions,
    limits: token::Limits,
    auditor: Auditor,
    /// The client's directories, where it has named some.
    workspace: workspace::Workspace,
    local_hints: bool,
    /// Descriptions in place of the catalog's.
    wording: OnceLock<Wording>,
}

impl Tools {
    /// Opens the catalog; nothing is asked of GitLab.
    pub fn new(settings: Settings) -> Result<Tools, SetupError> {
        let catalog = Catalog::embedded()?;
        Ok(Tools {
            ranker: OnceLock::new(),
            policy: Policy::new(settings.policy, &catalog).map_err(|error| with_nearest(error, &catalog))?,
            catalog,
            tokens: confirmation::TokenIssuer::new(),
            quick_actions: settings.quick_actions,
            limits: token::Limits::default(),
            project: settings.project,
            max_bytes: settings.max_bytes,
            files: settings.files_dir.map(|root| Files::new(root, settings.gitlab.max_body)),
            capabilities: settings.capabilities,
            anonymous: settings.gitlab.token.is_none(),
            describes_itself: matches!(settings.gitlab.token, Some(Token::Private(_))),
            base: settings.gitlab.base.clone(),
            client: Client::new(settings.gitlab),
            known: Mutex::default(),
            auditor: Auditor::new(settings.audit),
            workspace: workspace::Workspace::default(),
            local_hints: settings.local_hints,
            wording: OnceLock::new(),
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
        let (words, surface) = (self.catalog.words()?, self.catalog.surface()?);
        let (base, catalog, quick_actions) = (&self.base, &self.catalog, self.quick_actions);
        Ok(Context { base, words, surface, catalog, quick_actions })
    }

    /// The rule that keeps an action from ever running here; of a plan, also what keeps all that it is made of.
    fn withholds(&self, action: &Action) -> Option<Rule> {
        self.policy.withholds(action).or_else(|| plans::withheld(self, action))
    }

    /// Whether a tool of that name is there at all.
    pub fn offers(&self, tool: &str) -> bool {
        self.policy.offers_tool(tool)
    }

    /// What there is to find and execute.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Whether the policy lets an action run at all, so that it may be offered.
    pub fn may_run(&self, action: &Action) -> bool {
        self.withholds(action).is_none()
    }

    /// The most that an action can do here.
    pub fn risk(&self, action: &Action) -> Risk {
        self.policy.risk(action)
    }

    /// Whether destructive calls have to be confirmed.
    pub fn confirms(&self) -> bool {
        self.policy.confirm().asks()
    }

    /// Whether a project is meant where a call names none.
    pub fn has_project(&self) -> bool {
        self.project.is_some()
    }

    /// The action and the parameters that a name of another server's means, with the parameters of a call of it; none
    /// where nothing is plainly meant. Nothing is checked.
    pub fn meant(&self, name: &str, params: &Map<String, Value>) -> Option<(String, Map<String, Value>)> {
        let request =
            ExecuteRequest { action: name.to_owned(), params: params.clone(), ..Default::default() };
        let error = match meaning::of(self, &request) {
            Ok(meant) => return Some((meant.action.id, meant.request.params)),
            Err(error) => error,
        };
        let fix = error.fix.as_ref().filter(|fix| fix.get("tool").and_then(Value::as_str) == Some(EXECUTE));
        if let Some(arguments) = fix.and_then(|fix| fix.get("arguments")) {
            let action = arguments.get("action")?.as_str()?.to_owned();
            let params = arguments.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
            return Some((action, params));
        }
        let is_ambiguous = error.kind == ErrorKind::AmbiguousAlias;
        let first = error.details.get("candidates").filter(|_| is_ambiguous)?.get(0)?.get("action")?;
        Some((first.as_str()?.to_owned(), params.clone()))
    }

    /// The parameter of an action that a spelling means, as calls understand it.
    pub fn param_named(&self, action: &str, given: &str) -> Option<String> {
        let words = self.catalog.words().ok()?;
        let action = self.catalog.get(action).ok().flatten()?;
        call::param_named(&action, given, words).map(|param| param.name.clone())
    }

    /// The ids of the actions that are found for a request in words, if any answers to it.
    pub fn likely(&self, words: &str) -> Vec<String> {
        let request = FindRequest { query: words.to_owned(), limit: Some(3), ..FindRequest::default() };
        let found = self.find(&request).map(|answer| answer.structured);
        let results = found.ok().and_then(|mut found| found.remove("results"));
        let id = |result: &Value| result.get("action").and_then(Value::as_str).map(str::to_owned);
        results.as_ref().and_then(Value::as_array).into_iter().flatten().filter_map(id).collect()
    }

    /// Takes descriptions in place of the catalog's, once.
    pub fn reword(&self, wording: Wording) {
        // Whoever was first has said the same.
        let _ = self.wording.set(wording);
    }

    /// Takes the addresses of the directories that the client works in, in place of those it named before.
    pub fn work_in(&self, roots: &[String]) {
        self.workspace.name(roots);
    }

    /// Asks GitLab once what the token may do. Failing is no failure: GitLab itself refuses what it may not.
    pub async fn learn_limits(&self) {
        token::learn(self).await;
    }

    /// Waits a short time for [`Tools::learn_limits`], so that the first find knows the token's scopes.
    pub async fn wait_for_scopes(&self) {
        token::wait_for_scopes(self).await;
    }

    /// Ranked actions for a request in words. Pure computation, well under a millisecond.
    pub fn find(&self, request: &FindRequest) -> Result<Answer, ToolError> {
        // What is found are our own words, as many as were asked for.
        self.gate(self.max_bytes.max(MOST_FOUND)).pass(find::find(self, request))
    }

    /// Checks, decides, sends and presents one action.
    pub async fn execute(&self, request: &ExecuteRequest) -> Result<Answer, ToolError> {
        let mut entry = self.auditor.begin();
        let result = execute::execute(self, request, &mut entry).await;
        let is_preview = result.as_ref().is_ok_and(|answer| answer.structured.contains_key("preview"));
        entry.ended(is_preview, result.as_ref().err());
        self.gate(self.max_bytes).pass(result)
    }

    /// An error as it may leave the program: without the secrets of this process, within the bytes of an answer.
    pub fn bounded(&self, error: ToolError) -> ToolError {
        self.gate(self.max_bytes).error(error)
    }

    fn gate(&self, max_bytes: usize) -> Gate<'_> {
        Gate { secrets: self.client.secrets(), max_bytes }
    }

    /// The reply to an action that only reads, as it came: for questions of this program's own.
    pub async fn read(&self, action: &str, params: Map<String, Value>) -> Result<Reply, ReadError> {
        resolve::read_once(self, action, params, own_read::Purpose::Command).await.map(|(_, reply)| reply)
    }

    /// Ends the audit of a process that stops: calls that are still computing have their lines as well.
    pub fn close_audit(&self) {
        self.auditor.close();
    }

    /// The client that everything is sent through.
    pub fn client(&self) -> &Client {
        &self.client
    }
}
