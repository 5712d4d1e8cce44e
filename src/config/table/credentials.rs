//! Settings of credentials, in the order in which their sources are considered.

use std::path::PathBuf;

use crate::config::table::setting::settings;
use crate::config::values;
use crate::credentials::{CommandLine, Helper, parse_token};

settings! {
    CREDENTIAL_SETTINGS:

    TOKEN_FILE: PathBuf = Setting {
        name: "GITLAB_TOKEN_FILE", flag: "token-file", value: "FILE", example: "/run/secrets/gitlab-token",
        what: "File with the token. It is read again when it changes.",
        takes: Text("the path of a readable file that contains only a token", values::path),
    };

    TOKEN: String = Setting {
        name: "GITLAB_TOKEN",
        aliases: ["GITLAB_PERSONAL_ACCESS_TOKEN", "GITLAB_ACCESS_TOKEN", "GITLAB_API_TOKEN", "GITLAB_PAT"],
        value: "TOKEN", example: "glpat-…",
        what: "A personal, project or group access token. Its kind is recognized by its prefix.",
        takes: Text("a token of GitLab's, on one line", parse_token),
    };

    OAUTH_TOKEN: String = Setting {
        name: "GITLAB_OAUTH_TOKEN", value: "TOKEN", example: "4f0e…",
        what: "An OAuth access token, instead of GITLAB_TOKEN.",
        takes: Text("a token of GitLab's, on one line", parse_token),
    };

    JOB_TOKEN: String = Setting {
        name: "GITLAB_JOB_TOKEN", value: "TOKEN", example: "glcbt-…",
        what: "The token of a CI/CD job, instead of GITLAB_TOKEN. In a job, `CI_JOB_TOKEN` is used without \
               any setting.",
        takes: Text("a token of GitLab's, on one line", parse_token),
    };

    TOKEN_COMMAND: CommandLine = Setting {
        name: "GITLAB_TOKEN_COMMAND", value: "COMMAND", example: "op read 'op://Work/GitLab/token'",
        what: "Command that prints the token, or JSON with `token` and `expires_at` or `expires_in`. It is \
               run without a shell, within GITLAB_TIMEOUT, and again when the token expires or is rejected.",
        takes: Text("a program with its arguments, quoted where they have spaces, or a JSON list of strings",
                    CommandLine::parse),
    };

    LOGIN_FILE: PathBuf = Setting {
        name: "GITLAB_LOGIN_FILE", flag: "login-file", value: "FILE",
        example: "/home/me/.local/state/gitlab-mcp/sign-ins.json",
        what: "File in which `gitlab-mcp auth login` keeps sign-ins. Default: in the user's state directory.",
        takes: Text("the path of a file that may be written", values::path),
    };

    CREDENTIALS: Vec<Helper> = Setting {
        name: "GITLAB_CREDENTIALS", flag: "credentials", value: "LIST", example: "glab,git",
        what: "Programs that are asked for their credentials for the host of GITLAB_URL, if there is no \
               other token.",
        takes: Text("glab and git, separated by commas; or none", values::helpers),
    };

    CLIENT_ID: String = Setting {
        name: "GITLAB_CLIENT_ID", aliases: ["GITLAB_OAUTH_CLIENT_ID"], flag: "client-id", value: "ID",
        example: "5f1c0e",
        what: "Id of the OAuth application that `gitlab-mcp auth login` signs in with.",
        takes: Text("the application id that GitLab shows, without spaces", parse_token),
    };
}
