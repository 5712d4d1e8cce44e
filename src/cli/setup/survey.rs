//! Which clients of the machine have this server, for `doctor`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::client::{Known, McpClient};
use super::config_file::ConfigFile;
use super::machine::Machine;

/// A client on this machine.
#[derive(Debug)]
pub struct Survey {
    pub client: McpClient,
    pub file: PathBuf,
    pub installed: Installed,
}

/// State of a client's configuration.
#[derive(Debug)]
pub enum Installed {
    /// The configuration lacks this server.
    No,
    /// The file cannot be parsed or opened; with the reason.
    Unknown(String),
    Yes {
        server: Known,
        binary: Binary,
    },
}

/// Program that the command of a server runs.
#[derive(Debug, PartialEq, Eq)]
pub enum Binary {
    /// This very program.
    This,
    /// Another program of this name.
    Other(PathBuf),
    /// A package runner, a container, or another program that starts it.
    Through(String),
    /// A file that does not exist.
    Missing(String),
}

/// Looks into the configuration of each client on the machine.
pub fn survey(machine: &Machine, executable: &Path) -> Vec<Survey> {
    let clients = McpClient::value_variants().iter().map(|client| (*client, machine.place(*client)));
    clients
        .filter(|(_, place)| place.is_there())
        .map(|(client, place)| Survey {
            client,
            installed: installed(machine, executable, client, &place.file),
            file: place.file,
        })
        .collect()
}

fn installed(machine: &Machine, executable: &Path, client: McpClient, path: &Path) -> Installed {
    let file = match ConfigFile::load(path) {
        Ok(file) => file,
        Err(error) => return Installed::Unknown(error.to_string()),
    };
    match client.servers(file.text()) {
        Err(error) => Installed::Unknown(error.to_string()),
        Ok(servers) => match servers.into_iter().find(Known::is_gitlab_mcp) {
            None => Installed::No,
            Some(server) => Installed::Yes { binary: binary(machine, executable, &server), server },
        },
    }
}

fn binary(machine: &Machine, executable: &Path, server: &Known) -> Binary {
    let is_program = Known { arguments: Vec::new(), ..server.clone() }.is_gitlab_mcp();
    if !is_program {
        return Binary::Through(server.command.clone());
    }
    let command = Path::new(&server.command);
    let found = match command.is_absolute() {
        true => Some(command.to_owned()),
        false => machine.search_path().iter().map(|folder| folder.join(command)).find(|path| path.is_file()),
    };
    let real = found.and_then(|path| Some((path.canonicalize().ok()?, path)));
    match real {
        None => Binary::Missing(server.command.clone()),
        Some((real, _)) if executable.canonicalize().is_ok_and(|own| own == real) => Binary::This,
        Some((_, path)) => Binary::Other(path),
    }
}
