//! Settings of credentials, in the order in which their sources are considered.

use super::setting::Setting;

const TOKEN_ALONE: &str = "a token of GitLab's, on one line";

pub static TOKEN_FILE: Setting = Setting {
    name: "GITLAB_TOKEN_FILE",
    aliases: &[],
    flag: Some("token-file"),
    value: "FILE",
    what: "File with the token. It is read again when it changes.",
    accepts: "the path of a readable file that contains only a token",
    default: None,
    example: "/run/secrets/gitlab-token",
};

pub static TOKEN: Setting = Setting {
    name: "GITLAB_TOKEN",
    aliases: &["GITLAB_PERSONAL_ACCESS_TOKEN", "GITLAB_ACCESS_TOKEN", "GITLAB_API_TOKEN", "GITLAB_PAT"],
    flag: None,
    value: "TOKEN",
    what: "A personal, project or group access token. Its kind is recognized by its prefix.",
    accepts: TOKEN_ALONE,
    default: None,
    example: "glpat-…",
};

pub static OAUTH_TOKEN: Setting = Setting {
    name: "GITLAB_OAUTH_TOKEN",
    aliases: &[],
    flag: None,
    value: "TOKEN",
    what: "An OAuth access token, instead of GITLAB_TOKEN.",
    accepts: TOKEN_ALONE,
    default: None,
    example: "4f0e…",
};

pub static JOB_TOKEN: Setting = Setting {
    name: "GITLAB_JOB_TOKEN",
    aliases: &[],
    flag: None,
    value: "TOKEN",
    what: "The token of a CI/CD job, instead of GITLAB_TOKEN. In a job, `CI_JOB_TOKEN` is used without any setting.",
    accepts: TOKEN_ALONE,
    default: None,
    example: "glcbt-…",
};

pub static TOKEN_COMMAND: Setting = Setting {
    name: "GITLAB_TOKEN_COMMAND",
    aliases: &[],
    flag: None,
    value: "COMMAND",
    what: "Command that prints the token, or JSON with `token` and `expires_at` or `expires_in`. It is run without a \
           shell, within GITLAB_TIMEOUT, and again when the token expires or is rejected.",
    accepts: "a program with its arguments, quoted where they have spaces, or a JSON list of strings",
    default: None,
    example: "op read 'op://Work/GitLab/token'",
};

pub static LOGIN_FILE: Setting = Setting {
    name: "GITLAB_LOGIN_FILE",
    aliases: &[],
    flag: Some("login-file"),
    value: "FILE",
    what: "File in which `gitlab-mcp auth login` keeps sign-ins. Default: in the user's state directory.",
    accepts: "the path of a file that may be written",
    default: None,
    example: "/home/me/.local/state/gitlab-mcp/sign-ins.json",
};

pub static CREDENTIALS: Setting = Setting {
    name: "GITLAB_CREDENTIALS",
    aliases: &[],
    flag: Some("credentials"),
    value: "LIST",
    what: "Programs that are asked for their credentials for the host of GITLAB_URL, if there is no other token.",
    accepts: "glab and git, separated by commas; or none",
    default: None,
    example: "glab,git",
};

pub static CLIENT_ID: Setting = Setting {
    name: "GITLAB_CLIENT_ID",
    aliases: &["GITLAB_OAUTH_CLIENT_ID"],
    flag: Some("client-id"),
    value: "ID",
    what: "Id of the OAuth application that `gitlab-mcp auth login` signs in with.",
    accepts: "the application id that GitLab shows, without spaces",
    default: None,
    example: "5f1c0e",
};
