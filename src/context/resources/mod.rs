//! Resources: documents that a client reads by URI. Objects of GitLab are read by the ordinary actions, so policy,
//! masking, tags and limits of a call apply here too.

mod address;
mod listing;
pub mod uri_templates;
mod workspace;

use serde_json::{Map, Value, json};

pub use listing::RUNS;
pub use workspace::{Root, Roots};

use crate::catalog::{Action, Base, ResourceRow};
use crate::guides::{self, GUIDES};
use crate::messages::error::{self, ErrorKind, ToolError};
use crate::tools::action_uri::{ACTION, ACTIONS, ACTIONS_PART};
use crate::tools::{Answer, Attachment, Capabilities, EXECUTE, ExecuteRequest, Tools};
use address::{ObjectRead, ResourceUri};
use uri_templates::{Namespace, RESOURCE_KINDS, ResourceKind};

/// A resource or resource template, as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceEntry {
    /// The URI; for a template, with variables (RFC 6570).
    pub uri: String,
    pub name: String,
    pub title: &'static str,
    pub what: String,
    pub mime: &'static str,
}

/// Content of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceContent {
    pub text: String,
    pub mime: &'static str,
    /// The file itself, if it is no text.
    pub file: Option<Attachment>,
    /// True if it is constant while the program runs.
    pub is_constant: bool,
}

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// URI of the client's workspace.
const ROOTS: &str = "gitlab://workspace/roots";
fn entry(uri: &str, name: &str, title: &'static str, what: &str, mime: &'static str) -> ResourceEntry {
    ResourceEntry { uri: uri.to_owned(), name: name.to_owned(), title, what: what.to_owned(), mime }
}

impl Tools {
    /// Resources, prompts and completions that are offered.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Resources with a fixed URI.
    pub fn resources(&self) -> Vec<ResourceEntry> {
        let mut entries = vec![
            entry(
                ROOTS,
                "workspace_roots",
                "The workspace",
                "The client's open folders, with the project of each if known.",
                JSON,
            ),
            entry(
                ACTIONS,
                "tools",
                "Every action",
                "All actions with their risk and required parameters, a hundred a page.",
                MARKDOWN,
            ),
        ];
        if self.capabilities == Capabilities::Full {
            entries.extend(GUIDES.iter().map(|guide| {
                entry(
                    &format!("gitlab://guides/{}", guide.name),
                    guide.name,
                    guide.title,
                    guide.what,
                    MARKDOWN,
                )
            }));
        }
        entries
    }

    /// Resource templates.
    pub fn templates(&self) -> Vec<ResourceEntry> {
        let mut entries = vec![
            entry(
                ACTIONS_PART,
                "tools_part",
                "A part of the actions",
                "The actions of one domain, or one page of all actions.",
                MARKDOWN,
            ),
            entry(
                ACTION,
                "tool",
                "One action",
                "Its call, its signature and the JSON Schema of its parameters; or a listed tool by its name.",
                JSON,
            ),
        ];
        if self.capabilities == Capabilities::Full {
            let shown = RESOURCE_KINDS.iter().filter(|thing| self.may_read(thing));
            entries.extend(shown.map(|thing| {
                let ResourceRow { name, title, template, action, .. } = thing.row;
                entry(template, name, title, &format!("What {action} answers."), MARKDOWN)
            }));
        }
        entries
    }

    /// Reads a resource. `roots` are the client's workspace folders.
    ///
    /// `not_found` if there is no such resource or object in GitLab; else the errors of a call.
    pub async fn read_resource(&self, uri: &str, roots: &Roots) -> Result<ResourceContent, ToolError> {
        self.resource(uri, roots).await.map_err(|error| self.bounded(error))
    }

    async fn resource(&self, uri: &str, roots: &Roots) -> Result<ResourceContent, ToolError> {
        let made =
            |text: String, mime: &'static str| ResourceContent { text, mime, file: None, is_constant: false };
        match address::parse(uri)? {
            ResourceUri::Roots => {
                // The default project may be that of a root, which no call may have requested yet.
                if let Roots::Given(roots) = roots {
                    self.work_in(&roots.iter().map(|root| root.uri.clone()).collect::<Vec<_>>());
                }
                let project = crate::tools::workspace::default_project(self).map(|(path, _)| path);
                let of = |root: &str| crate::tools::workspace::project_of(self, root);
                Ok(made(workspace::render_roots(roots, &of, project.as_deref()), JSON))
            }
            ResourceUri::Actions { domain, page } => {
                listing::actions(self, domain.as_deref(), page).map(|text| made(text, MARKDOWN))
            }
            ResourceUri::Action(id) => listing::action(self, &id).map(|text| made(text, JSON)),
            _ if self.capabilities == Capabilities::Minimal => {
                Err(address::unknown(uri).hint("It requires CAPABILITY_SURFACE=full."))
            }
            ResourceUri::Guide(name) => {
                let guide = guides::guide(&name).ok_or_else(|| address::unknown(uri))?;
                Ok(ResourceContent { is_constant: true, ..made(guide.text.to_owned(), MARKDOWN) })
            }
            ResourceUri::ResourceKind(reading) => {
                let answer = self.read_thing(reading).await?;
                let text = answer.text.trim_end_matches('\n').to_owned();
                Ok(ResourceContent { file: answer.file, ..made(text, MARKDOWN) })
            }
        }
    }

    async fn read_thing(&self, reading: ObjectRead) -> Result<Answer, ToolError> {
        if !self.offers(EXECUTE) {
            return Err(no_execute());
        }
        let ObjectRead { thing, params, lines } = reading;
        let action = self.catalog.get(&thing.row.action).map_err(|error| error::internal(&error))?;
        let params = action.map(|action| typed(&action, thing.holder, params)).unwrap_or_default();
        let request =
            ExecuteRequest { action: thing.row.action.clone(), params, lines, ..Default::default() };
        self.execute(&request).await
    }

    /// True if the policy allows reading such an object.
    fn may_read(&self, thing: &ResourceKind) -> bool {
        let action = self.catalog.get(&thing.row.action).ok().flatten();
        self.offers(EXECUTE) && action.is_some_and(|action| self.withholds(&action).is_none())
    }
}

/// Converts the values of a URI to the types of the action, and adds its `scope`.
fn typed(action: &Action, holder: Namespace, mut params: Map<String, Value>) -> Map<String, Value> {
    for (name, value) in &mut params {
        let is_number = action.param(name).is_some_and(|param| param.kind.base == Base::Integer);
        if let Some(number) = value.as_str().filter(|_| is_number).and_then(|text| text.parse::<u64>().ok()) {
            *value = json!(number);
        }
    }
    let scope = match holder {
        Namespace::Nothing(_) => "instance",
        holder => holder.first_segment(),
    };
    if action.param("scope").is_some_and(|param| param.choices.iter().any(|choice| choice == scope)) {
        params.insert("scope".to_owned(), json!(scope));
    }
    params
}

/// The action that a URI of the action list names; `Some(None)` for the list itself.
pub fn action_resource(uri: &str) -> Option<Option<String>> {
    match address::parse(uri) {
        Ok(ResourceUri::Actions { .. }) => Some(None),
        Ok(ResourceUri::Action(name)) => Some(Some(name)),
        _ => None,
    }
}

/// True if a URI is that of the workspace, which needs the client's roots.
pub fn is_of_workspace(uri: &str) -> bool {
    matches!(address::parse(uri), Ok(ResourceUri::Roots))
}

/// The error if the execute tool is denied: resources must not bypass that.
pub(super) fn no_execute() -> ToolError {
    ToolError::new(ErrorKind::Denied, format!("{EXECUTE} is denied here (GITLAB_DENIED_TOOLS_REGEX)"))
}
