//! Command-line flags of the settings, built from the settings table.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use crate::config::{
    AnySetting, FLAG_ALIASES, Flags, HTTP, PROJECT, READ_ONLY, Setting, TOPICS, URL, settings,
};

pub const SANDBOX: &str = "sandbox";
const HEADING: &str = "Settings";

/// Settings that the help of a command shows, with their help there; `help settings` has all.
static EVERYDAY: [(&str, &str); 4] = [
    (URL.row.name, "URL of GitLab [default: https://gitlab.com]"),
    (READ_ONLY.row.name, "Refuse all actions that change something"),
    (PROJECT.row.name, "Default project or group"),
    (HTTP.row.name, "Serve over HTTP, such as at 127.0.0.1:8080"),
];

/// Settings given on the command line.
#[derive(Clone, Debug, Default)]
pub struct SettingFlags(pub Flags);

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        let flags = TOPICS.iter().flat_map(|(heading, settings)| {
            settings.iter().filter_map(|setting| Some(argument(*setting, setting.row().flag?, heading)))
        });
        command.arg(sandbox()).args(flags)
    }

    fn augment_args_for_update(command: Command) -> Command {
        SettingFlags::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<SettingFlags, clap::Error> {
        let mut flags = SettingFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let with_flags = settings().map(AnySetting::row).filter(|row| row.flag.is_some());
        let given =
            with_flags.filter_map(|row| Some((row.name, matches.get_one::<String>(row.name)?.clone())));
        self.0.extend(given);
        if matches.get_flag(SANDBOX) {
            self.0.insert(URL.name, SANDBOX.to_owned());
        }
        Ok(())
    }
}

fn argument(setting: &'static dyn AnySetting, flag: &'static str, heading: &'static str) -> Arg {
    let row = setting.row();
    let short = EVERYDAY.iter().find(|(name, _)| *name == row.name).map(|(_, short)| *short);
    let default = row.default.map(|default| format!(" [default: {default}]")).unwrap_or_default();
    let whole = format!("{} [env: {}]{default}", row.what, row.name);
    let argument = Arg::new(row.name)
        .long(flag)
        .aliases(
            FLAG_ALIASES.iter().filter(|(known, _)| *known == flag).flat_map(|(_, aliases)| aliases.iter()),
        )
        .value_name(row.value)
        .help(short.unwrap_or(&whole).to_owned())
        .long_help(whole)
        .help_heading(if short.is_some() { HEADING } else { heading })
        .hide_short_help(short.is_none())
        .global(true);
    let argument = match setting.choices() {
        choices if choices.is_empty() => argument,
        choices => argument.add(ArgValueCandidates::new(move || {
            choices.iter().map(CompletionCandidate::new).collect::<Vec<_>>()
        })),
    };
    match setting.flag_alone() {
        Some(alone) => {
            argument.num_args(0..=1).require_equals(setting.is_switch()).default_missing_value(alone)
        }
        None => argument,
    }
}

/// Parser of an argument that takes a word of a setting.
pub fn word_of<T>(setting: &'static Setting<T>) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync,
{
    PossibleValuesParser::new(setting.words())
        .try_map(|word| setting.parse(&word).ok_or("expected one of the words above"))
}

fn sandbox() -> Arg {
    Arg::new(SANDBOX)
        .long(SANDBOX)
        .action(ArgAction::SetTrue)
        .conflicts_with(URL.name)
        .help("Use a small GitLab inside this program")
        .help_heading(HEADING)
        .global(true)
}
