//! Settings of the process.

use std::path::PathBuf;

use tracing::level_filters::LevelFilter;

use crate::config::table::setting::{Accepts, Row, Setting, settings};
use crate::config::values;
use crate::tools::Audit;
use crate::tools::Version;

settings! {
    PROCESS:

    AUDIT: Audit = Setting {
        row: Row {
            name: "GITLAB_AUDIT",
            aliases: &[],
            flag: Some("audit"),
            value: "FORM",
            what: "Form of the audit log on standard error: a line for each executed action, which names its object.",
            default: Some("text"),
            example: "json",
        },
        takes: Accepts::Word(&[("off", Audit::Off), ("text", Audit::Text), ("json", Audit::Json)]),
    };

    AUDIT_FILE: PathBuf = Setting {
        row: Row {
            name: "GITLAB_AUDIT_FILE",
            aliases: &[],
            flag: Some("audit-file"),
            value: "FILE",
            what: "File in which the audit log is kept as well, one JSON line a call, rotated at 10 MB; `gitlab-mcp audit` shows it.",
            default: None,
            example: "/home/me/.local/state/gitlab-mcp/audit.jsonl",
        },
        takes: Accepts::Text("the path of a file that may be written", values::path),
    };

    AUDIT_USER: bool = Setting {
        row: Row {
            name: "GITLAB_AUDIT_USER",
            aliases: &[],
            flag: Some("audit-user"),
            value: "BOOL",
            what: "Name the user of the token in the audit log, which GitLab is asked for once; for a shared server, whose lines have a digest of each caller.",
            default: Some("false"),
            example: "true",
        },
        takes: Accepts::Switch(values::identity),
    };

    SANDBOX_FILE: PathBuf = Setting {
        row: Row {
            name: "GITLAB_SANDBOX_FILE",
            aliases: &[],
            flag: Some("sandbox-file"),
            value: "FILE",
            what: "File in which the sandbox keeps its changes for the next start; without it, each start begins anew.",
            default: None,
            example: "/home/me/sandbox.jsonl",
        },
        takes: Accepts::Text("the path of a file that may be written", values::path),
    };

    SANDBOX_VERSION: Version = Setting {
        row: Row {
            name: "GITLAB_SANDBOX_VERSION",
            aliases: &[],
            flag: Some("sandbox-version"),
            value: "VERSION",
            what: "Older GitLab version that the sandbox is: without the operations and parameters that came later.",
            default: None,
            example: "17.11",
        },
        takes: Accepts::Text("a version of GitLab, such as 17.11", |value| value.parse().ok()),
    };

    LOG: LevelFilter = Setting {
        row: Row {
            name: "GITLAB_MCP_LOG",
            aliases: &[],
            flag: Some("log-level"),
            value: "LEVEL",
            what: "Level of the log on standard error.",
            default: Some("warn"),
            example: "debug",
        },
        takes: Accepts::Word(&[
            ("off", LevelFilter::OFF),
            ("error", LevelFilter::ERROR),
            ("warn", LevelFilter::WARN),
            ("info", LevelFilter::INFO),
            ("debug", LevelFilter::DEBUG),
            ("trace", LevelFilter::TRACE),
        ]),
    };

    FILE: PathBuf = Setting {
        row: Row {
            name: "GITLAB_MCP_CONFIG",
            aliases: &[],
            flag: Some("config"),
            value: "FILE",
            what: "TOML file with settings, each under the name of its variable.",
            default: None,
            example: "/etc/gitlab-mcp.toml",
        },
        takes: Accepts::Text(
            "the path of a readable TOML file",
            values::path,
        ),
    };
}
