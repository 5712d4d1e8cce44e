//! Settings of the process.

use std::path::PathBuf;

use tracing::level_filters::LevelFilter;

use crate::config::table::setting::settings;
use crate::config::values;
use crate::tools::{Audit, Version};

settings! {
    PROCESS:

    AUDIT: Audit = Setting {
        name: "GITLAB_AUDIT", flag: "audit", value: "FORM", default: "text", example: "json",
        what: "Form of the audit log on standard error: a line for each executed action, which names its \
               object.",
        takes: Word(&[("off", Audit::Off), ("text", Audit::Text), ("json", Audit::Json)]),
    };

    AUDIT_FILE: PathBuf = Setting {
        name: "GITLAB_AUDIT_FILE", flag: "audit-file", value: "FILE",
        example: "/home/me/.local/state/gitlab-mcp/audit.jsonl",
        what: "File in which the audit log is kept as well, one JSON line a call, rotated at 10 MB; \
               `gitlab-mcp audit` shows it.",
        takes: Text("the path of a file that may be written", values::path),
    };

    AUDIT_USER: bool = Switch {
        name: "GITLAB_AUDIT_USER", flag: "audit-user", default: false,
        what: "Name the user of the token in the audit log, which GitLab is asked for once; for a shared \
               server, whose lines have a digest of each caller.",
    };

    SANDBOX_FILE: PathBuf = Setting {
        name: "GITLAB_SANDBOX_FILE", flag: "sandbox-file", value: "FILE", example: "/home/me/sandbox.jsonl",
        what: "File in which the sandbox keeps its changes for the next start; without it, each start begins \
               anew.",
        takes: Text("the path of a file that may be written", values::path),
    };

    SANDBOX_VERSION: Version = Setting {
        name: "GITLAB_SANDBOX_VERSION", flag: "sandbox-version", value: "VERSION", example: "17.11",
        what: "Older GitLab version that the sandbox is: without the operations and parameters that came \
               later.",
        takes: Text("a version of GitLab, such as 17.11", |value| value.parse().ok()),
    };

    LOG: LevelFilter = Setting {
        name: "GITLAB_MCP_LOG", flag: "log-level", value: "LEVEL", default: "warn", example: "debug",
        what: "Level of the log on standard error.",
        takes: Word(&[
            ("off", LevelFilter::OFF),
            ("error", LevelFilter::ERROR),
            ("warn", LevelFilter::WARN),
            ("info", LevelFilter::INFO),
            ("debug", LevelFilter::DEBUG),
            ("trace", LevelFilter::TRACE),
        ]),
    };

    FILE: PathBuf = Setting {
        name: "GITLAB_MCP_CONFIG", flag: "config", value: "FILE", example: "/etc/gitlab-mcp.toml",
        what: "TOML file with settings, each under the name of its variable.",
        takes: Text("the path of a readable TOML file", values::path),
    };
}
