//! Settings of what may run.

use std::path::PathBuf;

use crate::call::QuickActions;
use crate::config::table::setting::{Accepts, Row, Setting, settings};
use crate::config::values;
use crate::policy::Confirm;
use crate::policy::ConfirmBy;

settings! {
    POLICY_SETTINGS:

    READ_ONLY: bool = Setting {
        row: Row {
            name: "GITLAB_READ_ONLY",
            aliases: &["GITLAB_READ_ONLY_MODE"],
            flag: Some("read-only"),
            value: "BOOL",
            what: "Refuse all actions that change something.",
            default: Some("false"),
            example: "true",
        },
        takes: Accepts::Switch(values::identity),
    };

    SAFE_MODE: bool = Setting {
        row: Row {
            name: "GITLAB_SAFE_MODE",
            aliases: &[],
            flag: Some("safe-mode"),
            value: "BOOL",
            what: "Show the requests of actions that change something instead of sending them.",
            default: Some("false"),
            example: "true",
        },
        takes: Accepts::Switch(values::identity),
    };

    CONFIRM: Confirm = Setting {
        row: Row {
            name: "GITLAB_CONFIRM",
            aliases: &[],
            flag: Some("confirmation"),
            value: "HOW",
            what: "Risks that need confirmation, each with those above it, given by `confirm: true`. `token` also \
                   requires the confirmation token from the error; `never` disables confirmation.",
            default: Some("destructive,grant"),
            example: "destructive,grant,token",
        },
        takes: Accepts::Text(
            "`write`, `grant` and `destructive`, separated by commas, optionally with `token`; `ask` for the default; or `never`",
            values::confirm,
        ),
    };

    CONFIRM_BY: ConfirmBy = Setting {
        row: Row {
            name: "GITLAB_CONFIRM_BY",
            aliases: &[],
            flag: Some("confirm-by"),
            value: "WHO",
            what: "Who confirms where the client can ask a person. `person`: `confirm: true` does not replace the question. \
                   `model`: it does, as a program without a person needs.",
            default: Some("person"),
            example: "model",
        },
        takes: Accepts::Word(&[("person", ConfirmBy::Person), ("model", ConfirmBy::Model)]),
    };

    AUTOPILOT: bool = Setting {
        row: Row {
            name: "GITLAB_YOLO_MODE",
            aliases: &["GITLAB_AUTOPILOT", "YOLO_MODE", "AUTOPILOT"],
            flag: Some("autopilot"),
            value: "BOOL",
            what: "Same as `GITLAB_CONFIRM=never`: destructive actions run without confirmation. GITLAB_CONFIRM takes \
                   precedence.",
            default: Some("false"),
            example: "true",
        },
        takes: Accepts::Switch(values::identity),
    };

    DENIED_ACTIONS: Vec<String> = Setting {
        row: Row {
            name: "GITLAB_DENIED_ACTIONS",
            aliases: &[],
            flag: Some("denied-actions"),
            value: "LIST",
            what: "Actions that are never executed and never found.",
            default: None,
            example: "*.delete,ci_variable.*",
        },
        takes: Accepts::Text(
            "ids and patterns, separated by commas: issue.delete, ci_variable.*, *.delete, manage_issue:delete",
            values::list,
        ),
    };

    DENIED_TOOLS: String = Setting {
        row: Row {
            name: "GITLAB_DENIED_TOOLS_REGEX",
            aliases: &[],
            flag: Some("denied-tools"),
            value: "REGEX",
            what: "Deny tools and actions whose name matches this regular expression.",
            default: None,
            example: "^(delete|purge)_",
        },
        takes: Accepts::Text(
            "a regular expression",
            values::text,
        ),
    };

    ALLOWED_PATHS: Vec<String> = Setting {
        row: Row {
            name: "GITLAB_ALLOWED_PATHS",
            aliases: &[],
            flag: Some("allowed-paths"),
            value: "LIST",
            what: "Limit changes to these projects and groups, with everything below them. Default: no limit.",
            default: None,
            example: "acme/tools,acme/*-docs",
        },
        takes: Accepts::Text(
            "paths, separated by commas; `*` matches any part of a name",
            values::list,
        ),
    };

    READABLE_PATHS: Vec<String> = Setting {
        row: Row {
            name: "GITLAB_READABLE_PATHS",
            aliases: &[],
            flag: Some("readable-paths"),
            value: "LIST",
            what: "Limit all calls, including reads, to these projects and groups. Default: no limit.",
            default: None,
            example: "acme/tools,acme/*-docs",
        },
        takes: Accepts::Text(
            "paths, separated by commas; `*` matches any part of a name",
            values::list,
        ),
    };

    QUICK_ACTIONS: QuickActions = Setting {
        row: Row {
            name: "GITLAB_QUICK_ACTIONS",
            aliases: &[],
            flag: Some("quick-actions"),
            value: "HOW",
            what: "Quick actions (`/merge`, `/move`) in texts: `check` applies the policy of the corresponding actions, \
                   `refuse` refuses the text, `escape` sends it as plain text.",
            default: Some("check"),
            example: "refuse",
        },
        takes: Accepts::Word(&[
            ("check", QuickActions::Check),
            ("refuse", QuickActions::Refuse),
            ("escape", QuickActions::Escape),
        ]),
    };

    POLICY: PathBuf = Setting {
        row: Row {
            name: "GITLAB_POLICY",
            aliases: &[],
            flag: Some("policy"),
            value: "FILE",
            what: "TOML file with rules by path, action and risk; see docs/concepts/policy.md.",
            default: None,
            example: "/etc/gitlab-mcp-policy.toml",
        },
        takes: Accepts::Text(
            "the path of a readable TOML file",
            values::path,
        ),
    };
}
