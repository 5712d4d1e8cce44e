//! Command line: subcommands, arguments and exit codes.

mod agents;
mod arguments;
mod audit;
mod auth;
mod auth_error;
mod call_options;
mod catalog;
mod completions;
mod contract;
mod doctor;
mod error;
mod find_cases;
mod help;
mod offline;
mod online;
mod output;
mod pairs;
mod progress_line;
mod settings;
mod setup;
mod shell_line;
mod surface;
mod terminal;
#[cfg(test)]
mod tests;
mod typescript;
mod version;

pub use arguments::{
    AgentClient, Arguments, AuthCommand, CatalogView, Command, Connected, DoctorArguments, ExecuteArguments,
    FindArguments, LoginArguments, Offline, SetupArguments, SurfaceArguments, TokenArgument,
};
pub use error::Failure;
pub use offline::run as run_offline;
pub use online::run as run_connected;
pub use output::Output;
pub use settings::SettingFlags;

pub use crate::server::CALL_STACK;
pub use crate::server::http::ACCESS as ACCESS_LOG;
