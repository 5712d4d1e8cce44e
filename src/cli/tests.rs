use clap::{CommandFactory, Parser};

use super::*;

fn parse(arguments: &[&str]) -> Arguments {
    Arguments::try_parse_from([&["gitlab-mcp"], arguments].concat()).unwrap()
}

#[test]
fn the_command_definition_is_valid() {
    <Arguments as clap::CommandFactory>::command().debug_assert();
}

#[test]
fn settings_are_taken_before_and_after_the_command() {
    for arguments in [["--timeout", "5", "find", "x"], ["find", "x", "--timeout", "5"]] {
        assert_eq!(parse(&arguments).settings.0["GITLAB_TIMEOUT"], "5");
    }
    assert_eq!(parse(&["find", "x", "--sandbox"]).settings.0["GITLAB_URL"], "sandbox");
}

#[test]
fn a_switch_needs_no_value() {
    assert_eq!(parse(&["--read-only", "find", "x"]).settings.0["GITLAB_READ_ONLY"], "true");
    assert_eq!(parse(&["--read-only=no"]).settings.0["GITLAB_READ_ONLY"], "no");
    assert!(parse(&[]).settings.0.is_empty());
}

#[test]
fn no_flag_takes_a_token() {
    assert!(Arguments::try_parse_from(["gitlab-mcp", "--token", "glpat-1"]).is_err());
}

#[test]
fn every_command_has_a_topic() {
    let grammar = Arguments::command();
    let shown = super::help::template(&grammar);
    // The last line has `help`.
    for command in grammar.get_subcommands().filter(|command| command.get_name() != "help") {
        let line = format!("\n  {} ", command.get_name());
        assert!(shown.contains(&line), "{shown}");
    }
}
