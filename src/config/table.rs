//! Settings table: flags, `--help`, docs/reference/configuration.md and error messages are generated from it.

mod foreign;
mod setting;
mod shape;

use std::fmt::Write;

pub use foreign::{FLAG_ALIASES, FOREIGN_FLAGS, FOREIGN_VARIABLES};
use setting::SWITCH;
pub use setting::Setting;
pub use shape::{CUSTOMISE, DOMAINS, META_PARAMS, META_SPLIT, SCHEMA_MODE, TOOL_SURFACE, TOOLSETS};

const TOKEN_ALONE: &str = "a token of GitLab's, on one line";

pub static URL: Setting = Setting {
    name: "GITLAB_URL",
    aliases: &["GITLAB_API_URL", "GITLAB_HOST", "GITLAB_BASE_URL", "GITLAB_INSTANCE_URL", "GL_HOST"],
    flag: Some("url"),
    value: "URL",
    what: "The GitLab to work on; `sandbox` is a small one inside this program, for trying things out.",
    accepts: "an http or https URL without user, password, query or fragment; or `sandbox`",
    default: Some("https://gitlab.com"),
    example: "https://gitlab.example.com/sub/path",
};

pub static TOKEN: Setting = Setting {
    name: "GITLAB_TOKEN",
    aliases: &["GITLAB_PERSONAL_ACCESS_TOKEN", "GITLAB_ACCESS_TOKEN", "GITLAB_API_TOKEN", "GITLAB_PAT"],
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
    aliases: &["GITLAB_READ_ONLY_MODE"],
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

pub static CONFIRM: Setting = Setting {
    name: "GITLAB_CONFIRM",
    aliases: &[],
    flag: Some("confirmation"),
    value: "HOW",
    what: "Which risks are asked about before a call is sent, and how consent is given: by `confirm: true`, with \
           `token` also by the confirmation token of the question; `never` asks about nothing.",
    accepts: "risks out of write, grant and destructive, separated by commas, with `token` among them where \
              the token is wanted; or never",
    default: Some("destructive,grant"),
    example: "destructive,grant,token",
};

pub static AUTOPILOT: Setting = Setting {
    name: "GITLAB_YOLO_MODE",
    aliases: &["GITLAB_AUTOPILOT", "YOLO_MODE", "AUTOPILOT"],
    flag: Some("autopilot"),
    value: "BOOL",
    what: "The same as `GITLAB_CONFIRM=never`: destructive actions run without a question. GITLAB_CONFIRM, where it is set, is stronger.",
    accepts: SWITCH,
    default: Some("false"),
    example: "true",
};

pub static DENIED_ACTIONS: Setting = Setting {
    name: "GITLAB_DENIED_ACTIONS",
    aliases: &[],
    flag: Some("denied-actions"),
    value: "LIST",
    what: "Actions that never run and are never found.",
    accepts: "ids and patterns, separated by commas: issue.delete, ci_variable.*, *.delete, manage_issue:delete",
    default: None,
    example: "*.delete,ci_variable.*",
};

pub static DENIED_TOOLS: Setting = Setting {
    name: "GITLAB_DENIED_TOOLS_REGEX",
    aliases: &[],
    flag: Some("denied-tools"),
    value: "REGEX",
    what: "Tools and actions that have a name in which this is found never run and are never offered.",
    accepts: "a regular expression",
    default: None,
    example: "^(delete|purge)_",
};

pub static ALLOWED_PATHS: Setting = Setting {
    name: "GITLAB_ALLOWED_PATHS",
    aliases: &[],
    flag: Some("allowed-paths"),
    value: "LIST",
    what: "Projects and groups below which changes are allowed; without it, everywhere.",
    accepts: "paths, separated by commas, in which `*` stands for any part of a name",
    default: None,
    example: "acme/tools,acme/*-docs",
};

pub static READABLE_PATHS: Setting = Setting {
    name: "GITLAB_READABLE_PATHS",
    aliases: &[],
    flag: Some("readable-paths"),
    value: "LIST",
    what: "Projects and groups below which calls may work at all, reads included; without it, everywhere.",
    accepts: "paths, separated by commas, in which `*` stands for any part of a name",
    default: None,
    example: "acme/tools,acme/*-docs",
};

pub static QUICK_ACTIONS: Setting = Setting {
    name: "GITLAB_QUICK_ACTIONS",
    aliases: &[],
    flag: Some("quick-actions"),
    value: "HOW",
    what: "Texts with quick actions (`/merge`, `/move`): `check` decides on them like the actions that they stand \
           for, `refuse` sends none, `escape` sends them as plain text.",
    accepts: "check, refuse or escape",
    default: Some("check"),
    example: "refuse",
};

pub static POLICY: Setting = Setting {
    name: "GITLAB_POLICY",
    aliases: &[],
    flag: Some("policy"),
    value: "FILE",
    what: "A TOML file of rules by path, action and risk; docs/concepts/policy.md has one.",
    accepts: "the path of a readable TOML file",
    default: None,
    example: "/etc/gitlab-mcp-policy.toml",
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

pub static MAX_REQUESTS: Setting = Setting {
    name: "GITLAB_MAX_REQUESTS",
    aliases: &[],
    flag: Some("max-requests"),
    value: "NUMBER",
    what: "How many requests to GitLab may be under way at a time; the others wait for their turn.",
    accepts: "a whole number from 1 to 256",
    default: Some("16"),
    example: "4",
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

pub static LOCAL_HINTS: Setting = Setting {
    name: "GITLAB_LOCAL_HINTS",
    aliases: &[],
    flag: Some("local-hints"),
    value: "BOOL",
    what: "Say of a file of the workspace's own project at its branch that GitLab's copy is shown, and where the \
           local one is.",
    accepts: SWITCH,
    default: Some("true"),
    example: "false",
};

pub static CA_FILE: Setting = Setting {
    name: "GITLAB_CA_FILE",
    aliases: &["GITLAB_CA_CERT_PATH"],
    flag: Some("ca-file"),
    value: "FILE",
    what: "Certificates (PEM) to trust beside those of the system.",
    accepts: "the path of a readable file",
    default: None,
    example: "/etc/ssl/company-ca.pem",
};

pub static CLIENT_CERT: Setting = Setting {
    name: "GITLAB_CLIENT_CERT",
    aliases: &[],
    flag: Some("client-cert"),
    value: "FILE",
    what: "A certificate with its chain (PEM) by which GitLab, or a proxy before it, knows this client.",
    accepts: "the path of a readable file",
    default: None,
    example: "/etc/ssl/me.pem",
};

pub static CLIENT_KEY: Setting = Setting {
    name: "GITLAB_CLIENT_KEY",
    aliases: &[],
    flag: Some("client-key"),
    value: "FILE",
    what: "The key (PEM) of GITLAB_CLIENT_CERT.",
    accepts: "the path of a readable file",
    default: None,
    example: "/etc/ssl/me.key",
};

pub static INSECURE_TLS: Setting = Setting {
    name: "GITLAB_INSECURE_TLS",
    aliases: &[],
    flag: Some("insecure-tls"),
    value: "BOOL",
    what: "Believe any certificate of GitLab's. Whoever is in between can then read the token; GITLAB_CA_FILE is \
           the better way.",
    accepts: SWITCH,
    default: Some("false"),
    example: "true",
};

pub static EXTRA_HEADERS: Setting = Setting {
    name: "GITLAB_EXTRA_HEADERS",
    aliases: &[],
    flag: None,
    value: "HEADERS",
    what: "Headers for a proxy in front of GitLab, sent to GitLab's own address and nowhere else.",
    accepts: "`Name: value` pairs with `;` between them, none of which is a header of this program's own \
              (Authorization, PRIVATE-TOKEN, JOB-TOKEN, Host, Content-Type and the like)",
    default: None,
    example: "CF-Access-Client-Id: 1a2b.access; CF-Access-Client-Secret: 3c4d",
};

pub static CAPABILITIES: Setting = Setting {
    name: "CAPABILITY_SURFACE",
    aliases: &[],
    flag: Some("capability-surface"),
    value: "HOW",
    what: "What there is beside the tools: `full` is resources, prompts and completions; `minimal` only the resources \
           that tell of the tools and the workspace.",
    accepts: "full or minimal",
    default: Some("full"),
    example: "minimal",
};

pub static AUDIT: Setting = Setting {
    name: "GITLAB_AUDIT",
    aliases: &[],
    flag: Some("audit"),
    value: "FORM",
    what: "A line on standard error for each action that a client executes: what, where and how it went, without \
           a value of its parameters.",
    accepts: "off, text or json",
    default: Some("text"),
    example: "json",
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

/// All settings, in display order.
pub static SETTINGS: [&Setting; 37] = [
    &URL,
    &TOKEN,
    &TOKEN_FILE,
    &OAUTH_TOKEN,
    &JOB_TOKEN,
    &READ_ONLY,
    &SAFE_MODE,
    &CONFIRM,
    &AUTOPILOT,
    &DENIED_ACTIONS,
    &DENIED_TOOLS,
    &ALLOWED_PATHS,
    &READABLE_PATHS,
    &QUICK_ACTIONS,
    &POLICY,
    &TOOL_SURFACE,
    &TOOLSETS,
    &DOMAINS,
    &META_PARAMS,
    &META_SPLIT,
    &SCHEMA_MODE,
    &CUSTOMISE,
    &PROJECT,
    &TIMEOUT,
    &MAX_BYTES,
    &MAX_REQUESTS,
    &FILES_DIR,
    &LOCAL_HINTS,
    &CA_FILE,
    &CLIENT_CERT,
    &CLIENT_KEY,
    &INSECURE_TLS,
    &EXTRA_HEADERS,
    &CAPABILITIES,
    &AUDIT,
    &LOG,
    &FILE,
];

/// Renders the settings table of docs/reference/configuration.md.
pub fn render_markdown_table() -> String {
    let mut table = "| Variable | Flag | What it is | Takes | Default | Example |\n".to_owned();
    table.push_str("|---|---|---|---|---|---|\n");
    for setting in SETTINGS {
        let names: Vec<String> =
            [setting.name].iter().chain(setting.aliases).map(|name| format!("`{name}`")).collect();
        let flag = setting.flag.map(|flag| format!("`--{flag}`")).unwrap_or_default();
        let default = setting.default.map(|default| format!("`{default}`")).unwrap_or_default();
        // Writing to a `String` cannot fail.
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

/// Renders the end of `--help`: settings without a flag, and the precedence of sources.
pub fn render_help() -> String {
    let mut help =
        "Set by variables alone, as the list of processes shows arguments to everyone:\n".to_owned();
    for setting in SETTINGS.iter().filter(|setting| setting.flag.is_none()) {
        let _ = writeln!(help, "  {:20}  {}", setting.name, setting.what);
    }
    help.push_str("A flag is stronger than a variable, and a variable stronger than the file of --config.\n");
    help
}
