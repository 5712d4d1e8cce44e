//! Settings of the HTTP server, and the rules among them.

use super::error::ConfigError;
use super::instances::is_on_this_machine;
use super::sources::Sources;
use super::table::{
    ALLOWED_HOSTS, ALLOWED_ORIGINS, AUTH, CALLER_CALLS, CALLER_RATE, HTTP, METRICS, OAUTH_APPLICATIONS,
    PUBLIC_URL, TLS_CERT, TLS_KEY,
};
use super::values::AuthKind;
use crate::server::http::{AuthMode, HttpSettings, TlsFiles};

impl Sources<'_> {
    /// Settings of the HTTP server; none if it is not wanted.
    ///
    /// # Errors
    /// An invalid value, or values that would expose a token.
    pub(super) fn http(&self, is_sandbox: bool) -> Result<Option<HttpSettings>, ConfigError> {
        let Some(listen) = self.parse(&HTTP)? else {
            // A variable may be set for another start; a flag is for this one.
            let of_server = [
                AUTH.name,
                OAUTH_APPLICATIONS.name,
                PUBLIC_URL.name,
                TLS_CERT.name,
                TLS_KEY.name,
                ALLOWED_HOSTS.name,
            ];
            let stray = of_server.into_iter().find(|name| self.flags.contains_key(name));
            return stray.map_or(Ok(None), |name| Err(ConfigError::NoServer(name)));
        };
        let kind = match self.parse(&AUTH)? {
            Some(kind) => kind,
            // The sandbox has nothing to protect; elsewhere no local process gets this server's token unasked.
            None if listen.is_local() && is_sandbox => AuthKind::None,
            None if listen.is_local() => AuthKind::Token,
            None => return Err(ConfigError::NoAuthMode),
        };
        let applications = self.parse(&OAUTH_APPLICATIONS)?.unwrap_or_default();
        if kind != AuthKind::OAuth && !applications.is_empty() {
            return Err(ConfigError::NoOAuth(OAUTH_APPLICATIONS.name));
        }
        let auth = match kind {
            AuthKind::None => AuthMode::None,
            AuthKind::Token => AuthMode::Token,
            AuthKind::OAuth if applications.is_empty() => return Err(ConfigError::NoApplications),
            AuthKind::OAuth => AuthMode::OAuth { applications },
        };
        let public_url = self.parse(&PUBLIC_URL)?;
        if !listen.is_local() && (auth == AuthMode::None || public_url.is_none()) {
            return Err(ConfigError::Exposed);
        }
        let is_elsewhere = public_url.as_ref().is_some_and(|url| !is_on_this_machine(url));
        if auth == AuthMode::None && !is_sandbox && is_elsewhere {
            return Err(ConfigError::NoIdentification(PUBLIC_URL.name));
        }
        Ok(Some(HttpSettings {
            listen,
            auth,
            public_url,
            tls: self.key_pair(&TLS_CERT, &TLS_KEY)?.map(|(certificate, key)| TlsFiles { certificate, key }),
            metrics: self.parse(&METRICS)?,
            allowed_hosts: self.parse(&ALLOWED_HOSTS)?.unwrap_or_default(),
            allowed_origins: self.parse(&ALLOWED_ORIGINS)?.unwrap_or_default(),
            caller_rate: self.parse_required(&CALLER_RATE)?,
            caller_calls: self.parse_required(&CALLER_CALLS)?,
        }))
    }
}
