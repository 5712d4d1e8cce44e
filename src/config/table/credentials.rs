//! Settings of credentials, in the order in which their sources are considered.

use std::path::PathBuf;

use crate::config::table::setting::{Accepts, Row, Setting, settings};
use crate::config::values;
use crate::credentials::CommandLine;
use crate::credentials::Helper;

settings! {
    CREDENTIAL_SETTINGS:

    TOKEN_FILE: PathBuf = Setting {
        row: Row {
            name: "GITLAB_TOKEN_FILE",
            aliases: &[],
            flag: Some("token-file"),
            value: "FILE",
            what: "File with the token. It is read again when it changes.",
            default: None,
            example: "/run/secrets/gitlab-token",
        },
        takes: Accepts::Text(
            "the path of a readable file that contains only a token",
            values::path,
        ),
    };

    TOKEN: String = Setting {
        row: Row {
            name: "GITLAB_TOKEN",
            aliases: &["GITLAB_PERSONAL_ACCESS_TOKEN", "GITLAB_ACCESS_TOKEN", "GITLAB_API_TOKEN", "GITLAB_PAT"],
            flag: None,
            value: "TOKEN",
            what: "A personal, project or group access token. Its kind is recognized by its prefix.",
            default: None,
            example: "glpat-…",
        },
        takes: Accepts::Text(
            "a token of GitLab's, on one line",
            values::token,
        ),
    };

    OAUTH_TOKEN: String = Setting {
        row: Row {
            name: "GITLAB_OAUTH_TOKEN",
            aliases: &[],
            flag: None,
            value: "TOKEN",
            what: "An OAuth access token, instead of GITLAB_TOKEN.",
            default: None,
            example: "4f0e…",
        },
        takes: Accepts::Text(
            "a token of GitLab's, on one line",
            values::token,
        ),
    };

    JOB_TOKEN: String = Setting {
        row: Row {
            name: "GITLAB_JOB_TOKEN",
            aliases: &[],
            flag: None,
            value: "TOKEN",
            what: "The token of a CI/CD job, instead of GITLAB_TOKEN. In a job, `CI_JOB_TOKEN` is used without any setting.",
            default: None,
            example: "glcbt-…",
        },
        takes: Accepts::Text(
            "a token of GitLab's, on one line",
            values::token,
        ),
    };

    TOKEN_COMMAND: CommandLine = Setting {
        row: Row {
            name: "GITLAB_TOKEN_COMMAND",
            aliases: &[],
            flag: None,
            value: "COMMAND",
            what: "Command that prints the token, or JSON with `token` and `expires_at` or `expires_in`. It is run without a \
                   shell, within GITLAB_TIMEOUT, and again when the token expires or is rejected.",
            default: None,
            example: "op read 'op://Work/GitLab/token'",
        },
        takes: Accepts::Text(
            "a program with its arguments, quoted where they have spaces, or a JSON list of strings",
            values::command,
        ),
    };

    LOGIN_FILE: PathBuf = Setting {
        row: Row {
            name: "GITLAB_LOGIN_FILE",
            aliases: &[],
            flag: Some("login-file"),
            value: "FILE",
            what: "File in which `gitlab-mcp auth login` keeps sign-ins. Default: in the user's state directory.",
            default: None,
            example: "/home/me/.local/state/gitlab-mcp/sign-ins.json",
        },
        takes: Accepts::Text(
            "the path of a file that may be written",
            values::path,
        ),
    };

    CREDENTIALS: Vec<Helper> = Setting {
        row: Row {
            name: "GITLAB_CREDENTIALS",
            aliases: &[],
            flag: Some("credentials"),
            value: "LIST",
            what: "Programs that are asked for their credentials for the host of GITLAB_URL, if there is no other token.",
            default: None,
            example: "glab,git",
        },
        takes: Accepts::Text(
            "glab and git, separated by commas; or none",
            values::helpers,
        ),
    };

    CLIENT_ID: String = Setting {
        row: Row {
            name: "GITLAB_CLIENT_ID",
            aliases: &["GITLAB_OAUTH_CLIENT_ID"],
            flag: Some("client-id"),
            value: "ID",
            what: "Id of the OAuth application that `gitlab-mcp auth login` signs in with.",
            default: None,
            example: "5f1c0e",
        },
        takes: Accepts::Text(
            "the application id that GitLab shows, without spaces",
            values::token,
        ),
    };
}
