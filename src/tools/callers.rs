//! Tools for the callers of a shared server: each caller has tools of its own (credential, policy, look-ups,
//! confirmation tokens, version, rate limit) on a catalog, a finder and connections that all of them share.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::join_all;
use url::Url;

use crate::catalog::Catalog;
use crate::gitlab::{self, Client, Credential, HttpClients, UpstreamCounts, is_reachable};
use crate::messages::declines::Declines;
use crate::messages::token::UsedTokens;
use crate::policy::{self, Confirm};
use crate::search::Ranker;
use crate::tools::audit::Auditor;
use crate::tools::instances::{ConfiguredInstance, InstanceSettings, Instances, labels};
use crate::tools::state::{SetupError, SharedParts, ToolSettings, Tools};

/// Setting of a caller that only reads, for errors.
const CALLER_READ_ONLY: &str = "`X-MCP-Readonly` of this client";

/// Advice to a caller whose token GitLab rejects.
const CALLER_TOKEN_REMEDY: &str = "It is the token that this client sends (`PRIVATE-TOKEN` or `Authorization`): check that it is \
                                   valid and belongs to this GitLab.";

/// A caller of a shared server, and the limits that it asked for.
#[derive(Clone, Debug)]
pub struct CallerProfile {
    /// The name in the logs; not derived from the credential in a way that reveals it.
    pub name: String,
    /// The instance: the root of one of those that the server is configured for.
    pub base: Url,
    pub credential: CallerCredential,
    pub narrowing: Narrowing,
    /// What its user declined, under any narrowing.
    pub declines: Arc<Declines>,
}

/// The credential of a caller.
#[derive(Clone, Debug)]
pub enum CallerCredential {
    /// Its own, for the instance that it names; none for a caller without one.
    Own(Option<Credential>),
    /// The credentials of the settings, each for its own instance.
    OfServer,
}

/// Settings of every instance.
#[derive(Clone, Debug)]
pub struct AllSettings {
    pub default: InstanceSettings,
    pub others: Vec<InstanceSettings>,
    /// The policy without the rules of a single instance.
    pub policy: policy::PolicySettings,
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
    /// The configured instances, the default first.
    instances: Vec<InstanceSettings>,
    /// The policy of no single instance.
    policy: policy::PolicySettings,
    default: Url,
    catalog: Arc<Catalog>,
    ranker: Arc<OnceLock<Ranker>>,
    auditor: Auditor,
    used_tokens: Arc<UsedTokens>,
    connections: BTreeMap<ConnectionKey, Arc<HttpClients>>,
}

/// Settings by which accounts share connections: those of another account at the same URL may verify less.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ConnectionKey {
    base: Url,
    insecure_tls: bool,
    ca_file: Option<PathBuf>,
}

impl ConnectionKey {
    fn new(settings: &gitlab::ClientSettings) -> ConnectionKey {
        let gitlab::ClientSettings { base, insecure_tls, ca_file, .. } = settings;
        ConnectionKey { base: base.clone(), insecure_tls: *insecure_tls, ca_file: ca_file.clone() }
    }
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

/// Lets only reads run by this setting, unless another one does so already.
fn allow_only_reads(policy: &mut policy::PolicySettings, setting: &str) {
    if !policy.read_only {
        policy.read_only = true;
        policy.read_only_setting = Some(setting.to_owned());
    }
}

impl ToolsFactory {
    /// A factory for these instances.
    ///
    /// # Errors
    /// A catalog or policy that cannot be used: the server must not start.
    pub fn new(all: AllSettings) -> Result<ToolsFactory, SetupError> {
        let AllSettings { default, others, policy } = all;
        let (auditor, base) = (
            Auditor::new(default.tools.audit, default.tools.audit_file.clone()),
            default.tools.gitlab.base.clone(),
        );
        let mut instances: Vec<InstanceSettings> = std::iter::once(default).chain(others).collect();
        let roots: BTreeSet<Url> =
            instances.iter().map(|instance| instance.tools.gitlab.base.clone()).collect();
        for InstanceSettings { tools, .. } in &mut instances {
            let others = roots.iter().filter(|root| **root != tools.gitlab.base);
            tools.gitlab.other_roots = others.cloned().collect();
        }
        let mut connections = BTreeMap::new();
        for InstanceSettings { tools, .. } in &instances {
            let clients = || Arc::new(HttpClients::new(&tools.gitlab));
            connections.entry(ConnectionKey::new(&tools.gitlab)).or_insert_with(clients);
        }
        let (catalog, ranker) = (Arc::new(Catalog::embedded()?), Arc::default());
        Ok(ToolsFactory {
            instances,
            policy,
            default: base,
            catalog,
            ranker,
            auditor,
            used_tokens: Arc::default(),
            connections,
        })
    }

    /// The tools of one caller: of its instance with its own credential, or of every instance with the credentials of
    /// the settings. Settings of the machine (files, workspace) do not apply to callers, who are elsewhere.
    ///
    /// # Errors
    /// An instance that is not configured, or a toolset that does not exist.
    pub fn tools_for(&self, caller: CallerProfile) -> Result<Instances, CallerError> {
        let of_base = |instance: &&InstanceSettings| instance.tools.gitlab.base == caller.base;
        let first = self.instances.iter().find(of_base).ok_or(CallerError::UnknownInstance)?;
        let auditor = self.auditor.of_caller(&caller.name);
        let adjust = |mut settings: ToolSettings| {
            settings = ToolSettings { files_dir: None, local_hints: false, ..settings };
            if caller.narrowing.read_only {
                allow_only_reads(&mut settings.policy, CALLER_READ_ONLY);
            }
            settings.policy.narrowed_toolsets.clone_from(&caller.narrowing.toolsets);
            if let Some(confirm) = caller.narrowing.confirm {
                settings.policy.confirm = settings.policy.confirm.stricter_of(confirm);
            }
            settings
        };
        let chosen = match &caller.credential {
            CallerCredential::Own(credential) => {
                let mut instance = first.clone();
                instance.tools.gitlab.credential.clone_from(credential);
                instance.tools.gitlab.token_remedy = Some(CALLER_TOKEN_REMEDY.to_owned());
                vec![instance]
            }
            // The instance that the caller names is its default.
            CallerCredential::OfServer => {
                let others = self.instances.iter().filter(|instance| instance.name != first.name);
                std::iter::once(first).chain(others).cloned().collect()
            }
        };
        Ok(self.build(chosen, (&auditor, &caller.declines), &adjust)?)
    }

    /// The tools of the one user of this process.
    ///
    /// # Errors
    /// A policy that cannot be used.
    pub fn own_tools(&self) -> Result<Instances, SetupError> {
        self.build(self.instances.clone(), (&self.auditor, &Arc::default()), &|settings| settings)
    }

    /// The tools of these instances, the default first.
    fn build(
        &self,
        chosen: Vec<InstanceSettings>,
        (auditor, declines): (&Auditor, &Arc<Declines>),
        adjust: &dyn Fn(ToolSettings) -> ToolSettings,
    ) -> Result<Instances, SetupError> {
        let named: Vec<(&str, &Url)> =
            chosen.iter().map(|one| (one.name.as_str(), &one.tools.gitlab.base)).collect();
        let labels = labels(&named);
        let is_single = labels.is_empty();
        let make = |settings: ToolSettings, auditor: Auditor, client: Option<Arc<Client>>| {
            let connected = self.connections.get(&ConnectionKey::new(&settings.gitlab));
            let shared = SharedParts {
                catalog: Arc::clone(&self.catalog),
                ranker: Arc::clone(&self.ranker),
                http_clients: match connected {
                    Some(clients) => Arc::clone(clients),
                    None => Arc::new(HttpClients::new(&settings.gitlab)),
                },
                instances: Arc::clone(&labels),
                used_tokens: Arc::clone(&self.used_tokens),
                declines: Arc::clone(declines),
                auditor,
                client,
            };
            Tools::with_parts(settings, shared).map(Arc::new)
        };
        let mut instances = Vec::new();
        for InstanceSettings { name, paths, is_plain, tools } in &chosen {
            let auditor = if is_single { auditor.clone() } else { auditor.of_instance(name) };
            let settings = adjust(tools.clone());
            let tools = make(settings.clone(), auditor.clone(), None)?;
            let reader = match settings.read_tool {
                true => {
                    let mut settings = settings;
                    settings.policy.reads_by_tool = true;
                    Some(make(settings, auditor, Some(Arc::clone(&tools.client)))?)
                }
                false => None,
            };
            instances
                .push(ConfiguredInstance::new(name, paths, tools).with_reader(reader).with_plain(*is_plain));
        }
        let front = match chosen.into_iter().next().filter(|_| !is_single) {
            Some(default) => {
                let mut front = adjust(ToolSettings { policy: self.policy.clone(), ..default.tools });
                // Changes that every instance refuses are not offered.
                if instances.iter().all(|instance| instance.tools.is_read_only()) {
                    allow_only_reads(&mut front.policy, "`read_only` of every instance");
                }
                Some(make(front, auditor.clone(), None)?)
            }
            None => None,
        };
        let mut instances = instances.into_iter();
        let default = instances.next().ok_or(SetupError::NoInstance)?;
        Ok(Instances::new(default, instances.collect(), front))
    }

    /// The instance of callers that name none.
    pub fn default_instance(&self) -> &Url {
        &self.default
    }

    /// The instances that callers may name.
    pub fn instances(&self) -> impl Iterator<Item = &Url> {
        let bases: BTreeSet<&Url> = self.connections.keys().map(|key| &key.base).collect();
        bases.into_iter()
    }

    /// The HTTP clients of an instance, those of its first account.
    pub fn connections(&self, base: &Url) -> Option<&Arc<HttpClients>> {
        let first = self.instances.iter().find(|instance| instance.tools.gitlab.base == *base)?;
        self.connections.get(&ConnectionKey::new(&first.tools.gitlab))
    }

    /// Outcomes of the requests to each instance.
    pub fn upstream(&self) -> Vec<(&Url, UpstreamCounts)> {
        let mut sums: BTreeMap<&Url, UpstreamCounts> = BTreeMap::new();
        for (key, clients) in &self.connections {
            let (sum, counts) = (sums.entry(&key.base).or_default(), clients.upstream().counts());
            sum.unanswered += counts.unanswered;
            for (status, count) in counts.by_status {
                *sum.by_status.entry(status).or_default() += count;
            }
        }
        sums.into_iter().collect()
    }

    /// Probes each instance, all at the same time: true for those that answer within `limit`.
    pub async fn probe_instances(&self, limit: Duration) -> BTreeMap<Url, bool> {
        let of_base = |base| self.connections(base).map(|clients| (base, clients));
        let probes = self.instances().filter_map(of_base).map(|(base, clients)| async move {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_shared_where_tls_is_verified_alike() {
        let base = Url::parse("https://gitlab.example.com/").unwrap();
        let plain = gitlab::ClientSettings::new(base);
        let key = ConnectionKey::new(&plain);
        let same = gitlab::ClientSettings { retries: 0, ..plain.clone() };
        assert_eq!(ConnectionKey::new(&same), key);
        let root = Url::parse("https://gitlab.example.com/gitlab").unwrap();
        for other in [
            gitlab::ClientSettings { insecure_tls: true, ..plain.clone() },
            gitlab::ClientSettings { ca_file: Some(PathBuf::from("/ca.pem")), ..plain.clone() },
            gitlab::ClientSettings { base: root, ..plain.clone() },
        ] {
            assert_ne!(ConnectionKey::new(&other), key);
        }
    }
}
