//! Files of this machine: where each client keeps its configuration, and where setup keeps its record. No other module
//! names them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

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
        let place = |file: PathBuf, signs: &[&Path]| ConfigPlace {
            file,
            signs: signs.iter().map(|sign| (*sign).to_owned()).collect(),
        };
        match client {
            McpClient::Vscode => self.editor("Code"),
            McpClient::VscodeInsiders => self.editor("Code - Insiders"),
            McpClient::ClaudeDesktop => {
                let folder = self.programs.join("Claude");
                place(folder.join("claude_desktop_config.json"), &[&folder])
            }
            McpClient::ClaudeCode => {
                let (folder, file) = match &self.claude {
                    Some(folder) => (folder.clone(), folder.join(".claude.json")),
                    None => (self.home.join(".claude"), self.home.join(".claude.json")),
                };
                place(file.clone(), &[&folder, &file])
            }
            McpClient::Cursor => {
                let folder = self.home.join(".cursor");
                place(folder.join("mcp.json"), &[&folder])
            }
            McpClient::Jetbrains => {
                let folder = self.home.join(".junie");
                place(folder.join("mcp/mcp.json"), &[&folder])
            }
            McpClient::Zed => {
                let folder = match self.system {
                    System::Windows => self.programs.join("Zed"),
                    System::Linux | System::Mac => self.config.join("zed"),
                };
                place(folder.join("settings.json"), &[&folder])
            }
            McpClient::Windsurf => {
                let folder = self.home.join(".codeium/windsurf");
                place(folder.join("mcp_config.json"), &[&folder])
            }
            McpClient::GeminiCli => {
                let folder = self.home.join(".gemini");
                place(folder.join("settings.json"), &[&folder])
            }
            McpClient::Codex => place(self.codex.join("config.toml"), &[&self.codex]),
            McpClient::Opencode => {
                let folder = self.config.join("opencode");
                // Both are read by the client, which writes the first.
                let names = ["opencode.json", "opencode.jsonc"].map(|name| folder.join(name));
                let known = names.iter().find(|file| file.exists());
                let file = known.cloned().unwrap_or_else(|| folder.join("opencode.json"));
                place(file, &[&folder])
            }
        }
    }

    fn editor(&self, name: &str) -> ConfigPlace {
        let folder = self.programs.join(name);
        ConfigPlace { file: folder.join("User/mcp.json"), signs: vec![folder] }
    }
}

impl ConfigPlace {
    /// True if the client is on this machine.
    pub fn is_there(&self) -> bool {
        self.signs.iter().any(|sign| sign.exists())
    }
}
