//! Settings of the HTTP server.

use std::path::PathBuf;

use url::Url;

use crate::config::table::setting::{Accepts, Row, Setting, settings};
use crate::config::values;
use crate::config::values::AuthKind;
use crate::gitlab::Secret;
use crate::server::http::ListenAddress;

settings! {
    HTTP_SETTINGS:

    HTTP: ListenAddress = Setting {
        row: Row {
            name: "GITLAB_MCP_HTTP",
            aliases: &[],
            flag: Some("http"),
            value: "ADDRESS",
            what: "Serve MCP over HTTP at this address, in place of standard input and output. The flag alone means \
                   127.0.0.1:8080.",
            default: None,
            example: "127.0.0.1:8080",
        },
        takes: Accepts::TextOr(
            "127.0.0.1:8080",
            "localhost or an IP address, with a port, or unix:PATH",
            values::listen_address,
        ),
    };

    AUTH: AuthKind = Setting {
        row: Row {
            name: "GITLAB_MCP_AUTH",
            aliases: &[],
            flag: Some("auth"),
            value: "MODE",
            what: "Identification of callers over HTTP. `none`: all use this server's own token, on loopback only; `token`: each \
                   request brings a GitLab token; `oauth`: each request brings an OAuth access token. On loopback the default is \
                   `token`, for the sandbox `none`.",
            default: None,
            example: "token",
        },
        takes: Accepts::Word(&[("none", AuthKind::None), ("token", AuthKind::Token), ("oauth", AuthKind::OAuth)]),
    };

    PUBLIC_URL: Url = Setting {
        row: Row {
            name: "GITLAB_MCP_PUBLIC_URL",
            aliases: &[],
            flag: Some("public-url"),
            value: "URL",
            what: "URL by which clients reach the HTTP server, without `/mcp`; required if the address is not loopback.",
            default: None,
            example: "https://mcp.example.com",
        },
        takes: Accepts::Text(
            "an http or https URL without user, password, query or fragment",
            values::root_url,
        ),
    };

    TLS_CERT: PathBuf = Setting {
        row: Row {
            name: "GITLAB_MCP_TLS_CERT",
            aliases: &[],
            flag: Some("tls-cert"),
            value: "FILE",
            what: "Certificate chain (PEM) of the HTTP server; without it, it serves plain HTTP.",
            default: None,
            example: "/etc/gitlab-mcp/tls.crt",
        },
        takes: Accepts::Text(
            "the path of a readable file",
            values::readable,
        ),
    };

    TLS_KEY: PathBuf = Setting {
        row: Row {
            name: "GITLAB_MCP_TLS_KEY",
            aliases: &[],
            flag: Some("tls-key"),
            value: "FILE",
            what: "Private key (PEM) of GITLAB_MCP_TLS_CERT.",
            default: None,
            example: "/etc/gitlab-mcp/tls.key",
        },
        takes: Accepts::Text(
            "the path of a readable file",
            values::readable,
        ),
    };

    METRICS: ListenAddress = Setting {
        row: Row {
            name: "GITLAB_MCP_METRICS",
            aliases: &[],
            flag: Some("metrics"),
            value: "ADDRESS",
            what: "Address of `/metrics` and `/health` of the HTTP server, plain HTTP without credentials. With it, GITLAB_MCP_HTTP \
                   has no `/metrics`, and its `/health` shows the status alone.",
            default: None,
            example: "127.0.0.1:9090",
        },
        takes: Accepts::Text(
            "an IP address with a port, or unix:PATH",
            values::listen_address,
        ),
    };

    ALLOWED_HOSTS: Vec<String> = Setting {
        row: Row {
            name: "GITLAB_MCP_ALLOWED_HOSTS",
            aliases: &[],
            flag: Some("allowed-hosts"),
            value: "LIST",
            what: "Values of the header `Host` that the HTTP server accepts, in addition to loopback and the host of \
                   GITLAB_MCP_PUBLIC_URL.",
            default: None,
            example: "gitlab-mcp.internal:8080",
        },
        takes: Accepts::Text(
            "hosts, with or without a port, separated by commas",
            values::list,
        ),
    };

    ALLOWED_ORIGINS: Vec<String> = Setting {
        row: Row {
            name: "GITLAB_MCP_ALLOWED_ORIGINS",
            aliases: &[],
            flag: Some("allowed-origins"),
            value: "LIST",
            what: "Values of the header `Origin` that the HTTP server accepts. Requests without it are accepted.",
            default: None,
            example: "https://app.example.com:443",
        },
        takes: Accepts::Text(
            "origins such as https://app.example.com:443, separated by commas",
            values::origins,
        ),
    };

    INSTANCES: Vec<Url> = Setting {
        row: Row {
            name: "GITLAB_MCP_INSTANCES",
            aliases: &[],
            flag: Some("instances"),
            value: "LIST",
            what: "Further GitLab instances that callers over HTTP may name in the header `GITLAB-URL`; see \
                   docs/guides/several-gitlabs.md.",
            default: None,
            example: "https://gitlab.example.com,https://git.example.org/sub",
        },
        takes: Accepts::Text(
            "http or https URLs without user, password, query or fragment, separated by commas",
            values::root_urls,
        ),
    };

    OAUTH_APPLICATIONS: Vec<String> = Setting {
        row: Row {
            name: "GITLAB_MCP_OAUTH_APPLICATIONS",
            aliases: &[],
            flag: Some("oauth-applications"),
            value: "LIST",
            what: "Ids of the OAuth applications whose access tokens are accepted with GITLAB_MCP_AUTH=oauth.",
            default: None,
            example: "5f1c0e…",
        },
        takes: Accepts::Text(
            "application ids (client ids), separated by commas",
            values::list,
        ),
    };

    CONFIRM_KEY: Secret = Setting {
        row: Row {
            name: "GITLAB_MCP_CONFIRM_KEY",
            aliases: &[],
            flag: None,
            value: "KEY",
            what: "Key of the confirmation tokens, for replicas that accept each other's; see docs/guides/deploy.md. Default: a \
                   random key of the process.",
            default: None,
            example: "4f0e…",
        },
        takes: Accepts::Text(
            "32 to 1024 printable characters without spaces, such as the output of `openssl rand -hex 32`",
            values::confirm_key,
        ),
    };

    CONFIRM_KEY_FILE: PathBuf = Setting {
        row: Row {
            name: "GITLAB_MCP_CONFIRM_KEY_FILE",
            aliases: &[],
            flag: Some("confirm-key-file"),
            value: "FILE",
            what: "File with the key, in place of GITLAB_MCP_CONFIRM_KEY.",
            default: None,
            example: "/run/secrets/confirm-key",
        },
        takes: Accepts::Text(
            "the path of a readable file that contains only a key",
            values::path,
        ),
    };

    CALLER_RATE: u32 = Setting {
        row: Row {
            name: "GITLAB_MCP_CALLER_RATE",
            aliases: &[],
            flag: Some("caller-rate"),
            value: "NUMBER",
            what: "Maximum HTTP requests of one caller per second, sustained; twice as many at once.",
            default: Some("50"),
            example: "10",
        },
        takes: Accepts::Number { noun: "a whole number", min: 1, max: 10_000, convert: values::rate },
    };

    CALLER_CALLS: usize = Setting {
        row: Row {
            name: "GITLAB_MCP_CALLER_CALLS",
            aliases: &[],
            flag: Some("caller-calls"),
            value: "NUMBER",
            what: "Maximum concurrent HTTP requests of one caller.",
            default: Some("32"),
            example: "8",
        },
        takes: Accepts::Number { noun: "a whole number", min: 1, max: 256, convert: values::count },
    };
}
