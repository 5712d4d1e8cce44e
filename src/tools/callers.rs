//! Tools for the callers of a shared server: each caller has tools of its own (credential, policy, look-ups,
//! confirmation tokens, version, rate limit) on a catalog, a finder and connections that all of them share.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::join_all;
use url::Url;

use crate::catalog::Catalog;
use crate::gitlab::{Credential, HttpClients, UpstreamCounts, is_reachable};
use crate::policy::Confirm;
use crate::search::Ranker;
use crate::tools::audit::Auditor;
use crate::tools::state::{CompositeActions, Settings, SetupError, SharedParts, Tools};

/// A caller of a shared server, and the limits that it asked for.
#[derive(Clone, Debug)]
pub struct CallerProfile {
    /// The name in the logs; not derived from the credential in a way that reveals it.
    pub name: String,
    /// The instance: the root of one of those that the server is configured for.
    pub base: Url,
    pub credential: Option<Credential>,
    pub narrowing: Narrowing,
}

/// Limits that a caller asks for, in addition to the server's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrowing {
    pub read_only: bool,
    /// Only these toolsets, of those that the server offers; empty means all of them.
    pub toolsets: Vec<String>,
    /// Risks to confirm, in addition to the server's.
    pub confirm: Option<Confirm>,
}

/// Makes the tools of each caller.
#[derive(Debug)]
pub struct ToolsFactory {
    settings: Settings,
    composites: &'static dyn CompositeActions,
    catalog: Arc<Catalog>,
    ranker: Arc<OnceLock<Ranker>>,
    auditor: Auditor,
    /// Connections by the root URL of the instance.
    connections: BTreeMap<Url, Arc<HttpClients>>,
}

/// Error of [`ToolsFactory::tools_for`].
#[derive(Debug, thiserror::Error)]
pub enum CallerError {
    /// The instance is not one of those that the server is configured for.
    #[error("unknown GitLab instance")]
    UnknownInstance,
    #[error(transparent)]
    Setup(#[from] SetupError),
}

impl ToolsFactory {
    /// A factory for these settings. `instances` are the roots that callers may name, in addition to the settings' own.
    /// Settings of the machine (files, workspace) do not apply to callers, who are elsewhere.
    ///
    /// # Errors
    /// A catalog or policy that cannot be used: the server must not start.
    pub fn new(
        settings: Settings,
        composites: &'static dyn CompositeActions,
        instances: &[Url],
    ) -> Result<ToolsFactory, SetupError> {
        let settings = Settings { files_dir: None, local_hints: false, ..settings };
        let mut connections = BTreeMap::new();
        for base in [&settings.gitlab.base].into_iter().chain(instances) {
            let mut gitlab = settings.gitlab.clone();
            // Headers for a proxy in front of the settings' own instance are sent to no other.
            if gitlab.base != *base {
                gitlab.extra_headers.clear();
            }
            gitlab.base = base.clone();
            connections.insert(base.clone(), Arc::new(HttpClients::new(&gitlab)));
        }
        let (catalog, ranker) = (Arc::new(Catalog::embedded()?), Arc::default());
        let auditor = Auditor::new(settings.audit);
        Ok(ToolsFactory { settings, composites, catalog, ranker, auditor, connections })
    }

    /// The tools of one caller.
    ///
    /// # Errors
    /// An instance that is not configured, or a toolset that does not exist.
    pub fn tools_for(&self, caller: CallerProfile) -> Result<Tools, CallerError> {
        let http_clients = self.connections.get(&caller.base).ok_or(CallerError::UnknownInstance)?;
        let mut settings = self.settings.clone();
        // Headers for a proxy in front of the settings' own instance are sent to no other.
        if caller.base != settings.gitlab.base {
            settings.gitlab.extra_headers.clear();
        }
        settings.gitlab.base = caller.base;
        settings.gitlab.credential = caller.credential;
        settings.policy.read_only |= caller.narrowing.read_only;
        settings.policy.narrowed_toolsets = caller.narrowing.toolsets;
        if let Some(confirm) = caller.narrowing.confirm {
            settings.policy.confirm = settings.policy.confirm.stricter_of(confirm);
        }
        let shared = SharedParts {
            catalog: Arc::clone(&self.catalog),
            ranker: Arc::clone(&self.ranker),
            auditor: self.auditor.of_caller(&caller.name),
            http_clients: Arc::clone(http_clients),
        };
        Ok(Tools::with_parts(settings, self.composites, shared)?)
    }

    /// The settings' own credential, for servers whose callers have none of their own.
    pub fn own_credential(&self) -> Option<Credential> {
        self.settings.gitlab.credential.clone()
    }

    /// The instance of callers that name none.
    pub fn default_instance(&self) -> &Url {
        &self.settings.gitlab.base
    }

    /// The instances that callers may name.
    pub fn instances(&self) -> impl Iterator<Item = &Url> {
        self.connections.keys()
    }

    /// The HTTP clients of an instance.
    pub fn connections(&self, base: &Url) -> Option<&Arc<HttpClients>> {
        self.connections.get(base)
    }

    /// Outcomes of the requests to each instance.
    pub fn upstream(&self) -> Vec<(&Url, UpstreamCounts)> {
        self.connections.iter().map(|(base, clients)| (base, clients.upstream().counts())).collect()
    }

    /// Probes each instance, all at the same time: true for those that answer within `limit`.
    pub async fn probe_instances(&self, limit: Duration) -> BTreeMap<Url, bool> {
        let probes = self.connections.iter().map(|(base, clients)| async move {
            let reachable = is_reachable(clients, limit).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "an instance cannot be probed");
                false
            });
            (base.clone(), reachable)
        });
        join_all(probes).await.into_iter().collect()
    }

    /// True if an action has this id, for labels of metrics.
    pub fn is_action(&self, id: &str) -> bool {
        self.catalog.get(id).is_ok_and(|action| action.is_some())
    }

    /// Opens the finder that all callers share.
    ///
    /// # Errors
    /// A fault of this build.
    pub fn warm(&self) -> Result<(), SetupError> {
        if self.ranker.get().is_none() {
            let opened = Ranker::open(&self.catalog)?;
            // Another thread may have opened it meanwhile; one of the two is kept.
            let _ = self.ranker.set(opened);
        }
        Ok(())
    }

    /// Writes the audit lines of calls that have not ended.
    pub fn close_audit(&self) {
        self.auditor.close();
    }
}
