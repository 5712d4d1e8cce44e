//! Chooses the instance of a call: by a URL in it, by its argument `instance`, by the git remote of the workspace, or
//! the default.

use std::sync::Arc;

use serde_json::{Value, json};

use super::addresses::Addresses;
use super::configured::{ConfiguredInstance, Instances};
use crate::call::{self, FullPath};
use crate::messages::arguments::INSTANCE;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{ExecuteRequest, FindRequest, NextCall};
use crate::search::nearest;
use crate::tools::action_lookup;
use crate::tools::state::Tools;
use crate::tools::workspace;
use crate::untrusted::quote;

/// A chosen instance.
#[derive(Clone, Debug)]
pub struct Route {
    pub(super) instance: Arc<ConfiguredInstance>,
    /// True if the request itself names the instance, by a URL or the argument.
    pub(super) is_named: bool,
}

impl Route {
    /// The tools of the instance.
    pub fn tools(&self) -> &Arc<Tools> {
        &self.instance.tools
    }

    /// The tools of the instance that only read, if they are offered.
    pub(crate) fn reader(&self) -> Option<&Arc<Tools>> {
        self.instance.reader.as_ref()
    }
}

impl Instances {
    /// The instance of an execute, and the request as its tools take it: without the name, so that a confirmation token
    /// is independent of how the instance was chosen.
    pub(crate) fn route_execute(
        &self,
        request: &ExecuteRequest,
    ) -> Result<(Route, ExecuteRequest), ToolError> {
        let request = self.lift_instance(request);
        let route = self.choose_for_execute(&request).map_err(|error| self.bounded(error))?;
        Ok((route, ExecuteRequest { instance: None, ..request }))
    }

    /// The instance of a find.
    ///
    /// # Errors
    /// A name or URL of no configured instance.
    pub fn route_find(&self, request: &FindRequest) -> Result<Route, ToolError> {
        self.choose_for_find(request).map_err(|error| self.bounded(error))
    }

    /// The request with its argument `instance`, which may be among the parameters. If it is given in both places, the
    /// parameter stays and is refused.
    fn lift_instance(&self, request: &ExecuteRequest) -> ExecuteRequest {
        let lifted = || {
            // A call that cannot be resolved is refused by whichever instance gets it.
            let action = action_lookup::resolve(&self.front, request).ok()?.action;
            action_lookup::lift_argument(&action, request, INSTANCE)
        };
        let is_among_params = request.instance.is_none() && request.params.contains_key(INSTANCE);
        is_among_params.then(lifted).flatten().unwrap_or_else(|| request.clone())
    }

    fn choose_for_execute(&self, request: &ExecuteRequest) -> Result<Route, ToolError> {
        let named = request.instance.as_deref().map(|name| self.require_named(name, request)).transpose()?;
        let route = |instance: &Arc<ConfiguredInstance>, is_named: bool| Route {
            instance: Arc::clone(instance),
            is_named,
        };
        if self.is_single() {
            return Ok(route(&self.default, false));
        }
        let addresses = Addresses::of_request(&self.front, request);
        let by_url = self.by_url(&addresses)?;
        match (named, by_url.first()) {
            (Some(named), Some(of_url)) if !of_url.shares_root(named) => Err(contradiction(named, of_url)),
            (Some(named), _) => Ok(route(named, true)),
            (None, Some(_)) => Ok(route(self.account(&by_url, &addresses)?, true)),
            (None, None) => Ok(route(self.of_workspace(&addresses)?, false)),
        }
    }

    /// The instance of a find: that of its argument, its URL's, the workspace's, or the default.
    fn choose_for_find(&self, request: &FindRequest) -> Result<Route, ToolError> {
        if let Some(name) = request.instance.as_deref() {
            let instance = self.find_named(name).ok_or_else(|| {
                let near = self.nearest_name(name).map(str::to_owned);
                let mut arguments = json!(FindRequest { instance: near, ..request.clone() });
                if let Value::Object(arguments) = &mut arguments {
                    arguments.retain(|_, value| !value.is_null());
                }
                self.unknown_name(name).fix(NextCall::find(arguments))
            })?;
            return Ok(Route { instance: Arc::clone(instance), is_named: true });
        }
        if self.is_single() {
            return Ok(Route { instance: Arc::clone(&self.default), is_named: false });
        }
        let query = request.query.trim();
        let of_url =
            Some(query).filter(|query| call::is_web_url(query)).map(|query| self.addressed_by(query));
        let of_url = match of_url.filter(|there| !there.is_empty()) {
            Some(there) => {
                let addresses = Addresses { targets: vec![query.to_owned()], paths: Vec::new() };
                Some(self.account(&there, &addresses)?)
            }
            None => None,
        };
        let instance = match of_url {
            Some(instance) => instance,
            None => self.of_workspace(&Addresses::default())?,
        };
        Ok(Route { instance: Arc::clone(instance), is_named: of_url.is_some() })
    }

    /// The instance of a name, a host or a root URL.
    pub(super) fn find_named(&self, name: &str) -> Option<&Arc<ConfiguredInstance>> {
        let name = name.trim();
        let by_name = self.all().find(|instance| instance.name.eq_ignore_ascii_case(name));
        by_name.or_else(|| {
            let name = name.trim_end_matches('/');
            let mut same = self.all().filter(|instance| {
                let base = &instance.tools.base;
                base.as_str().trim_end_matches('/').eq_ignore_ascii_case(name)
                    || base.host_str().is_some_and(|host| host.eq_ignore_ascii_case(name))
                    || base.authority().eq_ignore_ascii_case(name)
            });
            let first = same.next()?;
            same.next().is_none().then_some(first)
        })
    }

    /// The name or host that is most like a misspelt one.
    fn nearest_name(&self, name: &str) -> Option<&str> {
        // Another address is another GitLab, and no misspelling.
        if name.contains(['.', ':', '/'])
            || self.all().any(|one| one.tools.base.host_str() == Some(name.trim()))
        {
            return None;
        }
        nearest(name.trim(), self.all().map(|instance| instance.name.as_str()))
    }

    /// The instance of that name, else the error for a request with an unknown one.
    pub(super) fn require_named(
        &self,
        name: &str,
        request: &ExecuteRequest,
    ) -> Result<&Arc<ConfiguredInstance>, ToolError> {
        self.find_named(name).ok_or_else(|| {
            let error = self.unknown_name(name);
            match self.nearest_name(name) {
                Some(near) => {
                    let request =
                        ExecuteRequest { instance: Some(near.to_owned()), ..without_consent(request) };
                    error.fix(NextCall::for_request(&request))
                }
                // A call without it would go to the default, which was not meant.
                None => error,
            }
        })
    }

    /// The accounts of the instance that the URLs of a call are of; none if it has no URL. URLs of two instances, or of
    /// an unknown one, are refused.
    fn by_url(&self, addresses: &Addresses) -> Result<Vec<&Arc<ConfiguredInstance>>, ToolError> {
        let mut found: Vec<&Arc<ConfiguredInstance>> = Vec::new();
        for text in &addresses.targets {
            let of_text = self.addressed_by(text);
            match (of_text.first(), found.first()) {
                (None, _) if call::is_web_url(text) => return Err(self.unknown_url(text)),
                (None, _) => {}
                (Some(one), Some(other)) if !one.shares_root(other) => {
                    return Err(two_instances(one, other));
                }
                (Some(_), _) => found = of_text,
            }
        }
        Ok(found)
    }

    /// The accounts of the instance that an address is of: below the longest root, where one is below another.
    fn addressed_by(&self, text: &str) -> Vec<&Arc<ConfiguredInstance>> {
        let root = |instance: &ConfiguredInstance| instance.tools.base.path().len();
        let mut found: Vec<&Arc<ConfiguredInstance>> =
            self.all().filter(|instance| instance.is_addressed_by(text)).collect();
        let longest = found.iter().map(|instance| root(instance)).max();
        found.retain(|instance| Some(root(instance)) == longest);
        found
    }

    /// The first instance that a working copy of the client comes from, else the default; of several accounts there,
    /// the one for the path.
    fn of_workspace(&self, addresses: &Addresses) -> Result<&Arc<ConfiguredInstance>, ToolError> {
        for (_, _, remote) in workspace::remotes(&self.default.tools) {
            let there: Vec<&Arc<ConfiguredInstance>> =
                self.all().filter(|instance| instance.is_remote(&remote)).collect();
            let Some(first) = there.first() else { continue };
            let paths = workspace::remote_paths(&first.tools, &remote).unwrap_or_default();
            let named = self.is_located(addresses).then_some(addresses);
            let of_remote = Addresses { targets: Vec::new(), paths: paths.into_iter().take(1).collect() };
            return self.account(&there, named.unwrap_or(&of_remote));
        }
        let there: Vec<&Arc<ConfiguredInstance>> =
            self.all().filter(|instance| instance.shares_root(&self.default)).collect();
        self.account(&there, addresses)
    }

    fn is_located(&self, addresses: &Addresses) -> bool {
        !addresses.paths.is_empty() || !addresses.targets.is_empty()
    }

    /// The account of one instance that is for the paths of a call: the most specific of its patterns decides. Without
    /// a match it is the first account without patterns.
    fn account<'a>(
        &'a self,
        there: &[&'a Arc<ConfiguredInstance>],
        addresses: &Addresses,
    ) -> Result<&'a Arc<ConfiguredInstance>, ToolError> {
        let mut chosen: Option<&Arc<ConfiguredInstance>> = None;
        let base = there.first().map_or(&self.default.tools.base, |instance| &instance.tools.base);
        let of_targets = addresses.targets.iter().filter_map(|text| call::path_of(text, base));
        for path in addresses.paths.iter().cloned().chain(of_targets) {
            let Some(path) = FullPath::parse(&path) else { continue };
            let matching =
                there.iter().filter_map(|instance| Some((instance.specificity(&path)?, *instance)));
            let Some((_, account)) = matching.max_by_key(|(specificity, _)| *specificity) else { continue };
            match chosen {
                Some(other) if other.name != account.name => return Err(two_instances(account, other)),
                _ => chosen = Some(account),
            }
        }
        let general = || there.iter().find(|instance| instance.paths.is_empty()).or(there.first()).copied();
        Ok(chosen.or_else(general).unwrap_or(&self.default))
    }

    fn unknown_name(&self, name: &str) -> ToolError {
        let several = self.all().filter(|one| one.tools.base.host_str() == Some(name.trim())).count();
        let message = match several {
            0 | 1 => format!("`instance`: no GitLab is configured as {}", quote(name)),
            _ => format!("`instance`: {several} are configured at {}", quote(name)),
        };
        ToolError::new(ErrorKind::InvalidParams, message).hint(self.known())
    }

    fn unknown_url(&self, text: &str) -> ToolError {
        let host = url::Url::parse(text).ok().and_then(|url| url.host_str().map(str::to_owned));
        let host = host.unwrap_or_else(|| text.to_owned());
        let message = format!("{} is none of the configured GitLabs. Nothing was sent", quote(&host));
        ToolError::new(ErrorKind::InvalidParams, message).hint(self.known())
    }

    /// `Configured: work (https://git.example.com/), gitlab.com (https://gitlab.com/).`
    fn known(&self) -> String {
        let known: Vec<String> =
            self.all().map(|instance| format!("{} ({})", instance.name, instance.tools.base)).collect();
        format!("Configured: {}.", known.join(", "))
    }
}

/// The request without its instance and without consent: consent to a call of one instance is none to another.
fn without_consent(request: &ExecuteRequest) -> ExecuteRequest {
    ExecuteRequest { instance: None, confirm: None, confirmation_token: None, ..request.clone() }
}

fn contradiction(named: &ConfiguredInstance, of_url: &ConfiguredInstance) -> ToolError {
    let message = format!(
        "`instance` is {}, but a URL in the call is of {}. Nothing was sent",
        named.name, of_url.name
    );
    ToolError::new(ErrorKind::InvalidParams, message).hint("Leave out the one that is not meant.")
}

fn two_instances(one: &ConfiguredInstance, other: &ConfiguredInstance) -> ToolError {
    let message = format!(
        "the call has addresses of two GitLabs, {} and {}: one call goes to one. Nothing was sent",
        other.name, one.name
    );
    ToolError::new(ErrorKind::InvalidParams, message).hint("Make a call for each.")
}
