//! Settings table: flags, `--help`, docs/reference/configuration.md and error messages are generated from it.

mod credentials;
mod foreign;
mod http;
mod setting;
mod shape;

use std::fmt::Write;

pub use credentials::{
    CLIENT_ID, CREDENTIALS, JOB_TOKEN, LOGIN_FILE, OAUTH_TOKEN, TOKEN, TOKEN_COMMAND, TOKEN_FILE,
};
pub use foreign::{FLAG_ALIASES, FOREIGN_FLAGS, FOREIGN_VARIABLES};
pub use http::{
    ALLOWED_HOSTS, ALLOWED_ORIGINS, AUTH, CALLER_CALLS, CALLER_RATE, CONFIRM_KEY, CONFIRM_KEY_FILE, HTTP,
    INSTANCES, METRICS, OAUTH_APPLICATIONS, PUBLIC_URL, TLS_CERT, TLS_KEY,
};
use setting::SWITCH;
pub use setting::Setting;
pub use shape::{
    CUSTOMIZE, DOMAINS, META_PARAMS, META_SPLIT, READ_TOOL, SCHEMA_MODE, TOOL_SURFACE, TOOLSETS,
};

pub static URL: Setting = Setting {
    name: "GITLAB_URL",
    aliases: &["GITLAB_API_URL", "GITLAB_HOST", "GITLAB_BASE_URL", "GITLAB_INSTANCE_URL", "GL_HOST"],
    flag: Some("url"),
    value: "URL",
    what: "URL of the GitLab instance; `sandbox` is a small demo instance inside this program.",
    accepts: "an http or https URL without user, password, query or fragment; or `sandbox`",
    default: Some("https://gitlab.com"),
    example: "https://gitlab.example.com/sub/path",
};

pub static READ_ONLY: Setting = Setting {
    name: "GITLAB_READ_ONLY",
    aliases: &["GITLAB_READ_ONLY_MODE"],
    flag: Some("read-only"),
    value: "BOOL",
    what: "Refuse all actions that change something.",
    accepts: SWITCH,
    default: Some("false"),
    example: "true",
};

pub static SAFE_MODE: Setting = Setting {
    name: "GITLAB_SAFE_MODE",
    aliases: &[],
    flag: Some("safe-mode"),
    value: "BOOL",
    what: "Show the requests of actions that change something instead of sending them.",
    accepts: SWITCH,
    default: Some("false"),
    example: "true",
};

pub static CONFIRM: Setting = Setting {
    name: "GITLAB_CONFIRM",
    aliases: &[],
    flag: Some("confirmation"),
    value: "HOW",
    what: "Risks that need confirmation, given by `confirm: true`. `token` also requires the confirmation token \
           from the error; `never` disables confirmation.",
    accepts: "`write`, `grant` and `destructive`, separated by commas, optionally with `token`; or `never`",
    default: Some("destructive,grant"),
    example: "destructive,grant,token",
};

pub static CONFIRM_BY: Setting = Setting {
    name: "GITLAB_CONFIRM_BY",
    aliases: &[],
    flag: Some("confirm-by"),
    value: "WHO",
    what: "Who confirms where the client can ask a person. `person`: `confirm: true` does not replace the question. \
           `model`: it does, as a program without a person needs.",
    accepts: "person or model",
    default: Some("person"),
    example: "model",
};

pub static AUTOPILOT: Setting = Setting {
    name: "GITLAB_YOLO_MODE",
    aliases: &["GITLAB_AUTOPILOT", "YOLO_MODE", "AUTOPILOT"],
    flag: Some("autopilot"),
    value: "BOOL",
    what: "Same as `GITLAB_CONFIRM=never`: destructive actions run without confirmation. GITLAB_CONFIRM takes \
           precedence.",
    accepts: SWITCH,
    default: Some("false"),
    example: "true",
};

pub static DENIED_ACTIONS: Setting = Setting {
    name: "GITLAB_DENIED_ACTIONS",
    aliases: &[],
    flag: Some("denied-actions"),
    value: "LIST",
    what: "Actions that are never executed and never found.",
    accepts: "ids and patterns, separated by commas: issue.delete, ci_variable.*, *.delete, manage_issue:delete",
    default: None,
    example: "*.delete,ci_variable.*",
};

pub static DENIED_TOOLS: Setting = Setting {
    name: "GITLAB_DENIED_TOOLS_REGEX",
    aliases: &[],
    flag: Some("denied-tools"),
    value: "REGEX",
    what: "Deny tools and actions whose name matches this regular expression.",
    accepts: "a regular expression",
    default: None,
    example: "^(delete|purge)_",
};

pub static ALLOWED_PATHS: Setting = Setting {
    name: "GITLAB_ALLOWED_PATHS",
    aliases: &[],
    flag: Some("allowed-paths"),
    value: "LIST",
    what: "Limit changes to these projects and groups, with everything below them. Default: no limit.",
    accepts: "paths, separated by commas; `*` matches any part of a name",
    default: None,
    example: "acme/tools,acme/*-docs",
};

pub static READABLE_PATHS: Setting = Setting {
    name: "GITLAB_READABLE_PATHS",
    aliases: &[],
    flag: Some("readable-paths"),
    value: "LIST",
    what: "Limit all calls, including reads, to these projects and groups. Default: no limit.",
    accepts: "paths, separated by commas; `*` matches any part of a name",
    default: None,
    example: "acme/tools,acme/*-docs",
};

pub static QUICK_ACTIONS: Setting = Setting {
    name: "GITLAB_QUICK_ACTIONS",
    aliases: &[],
    flag: Some("quick-actions"),
    value: "HOW",
    what: "Quick actions (`/merge`, `/move`) in texts: `check` applies the policy of the corresponding actions, \
           `refuse` refuses the text, `escape` sends it as plain text.",
    accepts: "check, refuse or escape",
    default: Some("check"),
    example: "refuse",
};

pub static POLICY: Setting = Setting {
    name: "GITLAB_POLICY",
    aliases: &[],
    flag: Some("policy"),
    value: "FILE",
    what: "TOML file with rules by path, action and risk; see docs/concepts/policy.md.",
    accepts: "the path of a readable TOML file",
    default: None,
    example: "/etc/gitlab-mcp-policy.toml",
};

pub static PROJECT: Setting = Setting {
    name: "GITLAB_PROJECT",
    aliases: &[],
    flag: Some("project"),
    value: "PATH",
    what: "Default project (or group) of calls that name none.",
    accepts: "a full path such as group/project",
    default: None,
    example: "my-group/my-project",
};

pub static TIMEOUT: Setting = Setting {
    name: "GITLAB_TIMEOUT",
    aliases: &[],
    flag: Some("timeout"),
    value: "SECONDS",
    what: "Timeout of one request to GitLab, in seconds.",
    accepts: "whole seconds from 1 to 3600",
    default: Some("30"),
    example: "120",
};

pub static MAX_BYTES: Setting = Setting {
    name: "GITLAB_MAX_BYTES",
    aliases: &[],
    flag: Some("max-bytes"),
    value: "BYTES",
    what: "Maximum size of an answer. An answer that is cut has the call that returns the rest.",
    accepts: "a whole number from 1000 to 10000000",
    default: Some("16000"),
    example: "50000",
};

pub static MAX_REQUESTS: Setting = Setting {
    name: "GITLAB_MAX_REQUESTS",
    aliases: &[],
    flag: Some("max-requests"),
    value: "NUMBER",
    what: "Maximum number of concurrent requests to GitLab; further requests wait.",
    accepts: "a whole number from 1 to 256",
    default: Some("16"),
    example: "4",
};

pub static FILES_DIR: Setting = Setting {
    name: "GITLAB_FILES_DIR",
    aliases: &[],
    flag: Some("files-dir"),
    value: "DIR",
    what: "The only directory for uploads from, and downloads to, this machine.",
    accepts: "the path of an existing directory",
    default: None,
    example: "/home/me/gitlab-files",
};

pub static LOCAL_HINTS: Setting = Setting {
    name: "GITLAB_LOCAL_HINTS",
    aliases: &[],
    flag: Some("local-hints"),
    value: "BOOL",
    what: "Note the local path of a file that is read from the workspace's own project and branch.",
    accepts: SWITCH,
    default: Some("true"),
    example: "false",
};

pub static CA_FILE: Setting = Setting {
    name: "GITLAB_CA_FILE",
    aliases: &["GITLAB_CA_CERT_PATH"],
    flag: Some("ca-file"),
    value: "FILE",
    what: "Additional root certificates (PEM) to trust.",
    accepts: "the path of a readable file",
    default: None,
    example: "/etc/ssl/company-ca.pem",
};

pub static CLIENT_CERT: Setting = Setting {
    name: "GITLAB_CLIENT_CERT",
    aliases: &[],
    flag: Some("client-cert"),
    value: "FILE",
    what: "Client certificate with its chain (PEM), for GitLab or a proxy in front of it.",
    accepts: "the path of a readable file",
    default: None,
    example: "/etc/ssl/me.pem",
};

pub static CLIENT_KEY: Setting = Setting {
    name: "GITLAB_CLIENT_KEY",
    aliases: &[],
    flag: Some("client-key"),
    value: "FILE",
    what: "Private key (PEM) of GITLAB_CLIENT_CERT.",
    accepts: "the path of a readable file",
    default: None,
    example: "/etc/ssl/me.key",
};

pub static INSECURE_TLS: Setting = Setting {
    name: "GITLAB_INSECURE_TLS",
    aliases: &[],
    flag: Some("insecure-tls"),
    value: "BOOL",
    what: "Do not verify GitLab's TLS certificate. Anyone on the network path can read the token; prefer \
           GITLAB_CA_FILE.",
    accepts: SWITCH,
    default: Some("false"),
    example: "true",
};

pub static EXTRA_HEADERS: Setting = Setting {
    name: "GITLAB_EXTRA_HEADERS",
    aliases: &[],
    flag: None,
    value: "HEADERS",
    what: "Headers for a proxy in front of GitLab. They are sent only to the configured instance.",
    accepts: "`Name: value` pairs, separated by `;`, except headers that this program sets (Authorization, \
              PRIVATE-TOKEN, JOB-TOKEN, Host, Content-Type and others)",
    default: None,
    example: "CF-Access-Client-Id: 1a2b.access; CF-Access-Client-Secret: 3c4d",
};

pub static CAPABILITIES: Setting = Setting {
    name: "CAPABILITY_SURFACE",
    aliases: &[],
    flag: Some("capability-surface"),
    value: "HOW",
    what: "MCP capabilities in addition to tools: `full` has resources, prompts and completions; `minimal` only \
           the resources about tools and the workspace.",
    accepts: "full or minimal",
    default: Some("full"),
    example: "minimal",
};

pub static AUDIT: Setting = Setting {
    name: "GITLAB_AUDIT",
    aliases: &[],
    flag: Some("audit"),
    value: "FORM",
    what: "Form of the audit log on standard error: a line for each executed action, without parameter values.",
    accepts: "off, text or json",
    default: Some("text"),
    example: "json",
};

pub static LOG: Setting = Setting {
    name: "GITLAB_MCP_LOG",
    aliases: &[],
    flag: Some("log-level"),
    value: "LEVEL",
    what: "Level of the log on standard error.",
    accepts: "off, error, warn, info, debug or trace",
    default: Some("warn"),
    example: "debug",
};

pub static FILE: Setting = Setting {
    name: "GITLAB_MCP_CONFIG",
    aliases: &[],
    flag: Some("config"),
    value: "FILE",
    what: "TOML file with settings, each under the name of its variable.",
    accepts: "the path of a readable TOML file",
    default: None,
    example: "/etc/gitlab-mcp.toml",
};

/// All settings, in display order.
pub static SETTINGS: [&Setting; 57] = [
    &URL,
    &TOKEN_FILE,
    &TOKEN,
    &OAUTH_TOKEN,
    &JOB_TOKEN,
    &TOKEN_COMMAND,
    &LOGIN_FILE,
    &CREDENTIALS,
    &CLIENT_ID,
    &READ_ONLY,
    &SAFE_MODE,
    &CONFIRM,
    &CONFIRM_BY,
    &AUTOPILOT,
    &DENIED_ACTIONS,
    &DENIED_TOOLS,
    &ALLOWED_PATHS,
    &READABLE_PATHS,
    &QUICK_ACTIONS,
    &POLICY,
    &TOOL_SURFACE,
    &READ_TOOL,
    &TOOLSETS,
    &DOMAINS,
    &META_PARAMS,
    &META_SPLIT,
    &SCHEMA_MODE,
    &CUSTOMIZE,
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
    &HTTP,
    &AUTH,
    &PUBLIC_URL,
    &TLS_CERT,
    &TLS_KEY,
    &METRICS,
    &ALLOWED_HOSTS,
    &ALLOWED_ORIGINS,
    &INSTANCES,
    &OAUTH_APPLICATIONS,
    &CONFIRM_KEY,
    &CONFIRM_KEY_FILE,
    &CALLER_RATE,
    &CALLER_CALLS,
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
        "Environment variables without a flag, because other users of the machine can list arguments:\n"
            .to_owned();
    for setting in SETTINGS.iter().filter(|setting| setting.flag.is_none()) {
        let _ = writeln!(help, "  {:22}  {}", setting.name, setting.what);
    }
    help.push_str("Flags take precedence over variables, and variables over the file of --config.\n");
    help
}
