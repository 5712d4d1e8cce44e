//! The two tools, find and execute, independent of the protocol. The server and the command line call both.

pub(crate) mod action_lookup;
pub(crate) mod action_uri;
pub(crate) mod audit;
mod callers;
pub(crate) mod companions;
pub(crate) mod compute;
pub(crate) mod decide;
mod default_project;
pub(crate) mod error_mapping;
pub(crate) mod errors;
mod file_transfer;
mod find;
mod finish;
mod instance_version;
mod instances;
pub(crate) mod lookups;
pub(crate) mod own_reads;
pub(crate) mod prepare;
mod preview;
pub(crate) mod reply;
pub(crate) mod response;
pub(crate) mod run;
mod send;
mod state;
mod token_info;
pub(crate) mod whole_list;
pub(crate) mod workspace;

use serde_json::{Map, Value};

pub use audit::Audit;
pub use callers::{AllSettings, CallerCredential, CallerError, CallerProfile, Narrowing, ToolsFactory};
pub use errors::lost_write::suggest_read;
pub use instances::{ConfiguredInstance, InstanceSettings, Instances, Route, name_of, name_table_keys};
pub use own_reads::gate::ReadError;
pub use state::{InstanceLabel, SetupError, ToolSettings, Tools};
pub use whole_list::may_list;

pub use crate::catalog::Version;
pub use crate::files::RotatedLog;
pub use crate::messages::arguments::{
    Argument, EXECUTE_ARGUMENTS, FIND_ARGUMENTS, FORMER_NAMES, INSTANCE, OTHER_NAMES, Serves, Takes,
    WRAPPERS, gives_consent,
};
pub use crate::messages::declines::Declines;
pub use crate::messages::error::{ErrorKind, ToolError, internal};
pub use crate::messages::gitlab_error::connection_hint;
pub use crate::messages::header;
pub use crate::messages::question::{AskedCall, Question, Refusal};
pub use crate::messages::request::{
    Answer, Capabilities, Detail, EXECUTE, ExecuteRequest, FIND, FindRequest, NextCall, READ, View,
};
pub use crate::messages::rewrite_calls::{name_tools, rewrite_call_in, rewrite_calls, word_calls};
pub use crate::messages::token::{TOKEN_LIFETIME, random_bytes};
pub use crate::messages::wording::Wording;

pub use crate::gitlab::{
    Event, HttpClients, Secret, Token, TokenKind, UpstreamCounts, describe_token, notify, watched,
    with_listener,
};
pub use crate::policy::{Confirm, ConfirmBy, PolicyError, ToolNames, contains_restriction};
pub use crate::present::Attachment;
pub use crate::present::MARK;

use crate::messages::output_filter::OutputFilter;
use own_reads::gate::Purpose;

use crate::call;
use crate::catalog::{Action, Catalog, Risk};
use crate::gitlab::{Client, Reply};
use crate::policy::Scopes;

/// The bytes that a find may answer with: fifty actions and a schema.
const MAX_FOUND: usize = 200_000;

/// End of a hint that names settings, for callers over HTTP.
const OF_SERVER: &str = " Only the administrator of this server can change its settings.";

impl Tools {
    /// True if the policy offers a tool of that name.
    pub fn offers(&self, tool: &str) -> bool {
        self.policy.offers_tool(tool)
    }

    /// The catalog of actions.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// True if no rule denies every call of the action.
    pub fn may_run(&self, action: &Action) -> bool {
        self.withholds(action).is_none()
    }

    /// True if there is an action of that id, and no rule denies every call of it.
    pub fn may_run_id(&self, id: &str) -> bool {
        self.catalog.get(id).ok().flatten().is_some_and(|action| self.may_run(&action))
    }

    /// The most that an action can do here.
    pub fn risk(&self, action: &Action) -> Risk {
        self.policy.risk(action)
    }

    /// True if only reads run.
    pub fn is_read_only(&self) -> bool {
        self.policy.is_read_only()
    }

    /// The settings of toolsets and domains, as written; empty if all are on.
    pub fn toolset_settings(&self) -> Vec<&str> {
        self.policy.toolset_settings()
    }

    /// Notes that a person did not consent to calls, and returns their error.
    pub fn refuse(&self, asked: &[AskedCall], refusal: Refusal) -> ToolError {
        self.bounded(decide::refuse(self, asked, refusal))
    }

    /// Who confirms where the client can ask a person.
    pub fn confirm_by(&self) -> ConfirmBy {
        self.policy.confirm().by
    }

    /// True if destructive calls need confirmation.
    pub fn confirms(&self) -> bool {
        self.policy.confirm().asks()
    }

    /// Every instance that calls may name, the default first; empty if there is one.
    pub fn instances(&self) -> &[InstanceLabel] {
        &self.instances
    }

    /// True if a call that names no project has a default one: the configured, or the workspace's.
    pub fn has_default_project(&self) -> bool {
        workspace::default_project(self).is_some()
    }

    /// True if a default project is configured.
    pub fn has_configured_project(&self) -> bool {
        self.project.is_some()
    }

    /// Resolves a tool name of another server to an action and its parameters; none if the name is ambiguous. The
    /// parameters are not checked.
    pub fn resolve_name(
        &self,
        name: &str,
        params: &Map<String, Value>,
    ) -> Option<(String, Map<String, Value>)> {
        let request =
            ExecuteRequest { action: name.to_owned(), params: params.clone(), ..Default::default() };
        let error = match action_lookup::resolve(self, &request) {
            Ok(resolved) => return Some((resolved.action.id, resolved.request.params)),
            Err(error) => error,
        };
        if let Some(NextCall { arguments, .. }) = error.fix.as_ref().filter(|fix| fix.tool == EXECUTE) {
            let action = arguments.get("action")?.as_str()?.to_owned();
            let params = arguments.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
            return Some((action, params));
        }
        let is_ambiguous = error.kind == ErrorKind::AmbiguousAlias;
        let first = error.details.get("candidates").filter(|_| is_ambiguous)?.get(0)?.get("action")?;
        Some((first.as_str()?.to_owned(), params.clone()))
    }

    /// The parameter of an action that a spelling means, as calls understand it.
    pub fn find_param(&self, action: &str, given: &str) -> Option<String> {
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

    /// How commonly an action is wanted, up to 4; 0 if the finder cannot be opened.
    pub fn usage(&self, action: usize) -> u8 {
        self.ranker().map_or(0, |ranker| ranker.usage(action))
    }

    /// The GitLab version whose files the catalog was made from.
    pub fn catalog_version(&self) -> Option<Version> {
        self.catalog.words().ok().map(|words| words.gitlab_version)
    }

    /// Takes descriptions in place of the catalog's, once.
    pub fn reword(&self, wording: Wording) {
        // An earlier value is the same.
        let _ = self.wording.set(wording);
    }

    /// Takes the addresses of the directories that the client works in, in place of those it named before.
    pub fn work_in(&self, roots: &[String]) {
        self.workspace.name(roots);
    }

    /// Sets the scopes of the token, if they are known from elsewhere.
    pub fn set_scopes(&self, scopes: &[String]) {
        self.policy.learn(Scopes::new(scopes.to_vec()));
    }

    /// Requests the token's scopes once. A failure has no effect: GitLab itself refuses calls without permission.
    pub async fn request_token_info(&self) {
        token_info::learn(self).await;
    }

    /// Waits a short time for [`Tools::request_token_info`], so that the first find knows the token's scopes.
    pub async fn wait_for_scopes(&self) {
        token_info::wait_for_scopes(self).await;
    }

    /// True if a find names an action that an older GitLab lacks and the version was not requested yet.
    pub fn needs_version(&self, answer: &Answer) -> bool {
        instance_version::is_wanted(self, answer)
    }

    /// Requests the version of the instance, once; a find waits a second at most.
    pub async fn learn_version(&self) {
        instance_version::learn_for_find(self).await;
    }

    /// Ranked actions for a request in words. Pure computation: it takes milliseconds and asks GitLab nothing.
    pub fn find(&self, request: &FindRequest) -> Result<Answer, ToolError> {
        // The content is this server's own text, as much as was asked for.
        self.gate(self.max_bytes.max(MAX_FOUND)).pass(find::find(self, request))
    }

    /// The outcome of a call as it may leave the program: without the secrets of this process, within the bytes of an
    /// answer.
    pub(crate) fn filter_output(&self, outcome: Result<Answer, ToolError>) -> Result<Answer, ToolError> {
        self.gate(self.max_bytes).pass(outcome.map_err(|error| self.for_caller(error)))
    }

    /// An error in which a caller over HTTP reads whose the settings in the hint are.
    fn for_caller(&self, mut error: ToolError) -> ToolError {
        let names_settings = |hint: &&mut String| hint.contains("GITLAB_") && !hint.ends_with(OF_SERVER);
        if self.client.has_callers_token()
            && let Some(hint) = error.hint.as_mut().filter(names_settings)
        {
            hint.push_str(OF_SERVER);
        }
        error
    }

    /// An error as it may leave the program: without the secrets of this process, within the bytes of an answer.
    pub fn bounded(&self, error: ToolError) -> ToolError {
        self.gate(self.max_bytes).error(self.for_caller(error))
    }

    fn gate(&self, max_bytes: usize) -> OutputFilter<'_> {
        OutputFilter { secrets: self.client.secrets(), max_bytes }
    }

    /// Reads for this program itself: the unrendered reply of a read-only action.
    pub async fn read_unrendered(
        &self,
        action: &str,
        params: Map<String, Value>,
    ) -> Result<Reply, ReadError> {
        lookups::read_once(self, action, params, Purpose::Command).await.map(|(_, reply)| reply)
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
