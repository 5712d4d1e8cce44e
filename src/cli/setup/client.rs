//! Clients that setup knows, and how each writes down a server.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::edit::{ConfigEditError, EditPiece, Insertion};
use super::{jsonc, toml_table};
use crate::cli::settings::SANDBOX;
use crate::config::{self, Flags, Row, URL};

/// The variable with the token.
pub const TOKEN: &str = "GITLAB_TOKEN";

/// Keys of a server's variables and headers.
const SECRET_KEYS: [&str; 4] = ["env", "environment", "headers", "http_headers"];

/// An MCP client with a configuration file. Reports list them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum McpClient {
    /// Visual Studio Code
    Vscode,
    /// Visual Studio Code Insiders
    VscodeInsiders,
    /// Claude Desktop
    ClaudeDesktop,
    /// Claude Code, for all projects of the user
    ClaudeCode,
    /// Cursor
    Cursor,
    /// Junie in JetBrains IDEs
    Jetbrains,
    /// Zed
    Zed,
    /// Windsurf
    Windsurf,
    /// Gemini CLI
    GeminiCli,
    /// Codex
    Codex,
    /// opencode
    Opencode,
}

/// How a server gets the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenUse {
    /// Not by the configuration: from the environment that it inherits, or from a sign-in.
    Elsewhere,
    /// A reference to the variable of the client's environment, where the client has such references.
    Reference,
    /// The token itself, in the file.
    Literal(String),
}

/// Codex' member with the variables that it passes on.
const PASSED_VARIABLES: &str = "env_vars";

/// A server as a configuration describes it.
#[derive(Clone, Debug)]
pub struct ServerEntry {
    pub command: String,
    pub arguments: Vec<String>,
    pub settings: BTreeMap<String, String>,
    pub token: TokenUse,
    /// Members of the client's own, which a change keeps: `disabled`, `timeout`.
    pub others: Map<String, Value>,
}

/// A server that a configuration has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub name: String,
    pub command: String,
    pub arguments: Vec<String>,
    /// Settings by name; a value may be a reference.
    pub settings: BTreeMap<String, String>,
    /// The other members of the entry.
    pub others: Map<String, Value>,
}

impl McpClient {
    /// Name as people write it.
    pub fn label(self) -> &'static str {
        match self {
            McpClient::Vscode => "VS Code",
            McpClient::VscodeInsiders => "VS Code Insiders",
            McpClient::ClaudeDesktop => "Claude Desktop",
            McpClient::ClaudeCode => "Claude Code",
            McpClient::Cursor => "Cursor",
            McpClient::Jetbrains => "JetBrains Junie",
            McpClient::Zed => "Zed",
            McpClient::Windsurf => "Windsurf",
            McpClient::GeminiCli => "Gemini CLI",
            McpClient::Codex => "Codex",
            McpClient::Opencode => "opencode",
        }
    }

    /// Name as an argument.
    pub fn id(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Key of the servers in the file.
    fn container(self) -> &'static str {
        match self {
            McpClient::Vscode | McpClient::VscodeInsiders => "servers",
            McpClient::Zed => "context_servers",
            McpClient::Codex => "mcp_servers",
            McpClient::Opencode => "mcp",
            _ => "mcpServers",
        }
    }

    /// True if an entry can have its token in this way.
    pub fn takes(self, token: &TokenUse) -> bool {
        match token {
            TokenUse::Elsewhere => false,
            TokenUse::Reference => self == McpClient::Codex || self.token_reference().is_some(),
            TokenUse::Literal(_) => true,
        }
    }

    /// Reference to the token's variable, where the client replaces such references.
    fn token_reference(self) -> Option<&'static str> {
        match self {
            McpClient::Vscode | McpClient::VscodeInsiders | McpClient::Cursor | McpClient::Windsurf => {
                Some("${env:GITLAB_TOKEN}")
            }
            // Without a default, a missing variable makes the configuration invalid.
            McpClient::ClaudeCode => Some("${GITLAB_TOKEN:-}"),
            McpClient::GeminiCli => Some("$GITLAB_TOKEN"),
            McpClient::Opencode => Some("{env:GITLAB_TOKEN}"),
            McpClient::ClaudeDesktop | McpClient::Jetbrains | McpClient::Zed | McpClient::Codex => None,
        }
    }

    /// The entry of a server.
    fn entry(self, server: &ServerEntry) -> Value {
        let mut variables: Map<String, Value> =
            server.settings.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
        match &server.token {
            TokenUse::Elsewhere => {}
            TokenUse::Literal(token) => {
                variables.insert(TOKEN.to_owned(), Value::from(token.as_str()));
            }
            TokenUse::Reference => {
                if let Some(reference) = self.token_reference() {
                    variables.insert(TOKEN.to_owned(), Value::from(reference));
                }
            }
        }
        let (command, arguments) = (&server.command, &server.arguments);
        let mut entry = match self {
            McpClient::Vscode | McpClient::VscodeInsiders | McpClient::ClaudeCode => {
                json!({"type": "stdio", "command": command, "args": arguments})
            }
            McpClient::Opencode => {
                let whole: Vec<&String> = [command].into_iter().chain(arguments).collect();
                json!({"type": "local", "command": whole, "enabled": true})
            }
            _ => json!({"command": command, "args": arguments}),
        };
        if let Some(entry) = entry.as_object_mut() {
            let name = if self == McpClient::Opencode { "environment" } else { "env" };
            if !variables.is_empty() {
                entry.insert(name.to_owned(), Value::Object(variables));
            }
            entry.extend(server.others.clone());
            // Codex starts servers with a few variables only, besides those that are named.
            if self == McpClient::Codex && server.token == TokenUse::Reference {
                let named = entry.entry(PASSED_VARIABLES).or_insert_with(|| json!([]));
                named.as_array_mut().into_iter().for_each(|named| named.push(json!(TOKEN)));
            }
        }
        entry
    }

    /// The servers in the text of a configuration.
    pub fn servers(self, text: &str) -> Result<Vec<Known>, ConfigEditError> {
        let members = match self {
            McpClient::Codex => toml_table::members(text, self.container()),
            _ => jsonc::members(text, self.container()),
        }?;
        Ok(members.into_iter().map(|(name, entry)| Known::parse(name, &entry)).collect())
    }

    /// Values that a diff does not show, as places in the text: variables and headers of every server that is not this
    /// program's, since they may be secrets of others, and this program's own secrets.
    pub fn hidden_values(self, text: &str) -> Result<Vec<Range<usize>>, ConfigEditError> {
        let own: Vec<String> =
            self.servers(text)?.into_iter().filter(Known::is_gitlab_mcp).map(|server| server.name).collect();
        // The program's own entry is the only part that the user has to see whole, apart from its secrets.
        let is_hidden = |path: &[&str]| {
            let is_own = matches!(path, [container, name, ..]
                if *container == self.container() && own.iter().any(|own| own == name));
            match is_own {
                true => path.last().is_some_and(|key| config::is_secret(key)),
                false => path.iter().any(|key| SECRET_KEYS.contains(key)),
            }
        };
        let mut places = match self {
            McpClient::Codex => toml_table::values(text, &is_hidden),
            _ => jsonc::values(text, &is_hidden),
        }?;
        // A reference to a variable is no secret.
        let is_reference = |place: &Range<usize>| {
            let value = text.get(place.clone()).unwrap_or_default().trim_matches(['"', '\'']);
            value.is_empty() || value.starts_with('$') || value.starts_with("{env:")
        };
        places.retain(|place| !is_reference(place));
        Ok(places)
    }

    /// Insertions that add a server under a name that the configuration does not have.
    pub fn insert(
        self,
        text: &str,
        name: &str,
        server: &ServerEntry,
    ) -> Result<Vec<Insertion>, ConfigEditError> {
        let entry = self.entry(server);
        match self {
            McpClient::Codex => toml_table::insert(text, self.container(), name, &entry),
            _ => jsonc::insert(text, self.container(), name, &entry),
        }
    }

    /// Pieces of the text that are the server of a name.
    pub fn pieces(self, text: &str, name: &str) -> Result<Vec<EditPiece>, ConfigEditError> {
        match self {
            McpClient::Codex => toml_table::member_pieces(text, self.container(), name),
            _ => jsonc::member_pieces(text, self.container(), name),
        }
    }
}

impl Known {
    /// Parses an entry. One that is no object has the name only.
    fn parse(name: String, entry: &Value) -> Known {
        let no_members = Map::new();
        let entry = entry.as_object().unwrap_or(&no_members);
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut words = match entry.get("command") {
            Some(Value::String(command)) => vec![command.clone()],
            Some(command) => texts(command),
            None => Vec::new(),
        };
        words.extend(entry.get("args").map(texts).unwrap_or_default());
        let is_other = |name: &&String| !["command", "args", "env", "environment"].contains(&name.as_str());
        let others = entry.iter().filter(|(name, _)| is_other(name));
        let others = others.map(|(name, value)| (name.clone(), value.clone())).collect();
        let variables = ["env", "environment"].iter().find_map(|key| entry.get(*key)?.as_object());
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut words = words.into_iter();
        Known {
            name,
            command: words.next().unwrap_or_default(),
            arguments: words.collect(),
            settings: variables
                .into_iter()
                .flatten()
                .map(|(name, value)| (name.clone(), text(value)))
                .collect(),
            others,
        }
    }

    /// True if the entry has a token, or says where one is.
    pub fn names_token(&self) -> bool {
        self.settings.keys().any(|name| config::is_of_token(name)) || self.passed_variables().contains(&TOKEN)
    }

    /// The variables of its own that Codex passes on, each a name or a table with one.
    pub fn passed_variables(&self) -> Vec<&str> {
        let named = self.others.get(PASSED_VARIABLES).and_then(Value::as_array).into_iter().flatten();
        named.filter_map(|one| one.as_str().or_else(|| one.get("name")?.as_str())).collect()
    }

    /// The settings of this environment that a client which passes on few variables does not give the server.
    pub fn withheld_settings(&self, client: McpClient) -> Vec<String> {
        if client != McpClient::Codex || self.is_of_sandbox() {
            return Vec::new();
        }
        let token = config::environment(TOKEN).filter(|token| !token.is_empty()).map(|_| TOKEN.to_owned());
        let set = config::portable_settings(&Flags::new(), config::environment).into_keys().chain(token);
        let passed = self.passed_variables();
        let has_flag = |name: &str| {
            let flag = config::flag_of(name).map(|flag| format!("--{flag}"));
            flag.is_some_and(|flag| self.arguments.iter().any(|word| word.split('=').next() == Some(&flag)))
        };
        set.filter(|name| {
            !self.settings.contains_key(name) && !passed.contains(&name.as_str()) && !has_flag(name)
        })
        .collect()
    }

    /// The value of a setting: of its flag among the arguments, else of its variable.
    pub fn setting(&self, row: &Row) -> Option<&str> {
        let flag = format!("--{}", row.flag?);
        let given = self.arguments.iter().enumerate().find_map(|(index, word)| {
            let after = word.strip_prefix(&flag)?;
            match after.is_empty() {
                true => self.arguments.get(index + 1).map(String::as_str),
                false => after.strip_prefix('='),
            }
        });
        given.or_else(|| self.settings.get(row.name).map(String::as_str))
    }

    /// True if it is for the sandbox, which takes no token.
    pub fn is_of_sandbox(&self) -> bool {
        self.arguments.iter().any(|word| word == "--sandbox") || self.setting(&URL) == Some(SANDBOX)
    }

    /// True if it starts this program: by its name, by a link to it, or by a runner of its package. On PyPI the package has
    /// another name than on npm, and packages of other publishers end in the same name.
    pub fn is_gitlab_mcp(&self) -> bool {
        let path = Path::new(&self.command);
        let linked = path.is_symlink().then(|| path.canonicalize().ok()).flatten();
        let commands = [Some(self.command.as_str()), linked.as_deref().and_then(Path::to_str)];
        let runs = |package: &str| {
            let name = |word: &String| word.split(['@', '=']).next() == Some(package);
            self.arguments.iter().any(name)
        };
        commands.into_iter().flatten().any(|command| {
            let file = command.rsplit(['/', '\\']).next().unwrap_or_default();
            match file.split('.').next().unwrap_or_default() {
                "gitlab-mcp" => true,
                "npx" | "bunx" | "pnpm" | "yarn" | "npm" => runs("gitlab-mcp"),
                "uvx" | "uv" | "pipx" => runs("gitlab-mcp-server"),
                _ => false,
            }
        })
    }
}
