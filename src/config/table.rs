//! Settings table: parsers, flags, `help settings`, docs/reference/configuration.md and error messages come from it.

mod calls;
mod connection;
mod credentials;
mod foreign;
mod http;
mod policy;
mod process;
mod setting;
mod shape;

use std::fmt::Write;

pub use calls::{
    CA_FILE, CAPABILITIES, CLIENT_CERT, CLIENT_KEY, EXTRA_HEADERS, FILES_DIR, INSECURE_TLS, LOCAL_HINTS,
    MAX_BYTES, MAX_REQUESTS, PROJECT, SSH_HOST, TIMEOUT,
};
pub use connection::{PLAIN_HTTP, URL};
pub use credentials::{
    CLIENT_ID, CREDENTIALS, JOB_TOKEN, LOGIN_FILE, OAUTH_TOKEN, TOKEN, TOKEN_COMMAND, TOKEN_FILE,
};
pub use foreign::{FLAG_ALIASES, FOREIGN_FLAGS, FOREIGN_RESTRICTIONS, FOREIGN_VARIABLES};
pub use http::{
    ALLOWED_HOSTS, ALLOWED_ORIGINS, AUTH, CALLER_CALLS, CALLER_RATE, CONFIRM_KEY, CONFIRM_KEY_FILE, HTTP,
    INSTANCES, METRICS, OAUTH_APPLICATIONS, PUBLIC_URL, TLS_CERT, TLS_KEY,
};
pub use policy::{
    ALLOWED_PATHS, AUTOPILOT, CONFIRM, CONFIRM_BY, DENIED_ACTIONS, DENIED_TOOLS, POLICY, QUICK_ACTIONS,
    READ_ONLY, READABLE_PATHS, SAFE_MODE,
};
pub use process::{AUDIT, AUDIT_FILE, AUDIT_USER, FILE, LOG, SANDBOX_FILE, SANDBOX_VERSION};
pub use setting::{AnySetting, Row, Setting};
pub use shape::{
    CUSTOMIZE, DOMAINS, META_PARAMS, META_SPLIT, READ_TOOL, SCHEMA_MODE, STRUCTURED_CONTENT, TOOL_SURFACE,
    TOOLSETS,
};

/// Settings by topic, in display order, each topic with its heading in `help settings`.
pub static TOPICS: [(&str, &[&dyn AnySetting]); 7] = [
    ("Connection settings", connection::CONNECTION),
    ("Credential settings", credentials::CREDENTIAL_SETTINGS),
    ("Policy settings", policy::POLICY_SETTINGS),
    ("Tool settings", shape::SHAPE),
    ("Call settings", calls::CALLS),
    ("HTTP server settings", http::HTTP_SETTINGS),
    ("Process settings", process::PROCESS),
];

/// All settings, in display order.
pub fn settings() -> impl Iterator<Item = &'static dyn AnySetting> {
    TOPICS.iter().flat_map(|(_, settings)| settings.iter().copied())
}

/// The flag of a setting, if it has one.
pub fn flag_of(name: &str) -> Option<&'static str> {
    settings().map(AnySetting::row).find(|row| row.name == name)?.flag
}

/// True for the name of a setting of the policy.
pub fn is_of_policy(name: &str) -> bool {
    policy::POLICY_SETTINGS.iter().any(|setting| setting.row().name == name)
}

/// True for a name of a setting that is a token, or says where one is.
pub fn is_of_token(name: &str) -> bool {
    let rows = credentials::CREDENTIAL_SETTINGS.iter().map(|setting| setting.row());
    let mut rows = rows.filter(|row| row.name != CLIENT_ID.row.name);
    rows.any(|row| row.name == name || row.aliases.contains(&name))
}

/// True for the name of a setting of the HTTP server.
pub fn is_of_http(name: &str) -> bool {
    http::HTTP_SETTINGS.iter().any(|setting| setting.row().name == name)
}

/// Renders the settings table of docs/reference/configuration.md.
pub fn render_markdown_table() -> String {
    let mut table = "| Variable | Flag | What it is | Accepts | Default | Example |\n".to_owned();
    table.push_str("|---|---|---|---|---|---|\n");
    for setting in settings() {
        let row = setting.row();
        let names: Vec<String> = row.names().map(|name| format!("`{name}`")).collect();
        let flag = row.flag.map(|flag| format!("`--{flag}`")).unwrap_or_default();
        let default = row.default.map(|default| format!("`{default}`")).unwrap_or_default();
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            table,
            "| {} | {flag} | {} | {} | {default} | `{}` |",
            names.join(", or "),
            row.what,
            setting.accepts(),
            row.example,
        );
    }
    table
}

/// Renders the end of `help settings`: settings without a flag, and the precedence of sources.
pub fn render_help() -> String {
    let mut help =
        "Environment variables without a flag, because other users of the machine can list arguments:\n"
            .to_owned();
    for row in settings().map(|setting| setting.row()).filter(|row| row.flag.is_none()) {
        let _ = writeln!(help, "  {:22}  {}", row.name, row.what);
    }
    help.push_str("Flags take precedence over variables, and variables over the file of --config.\n");
    help
}
