//! Settings of calls, and of the connection to GitLab.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::table::setting::{Accepts, Row, Setting, settings};
use crate::config::values;
use crate::gitlab::ExtraHeader;
use crate::tools::Capabilities;

settings! {
    CALLS:

    PROJECT: String = Setting {
        row: Row {
            name: "GITLAB_PROJECT",
            aliases: &[],
            flag: Some("project"),
            value: "PATH",
            what: "Default project (or group) of calls that name none.",
            default: None,
            example: "my-group/my-project",
        },
        takes: Accepts::Text(
            "a full path such as group/project",
            values::full_path,
        ),
    };

    SSH_HOST: String = Setting {
        row: Row {
            name: "GITLAB_SSH_HOST",
            aliases: &[],
            flag: Some("ssh-host"),
            value: "HOST",
            what: "GitLab's host for SSH in git remotes, if that is another than in GITLAB_URL.",
            default: None,
            example: "ssh.gitlab.example.com",
        },
        takes: Accepts::Text(
            "a host name such as ssh.gitlab.example.com",
            values::ssh_host,
        ),
    };

    TIMEOUT: Duration = Setting {
        row: Row {
            name: "GITLAB_TIMEOUT",
            aliases: &[],
            flag: Some("timeout"),
            value: "SECONDS",
            what: "Timeout of a call to GitLab in seconds, with its retries and the pauses between them.",
            default: Some("30"),
            example: "120",
        },
        takes: Accepts::Number { noun: "whole seconds", min: 1, max: 3600, convert: Duration::from_secs },
    };

    MAX_BYTES: usize = Setting {
        row: Row {
            name: "GITLAB_MAX_BYTES",
            aliases: &[],
            flag: Some("max-bytes"),
            value: "BYTES",
            what: "Maximum size of an answer. An answer that is cut has the call that returns the rest.",
            default: Some("16000"),
            example: "50000",
        },
        takes: Accepts::Number { noun: "a whole number", min: 1_000, max: 10_000_000, convert: values::count },
    };

    MAX_REQUESTS: usize = Setting {
        row: Row {
            name: "GITLAB_MAX_REQUESTS",
            aliases: &[],
            flag: Some("max-requests"),
            value: "NUMBER",
            what: "Maximum number of concurrent requests to GitLab; further requests wait.",
            default: Some("16"),
            example: "4",
        },
        takes: Accepts::Number { noun: "a whole number", min: 1, max: 256, convert: values::count },
    };

    FILES_DIR: PathBuf = Setting {
        row: Row {
            name: "GITLAB_FILES_DIR",
            aliases: &[],
            flag: Some("files-dir"),
            value: "DIR",
            what: "The only directory for uploads from, and downloads to, this machine.",
            default: None,
            example: "/home/me/gitlab-files",
        },
        takes: Accepts::Text(
            "the path of an existing directory",
            values::directory,
        ),
    };

    LOCAL_HINTS: bool = Setting {
        row: Row {
            name: "GITLAB_LOCAL_HINTS",
            aliases: &[],
            flag: Some("local-hints"),
            value: "BOOL",
            what: "Note the local path of a file that is read from the workspace's own project and branch.",
            default: Some("true"),
            example: "false",
        },
        takes: Accepts::Switch(values::identity),
    };

    CA_FILE: PathBuf = Setting {
        row: Row {
            name: "GITLAB_CA_FILE",
            aliases: &["GITLAB_CA_CERT_PATH"],
            flag: Some("ca-file"),
            value: "FILE",
            what: "Additional root certificates (PEM) to trust.",
            default: None,
            example: "/etc/ssl/company-ca.pem",
        },
        takes: Accepts::Text(
            "the path of a readable file",
            values::readable,
        ),
    };

    CLIENT_CERT: PathBuf = Setting {
        row: Row {
            name: "GITLAB_CLIENT_CERT",
            aliases: &[],
            flag: Some("client-cert"),
            value: "FILE",
            what: "Client certificate with its chain (PEM), for GitLab or a proxy in front of it.",
            default: None,
            example: "/etc/ssl/me.pem",
        },
        takes: Accepts::Text(
            "the path of a readable file",
            values::readable,
        ),
    };

    CLIENT_KEY: PathBuf = Setting {
        row: Row {
            name: "GITLAB_CLIENT_KEY",
            aliases: &[],
            flag: Some("client-key"),
            value: "FILE",
            what: "Private key (PEM) of GITLAB_CLIENT_CERT.",
            default: None,
            example: "/etc/ssl/me.key",
        },
        takes: Accepts::Text(
            "the path of a readable file",
            values::readable,
        ),
    };

    INSECURE_TLS: bool = Setting {
        row: Row {
            name: "GITLAB_INSECURE_TLS",
            aliases: &[],
            flag: Some("insecure-tls"),
            value: "BOOL",
            what: "Do not verify GitLab's TLS certificate. Anyone on the network path can read the token; prefer \
                   GITLAB_CA_FILE.",
            default: Some("false"),
            example: "true",
        },
        takes: Accepts::Switch(values::identity),
    };

    EXTRA_HEADERS: Vec<ExtraHeader> = Setting {
        row: Row {
            name: "GITLAB_EXTRA_HEADERS",
            aliases: &[],
            flag: None,
            value: "HEADERS",
            what: "Headers for a proxy in front of GitLab. They are sent only to the configured instance.",
            default: None,
            example: "CF-Access-Client-Id: 1a2b.access; CF-Access-Client-Secret: 3c4d",
        },
        takes: Accepts::Text(
            "`Name: value` pairs, separated by `;`, except headers that this program sets (Authorization, \
              PRIVATE-TOKEN, JOB-TOKEN, Host, Content-Type and others)",
            values::headers,
        ),
    };

    CAPABILITIES: Capabilities = Setting {
        row: Row {
            name: "CAPABILITY_SURFACE",
            aliases: &[],
            flag: Some("capability-surface"),
            value: "HOW",
            what: "MCP capabilities in addition to tools: `full` has resources, prompts and completions; `minimal` only \
                   the resources about tools and the workspace.",
            default: Some("full"),
            example: "minimal",
        },
        takes: Accepts::Word(&[("full", Capabilities::Full), ("minimal", Capabilities::Minimal)]),
    };
}
