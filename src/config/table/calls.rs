//! Settings of calls, and of the connection to GitLab.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::table::setting::settings;
use crate::config::values;
use crate::gitlab::ExtraHeader;
use crate::tools::Capabilities;

settings! {
    CALLS:

    PROJECT: String = Setting {
        name: "GITLAB_PROJECT", flag: "project", value: "PATH", example: "my-group/my-project",
        what: "Default project (or group) of calls that name none.",
        takes: Text("a full path such as group/project", values::full_path),
    };

    SSH_HOST: String = Setting {
        name: "GITLAB_SSH_HOST", flag: "ssh-host", value: "HOST", example: "ssh.gitlab.example.com",
        what: "GitLab's host for SSH in git remotes, if that is another than in GITLAB_URL.",
        takes: Text("a host name such as ssh.gitlab.example.com", values::ssh_host),
    };

    TIMEOUT: Duration = Setting {
        name: "GITLAB_TIMEOUT", flag: "timeout", value: "SECONDS", default: "30", example: "120",
        what: "Timeout of a call to GitLab in seconds, with its retries and the pauses between them.",
        takes: Number("whole seconds", 1..=3600, Duration::from_secs),
    };

    MAX_BYTES: usize = Setting {
        name: "GITLAB_MAX_BYTES", flag: "max-bytes", value: "BYTES", default: "16000", example: "50000",
        what: "Maximum size of an answer. An answer that is cut has the call that returns the rest.",
        takes: Number("a whole number", 1_000..=10_000_000, values::count),
    };

    MAX_REQUESTS: usize = Setting {
        name: "GITLAB_MAX_REQUESTS", flag: "max-requests", value: "NUMBER", default: "16", example: "4",
        what: "Maximum number of concurrent requests to GitLab; further requests wait.",
        takes: Number("a whole number", 1..=256, values::count),
    };

    FILES_DIR: PathBuf = Setting {
        name: "GITLAB_FILES_DIR", flag: "files-dir", value: "DIR", example: "/home/me/gitlab-files",
        what: "The only directory for uploads from, and downloads to, this machine.",
        takes: Text("the path of an existing directory", values::directory),
    };

    LOCAL_HINTS: bool = Switch {
        name: "GITLAB_LOCAL_HINTS", flag: "local-hints", default: true,
        what: "Note the local path of a file that is read from the workspace's own project and branch.",
    };

    CA_FILE: PathBuf = Setting {
        name: "GITLAB_CA_FILE", aliases: ["GITLAB_CA_CERT_PATH"], flag: "ca-file", value: "FILE",
        example: "/etc/ssl/company-ca.pem",
        what: "Additional root certificates (PEM) to trust.",
        takes: Text("the path of a readable file", values::readable),
    };

    CLIENT_CERT: PathBuf = Setting {
        name: "GITLAB_CLIENT_CERT", flag: "client-cert", value: "FILE", example: "/etc/ssl/me.pem",
        what: "Client certificate with its chain (PEM), for GitLab or a proxy in front of it.",
        takes: Text("the path of a readable file", values::readable),
    };

    CLIENT_KEY: PathBuf = Setting {
        name: "GITLAB_CLIENT_KEY", flag: "client-key", value: "FILE", example: "/etc/ssl/me.key",
        what: "Private key (PEM) of GITLAB_CLIENT_CERT.",
        takes: Text("the path of a readable file", values::readable),
    };

    INSECURE_TLS: bool = Switch {
        name: "GITLAB_INSECURE_TLS", flag: "insecure-tls", default: false,
        what: "Do not verify GitLab's TLS certificate. Anyone on the network path can read the token; prefer \
               GITLAB_CA_FILE.",
    };

    EXTRA_HEADERS: Vec<ExtraHeader> = Setting {
        name: "GITLAB_EXTRA_HEADERS", value: "HEADERS",
        example: "CF-Access-Client-Id: 1a2b.access; CF-Access-Client-Secret: 3c4d",
        what: "Headers for a proxy in front of GitLab. They are sent only to the configured instance.",
        takes: Text("`Name: value` pairs, separated by `;`, except headers that this program sets \
                     (Authorization, PRIVATE-TOKEN, JOB-TOKEN, Host, Content-Type and others)",
                    values::headers),
    };

    CAPABILITIES: Capabilities = Setting {
        name: "CAPABILITY_SURFACE", flag: "capability-surface", value: "HOW", default: "full",
        example: "minimal",
        what: "MCP capabilities in addition to tools: `full` has resources, prompts and completions; \
               `minimal` only the resources about tools and the workspace.",
        takes: Word(&[("full", Capabilities::Full), ("minimal", Capabilities::Minimal)]),
    };
}
