//! Texts of the help: commands by topic, examples and exit codes.

use std::fmt::Write;

/// The commands by topic, in the order of `gitlab-mcp -h`.
const TOPICS: [(&str, &[&str]); 3] = [
    ("Use GitLab", &["find", "execute", "catalog"]),
    ("Serve a client", &["serve", "surface", "health", "audit"]),
    ("Set up", &["setup", "auth", "doctor", "agents", "completions", "version", "help"]),
];

/// End of `-h`.
pub const SHORT: &str = "\
Examples:
  gitlab-mcp setup                        add this program to your MCP clients
  gitlab-mcp find 'close an issue'        find an action
  gitlab-mcp execute issue.list fullPath=group/project state=opened

All settings: gitlab-mcp --help. One command: gitlab-mcp help COMMAND.";

pub const EXAMPLES: &str = "\
Examples:
  gitlab-mcp                                   serve an MCP client on standard input and output
  gitlab-mcp serve --http 127.0.0.1:8080 --auth token   serve many clients over HTTP
  gitlab-mcp --sandbox find 'close an issue'   find an action, without an account
  gitlab-mcp execute issue.list fullPath=group/project state=opened
  gitlab-mcp execute issue.create --params @issue.json --dry-run
  gitlab-mcp auth login --client-id ID         sign in to GitLab in a browser
  gitlab-mcp doctor                            check the connection to GitLab and suggest fixes
  gitlab-mcp setup                             add this program to the MCP clients of this machine
  gitlab-mcp catalog show merge_request.list
  gitlab-mcp surface --surface meta --tokens   show the tools sent to a client and their size
  gitlab-mcp completions bash                  complete commands, settings and action ids in a shell";

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

/// Template of the help of the whole program, in which its commands are by topic.
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
    format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{topics}{{all-args}}{{after-help}}")
}
