//! Arguments of the command line, and their help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};

use super::call_options::{ExecuteOptions, FindOptions};
use super::completions::{action_ids, answer_shell, pairs};
use super::error::Failure;
use super::help;
use super::settings::{SettingFlags, word_of};
use super::setup::McpClient;
use crate::config::{self, TOOL_SURFACE};
use crate::credentials::Helper;
use crate::surface::SurfaceKind;

/// Commands of other programs, and what to run instead.
const FOREIGN_COMMANDS: [(&str, &str); 14] = [
    ("login", "run `gitlab-mcp auth login`"),
    ("logout", "run `gitlab-mcp auth logout`"),
    ("whoami", "run `gitlab-mcp auth status`"),
    ("status", "run `gitlab-mcp doctor`"),
    ("install", "run `gitlab-mcp setup`"),
    ("uninstall", "run `gitlab-mcp setup --undo`"),
    ("update", UPDATE),
    ("upgrade", UPDATE),
    ("sandbox", "run `gitlab-mcp --sandbox`, or `gitlab-mcp --sandbox execute …`"),
    ("stdio", "run `gitlab-mcp` alone"),
    ("http", "run `gitlab-mcp serve --http`"),
    ("eval", "run `gitlab-mcp find --cases FILE`"),
    ("settings", "run `gitlab-mcp help settings`"),
    ("benchmark", "run `gitlab-mcp find --cases FILE`"),
];

const UPDATE: &str =
    "install the new version as you installed this one; `gitlab-mcp version` shows which it is";

/// All of GitLab for an AI client through two MCP tools: find an action, execute it.
#[derive(Debug, Parser)]
#[command(
    name = "gitlab-mcp",
    version,
    about,
    help_template = help::template(&Command::augment_subcommands(clap::Command::new("gitlab-mcp"))),
    override_usage = "gitlab-mcp [SETTINGS] [COMMAND]",
    // Ours show the short help, which fits a screen.
    disable_help_subcommand = true,
    disable_help_flag = true,
    arg = help::flag(),
)]
pub struct Arguments {
    #[command(flatten)]
    pub settings: SettingFlags,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The command to run.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    Connected(Connected),
    #[command(flatten)]
    Offline(Offline),
}

/// Commands that use the settings and connect to GitLab.
#[derive(Debug, Default, Subcommand)]
pub enum Connected {
    /// Serve MCP on standard input and output (default), or over HTTP
    #[default]
    #[command(after_help = help::SERVE_EXAMPLES)]
    Serve,
    /// Find actions for a request, like gitlab_find_action
    #[command(after_help = help::FIND_EXAMPLES)]
    Find(FindArguments),
    /// Execute one action, like gitlab_execute_action
    #[command(after_help = help::EXECUTE_EXAMPLES)]
    Execute(Box<ExecuteArguments>),
    /// Check the connection to GitLab, the token and the settings
    #[command(after_help = help::DOCTOR_EXIT_CODES)]
    Doctor(DoctorArguments),
    /// Sign in to GitLab, show the sign-in, or sign out
    Auth {
        #[command(subcommand)]
        command: AuthCommand,
    },
    /// Show the calls of the audit file, or of those of the clients
    Audit {
        /// The beginning: today, yesterday, 3d, 12h, 30m, a date or a time, in UTC
        #[arg(long, value_name = "WHEN", default_value = "yesterday")]
        since: String,
        /// Print the JSON lines of the file
        #[arg(long)]
        json: bool,
    },
    /// Check that the HTTP server is running, for a container
    Health,
    /// Show the tools that a client receives
    Surface(SurfaceArguments),
}

/// Subcommands of `auth`.
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Sign in with a code that you enter in GitLab, through your OAuth application (--client-id)
    Login(LoginArguments),
    /// Show where the token comes from, whose it is, and when it expires
    Status {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke the tokens of the sign-in and forget them
    Logout,
}

/// Arguments of `auth login`.
#[derive(Debug, Args)]
pub struct LoginArguments {
    /// Scope to ask for: api, or read_api to read only; default: api, with --read-only read_api
    #[arg(long, value_name = "SCOPE")]
    pub scope: Option<String>,
    /// Use the sign-in of this program from now on, instead of one of our own: glab (GitLab's command line), or git (its
    /// credential helpers)
    #[arg(long = "use", value_name = "PROGRAM", value_parser = helper())]
    pub helper: Option<Helper>,
}

fn helper() -> impl TypedValueParser<Value = Helper> {
    PossibleValuesParser::new(Helper::ALL.map(Helper::name))
        .try_map(|name| Helper::parse(&name).ok_or("expected one of the programs above"))
}

/// Commands that need neither settings nor a network.
#[derive(Debug, Subcommand)]
pub enum Offline {
    /// List and show the actions of the catalog
    Catalog {
        #[command(subcommand)]
        view: CatalogView,
    },
    /// Write sub-agent definitions, each for a part of GitLab
    Agents {
        /// Directory to write into; existing files are never overwritten
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Client to write them for
        #[arg(long, value_name = "CLIENT", default_value = "claude-code")]
        client: AgentClient,
    },
    /// Add this program to the MCP clients of this machine
    #[command(after_help = help::SETUP_EXAMPLES)]
    Setup(SetupArguments),
    /// Print the script that completes words in a shell
    Completions {
        /// Shell to print it for
        shell: clap_complete::Shell,
    },
    /// Show the help of a command, or all settings
    Help {
        /// Command, such as execute or auth login; or settings
        command: Vec<String>,
    },
    /// Print the version, the commit and the GitLab of the catalog
    Version {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Arguments of `setup`.
#[derive(Debug, Args)]
pub struct SetupArguments {
    /// Only these clients, also if they are not found; default: every client on this machine
    #[arg(long, value_name = "CLIENT")]
    pub client: Vec<McpClient>,
    /// Write the changes without a question for each file
    #[arg(long, visible_alias = "yes", conflicts_with = "dry_run")]
    pub write: bool,
    /// Show the changes and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Remove this program from the clients
    #[arg(long)]
    pub undo: bool,
    /// Name of the server in the configurations
    #[arg(long, value_name = "NAME", default_value = "gitlab")]
    pub name: String,
    /// How the server gets the token
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub token: TokenArgument,
}

/// How `setup` passes on the token.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TokenArgument {
    /// env if GITLAB_TOKEN is set, else none
    Auto,
    /// Refer to GITLAB_TOKEN of the client's environment, where the client can
    Env,
    /// Write nothing: the server uses a sign-in, or what it inherits
    None,
    /// Write the token of GITLAB_TOKEN into the files
    File,
}

/// Arguments of `find`.
#[derive(Debug, Args)]
pub struct FindArguments {
    /// Request in words, an action id, a REST path, or a GitLab URL
    #[arg(required_unless_present = "cases")]
    pub query: Vec<String>,
    /// Measure the finder on a file: each line a request, a tab, and the right actions
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    pub cases: Option<PathBuf>,
    #[command(flatten)]
    pub options: FindOptions,
    /// Print the structured result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
    /// Go through the everyday life of GitLab's kinds in a throwaway group, and compare the answers with the catalog
    #[arg(long, requires = "group")]
    pub contract: bool,
    /// Group in which --contract makes its throwaway group
    #[arg(long, value_name = "PATH", requires = "contract")]
    pub group: Option<String>,
    /// Run --contract without a question
    #[arg(long, requires = "contract")]
    pub yes: bool,
    /// Only these scenarios of --contract, such as issue
    #[arg(long, value_name = "KIND", requires = "contract", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Write the report of --contract to this file, as JSON
    #[arg(long, value_name = "FILE", requires = "contract")]
    pub report: Option<PathBuf>,
}

/// Arguments of `execute`.
#[derive(Debug, Args)]
pub struct ExecuteArguments {
    /// Action id, as shown by `find`
    #[arg(add = ArgValueCandidates::new(action_ids))]
    pub action: String,
    /// Parameters as words, such as fullPath=group/project labels=bug labels=docs
    #[arg(value_name = "KEY=VALUE", add = ArgValueCompleter::new(pairs))]
    pub pairs: Vec<String>,
    /// A parameter whose value may be a file: description=@text.md, file=@picture.png
    #[arg(short = 'f', value_name = "KEY=VALUE", add = ArgValueCompleter::new(pairs))]
    pub file_pairs: Vec<String>,
    /// Parameters: a JSON object, @FILE with one, or - for standard input
    #[arg(long, value_name = "JSON")]
    pub params: Option<String>,
    #[command(flatten)]
    pub options: ExecuteOptions,
    /// Print the structured result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `surface`.
#[derive(Debug, Args)]
pub struct SurfaceArguments {
    /// Surface: dynamic, meta, individual or toolset; default: the configured one
    #[arg(long, value_name = "KIND", value_parser = word_of(&TOOL_SURFACE))]
    pub surface: Option<SurfaceKind>,
    /// Show the size of each part in tokens, before and after overrides, instead of the tools
    #[arg(long)]
    pub tokens: bool,
}

/// A client with sub-agents.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum AgentClient {
    /// Claude Code, files for .claude/agents
    ClaudeCode,
    /// GitHub Copilot, files for .github/agents
    Copilot,
}

/// Subcommands of `catalog`.
#[derive(Debug, Subcommand)]
pub enum CatalogView {
    /// List every action, one per line
    List {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Show one action in full
    Show {
        /// Action id or alias
        #[arg(add = ArgValueCandidates::new(action_ids))]
        action: String,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the parameters of actions as TypeScript types, for sandboxes in which a model writes code
    Types {
        /// Write TypeScript
        #[arg(long, required = true)]
        ts: bool,
        /// Only these domains (the part of an id before the dot) or actions; default: all
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Count actions and operations
    Stats {
        /// Print the counts as JSON
        #[arg(long)]
        json: bool,
    },
}

impl Arguments {
    /// Parses the arguments of this process.
    pub fn parse_process() -> Result<Arguments, Failure> {
        Arguments::parse(config::process_arguments()).map_err(|error| {
            foreign_flag(&error)
                .or_else(|| foreign_command(&error))
                .unwrap_or_else(|| Failure::Usage(without_unsafe_tip(error)))
        })
    }

    /// Fails with the short help of a command, or with the error that there is none.
    pub fn show_help(command: &[String]) -> Result<(), Failure> {
        let words = ["gitlab-mcp"].into_iter().chain(command.iter().map(String::as_str)).chain(["-h"]);
        Arguments::parse(words.map(OsString::from)).map(|_| ()).map_err(Failure::Usage)
    }

    /// All settings by topic, and the exit codes.
    pub fn render_settings() -> String {
        let end = format!("{}\n{}", config::render_help(), help::EXIT_CODES);
        let mut grammar = Arguments::command()
            .mut_subcommands(|command| command.hide(true))
            .mut_arg("help", |flag| flag.hide(true))
            .disable_version_flag(true)
            .help_template("{all-args}{after-help}")
            .after_long_help(end);
        format!("{}\n", grammar.render_long_help().to_string().trim_end())
    }

    /// Parses words. The help lists the commands by topic: clap's own list of them is hidden.
    fn parse(words: impl Iterator<Item = OsString>) -> Result<Arguments, clap::Error> {
        let mut grammar = Arguments::command().mut_subcommands(|command| command.hide(true));
        let matches = grammar.try_get_matches_from_mut(words)?;
        Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut grammar))
    }

    /// Answers a shell that asks this process for completions; false if none does.
    pub fn answer_shell() -> Result<bool, Failure> {
        answer_shell(Arguments::command)
    }
}

/// Error for a command that other programs have.
fn foreign_command(error: &clap::Error) -> Option<Failure> {
    let ContextValue::String(given) = error.get(ContextKind::InvalidSubcommand)? else { return None };
    let (command, instead) = FOREIGN_COMMANDS.iter().find(|(known, _)| known == given)?;
    Some(Failure::ForeignCommand { command, instead })
}

/// The error without a tip that would switch confirmation off: `--autopilot` for `--output`.
fn without_unsafe_tip(mut error: clap::Error) -> clap::Error {
    let is_unsafe = |tip: &ContextValue| {
        let text = tip.to_string();
        ["--autopilot", "--confirmation", "--yolo"].iter().any(|flag| text.contains(flag))
    };
    if error.get(ContextKind::SuggestedArg).is_some_and(is_unsafe) {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
    error
}

/// Error for a flag that other servers have.
fn foreign_flag(error: &clap::Error) -> Option<Failure> {
    let ContextValue::String(given) = error.get(ContextKind::InvalidArg)? else { return None };
    let flag = given.split(['=', ' ']).next().unwrap_or_default();
    let (flag, instead) = config::FOREIGN_FLAGS.iter().find(|(known, _)| *known == flag)?;
    (error.kind() == clap::error::ErrorKind::UnknownArgument)
        .then_some(Failure::ForeignFlag { flag, instead })
}
