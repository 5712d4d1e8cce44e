//! The configured GitLab instances: each has tools of its own (credential, policy, look-ups, confirmation tokens,
//! version, scopes, connection), and a call is handed to those of one instance. The tools of an instance know no other
//! address and no other credential, so a token cannot be sent to the host of another instance.

mod addresses;
mod configured;
mod route;

use std::borrow::Cow;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use url::Url;

use crate::messages::arguments::INSTANCE;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::question::{AskedCall, Refusal};
use crate::messages::request::{Answer, FindRequest};
use crate::messages::rewrite_calls::{extend_examples, rewrite_calls};
use crate::tools::state::{InstanceLabel, ToolSettings, Tools};
pub use configured::{ConfiguredInstance, Instances};
pub use route::Route;

/// Settings of one instance.
#[derive(Clone, Debug)]
pub struct InstanceSettings {
    /// The name by which calls choose it.
    pub name: String,
    /// True for the instance of the plain settings; others have a table in the settings file.
    pub is_plain: bool,
    /// Patterns of the projects and groups that this account is for, where several accounts share an instance.
    pub paths: Vec<String>,
    pub tools: ToolSettings,
}

impl Instances {
    /// Takes the directories that the client works in.
    pub fn work_in(&self, roots: &[String]) {
        for instance in self.all() {
            instance.tools.work_in(roots);
            if let Some(reader) = &instance.reader {
                reader.work_in(roots);
            }
        }
    }

    /// Sets the scopes of the token of the default instance, if they are known from elsewhere.
    pub fn set_scopes(&self, scopes: &[String]) {
        self.default.tools.set_scopes(scopes);
        if let Some(reader) = &self.default.reader {
            reader.set_scopes(scopes);
        }
    }

    /// True if an instance has accepted the token of one of these tools.
    pub fn is_accepted(&self) -> bool {
        let tools = self.all().flat_map(|instance| std::iter::once(&instance.tools).chain(&instance.reader));
        tools.into_iter().any(|tools| tools.token_info.is_accepted())
    }

    /// Runs `gitlab_find_action`, with the policy and the version of the instance.
    pub fn find(&self, request: &FindRequest) -> Result<Answer, ToolError> {
        self.find_at(&self.route_find(request)?, request)
    }

    /// Runs `gitlab_find_action` on a chosen instance.
    pub fn find_at(&self, route: &Route, request: &FindRequest) -> Result<Answer, ToolError> {
        let found = route.instance.tools.find(request);
        if self.is_single() {
            return found;
        }
        if !route.is_named {
            return match found {
                Ok(answer) => Ok(self.redact(answer, &route.instance)),
                Err(error) => Err(self.bounded(error)),
            };
        }
        let mut outcome = self.finish(found, route);
        if let Ok(answer) = &mut outcome {
            extend_examples(answer, INSTANCE, &json!(route.instance.name));
        }
        outcome
    }

    /// Notes that a person did not consent to calls of an instance, and returns their error.
    pub fn refuse(&self, name: Option<&str>, asked: &[AskedCall], refusal: Refusal) -> ToolError {
        let error = self.bounded(self.tools_named(name).refuse(asked, refusal));
        name.into_iter().fold(error, |error, name| error.detail(INSTANCE, json!(name)))
    }

    /// The tools of the instance of that name, else those of the default.
    pub fn tools_named(&self, name: Option<&str>) -> &Tools {
        let named = name.and_then(|name| self.find_named(name));
        named.map_or(&self.default.tools, |instance| &instance.tools)
    }

    /// The tools that a resource is read with, and its URI without `instance=NAME`.
    pub fn route_resource(&self, uri: &str) -> Result<(Arc<Tools>, String), ToolError> {
        if self.is_single() {
            return Ok((Arc::clone(&self.default.tools), uri.to_owned()));
        }
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        let (names, rest): (Vec<&str>, Vec<&str>) =
            query.split('&').partition(|pair| pair.starts_with("instance="));
        let rest: Vec<&str> = rest.into_iter().filter(|pair| !pair.is_empty()).collect();
        let uri = if rest.is_empty() { path.to_owned() } else { format!("{path}?{}", rest.join("&")) };
        if names.len() > 1 {
            let message = "`instance` is given more than once: expected one name";
            return Err(ToolError::new(ErrorKind::InvalidParams, message));
        }
        let name = names.first().and_then(|pair| pair.strip_prefix("instance="));
        let instance = name.map(|name| percent_decode_str(name).decode_utf8_lossy().into_owned());
        let route = self.route_find(&FindRequest { instance, ..FindRequest::default() })?;
        Ok((Arc::clone(&route.instance.tools), uri))
    }

    /// Redacts the credentials of every other instance in a text.
    pub fn redact_text(&self, text: &mut String) {
        for instance in self.all().filter(|_| !self.is_single()) {
            instance.tools.client.secrets().redact_string(text);
        }
    }

    /// Redacts the credentials of every other instance in a value.
    pub fn redact_value(&self, value: &mut Value) {
        for instance in self.all().filter(|_| !self.is_single()) {
            instance.tools.client.secrets().redact_value(value);
        }
    }

    /// The outcome with the name of its instance, which its calls carry too, and without the credentials of the others.
    pub(crate) fn finish(
        &self,
        outcome: Result<Answer, ToolError>,
        route: &Route,
    ) -> Result<Answer, ToolError> {
        if self.is_single() {
            return outcome;
        }
        let name = &route.instance.name;
        let carry = |tool: &str, arguments: &Map<String, Value>| {
            let mut arguments = arguments.clone();
            arguments.insert(INSTANCE.to_owned(), json!(name));
            Some((tool.to_owned(), arguments))
        };
        match rewrite_calls(outcome, &carry) {
            Ok(mut answer) => {
                answer.structured.insert(INSTANCE.to_owned(), json!(name));
                answer.text = format!("Instance: {name}\n{}", answer.text);
                Ok(self.redact(answer, &route.instance))
            }
            Err(mut error) => {
                if !route.instance.is_plain {
                    if NAME_SETTINGS.contains(&error.kind) {
                        error.hint = error.hint.map(|hint| name_table_keys(&hint, name));
                    }
                    // Other messages quote parameters and GitLab's answers.
                    if error.kind == ErrorKind::Denied {
                        error.message = name_keys(&error.message, name, &[POLICY_KEY]);
                    }
                }
                error.details.insert(INSTANCE.to_owned(), json!(name));
                if let Some(question) = &mut error.question {
                    question.instance = Some(name.clone());
                }
                Err(self.bounded(error))
            }
        }
    }

    /// An error without the credentials of any instance.
    pub(crate) fn bounded(&self, error: ToolError) -> ToolError {
        self.all().fold(error, |error, instance| instance.tools.bounded(error))
    }

    fn redact(&self, mut answer: Answer, of: &ConfiguredInstance) -> Answer {
        for instance in self.all().filter(|instance| instance.name != of.name) {
            let secrets = instance.tools.client.secrets();
            secrets.redact_map(&mut answer.structured);
            secrets.redact_string(&mut answer.text);
        }
        answer
    }
}

/// Kinds of errors whose hints name settings.
const NAME_SETTINGS: [ErrorKind; 7] = [
    ErrorKind::Denied,
    ErrorKind::Unauthorized,
    ErrorKind::Forbidden,
    ErrorKind::NotFound,
    ErrorKind::GitlabError,
    ErrorKind::Network,
    ErrorKind::InvalidParams,
];

/// Key of the policy file, which denials name.
const POLICY_KEY: (&str, &str) = ("GITLAB_POLICY", "policy");

/// Keys of a table `[[instance]]` in place of the plain settings.
const TABLE_KEYS: [(&str, &str); 7] = [
    ("GITLAB_TOKEN_COMMAND", "token_command"),
    ("GITLAB_TOKEN", "token_env"),
    ("GITLAB_URL", "url"),
    ("GITLAB_CA_FILE", "ca_file"),
    ("GITLAB_INSECURE_TLS", "insecure_tls"),
    POLICY_KEY,
    ("GITLAB_READ_ONLY", "read_only"),
];

/// Words on the plain settings as words on the table of an instance. Only whole words that are not in quotes: a quoted
/// one is a value.
pub fn name_table_keys(text: &str, instance: &str) -> String {
    name_keys(text, instance, &TABLE_KEYS)
}

fn name_keys(text: &str, instance: &str, keys: &[(&str, &str)]) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '`' | '"');
    let pieces = text.split_inclusive(|c| !is_part(c)).map(|piece| {
        let word = piece.trim_end_matches(|c| !is_part(c));
        let key = keys.iter().find_map(|(setting, key)| (*setting == word).then_some(key));
        match (key, piece.strip_prefix(word)) {
            (Some(key), Some(rest)) => Cow::Owned(format!("`{key}` of [[instance]] {instance}{rest}")),
            _ => Cow::Borrowed(piece),
        }
    });
    pieces.collect()
}

/// The name of an instance that has none of its own: its host, with the port and the path if there are any.
pub fn name_of(base: &Url) -> String {
    let host = base.host_str().unwrap_or_default();
    let port = base.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{host}{port}{}", base.path().trim_end_matches('/'))
}

/// Labels of several instances; none for one.
pub(crate) fn labels(named: &[(&str, &Url)]) -> Arc<[InstanceLabel]> {
    let label =
        |(name, base): &(&str, &Url)| InstanceLabel { name: (*name).to_owned(), base: (*base).clone() };
    if named.len() > 1 { named.iter().map(label).collect() } else { Arc::from([]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_as_keys_of_the_table() {
        for (text, expected) in [
            ("set a new one in GITLAB_TOKEN.", "set a new one in `token_env` of [[instance]] work."),
            (
                "GITLAB_TOKEN_COMMAND, or (GITLAB_URL)",
                "`token_command` of [[instance]] work, or (`url` of [[instance]] work)",
            ),
            ("MY_GITLAB_TOKEN and GITLAB_TOKEN_OLD", "MY_GITLAB_TOKEN and GITLAB_TOKEN_OLD"),
            ("`key`: \"GITLAB_TOKEN\", `GITLAB_URL`", "`key`: \"GITLAB_TOKEN\", `GITLAB_URL`"),
            ("", ""),
        ] {
            assert_eq!(name_table_keys(text, "work"), expected);
        }
    }
}
