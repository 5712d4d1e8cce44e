//! Arguments of the command line, and their help.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use super::error::Failure;
use super::settings::SettingFlags;
use crate::config;
use crate::surface::Kind;
use crate::tools::{Detail, View};

const EXAMPLES: &str = "\
Examples:
  gitlab-mcp                                   serve an MCP client on standard input and output
  gitlab-mcp --sandbox find 'close an issue'   which actions could do it, without any account
  gitlab-mcp execute issue.list --params '{\"fullPath\": \"group/project\"}'
  gitlab-mcp execute issue.create --params @issue.json --dry-run
  gitlab-mcp doctor                            what is between here and GitLab, and how to mend it
  gitlab-mcp catalog show merge_request.list
  gitlab-mcp surface --surface meta --tokens   what a client is sent, and what it costs
  gitlab-mcp completions bash > ~/.local/share/bash-completion/completions/gitlab-mcp";

const EXIT_CODES: &str = "\
Exit codes:
  0  done; for the server: the client closed its end, or SIGTERM or SIGINT came
  1  the answer is an error, such as an unknown action or one that GitLab refused; of doctor: a warning
  2  the command line or a setting is wrong; of doctor: something does not work
  3  the program itself could not go on";

const DOCTOR_EXIT_CODES: &str = "\
Exit codes:
  0  everything is fine
  1  it works, with a warning
  2  something does not work, or a setting is wrong";

/// All of GitLab for an AI client through two MCP tools: find an action, execute it.
#[derive(Debug, Parser)]
#[command(
    name = "gitlab-mcp",
    version,
    about,
    after_help = EXAMPLES,
    after_long_help = format!("{}\n{EXAMPLES}\n\n{EXIT_CODES}", config::render_help()),
    disable_help_subcommand = true,
)]
pub struct Arguments {
    #[command(flatten)]
    pub settings: SettingFlags,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What is asked for.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    Connected(Connected),
    #[command(flatten)]
    Offline(Offline),
}

/// What works with the settings, on a GitLab.
#[derive(Debug, Default, Subcommand)]
pub enum Connected {
    /// Serve an MCP client on standard input and output; what happens without a command
    #[default]
    Serve,
    /// Find the actions that could serve a request, as gitlab_find_action does
    Find(FindArguments),
    /// Execute one action, as gitlab_execute_action does
    Execute(ExecuteArguments),
    /// Look at what is between here and GitLab: address, proxy, certificate, version, token, rate limit, clock
    #[command(after_help = DOCTOR_EXIT_CODES)]
    Doctor {
        /// Print what was found as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the tools that a client would be offered
    Surface(SurfaceArguments),
}

/// What needs neither settings nor a network.
#[derive(Debug, Subcommand)]
pub enum Offline {
    /// Look at the actions there are
    Catalog {
        #[command(subcommand)]
        view: CatalogView,
    },
    /// Write sub-agents that share GitLab among them, each with a server for its part
    Agents {
        /// The directory to write into; nothing in it is overwritten
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// The client that reads them
        #[arg(long, value_name = "CLIENT", default_value = "claude-code")]
        client: AgentClient,
    },
    /// Print the completions of a shell
    Completions {
        /// The shell to complete for
        shell: clap_complete::Shell,
    },
}

/// What `find` takes.
#[derive(Debug, Args)]
pub struct FindArguments {
    /// What you want to do, in words; or an action id, a REST path, or a GitLab URL
    pub query: String,
    /// How many actions to show, 1 to 50
    #[arg(long, value_name = "NUMBER")]
    pub limit: Option<u32>,
    /// Only actions of this domain, the part of an id before the dot
    #[arg(long, value_name = "DOMAIN")]
    pub domain: Option<String>,
    /// How much to say of each action's parameters
    #[arg(long, value_name = "HOW")]
    pub detail: Option<DetailArgument>,
    /// Say why each action is where it is
    #[arg(long)]
    pub explain: bool,
    /// Print the answer's structure as JSON
    #[arg(long)]
    pub json: bool,
}

/// What `execute` takes.
#[derive(Debug, Args)]
pub struct ExecuteArguments {
    /// The action's id, as `find` shows it
    pub action: String,
    /// The action's parameters: a JSON object, @FILE that holds one, or - for standard input
    #[arg(long, value_name = "JSON")]
    pub params: Option<String>,
    /// Run it even if it destroys something
    #[arg(long)]
    pub confirm: bool,
    /// The token of a needs_confirmation error, to run exactly that call
    #[arg(long, value_name = "TOKEN", alias = "plan")]
    pub confirmation_token: Option<String>,
    /// Show only these fields, such as iid,author.username
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub fields: Option<Vec<String>>,
    /// How much of the reply to show
    #[arg(long, value_name = "HOW")]
    pub view: Option<ViewArgument>,
    /// Show the request that would be sent; send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Continue a long text at this byte, as an earlier answer said
    #[arg(long, value_name = "BYTE")]
    pub offset: Option<u64>,
    /// Lines of a long text: 120-180, 120- to the end, -50 for the last fifty
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub lines: Option<String>,
    /// Write what is downloaded to this new file beneath GITLAB_FILES_DIR
    #[arg(long, value_name = "FILE")]
    pub save_to: Option<String>,
    /// Read all pages of a list, within 50 pages and 50 seconds
    #[arg(long)]
    pub all: bool,
    /// Count the rows of all pages by a field, such as author.username
    #[arg(long, value_name = "FIELD")]
    pub count_by: Option<String>,
    /// Add up a field over all pages, with --count-by for each group
    #[arg(long, value_name = "FIELD")]
    pub sum: Option<String>,
    /// Show only the largest groups of --count-by
    #[arg(long, value_name = "NUMBER")]
    pub top: Option<u64>,
    /// Print the answer's structure as JSON
    #[arg(long)]
    pub json: bool,
}

/// What `surface` takes.
#[derive(Debug, Args)]
pub struct SurfaceArguments {
    /// The surface: dynamic, meta, individual or toolset; without it, the configured one
    #[arg(long, value_name = "KIND")]
    pub surface: Option<SurfaceArgument>,
    /// Show what each part costs, before and after it is customised, instead of the tools
    #[arg(long)]
    pub tokens: bool,
}

/// [`Kind`] as an argument.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SurfaceArgument {
    Dynamic,
    Meta,
    Individual,
    Toolset,
}

/// A client that has sub-agents.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum AgentClient {
    /// Files for .claude/agents
    ClaudeCode,
    /// GitHub Copilot's custom agents, files for .github/agents
    Copilot,
}

/// What of the catalog to show.
#[derive(Debug, Subcommand)]
pub enum CatalogView {
    /// Every action, a line each
    List {
        /// Print an object a line as JSON
        #[arg(long)]
        json: bool,
    },
    /// One action whole
    Show {
        /// The action's id or an alias of it
        action: String,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// How many actions and operations there are
    Stats {
        /// Print the numbers as JSON
        #[arg(long)]
        json: bool,
    },
}

/// [`Detail`] as an argument.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DetailArgument {
    Auto,
    Signature,
    Schema,
}

/// [`View`] as an argument.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ViewArgument {
    Compact,
    Full,
}

impl Arguments {
    /// The arguments of this process.
    pub fn parse_process() -> Result<Arguments, Failure> {
        Arguments::try_parse().map_err(|error| foreign_flag(&error).unwrap_or(Failure::Usage(error)))
    }

    /// The command line's grammar, for completions.
    pub fn grammar() -> clap::Command {
        Arguments::command()
    }
}

/// The answer to a flag that other servers have.
fn foreign_flag(error: &clap::Error) -> Option<Failure> {
    let ContextValue::String(given) = error.get(ContextKind::InvalidArg)? else { return None };
    let flag = given.split(['=', ' ']).next().unwrap_or_default();
    let (flag, instead) = config::FOREIGN_FLAGS.iter().find(|(known, _)| *known == flag)?;
    (error.kind() == clap::error::ErrorKind::UnknownArgument)
        .then_some(Failure::ForeignFlag { flag, instead })
}

impl From<SurfaceArgument> for Kind {
    fn from(argument: SurfaceArgument) -> Kind {
        match argument {
            SurfaceArgument::Dynamic => Kind::Dynamic,
            SurfaceArgument::Meta => Kind::Meta,
            SurfaceArgument::Individual => Kind::Individual,
            SurfaceArgument::Toolset => Kind::Toolset,
        }
    }
}

impl From<DetailArgument> for Detail {
    fn from(argument: DetailArgument) -> Detail {
        match argument {
            DetailArgument::Auto => Detail::Auto,
            DetailArgument::Signature => Detail::Signature,
            DetailArgument::Schema => Detail::Schema,
        }
    }
}

impl From<ViewArgument> for View {
    fn from(argument: ViewArgument) -> View {
        match argument {
            ViewArgument::Compact => View::Compact,
            ViewArgument::Full => View::Full,
        }
    }
}
