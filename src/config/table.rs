//! Every setting there is, as data: the flags, `--help`, docs/configuration.md and the errors are made from it.

use std::fmt::Write;

/// One thing that can be set, by a flag, a variable of the environment or a line of the file.
#[derive(Debug)]
pub struct Setting {
    /// The variable, and the key in the file.
    pub name: &'static str,
    /// Variables of other GitLab servers that mean the same.
    pub aliases: &'static [&'static str],
    /// The flag without its dashes. A secret has none: the list of processes shows arguments to everyone.
    pub flag: Option<&'static str>,
    /// What stands for the value in `--help`.
    pub value: &'static str,
    /// What it is for, in a sentence.
    pub what: &'static str,
    /// What it takes, as an error says it.
    pub accepts: &'static str,
    /// The value where nothing is set.
    pub default: Option<&'static str>,
    pub example: &'static str,
}

impl Setting {
    /// Whether it is on or off, so that its flag needs no value.
    pub fn is_switch(&self) -> bool {
        self.accepts == SWITCH
    }
}

const SWITCH: &str = "true or false (or 1, 0, yes, no, on, off)";
const TOKEN_ALONE: &str = "a token of GitLab's, on one line";

pub static URL: Setting = Setting {
    name: "GITLAB_URL",
    aliases: &["GITLAB_API_URL"],
    flag: Some("url"),
    value: "URL",
    what: "The GitLab to work on; `sandbox` is a small one inside this program, for trying things out.",
    accepts: "an http or https URL without user, password, query or fragment; or `sandbox`",
    default: Some("https://gitlab.com"),
    example: "https://gitlab.example.com/sub/path",
};

pub static TOKEN: Setting = Setting {
    name: "GITLAB_TOKEN",
    aliases: &["GITLAB_PERSONAL_ACCESS_TOKEN"],
    flag: None,
    value: "TOKEN",
    what: "A personal, project or group access token; its kind is known by its prefix.",
    accepts: TOKEN_ALONE,
    default: None,
    example: "glpat-…",
};

pub static TOKEN_FILE: Setting = Setting {
    name: "GITLAB_TOKEN_FILE",
    aliases: &[],
    flag: Some("token-file"),
    value: "FILE",
    what: "A file that holds the token, instead of GITLAB_TOKEN.",
    accepts: "the path of a readable file that holds a token and nothing else",
    default: None,
    example: "/run/secrets/gitlab-token",
};

pub static OAUTH_TOKEN: Setting = Setting {
    name: "GITLAB_OAUTH_TOKEN",
    aliases: &[],
    flag: None,
    value: "TOKEN",
    what: "An OAuth access token, instead of GITLAB_TOKEN.",
    accepts: TOKEN_ALONE,
    default: None,
    example: "4f0e…",
};

pub static JOB_TOKEN: Setting = Setting {
    name: "GITLAB_JOB_TOKEN",
    aliases: &[],
    flag: None,
    value: "TOKEN",
    what: "A CI/CD job's token (`$CI_JOB_TOKEN`), instead of GITLAB_TOKEN.",
    accepts: TOKEN_ALONE,
    default: None,
    example: "glcbt-…",
};

pub static READ_ONLY: Setting = Setting {
    name: "GITLAB_READ_ONLY",
    aliases: &[],
    flag: Some("read-only"),
    value: "BOOL",
    what: "Refuse every action that changes something.",
    accepts: SWITCH,
    default: Some("false"),
    example: "true",
};

pub static SAFE_MODE: Setting = Setting {
    name: "GITLAB_SAFE_MODE",
    aliases: &[],
    flag: Some("safe-mode"),
    value: "BOOL",
    what: "Show the request of an action that changes something instead of sending it.",
    accepts: SWITCH,
    default: Some("false"),
    example: "true",
};

pub static PROJECT: Setting = Setting {
    name: "GITLAB_PROJECT",
    aliases: &[],
    flag: Some("project"),
    value: "PATH",
    what: "The project (or group) meant where a call names none.",
    accepts: "a full path such as group/project",
    default: None,
    example: "my-group/my-project",
};

pub static TIMEOUT: Setting = Setting {
    name: "GITLAB_TIMEOUT",
    aliases: &[],
    flag: Some("timeout"),
    value: "SECONDS",
    what: "How long GitLab may take to answer one request.",
    accepts: "whole seconds from 1 to 3600",
    default: Some("30"),
    example: "120",
};

pub static MAX_BYTES: Setting = Setting {
    name: "GITLAB_MAX_BYTES",
    aliases: &[],
    flag: Some("max-bytes"),
    value: "BYTES",
    what: "How long an answer to the model may be; what is left out is named, with the call that gets it.",
    accepts: "a whole number from 1000 to 10000000",
    default: Some("16000"),
    example: "50000",
};

pub static FILES_DIR: Setting = Setting {
    name: "GITLAB_FILES_DIR",
    aliases: &[],
    flag: Some("files-dir"),
    value: "DIR",
    what: "The one directory whose files may be uploaded, and in which downloads may be saved.",
    accepts: "the path of a directory that is there",
    default: None,
    example: "/home/me/gitlab-files",
};

pub static CA_FILE: Setting = Setting {
    name: "GITLAB_CA_FILE",
    aliases: &[],
    flag: Some("ca-file"),
    value: "FILE",
    what: "Certificates (PEM) to trust beside those of the system.",
    accepts: "the path of a readable file",
    default: None,
    example: "/etc/ssl/company-ca.pem",
};

pub static LOG: Setting = Setting {
    name: "GITLAB_MCP_LOG",
    aliases: &[],
    flag: Some("log-level"),
    value: "LEVEL",
    what: "How much is logged to standard error.",
    accepts: "off, error, warn, info, debug or trace",
    default: Some("warn"),
    example: "debug",
};

pub static FILE: Setting = Setting {
    name: "GITLAB_MCP_CONFIG",
    aliases: &[],
    flag: Some("config"),
    value: "FILE",
    what: "A TOML file of these settings, each under the name of its variable.",
    accepts: "the path of a readable TOML file",
    default: None,
    example: "/etc/gitlab-mcp.toml",
};

/// All of them, in the order in which they are shown.
pub static SETTINGS: [&Setting; 14] = [
    &URL,
    &TOKEN,
    &TOKEN_FILE,
    &OAUTH_TOKEN,
    &JOB_TOKEN,
    &READ_ONLY,
    &SAFE_MODE,
    &PROJECT,
    &TIMEOUT,
    &MAX_BYTES,
    &FILES_DIR,
    &CA_FILE,
    &LOG,
    &FILE,
];

/// The settings as the table of docs/configuration.md.
pub fn render_markdown_table() -> String {
    let mut table = "| Variable | Flag | What it is | Takes | Default | Example |\n".to_owned();
    table.push_str("|---|---|---|---|---|---|\n");
    for setting in SETTINGS {
        let names: Vec<String> =
            [setting.name].iter().chain(setting.aliases).map(|name| format!("`{name}`")).collect();
        let flag = setting.flag.map(|flag| format!("`--{flag}`")).unwrap_or_default();
        let default = setting.default.map(|default| format!("`{default}`")).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {} | {flag} | {} | {} | {default} | `{}` |",
            names.join(", or "),
            setting.what,
            setting.accepts,
            setting.example,
        );
    }
    table
}

/// For `--help`, what the flags do not show: the settings without one, and which source is the stronger.
pub fn render_help() -> String {
    let mut help =
        "Set by variables alone, as the list of processes shows arguments to everyone:\n".to_owned();
    for setting in SETTINGS.iter().filter(|setting| setting.flag.is_none()) {
        let _ = writeln!(help, "  {:18}  {}", setting.name, setting.what);
    }
    help.push_str("A flag is stronger than a variable, and a variable stronger than the file of --config.\n");
    help
}
