//! Commands that work offline: catalog, sub-agents, setup of clients, shell completions.

use std::io::Write;

use super::setup::{self, Machine, SetupChange, SetupConsent, SetupRequest, System, TOKEN, TokenUse};
use super::{Arguments, Failure, Offline, SetupArguments, TokenArgument, help};
use crate::config::{self, Config, Flags};

/// Runs an offline command.
pub fn run(command: Offline, flags: &Flags, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        Offline::Catalog { view } => super::catalog::run(view, out),
        Offline::Agents { out: folder, client } => super::agents::run(client, &folder, out),
        Offline::Setup(arguments) => set_up(arguments, flags, out),
        Offline::Completions { shell } => super::completions::write_script(shell, out),
        Offline::Help { command } if command == [help::SETTINGS] => {
            Ok(write!(out, "{}", Arguments::render_settings())?)
        }
        Offline::Help { command } => Arguments::show_help(&command),
        Offline::Version { json } => super::version::run(json, out),
    }
}

/// Runs `setup` with the settings that flags and the environment give.
fn set_up(arguments: SetupArguments, flags: &Flags, out: &mut dyn Write) -> Result<(), Failure> {
    // Settings that the server would refuse are not written anywhere.
    Config::resolve(flags, config::environment)?.with_misspelt(config::variables())?;
    let text = |name: &str| config::environment(name).and_then(|value| value.into_string().ok());
    let settings = config::portable_settings(flags, config::environment);
    let token = text(TOKEN).filter(|token| !token.is_empty());
    let token = match (arguments.token, token) {
        (TokenArgument::File, Some(token)) => TokenUse::Literal(token),
        (TokenArgument::File, None) => return Err(Failure::NoToken),
        (TokenArgument::Env, _) | (TokenArgument::Auto, Some(_)) => TokenUse::Reference,
        (TokenArgument::None, _) | (TokenArgument::Auto, None) => TokenUse::Elsewhere,
    };
    let request = SetupRequest {
        clients: arguments.client,
        name: arguments.name,
        change: if arguments.undo { SetupChange::Remove } else { SetupChange::Add },
        consent: match (arguments.write, arguments.dry_run) {
            (true, _) => SetupConsent::Given,
            (false, true) => SetupConsent::Refused,
            (false, false) => SetupConsent::Ask,
        },
        settings,
        token,
    };
    let machine = Machine::new(System::CURRENT, config::environment, config::search_path());
    let machine = machine.ok_or(Failure::NoHome)?;
    let executable = config::executable().map_err(|error| Failure::Loaded("gitlab-mcp".into(), error))?;
    setup::run(&request, &machine, &executable, out)
}
