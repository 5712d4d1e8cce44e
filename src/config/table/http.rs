//! Settings of the HTTP server.

use std::path::PathBuf;

use url::Url;

use crate::config::table::setting::settings;
use crate::config::values::{self, AuthKind};
use crate::gitlab::Secret;
use crate::server::http::ListenAddress;

settings! {
    HTTP_SETTINGS:

    HTTP: ListenAddress = Setting {
        name: "GITLAB_MCP_HTTP", flag: "http", value: "ADDRESS", example: "127.0.0.1:8080",
        what: "Serve MCP over HTTP at this address, in place of standard input and output. The flag alone \
               means 127.0.0.1:8080.",
        takes: TextOr("127.0.0.1:8080", "localhost or an IP address, with a port, or unix:PATH",
                      values::listen_address),
    };

    AUTH: AuthKind = Setting {
        name: "GITLAB_MCP_AUTH", flag: "auth", value: "MODE", example: "token",
        what: "Identification of callers over HTTP. `none`: all use this server's own token, on loopback \
               only; `token`: each request brings a GitLab token; `oauth`: each request brings an OAuth \
               access token. On loopback the default is `token`, for the sandbox `none`.",
        takes: Word(&[("none", AuthKind::None), ("token", AuthKind::Token), ("oauth", AuthKind::OAuth)]),
    };

    PUBLIC_URL: Url = Setting {
        name: "GITLAB_MCP_PUBLIC_URL", flag: "public-url", value: "URL", example: "https://mcp.example.com",
        what: "URL by which clients reach the HTTP server, without `/mcp`; required if the address is not \
               loopback.",
        takes: Text("an http or https URL without user, password, query or fragment", values::root_url),
    };

    TLS_CERT: PathBuf = Setting {
        name: "GITLAB_MCP_TLS_CERT", flag: "tls-cert", value: "FILE", example: "/etc/gitlab-mcp/tls.crt",
        what: "Certificate chain (PEM) of the HTTP server; without it, it serves plain HTTP.",
        takes: Text("the path of a readable file", values::readable),
    };

    TLS_KEY: PathBuf = Setting {
        name: "GITLAB_MCP_TLS_KEY", flag: "tls-key", value: "FILE", example: "/etc/gitlab-mcp/tls.key",
        what: "Private key (PEM) of GITLAB_MCP_TLS_CERT.",
        takes: Text("the path of a readable file", values::readable),
    };

    METRICS: ListenAddress = Setting {
        name: "GITLAB_MCP_METRICS", flag: "metrics", value: "ADDRESS", example: "127.0.0.1:9090",
        what: "Address of `/metrics` and `/health` of the HTTP server, plain HTTP without credentials. With \
               it, GITLAB_MCP_HTTP has no `/metrics`, and its `/health` shows the status alone.",
        takes: Text("an IP address with a port, or unix:PATH", values::listen_address),
    };

    ALLOWED_HOSTS: Vec<String> = Setting {
        name: "GITLAB_MCP_ALLOWED_HOSTS", flag: "allowed-hosts", value: "LIST",
        example: "gitlab-mcp.internal:8080",
        what: "Values of the header `Host` that the HTTP server accepts, in addition to loopback and the \
               host of GITLAB_MCP_PUBLIC_URL.",
        takes: Text("hosts, with or without a port, separated by commas", values::list),
    };

    ALLOWED_ORIGINS: Vec<String> = Setting {
        name: "GITLAB_MCP_ALLOWED_ORIGINS", flag: "allowed-origins", value: "LIST",
        example: "https://app.example.com:443",
        what: "Values of the header `Origin` that the HTTP server accepts. Requests without it are accepted.",
        takes: Text("origins such as https://app.example.com:443, separated by commas", values::origins),
    };

    INSTANCES: Vec<Url> = Setting {
        name: "GITLAB_MCP_INSTANCES", flag: "instances", value: "LIST",
        example: "https://gitlab.example.com,https://git.example.org/sub",
        what: "Further GitLab instances that callers over HTTP may name in the header `GITLAB-URL`; see \
               docs/guides/several-gitlabs.md.",
        takes: Text("http or https URLs without user, password, query or fragment, separated by commas",
                    values::root_urls),
    };

    OAUTH_APPLICATIONS: Vec<String> = Setting {
        name: "GITLAB_MCP_OAUTH_APPLICATIONS", flag: "oauth-applications", value: "LIST", example: "5f1c0e…",
        what: "Ids of the OAuth applications whose access tokens are accepted with GITLAB_MCP_AUTH=oauth.",
        takes: Text("application ids (client ids), separated by commas", values::list),
    };

    CONFIRM_KEY: Secret = Setting {
        name: "GITLAB_MCP_CONFIRM_KEY", value: "KEY", example: "4f0e…",
        what: "Key of the confirmation tokens, for replicas that accept each other's; see \
               docs/guides/deploy.md. Default: a random key of the process.",
        takes: Text("32 to 1024 printable characters without spaces, such as the output of `openssl rand \
                     -hex 32`", values::confirm_key),
    };

    CONFIRM_KEY_FILE: PathBuf = Setting {
        name: "GITLAB_MCP_CONFIRM_KEY_FILE", flag: "confirm-key-file", value: "FILE",
        example: "/run/secrets/confirm-key",
        what: "File with the key, in place of GITLAB_MCP_CONFIRM_KEY.",
        takes: Text("the path of a readable file that contains only a key", values::path),
    };

    CALLER_RATE: u32 = Setting {
        name: "GITLAB_MCP_CALLER_RATE", flag: "caller-rate", value: "NUMBER", default: "50", example: "10",
        what: "Maximum HTTP requests of one caller per second, sustained; twice as many at once.",
        takes: Number("a whole number", 1..=10_000, values::rate),
    };

    CALLER_CALLS: usize = Setting {
        name: "GITLAB_MCP_CALLER_CALLS", flag: "caller-calls", value: "NUMBER", default: "32", example: "8",
        what: "Maximum concurrent HTTP requests of one caller.",
        takes: Number("a whole number", 1..=256, values::count),
    };
}
