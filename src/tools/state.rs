//! The state that both tools work on: catalog, finder, client, policy, caches and settings.

pub mod instance_version;
mod item_example;
pub mod token_info;
pub mod workspace;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use url::Url;

use crate::call::{Context, LookupCache, QuickActions};
use crate::catalog::{self, Action, Catalog, CatalogError, KindRow};
use crate::files::Files;
use crate::gitlab::{self, Client, Credential, HttpClients, Secret, Token};
use crate::messages::declines::Declines;
use crate::messages::error::{ToolError, internal};
use crate::messages::request::Capabilities;
use crate::messages::token::{TokenIssuer, UsedTokens};
use crate::messages::wording::Wording;
use crate::policy::{self, Policy, PolicyError, Rule, ToolNames};
use crate::search::{self, Ranker, SearchError};
use crate::tools::audit::{Audit, Auditor};
use crate::tools::state::instance_version::InstanceVersion;
use crate::tools::state::token_info::{TokenInfo, TokenStanding};
use crate::tools::state::workspace::Workspace;

/// Maximum number of rules that are named where no action is left.
const MAX_NAMED_RULES: usize = 5;

/// Adds the most similar name to the error of a pattern that matches nothing.
fn with_nearest(error: PolicyError, names: Option<ToolNames>, catalog: &Catalog) -> PolicyError {
    match error {
        PolicyError::NoAction { origin, pattern, nearest: None } => {
            PolicyError::NoAction { nearest: nearest_action(&pattern, catalog), origin, pattern }
        }
        PolicyError::NoTool { pattern, .. } => {
            PolicyError::NoTool { nearest: nearest_tool(&pattern, names, catalog), pattern }
        }
        other => other,
    }
}

/// The tool that is most like the first name in a regular expression; else the action.
fn nearest_tool(pattern: &str, names: Option<ToolNames>, catalog: &Catalog) -> Option<String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let name = pattern.to_lowercase().replace("\\.", ".");
    let name = name.split(|c| !is_of_name(c)).find(|part| !part.is_empty())?.to_owned();
    let names = names?;
    let words = catalog.words().ok()?;
    let actions = catalog.actions().flatten();
    let mut tools: Vec<String> =
        actions.flat_map(|action| (names.of_action)(words.family(&action.id), &action)).collect();
    tools.extend(names.general.iter().map(|tool| (*tool).to_owned()));
    let tool = search::nearest(&name, tools.iter().map(String::as_str)).map(str::to_owned);
    tool.or_else(|| nearest_action(&name, catalog))
}

/// The id that is most like a pattern: `manage_milestone:promot` is `milestone.promot`.
fn nearest_action(pattern: &str, catalog: &Catalog) -> Option<String> {
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
    by_id().or_else(by_alias).map(str::to_owned)
}

/// Time in which the pages of a whole list are requested: many clients give up on a call after a minute.
const LIST_TIME: Duration = Duration::from_secs(50);

/// Settings of the tools.
#[derive(Clone, Debug)]
pub struct ToolSettings {
    pub gitlab: gitlab::ClientSettings,
    pub policy: policy::PolicySettings,
    /// Key of the confirmation tokens that several servers share; none for a random one.
    pub confirm_key: Option<Secret>,
    /// The handling of quick actions in texts.
    pub quick_actions: QuickActions,
    /// The `fullPath` of a call that names none.
    pub project: Option<String>,
    /// GitLab's host for SSH, in lower case, if that has another name than its URL.
    pub ssh_host: Option<String>,
    /// Maximum size of an answer's data in bytes.
    pub max_bytes: usize,
    /// The audit log on standard error.
    pub audit: Audit,
    /// The file in which the audit log is kept too.
    pub audit_file: Option<PathBuf>,
    /// Names the user of the token in the audit log.
    pub audit_user: bool,
    /// The directory whose files calls may read, and in which they may write.
    pub files_dir: Option<PathBuf>,
    /// Resources, prompts and completions on offer.
    pub capabilities: Capabilities,
    /// Adds a note if the workspace has a copy of a file that is read.
    pub local_hints: bool,
    /// Offers the tool that only reads.
    pub read_tool: bool,
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
    #[error("no GitLab instance is configured")]
    NoInstance,
}

impl From<SetupError> for ToolError {
    fn from(error: SetupError) -> ToolError {
        internal(&error)
    }
}

impl From<SearchError> for ToolError {
    fn from(error: SearchError) -> ToolError {
        internal(&error)
    }
}

/// The name and the root of a configured instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceLabel {
    pub name: String,
    pub base: Url,
}

/// Parts of the tools that several callers may share: they hold no credential, and nothing that GitLab sent.
#[derive(Clone, Debug)]
pub(crate) struct SharedParts {
    /// Every instance that calls may name, the default first; empty if there is one.
    pub(crate) instances: Arc<[InstanceLabel]>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) ranker: Arc<OnceLock<Ranker>>,
    pub(crate) auditor: Auditor,
    pub(crate) http_clients: Arc<HttpClients>,
    pub(crate) used_tokens: Arc<UsedTokens>,
    /// The declines of the caller.
    pub(crate) declines: Arc<Declines>,
    /// The client of other tools of the same caller and instance.
    pub(crate) client: Option<Arc<Client>>,
}

/// The tools of one caller, with everything they work on.
#[derive(Debug)]
pub struct Tools {
    pub(crate) catalog: Arc<Catalog>,
    /// Every instance that calls may name, the default first; empty if there is one.
    pub(crate) instances: Arc<[InstanceLabel]>,
    /// Opened by [`Tools::warm`] or the first find, whichever is first.
    pub(crate) ranker: Arc<OnceLock<Ranker>>,
    pub(crate) client: Arc<Client>,
    pub(crate) policy: Policy,
    pub(crate) project: Option<String>,
    /// GitLab's host for SSH, if that has another name than `base`.
    pub(crate) ssh_host: Option<String>,
    pub(crate) max_bytes: usize,
    /// Time in which the pages of a whole list are requested.
    pub(crate) list_time: Duration,
    pub(crate) files: Option<Files>,
    pub(crate) capabilities: Capabilities,
    /// True if GitLab may be able to describe the token to itself (personal, project and group access tokens).
    pub(crate) describes_itself: bool,
    /// The address that pasted URLs have to be of.
    pub(crate) base: Url,
    /// Cache of look-ups.
    pub(crate) lookup_cache: Mutex<LookupCache>,
    /// None if the system has no random number generator.
    pub(crate) tokens: Option<TokenIssuer>,
    /// The calls that a person declined.
    pub(crate) declines: Arc<Declines>,
    pub(crate) quick_actions: QuickActions,
    pub(crate) token_info: TokenInfo,
    pub(crate) instance_version: InstanceVersion,
    pub(crate) auditor: Auditor,
    pub(crate) audits_user: bool,
    /// The client's directories, if it has named any.
    pub(crate) workspace: Workspace,
    pub(crate) local_hints: bool,
    /// Descriptions in place of the catalog's.
    pub(crate) wording: OnceLock<Wording>,
}

impl Tools {
    /// Facts on the token as far as they have been asked.
    pub(crate) fn token_standing(&self) -> TokenStanding {
        match (self.is_anonymous(), self.token_info.is_accepted()) {
            (true, _) => TokenStanding::Missing,
            (false, true) => TokenStanding::Accepted,
            (false, false) => TokenStanding::Unknown,
        }
    }

    /// True if requests carry no token.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.client.is_anonymous()
    }

    /// Opens the catalog; nothing is asked of GitLab.
    pub fn new(settings: ToolSettings) -> Result<Tools, SetupError> {
        let shared = SharedParts {
            catalog: Arc::new(Catalog::embedded()?),
            ranker: Arc::default(),
            auditor: Auditor::new(settings.audit, settings.audit_file.clone()),
            http_clients: Arc::new(HttpClients::new(&settings.gitlab)),
            instances: Arc::from([]),
            used_tokens: Arc::default(),
            declines: Arc::default(),
            client: None,
        };
        Tools::with_parts(settings, shared)
    }

    /// The tools of one caller, on parts that hold nothing of any caller.
    pub(crate) fn with_parts(settings: ToolSettings, shared: SharedParts) -> Result<Tools, SetupError> {
        let SharedParts { catalog, ranker, auditor, http_clients, instances, used_tokens, .. } = shared;
        let (declines, client) = (shared.declines, shared.client);
        let confirm_key = confirm_key(settings.confirm_key.as_ref(), settings.gitlab.credential.as_ref());
        let (names, is_reader) = (settings.policy.tool_names, settings.policy.reads_by_tool);
        let policy = Policy::new(settings.policy, &catalog);
        let tools = Tools {
            instances,
            ranker,
            policy: policy.map_err(|error| with_nearest(error, names, &catalog))?,
            catalog,
            tokens: TokenIssuer::new(confirm_key, used_tokens),
            declines,
            quick_actions: settings.quick_actions,
            token_info: TokenInfo::default(),
            instance_version: InstanceVersion::default(),
            project: settings.project,
            ssh_host: settings.ssh_host,
            max_bytes: settings.max_bytes,
            list_time: LIST_TIME,
            files: settings.files_dir.map(|root| Files::new(root, settings.gitlab.max_body)),
            capabilities: settings.capabilities,
            describes_itself: describes_itself(settings.gitlab.credential.as_ref()),
            base: settings.gitlab.base.clone(),
            client: client
                .unwrap_or_else(|| Arc::new(Client::with_connections(settings.gitlab, http_clients))),
            lookup_cache: Mutex::default(),
            auditor,
            audits_user: settings.audit_user,
            workspace: Workspace::default(),
            local_hints: settings.local_hints,
            wording: OnceLock::new(),
        };
        // Where only changes are left, the tool that reads is without an action, and the other one is not.
        if !is_reader {
            tools.check_actions_left()?;
        }
        Ok(tools)
    }

    /// # Errors
    /// The policy leaves no action that a find could offer: a mistake, since nothing could be called.
    fn check_actions_left(&self) -> Result<(), PolicyError> {
        let mut denials: Vec<String> = Vec::new();
        for id in self.catalog.ids().filter(|id| self.policy.is_in_toolsets(id)) {
            let action = self.catalog.get(id)?.filter(Action::is_offered);
            let Some(rule) = action.map(|action| self.withholds(&action)) else { continue };
            let Some(rule) = rule.map(|rule| rule.to_string()) else { return Ok(()) };
            if denials.len() < MAX_NAMED_RULES && !denials.contains(&rule) {
                denials.push(rule);
            }
        }
        let offered = match self.policy.toolset_settings().as_slice() {
            [] => "the catalog".to_owned(),
            settings => settings.join(", "),
        };
        Err(PolicyError::NothingLeft { offered, denials })
    }

    /// Opens what the first find needs, so that neither the start nor that find waits for it. Safe to call from
    /// another thread while the tools are used.
    pub fn warm(&self) -> Result<(), SetupError> {
        self.ranker().map(|_| ())
    }

    /// The finder. Two callers who come at once may both open it; one of the two is kept.
    pub(crate) fn ranker(&self) -> Result<&Ranker, SetupError> {
        match self.ranker.get() {
            Some(ranker) => Ok(ranker),
            None => {
                let opened = Ranker::open(&self.catalog)?;
                Ok(self.ranker.get_or_init(|| opened))
            }
        }
    }

    /// The context that parameters are checked against.
    pub(crate) fn context(&self) -> Result<Context<'_>, CatalogError> {
        let (words, surface) = (self.catalog.words()?, self.catalog.operations()?);
        let (base, catalog, quick_actions) = (&self.base, &self.catalog, self.quick_actions);
        Ok(Context { base, words, surface, catalog, quick_actions })
    }

    /// The rule that denies every call of an action. A composite action is denied if one of the actions that it needs
    /// is, or all of those that it picks from.
    pub(crate) fn withholds(&self, action: &Action) -> Option<Rule> {
        let parts_rule = || {
            let plan = action.plan.as_ref()?;
            let picks: Option<Vec<Rule>> = plan.picks.iter().map(|id| self.part_rule(id)).collect();
            plan.needs.iter().find_map(|id| self.part_rule(id)).or_else(|| picks?.pop())
        };
        self.policy.withholds(action).or_else(parts_rule)
    }

    /// The rule that denies every call of an action that a composite one is made of.
    fn part_rule(&self, id: &str) -> Option<Rule> {
        let part = self.catalog.get(id).ok().flatten();
        part.and_then(|part| self.policy.withholds(&part))
    }

    /// The action as it is offered here: with the descriptions that override the catalog's, and without the types of
    /// items that may not run.
    pub(crate) fn offered(&self, action: Action) -> Action {
        let action = self.with_runnable_items(action);
        match self.wording.get() {
            Some(wording) => wording.reword(action),
            None => action,
        }
    }

    /// A composite action without the actions that it could pick and the policy denies, and without the types of items
    /// that only those serve.
    pub(crate) fn with_runnable_items(&self, mut action: Action) -> Action {
        let Some(plan) = action.plan.as_mut() else { return action };
        let (withheld, picks): (Vec<_>, Vec<_>) =
            plan.picks.drain(..).partition(|id| self.part_rule(id).is_some());
        plan.picks = picks;
        let fields = action.params.iter_mut().flat_map(|param| &mut param.fields);
        for types in fields.filter(|field| field.name == catalog::ITEM_TYPE) {
            types.choices.retain(|name| {
                let serving = || catalog::kind_named(name).into_iter().flat_map(KindRow::actions);
                serving().any(|id| plan.picks.contains(id)) || !serving().any(|id| withheld.contains(id))
            });
        }
        item_example::keep_runnable(&mut action);
        action
    }
}

/// The key of one caller's confirmation tokens. A token that is renewed is this server's own, and the same on each server.
fn confirm_key(shared: Option<&Secret>, credential: Option<&Credential>) -> Option<[u8; 32]> {
    let token = match credential {
        Some(Credential::Fixed(token)) => Some(token),
        Some(Credential::Renewed(_)) | None => None,
    };
    Some(gitlab::derive_key(shared?, "confirmation tokens", token))
}

/// True unless the token is known to be of a kind that GitLab does not describe to itself.
fn describes_itself(credential: Option<&Credential>) -> bool {
    match credential {
        Some(Credential::Fixed(token)) => matches!(token, Token::Private(_)),
        Some(Credential::Renewed(_)) => true,
        None => false,
    }
}
