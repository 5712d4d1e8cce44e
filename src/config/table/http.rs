//! Settings of the HTTP server.

use super::setting::Setting;

pub static HTTP: Setting = Setting {
    name: "GITLAB_MCP_HTTP",
    aliases: &[],
    flag: Some("http"),
    value: "ADDRESS",
    what: "Serve MCP over HTTP at this address, in place of standard input and output.",
    accepts: "an IP address with a port, or unix:PATH",
    default: None,
    example: "127.0.0.1:8080",
};

pub static AUTH: Setting = Setting {
    name: "GITLAB_MCP_AUTH",
    aliases: &[],
    flag: Some("auth"),
    value: "MODE",
    what: "Identification of callers over HTTP. `none`: all use this server's own token, on loopback only; `token`: each \
           request brings a GitLab token; `oauth`: each request brings an OAuth access token.",
    accepts: "none, token or oauth",
    default: None,
    example: "token",
};

pub static PUBLIC_URL: Setting = Setting {
    name: "GITLAB_MCP_PUBLIC_URL",
    aliases: &[],
    flag: Some("public-url"),
    value: "URL",
    what: "URL by which clients reach the HTTP server, without `/mcp`; required if the address is not loopback.",
    accepts: "an http or https URL without user, password, query or fragment",
    default: None,
    example: "https://mcp.example.com",
};

pub static TLS_CERT: Setting = Setting {
    name: "GITLAB_MCP_TLS_CERT",
    aliases: &[],
    flag: Some("tls-cert"),
    value: "FILE",
    what: "Certificate chain (PEM) of the HTTP server; without it, it serves plain HTTP.",
    accepts: "the path of a readable file",
    default: None,
    example: "/etc/gitlab-mcp/tls.crt",
};

pub static TLS_KEY: Setting = Setting {
    name: "GITLAB_MCP_TLS_KEY",
    aliases: &[],
    flag: Some("tls-key"),
    value: "FILE",
    what: "Private key (PEM) of GITLAB_MCP_TLS_CERT.",
    accepts: "the path of a readable file",
    default: None,
    example: "/etc/gitlab-mcp/tls.key",
};

pub static METRICS: Setting = Setting {
    name: "GITLAB_MCP_METRICS",
    aliases: &[],
    flag: Some("metrics"),
    value: "ADDRESS",
    what: "Address of `/metrics` and `/health` of the HTTP server, plain HTTP without credentials. With it, GITLAB_MCP_HTTP \
           has no `/metrics`, and its `/health` shows the status alone.",
    accepts: "an IP address with a port, or unix:PATH",
    default: None,
    example: "127.0.0.1:9090",
};

pub static ALLOWED_HOSTS: Setting = Setting {
    name: "GITLAB_MCP_ALLOWED_HOSTS",
    aliases: &[],
    flag: Some("allowed-hosts"),
    value: "LIST",
    what: "Values of the header `Host` that the HTTP server accepts, in addition to loopback and the host of \
           GITLAB_MCP_PUBLIC_URL.",
    accepts: "hosts, with or without a port, separated by commas",
    default: None,
    example: "gitlab-mcp.internal:8080",
};

pub static ALLOWED_ORIGINS: Setting = Setting {
    name: "GITLAB_MCP_ALLOWED_ORIGINS",
    aliases: &[],
    flag: Some("allowed-origins"),
    value: "LIST",
    what: "Values of the header `Origin` that the HTTP server accepts. Requests without it are accepted.",
    accepts: "origins such as https://app.example.com:443, separated by commas",
    default: None,
    example: "https://app.example.com:443",
};

pub static INSTANCES: Setting = Setting {
    name: "GITLAB_MCP_INSTANCES",
    aliases: &[],
    flag: Some("instances"),
    value: "LIST",
    what: "Further GitLab instances that callers over HTTP may name in the header `GITLAB-URL`; see \
           docs/guides/several-gitlabs.md.",
    accepts: "http or https URLs without user, password, query or fragment, separated by commas",
    default: None,
    example: "https://gitlab.example.com,https://git.example.org/sub",
};

pub static OAUTH_APPLICATIONS: Setting = Setting {
    name: "GITLAB_MCP_OAUTH_APPLICATIONS",
    aliases: &[],
    flag: Some("oauth-applications"),
    value: "LIST",
    what: "Ids of the OAuth applications whose access tokens are accepted with GITLAB_MCP_AUTH=oauth.",
    accepts: "application ids (client ids), separated by commas",
    default: None,
    example: "5f1c0e…",
};

pub static CONFIRM_KEY: Setting = Setting {
    name: "GITLAB_MCP_CONFIRM_KEY",
    aliases: &[],
    flag: None,
    value: "KEY",
    what: "Key of the confirmation tokens, for replicas that accept each other's; see docs/guides/deploy.md. Default: a \
           random key of the process.",
    accepts: "32 to 1024 printable characters without spaces, such as the output of `openssl rand -hex 32`",
    default: None,
    example: "4f0e…",
};

pub static CONFIRM_KEY_FILE: Setting = Setting {
    name: "GITLAB_MCP_CONFIRM_KEY_FILE",
    aliases: &[],
    flag: Some("confirm-key-file"),
    value: "FILE",
    what: "File with the key, in place of GITLAB_MCP_CONFIRM_KEY.",
    accepts: "the path of a readable file that contains only a key",
    default: None,
    example: "/run/secrets/confirm-key",
};

pub static CALLER_RATE: Setting = Setting {
    name: "GITLAB_MCP_CALLER_RATE",
    aliases: &[],
    flag: Some("caller-rate"),
    value: "NUMBER",
    what: "Maximum HTTP requests of one caller per second, sustained; twice as many at once.",
    accepts: "a whole number from 1 to 10000",
    default: Some("50"),
    example: "10",
};

pub static CALLER_CALLS: Setting = Setting {
    name: "GITLAB_MCP_CALLER_CALLS",
    aliases: &[],
    flag: Some("caller-calls"),
    value: "NUMBER",
    what: "Maximum concurrent HTTP requests of one caller.",
    accepts: "a whole number from 1 to 256",
    default: Some("32"),
    example: "8",
};
