//! Flags and variables of other GitLab servers: aliases of ours, and hints for those without an equivalent.

/// Aliases of our flags, without dashes, hidden from the help.
pub static FLAG_ALIASES: [(&str, &[&str]); 4] = [
    ("url", &["gitlab-url", "api-url", "gitlab-api-url", "gitlab-host", "base-url"]),
    ("read-only", &["readonly", "read-only-mode"]),
    ("tool-surface", &["surface-kind"]),
    ("customize", &["customise"]),
];

const HTTP: &str = "--http ADDRESS serves over HTTP, such as --http 127.0.0.1:8080 --auth token; without it, gitlab-mcp \
                    is served on standard input and output (stdio)";
const IS_STDIO: &str =
    "standard input and output (stdio) is what gitlab-mcp serves without any flag; leave it out";
const A_TOKEN: &str = "a token is not given as an argument, which the list of processes shows to everyone: set the \
                       variable GITLAB_TOKEN, or name a file with --token-file";

const AS_JSON: &str = "`execute --json` prints JSON, for jq as well";
const A_PAGE: &str = "the number of rows is a parameter: `per_page=20`";
const A_PARAMETER: &str = "a parameter of an action is `state=opened`, without dashes";

/// Unsupported flags of other servers and programs, each with an alternative.
pub static FOREIGN_FLAGS: [(&str, &str); 20] = [
    ("--streamable-http", HTTP),
    ("--sse", HTTP),
    ("--port", HTTP),
    ("--host", HTTP),
    ("--listen", HTTP),
    ("--bind", HTTP),
    ("--address", HTTP),
    ("--transport", HTTP),
    ("--stdio", IS_STDIO),
    ("--output", AS_JSON),
    ("--format", AS_JSON),
    ("-o", AS_JSON),
    ("--jq", AS_JSON),
    ("--limit", A_PAGE),
    ("--state", A_PARAMETER),
    ("--token", A_TOKEN),
    ("--gitlab-token", A_TOKEN),
    ("--personal-access-token", A_TOKEN),
    ("--access-token", A_TOKEN),
    ("--api-key", A_TOKEN),
];

/// Restrictions of other servers, which do not hold here, each with those that do.
pub static FOREIGN_RESTRICTIONS: [(&str, &str); 9] = [
    ("GITLAB_ALLOWED_PROJECT_IDS", "GITLAB_ALLOWED_PATHS and GITLAB_READABLE_PATHS take paths"),
    ("GITLAB_ALLOWED_PROJECTS", "GITLAB_ALLOWED_PATHS and GITLAB_READABLE_PATHS take paths"),
    ("GITLAB_ENABLED_TOOLS", "GITLAB_TOOLSETS and GITLAB_DOMAINS name the parts that are offered"),
    ("GITLAB_TOOLS", "GITLAB_TOOLSETS and GITLAB_DOMAINS name the parts that are offered"),
    ("GITLAB_DENIED_TOOLS", "GITLAB_DENIED_ACTIONS takes ids and patterns of actions"),
    ("MCP_READ_ONLY", "GITLAB_READ_ONLY=true refuses changes"),
    ("MCP_READONLY", "GITLAB_READ_ONLY=true refuses changes"),
    ("USE_READONLY", "GITLAB_READ_ONLY=true refuses changes"),
    ("READ_ONLY_MODE", "GITLAB_READ_ONLY=true refuses changes"),
];

/// Unsupported variables of other servers, each with an alternative.
pub static FOREIGN_VARIABLES: [(&str, &str); 7] = [
    ("GITLAB_PROJECT_ID", "GITLAB_PROJECT takes the full path of a project"),
    ("GITLAB_DEFAULT_PROJECT", "GITLAB_PROJECT takes the full path of a project"),
    ("GITLAB_AUTH_COOKIE_PATH", "GITLAB_EXTRA_HEADERS takes headers for a proxy in front of GitLab"),
    ("GITLAB_VERIFY_SSL", "GITLAB_INSECURE_TLS switches the check of certificates off"),
    ("GITLAB_SSL_VERIFY", "GITLAB_INSECURE_TLS switches the check of certificates off"),
    ("STREAMABLE_HTTP", "GITLAB_MCP_HTTP takes the address to serve HTTP at"),
    ("GITLAB_API_KEY", "GITLAB_TOKEN takes the token"),
];
