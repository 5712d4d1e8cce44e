//! Options of `find` and `execute`, built from the arguments of the tools.

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde_json::{Map, Value};

use crate::tools::{Argument, EXECUTE_ARGUMENTS, FIND_ARGUMENTS, FORMER_NAMES, Takes};

/// Arguments that the calls in an answer have, and nobody types: the help leaves them out.
const OFFERED: [&str; 2] = ["confirmation_token", "offset"];

/// Arguments of `gitlab_find_action` that were given as options, by their names.
#[derive(Clone, Debug, Default)]
pub struct FindOptions(pub Map<String, Value>);

/// Arguments of `gitlab_execute_action` that were given as options, by their names.
#[derive(Clone, Debug, Default)]
pub struct ExecuteOptions(pub Map<String, Value>);

macro_rules! options_of {
    ($options:ident, $table:ident) => {
        impl Args for $options {
            fn augment_args(command: Command) -> Command {
                command.args($table.iter().filter_map(option))
            }

            fn augment_args_for_update(command: Command) -> Command {
                $options::augment_args(command)
            }
        }

        impl FromArgMatches for $options {
            fn from_arg_matches(matches: &ArgMatches) -> Result<$options, clap::Error> {
                Ok($options(given($table, matches)))
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                self.0.extend(given($table, matches));
                Ok(())
            }
        }
    };
}
options_of!(FindOptions, FIND_ARGUMENTS);
options_of!(ExecuteOptions, EXECUTE_ARGUMENTS);

/// The option of an argument, if it has one.
fn option(argument: &Argument) -> Option<Arg> {
    let cli = argument.option?;
    let former = FORMER_NAMES.iter().filter(|(_, current)| *current == argument.name);
    let option = Arg::new(argument.name)
        .long(cli.name)
        .aliases(former.map(|(former, _)| *former))
        .help(cli.help)
        .hide_short_help(OFFERED.contains(&argument.name))
        .value_name(cli.value);
    Some(match argument.takes {
        Takes::Flag => option.action(ArgAction::SetTrue),
        // `--lines -50`
        Takes::Text | Takes::Request | Takes::Texts => option.allow_hyphen_values(argument.name == "lines"),
        Takes::Number(..) => option.value_parser(clap::value_parser!(u64)),
        Takes::Choice(words) => option.value_parser(ValueParser::from(PossibleValuesParser::new(words))),
        Takes::Object => option,
    })
}

/// The arguments that were given as options.
fn given(table: &[Argument], matches: &ArgMatches) -> Map<String, Value> {
    let mut given = Map::new();
    for argument in table.iter().filter(|argument| argument.option.is_some()) {
        let value = match argument.takes {
            Takes::Flag => matches.get_flag(argument.name).then_some(Value::Bool(true)),
            Takes::Number(..) => matches.get_one::<u64>(argument.name).map(|number| (*number).into()),
            _ => matches.get_one::<String>(argument.name).map(|text| text.as_str().into()),
        };
        given.extend(value.map(|value| (argument.name.to_owned(), value)));
    }
    given
}
