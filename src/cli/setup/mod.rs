//! `gitlab-mcp setup`: adds this program to the MCP clients of the machine, and takes it out again. A change is shown as
//! a diff before it is written, and keeps every byte that is not its own.

mod client;
mod config_file;
mod edit;
mod jsonc;
mod launch;
mod machine;
mod record;
mod survey;
#[cfg(test)]
mod tests;
mod toml_table;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::Map;

pub use client::{Known, McpClient, TOKEN, TokenUse};
pub use machine::{Machine, System};
pub use survey::{Binary, Installed, Survey, survey};

use super::error::Failure;
use super::settings::SANDBOX;
use crate::config::{AUDIT_FILE, URL, is_of_token};
use crate::untrusted::{cleaned, mask, mask_tokens};
use client::ServerEntry;
use config_file::ConfigFile;
use edit::{ConfigEditError, EditPiece, apply, cut};
use launch::launch_command;
use record::{Original, Record};

/// Options of a setup.
#[derive(Debug)]
pub struct SetupRequest {
    /// Clients to change; if empty, those on this machine.
    pub clients: Vec<McpClient>,
    /// Name of the server in the configurations.
    pub name: String,
    pub change: SetupChange,
    pub consent: SetupConsent,
    /// Settings to write into the configurations.
    pub settings: BTreeMap<String, String>,
    pub token: TokenUse,
}

/// Direction of the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupChange {
    Add,
    Remove,
}

/// When changes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupConsent {
    Given,
    /// Never: changes are shown only.
    Refused,
    /// By a question for each file on a terminal; elsewhere never.
    Ask,
}

/// Outcome of a plan for one configuration.
enum SetupPlan {
    /// Nothing, and why.
    Nothing(String),
    /// The file has to stay as it is; with the reason.
    Impossible(String),
    /// The text with the server, and the pieces that were inserted.
    Insert {
        text: String,
        pieces: Vec<EditPiece>,
    },
    /// The text without the server.
    Cut(String),
    RemoveFile,
}

/// Outcome of all configurations.
#[derive(Default)]
struct Totals {
    written: usize,
    shown: usize,
    impossible: usize,
    /// Added entries that name no audit file.
    unaudited: usize,
}

struct Setup<'a> {
    request: &'a SetupRequest,
    machine: &'a Machine,
    command: (String, Vec<String>),
    record: Record,
    record_path: PathBuf,
    totals: Totals,
    out: &'a mut dyn Write,
}

/// Shows the changes and, with consent, writes them.
pub fn run(
    request: &SetupRequest,
    machine: &Machine,
    executable: &Path,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let record_path = machine.record();
    let record = Record::load(&record_path).map_err(|error| Failure::Loaded(record_path.clone(), error))?;
    let is_undone = |path: &Path| request.change == SetupChange::Remove && record.has(path);
    let is_wanted = |client: &McpClient| {
        let place = machine.place(*client);
        place.is_there() || is_undone(&place.file)
    };
    let clients: Vec<McpClient> = match request.clients.is_empty() {
        true => McpClient::value_variants().iter().copied().filter(is_wanted).collect(),
        false => request.clients.clone(),
    };
    if clients.is_empty() {
        let known: Vec<&str> = McpClient::value_variants().iter().map(|client| client.label()).collect();
        writeln!(out, "No client is on this machine. Looked for {}.", known.join(", "))?;
        writeln!(out, "hint: --client NAME writes the configuration of a client all the same.")?;
        return Ok(());
    }
    let command = launch_command(machine, executable);
    let mut setup = Setup { request, machine, command, record, record_path, totals: Totals::default(), out };
    for client in clients {
        setup.change(client)?;
    }
    setup.conclude()
}

impl Setup<'_> {
    /// Shows the change of one client and writes it with consent.
    fn change(&mut self, client: McpClient) -> Result<(), Failure> {
        let path = self.machine.place(client).file;
        writeln!(self.out, "{}: {}", client.label(), path.display())?;
        let file = match ConfigFile::load(&path) {
            Ok(file) if matches!(self.request.token, TokenUse::Literal(_)) => file.private(),
            Ok(file) => file,
            Err(error) => return self.leave(&error.to_string()),
        };
        let plan = match self.request.change {
            SetupChange::Add => self.plan_addition(client, &file),
            SetupChange::Remove => self.plan_removal(client, &path, &file),
        };
        let plan = plan.unwrap_or_else(|error| SetupPlan::Impossible(error.to_string()));
        match &plan {
            SetupPlan::Nothing(says) => return Ok(writeln!(self.out, "  {says}")?),
            SetupPlan::Impossible(says) => return self.leave(says),
            SetupPlan::Insert { text, .. } | SetupPlan::Cut(text) => {
                self.show(client, &path, file.exists(), file.text(), Some(text))?
            }
            SetupPlan::RemoveFile => self.show(client, &path, true, file.text(), None)?,
        }
        if let SetupPlan::Insert { text, .. } = &plan {
            let names_none = |server: &Known| server.is_gitlab_mcp() && server.setting(&AUDIT_FILE).is_none();
            let servers = client.servers(text).unwrap_or_default();
            self.totals.unaudited += usize::from(servers.iter().any(names_none));
        }
        if !self.has_consent()? {
            self.totals.shown += 1;
            return Ok(());
        }
        match self.write(&path, &file, &plan) {
            Ok(note) => {
                self.totals.written += 1;
                writeln!(self.out, "  Written.")?;
                note.map_or(Ok(()), |note| Ok(writeln!(self.out, "  note: {note}")?))
            }
            Err(error) => self.leave(&error.to_string()),
        }
    }

    fn plan_addition(&self, client: McpClient, file: &ConfigFile) -> Result<SetupPlan, ConfigEditError> {
        let name = self.request.name.as_str();
        let known = client.servers(file.text())?;
        if let Some(own) = known.iter().find(|server| server.is_gitlab_mcp()) {
            return self.plan_update(client, file, (&known, own));
        }
        if known.iter().any(|server| server.name == name) {
            return Ok(SetupPlan::Impossible(format!(
                "another server is named {name:?}; choose another name with --name"
            )));
        }
        let (command, arguments) = self.command.clone();
        let settings = self.request.settings.clone();
        let (token, others) = (self.request.token.clone(), Map::new());
        let server = ServerEntry { command, arguments, settings, token, others };
        let insertions = client.insert(file.text(), name, &server)?;
        let (text, pieces) = apply(file.text(), &insertions);
        // The old content has to be there still, and the added one readable.
        let now = client.servers(&text)?;
        let is_whole = known.iter().all(|server| now.contains(server)) && now.len() == known.len() + 1;
        Ok(match is_whole {
            true => SetupPlan::Insert { text, pieces },
            false => SetupPlan::Impossible("the servers that are there would change".to_owned()),
        })
    }

    /// The entry that is there, with the settings of this setup, and with the token if it had none. How it is started,
    /// where its token comes from and the client's own members stay.
    fn plan_update(
        &self,
        client: McpClient,
        file: &ConfigFile,
        (known, own): (&[Known], &Known),
    ) -> Result<SetupPlan, ConfigEditError> {
        let path = &self.machine.place(client).file;
        let mut settings = own.settings.clone();
        settings.extend(self.request.settings.clone());
        let is_new_token = !own.names_token() && !own.is_of_sandbox() && client.takes(&self.request.token);
        if settings == own.settings && !is_new_token {
            return Ok(SetupPlan::Nothing(format!(
                "It has this server already, as {:?}; unchanged.",
                own.name
            )));
        }
        let (command, arguments) = (own.command.clone(), own.arguments.clone());
        let token = if is_new_token { self.request.token.clone() } else { TokenUse::Elsewhere };
        let server = ServerEntry { command, arguments, settings, token, others: own.others.clone() };
        let without = match self.record.original(path, file.text()) {
            Some(Original::Text(text)) => text,
            Some(Original::NoFile) => String::new(),
            None => cut(file.text(), &client.pieces(file.text(), &own.name)?).unwrap_or_default(),
        };
        let (text, pieces) = apply(&without, &client.insert(&without, &own.name, &server)?);
        let now = client.servers(&text)?;
        let is_whole =
            known.iter().all(|server| server == own || now.contains(server)) && now.len() == known.len();
        Ok(match is_whole {
            true => SetupPlan::Insert { text, pieces },
            false => SetupPlan::Impossible(format!(
                "{:?} is written in a form that cannot be changed; remove it first (--undo)",
                own.name
            )),
        })
    }

    fn plan_removal(
        &self,
        client: McpClient,
        path: &Path,
        file: &ConfigFile,
    ) -> Result<SetupPlan, ConfigEditError> {
        match self.record.original(path, file.text()) {
            Some(Original::NoFile) => return Ok(SetupPlan::RemoveFile),
            Some(Original::Text(text)) => return Ok(SetupPlan::Cut(text)),
            // The file was edited since, or the server was added by hand: its own text is cut out.
            None => {}
        }
        let known = client.servers(file.text())?;
        let recorded = self.record.server(path).unwrap_or(&self.request.name);
        let own = known.iter().find(|server| server.is_gitlab_mcp() && server.name == recorded);
        let Some(own) = own.or_else(|| known.iter().find(|server| server.is_gitlab_mcp())) else {
            return Ok(SetupPlan::Nothing("It does not have this server.".to_owned()));
        };
        let pieces = client.pieces(file.text(), &own.name)?;
        let text = cut(file.text(), &pieces).unwrap_or_default();
        let now = client.servers(&text)?;
        let is_whole = known.iter().all(|server| server == own || now.contains(server));
        Ok(match is_whole && now.len() + 1 == known.len() {
            true => SetupPlan::Cut(text),
            false => {
                SetupPlan::Impossible(format!("{:?} is written in a form that cannot be cut out", own.name))
            }
        })
    }

    /// Writes a file and the record. An error says that the file is unchanged; what failed after the change is
    /// returned as a note.
    fn write(&mut self, path: &Path, file: &ConfigFile, plan: &SetupPlan) -> io::Result<Option<String>> {
        match plan {
            SetupPlan::Nothing(_) | SetupPlan::Impossible(_) => return Ok(None),
            SetupPlan::Insert { text, pieces } => {
                let is_closed =
                    matches!(self.request.token, TokenUse::Literal(_)) && file.is_open_to_others();
                // The record is first: without it, the file could not be restored to the byte.
                let was_absent = matches!(self.record.original(path, file.text()), Some(Original::NoFile));
                let folders = file.missing_folders();
                self.record.note(path, &self.request.name, !file.exists() || was_absent, text, pieces);
                self.record.note_folders(path, folders);
                let written = self.save_record().and_then(|()| file.replace(text));
                if written.is_err() {
                    self.record.forget(path);
                    // A record of a file that was not written is harmless; the error that counts is the first.
                    let _ = self.save_record();
                }
                let note = "it holds the token now, so only its owner can read it";
                return written.map(|()| is_closed.then(|| note.to_owned()));
            }
            SetupPlan::Cut(text) => file.replace(text)?,
            SetupPlan::RemoveFile => {
                file.remove()?;
                // The deepest first; one that holds something else by now stays.
                self.record.folders(path).iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
            }
        }
        self.record.forget(path);
        Ok(self.save_record().err().map(|error| error.to_string()))
    }

    fn save_record(&self) -> io::Result<()> {
        self.record.save(&self.record_path).map_err(|error| {
            let path = self.record_path.display();
            io::Error::new(error.kind(), format!("{path}: the record of setup cannot be written: {error}"))
        })
    }

    /// Prints a diff without any token, and without variables and headers of other servers.
    fn show(
        &mut self,
        client: McpClient,
        path: &Path,
        exists: bool,
        old: &str,
        new: Option<&str>,
    ) -> io::Result<()> {
        let path = path.display().to_string();
        let name = |is_there: bool| if is_there { path.clone() } else { "/dev/null".to_owned() };
        let mut options = diffy::DiffOptions::new();
        options.set_original_filename(name(exists)).set_modified_filename(name(new.is_some()));
        let old = self.without_secrets(client, old)?;
        let new = self.without_secrets(client, new.unwrap_or_default())?;
        let patch = options.create_patch(&old, &new).to_string();
        for line in patch.lines() {
            // A line end within the text would pass for a line of this program.
            writeln!(self.out, "{}", cleaned(line).replace('\n', " "))?;
        }
        Ok(())
    }

    fn without_secrets(&self, client: McpClient, text: &str) -> io::Result<String> {
        let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
        for place in client.hidden_values(text).map_err(io::Error::other)? {
            masked.push_str(text.get(end..place.start).unwrap_or_default());
            masked.push_str("(masked)");
            end = place.end;
        }
        masked.push_str(text.get(end..).unwrap_or_default());
        if let TokenUse::Literal(token) = &self.request.token {
            masked = masked.replace(token, &mask(token));
        }
        Ok(mask_tokens(&masked).into_owned())
    }

    fn has_consent(&mut self) -> io::Result<bool> {
        match self.request.consent {
            SetupConsent::Given => Ok(true),
            SetupConsent::Refused => Ok(false),
            SetupConsent::Ask if !(io::stdin().is_terminal() && io::stdout().is_terminal()) => Ok(false),
            SetupConsent::Ask => {
                write!(self.out, "Write this change? [y/N] ")?;
                self.out.flush()?;
                let mut answer = String::new();
                io::stdin().read_line(&mut answer)?;
                Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
            }
        }
    }

    /// Says why a file stays as it is.
    fn leave(&mut self, why: &str) -> Result<(), Failure> {
        self.totals.impossible += 1;
        Ok(writeln!(self.out, "  Not changed: {why}")?)
    }

    /// True if the settings say where the token comes from, or that none is needed.
    fn names_token(&self) -> bool {
        let settings = &self.request.settings;
        let is_sandbox = settings.get(URL.name).is_some_and(|url| url == SANDBOX);
        is_sandbox || settings.keys().any(|name| is_of_token(name))
    }

    /// Prints what to do next.
    fn conclude(&mut self) -> Result<(), Failure> {
        let is_added = self.request.change == SetupChange::Add;
        if self.totals.shown > 0 {
            let instead =
                if self.request.consent == SetupConsent::Refused { " instead of --dry-run" } else { "" };
            writeln!(
                self.out,
                "Nothing was written there. To write, repeat this command with --write{instead}."
            )?;
        }
        if self.totals.written > 0 {
            writeln!(self.out, "Restart the clients, or reload their servers.")?;
        }
        if is_added && self.totals.written + self.totals.shown > 0 {
            match self.request.token {
                TokenUse::Literal(_) => {}
                TokenUse::Reference => writeln!(
                    self.out,
                    "No token is in these files: they name {TOKEN}, where the client can pass it on. Otherwise \
                     sign in with `gitlab-mcp auth login`."
                )?,
                TokenUse::Elsewhere if self.names_token() => {}
                TokenUse::Elsewhere => writeln!(
                    self.out,
                    "No token is in these files: sign in with `gitlab-mcp auth login`, or set {TOKEN} and run \
                     this again."
                )?,
            }
        }
        if self.totals.unaudited > 0 {
            writeln!(
                self.out,
                "To see later what an assistant did (`gitlab-mcp audit`), repeat this with --audit-file {}",
                self.machine.audit_file().display()
            )?;
        }
        match self.totals.impossible {
            0 => Ok(()),
            _ => Err(Failure::Answered),
        }
    }
}
