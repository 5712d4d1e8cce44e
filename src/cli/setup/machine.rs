//! Files of this machine: where each client keeps its configuration, and where setup keeps its record. No other module
//! names them.

use std::ffi::OsString;
use std::path::PathBuf;

use super::client::McpClient;

/// Operating system, by where programs keep their files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    Linux,
    Mac,
    Windows,
}

/// Folders of the user.
#[derive(Clone, Debug)]
pub struct Machine {
    system: System,
    home: PathBuf,
    /// `~/.config`, also on macOS, where command-line programs use it.
    config: PathBuf,
    /// Configuration of desktop programs.
    programs: PathBuf,
    state: PathBuf,
    codex: PathBuf,
    claude: Option<PathBuf>,
    search_path: Vec<PathBuf>,
}

/// Configuration file of a client.
#[derive(Debug)]
pub struct ConfigPlace {
    pub file: PathBuf,
    /// Any of these exists where the client is installed.
    pub signs: Vec<PathBuf>,
}

impl System {
    /// The system that this program was compiled for.
    pub const CURRENT: System = if cfg!(windows) {
        System::Windows
    } else if cfg!(target_os = "macos") {
        System::Mac
    } else {
        System::Linux
    };
}

impl Machine {
    /// The folders by the environment; none without a home folder.
    pub fn new(
        system: System,
        lookup: impl Fn(&str) -> Option<OsString>,
        search_path: Vec<PathBuf>,
    ) -> Option<Machine> {
        let folder = |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = match system {
            System::Windows => folder("USERPROFILE")?,
            System::Linux | System::Mac => folder("HOME")?,
        };
        let config = folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let programs = match system {
            System::Linux => config.clone(),
            System::Mac => home.join("Library/Application Support"),
            System::Windows => folder("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming")),
        };
        let state = match system {
            System::Linux => folder("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state")),
            System::Mac => programs.clone(),
            System::Windows => folder("LOCALAPPDATA").unwrap_or_else(|| home.join("AppData/Local")),
        };
        Some(Machine {
            codex: folder("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            claude: folder("CLAUDE_CONFIG_DIR"),
            search_path,
            system,
            home,
            config,
            programs,
            state,
        })
    }

    /// The file with what setup inserted where.
    pub fn record(&self) -> PathBuf {
        self.state.join("gitlab-mcp").join("setup.json")
    }

    /// A place for the audit file of this user.
    pub fn audit_file(&self) -> PathBuf {
        self.state.join("gitlab-mcp").join("audit.jsonl")
    }

    /// Folders in which the shell looks for programs.
    pub fn search_path(&self) -> &[PathBuf] {
        &self.search_path
    }

    /// The configuration file of a client.
    pub fn place(&self, client: McpClient) -> ConfigPlace {
        // A file in a folder that exists where the client is installed.
        let within =
            |folder: PathBuf, file: &str| ConfigPlace { file: folder.join(file), signs: vec![folder] };
        match client {
            McpClient::Vscode => within(self.programs.join("Code"), "User/mcp.json"),
            McpClient::VscodeInsiders => within(self.programs.join("Code - Insiders"), "User/mcp.json"),
            McpClient::ClaudeDesktop => within(self.programs.join("Claude"), "claude_desktop_config.json"),
            McpClient::ClaudeCode => {
                let (folder, file) = match &self.claude {
                    Some(folder) => (folder.clone(), folder.join(".claude.json")),
                    None => (self.home.join(".claude"), self.home.join(".claude.json")),
                };
                ConfigPlace { signs: vec![folder, file.clone()], file }
            }
            McpClient::Cursor => within(self.home.join(".cursor"), "mcp.json"),
            McpClient::Jetbrains => within(self.home.join(".junie"), "mcp/mcp.json"),
            McpClient::Zed => match self.system {
                System::Windows => within(self.programs.join("Zed"), "settings.json"),
                System::Linux | System::Mac => within(self.config.join("zed"), "settings.json"),
            },
            McpClient::Windsurf => within(self.home.join(".codeium/windsurf"), "mcp_config.json"),
            McpClient::GeminiCli => within(self.home.join(".gemini"), "settings.json"),
            McpClient::Codex => within(self.codex.clone(), "config.toml"),
            McpClient::Opencode => {
                let folder = self.config.join("opencode");
                // Both are read by the client, which writes the first.
                let names = ["opencode.json", "opencode.jsonc"];
                let known = names.into_iter().find(|name| folder.join(name).exists());
                within(folder, known.unwrap_or("opencode.json"))
            }
        }
    }
}

impl ConfigPlace {
    /// True if the client is on this machine.
    pub fn is_there(&self) -> bool {
        self.signs.iter().any(|sign| sign.exists())
    }
}
