//! Texts of the help: commands by topic, examples and exit codes.

use std::fmt::Write;

use clap::{Arg, ArgAction};

/// The commands by topic, in the order of `gitlab-mcp --help`, which fits a screen of 24 lines.
const TOPICS: [(&str, &[&str]); 3] = [
    ("Use GitLab", &["find", "execute", "catalog"]),
    ("Serve a client", &["serve", "surface", "health", "audit"]),
    ("Set up", &["setup", "auth", "doctor", "agents", "completions", "version"]),
];

/// Topic of `help` that is no command: all settings.
pub const SETTINGS: &str = "settings";

/// End of the help of the whole program.
const END: &str = "One command: gitlab-mcp help COMMAND. All settings: gitlab-mcp help settings";

pub const FIND_EXAMPLES: &str = "\
Examples:
  gitlab-mcp find close an issue
  gitlab-mcp --sandbox find close an issue     without an account";

pub const EXECUTE_EXAMPLES: &str = "\
Examples:
  gitlab-mcp execute issue.list fullPath=group/project state=opened
  gitlab-mcp execute issue.create --params @issue.json --dry-run
  gitlab-mcp execute project_upload.create fullPath=group/project -f file=@a.png";

pub const SERVE_EXAMPLES: &str = "\
Examples:
  gitlab-mcp                                            one client, on standard input and output
  gitlab-mcp serve --http 127.0.0.1:8080 --auth token   many clients, over HTTP";

pub const EXIT_CODES: &str = "\
Exit codes:
  0  success; for the server: the client closed the connection, or SIGTERM, SIGINT, SIGQUIT or SIGHUP
  1  the result is an error, such as an unknown action or a refusal by GitLab; for doctor: a warning
  2  invalid command line or setting; for doctor: a check failed
  3  internal error
  130  a signal ended execute or doctor";

pub const SETUP_EXAMPLES: &str = "\
Examples:
  gitlab-mcp setup                          show each change, and ask before it is written
  gitlab-mcp setup --dry-run                only show the changes
  gitlab-mcp --read-only setup --client cursor --write   settings given as flags are written too
  gitlab-mcp setup --undo                   take the changes back";

pub const DOCTOR_EXIT_CODES: &str = "\
Exit codes:
  0  all checks passed
  1  a warning
  2  a check failed, or a setting is invalid";

/// `-h` and `--help`, which are the same: settings that are not of every day have a help of their own.
pub fn flag() -> Arg {
    Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).help("Print help").global(true)
}

/// Template of the help of the whole program: its commands by topic.
pub fn template(program: &clap::Command) -> String {
    let mut topics = String::new();
    for (topic, names) in TOPICS {
        // Writing to a `String` cannot fail.
        let _ = writeln!(topics, "{topic}:");
        for command in names.iter().filter_map(|name| program.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(topics, "  {:11}  {about}", command.get_name());
        }
        topics.push('\n');
    }
    format!("{{about-with-newline}}{{usage-heading}} {{usage}}\n\n{topics}{END}")
}
