//! Settings of what may run.

use std::path::PathBuf;

use crate::call::QuickActions;
use crate::config::table::setting::settings;
use crate::config::values;
use crate::policy::{Confirm, ConfirmBy};

settings! {
    POLICY_SETTINGS:

    READ_ONLY: bool = Switch {
        name: "GITLAB_READ_ONLY", aliases: ["GITLAB_READ_ONLY_MODE"], flag: "read-only", default: false,
        what: "Refuse all actions that change something.",
    };

    SAFE_MODE: bool = Switch {
        name: "GITLAB_SAFE_MODE", flag: "safe-mode", default: false,
        what: "Show the requests of actions that change something instead of sending them.",
    };

    CONFIRM: Confirm = Setting {
        name: "GITLAB_CONFIRM", flag: "confirmation", value: "HOW", default: "destructive,grant",
        example: "destructive,grant,token",
        what: "Risks that need confirmation, each with those above it, given by `confirm: true`. `token` \
               also requires the confirmation token from the error; `never` disables confirmation.",
        takes: Text("`write`, `grant` and `destructive`, separated by commas, optionally with `token`; `ask` \
                     for the default; or `never`", Confirm::parse),
    };

    CONFIRM_BY: ConfirmBy = Setting {
        name: "GITLAB_CONFIRM_BY", flag: "confirm-by", value: "WHO", default: "person", example: "model",
        what: "Who confirms where the client can ask a person. `person`: `confirm: true` does not replace \
               the question. `model`: it does, as a program without a person needs.",
        takes: Word(&[("person", ConfirmBy::Person), ("model", ConfirmBy::Model)]),
    };

    AUTOPILOT: bool = Switch {
        name: "GITLAB_YOLO_MODE", aliases: ["GITLAB_AUTOPILOT", "YOLO_MODE", "AUTOPILOT"], flag: "autopilot",
        default: false,
        what: "Same as `GITLAB_CONFIRM=never`: destructive actions run without confirmation. GITLAB_CONFIRM \
               takes precedence.",
    };

    DENIED_ACTIONS: Vec<String> = Setting {
        name: "GITLAB_DENIED_ACTIONS", flag: "denied-actions", value: "LIST",
        example: "*.delete,ci_variable.*",
        what: "Actions that are never executed and never found.",
        takes: Text("ids and patterns, separated by commas: issue.delete, ci_variable.*, *.delete, \
                     manage_issue:delete", values::list),
    };

    DENIED_TOOLS: String = Setting {
        name: "GITLAB_DENIED_TOOLS_REGEX", flag: "denied-tools", value: "REGEX", example: "^(delete|purge)_",
        what: "Deny tools and actions whose name matches this regular expression.",
        takes: Text("a regular expression", values::text),
    };

    ALLOWED_PATHS: Vec<String> = Setting {
        name: "GITLAB_ALLOWED_PATHS", flag: "allowed-paths", value: "LIST", example: "acme/tools,acme/*-docs",
        what: "Limit changes to these projects and groups, with everything below them. Default: no limit.",
        takes: Text("paths, separated by commas; `*` matches any part of a name", values::list),
    };

    READABLE_PATHS: Vec<String> = Setting {
        name: "GITLAB_READABLE_PATHS", flag: "readable-paths", value: "LIST",
        example: "acme/tools,acme/*-docs",
        what: "Limit all calls, including reads, to these projects and groups. Default: no limit.",
        takes: Text("paths, separated by commas; `*` matches any part of a name", values::list),
    };

    QUICK_ACTIONS: QuickActions = Setting {
        name: "GITLAB_QUICK_ACTIONS", flag: "quick-actions", value: "HOW", default: "check",
        example: "refuse",
        what: "Quick actions (`/merge`, `/move`) in texts: `check` applies the policy of the corresponding \
               actions, `refuse` refuses the text, `escape` sends it as plain text.",
        takes: Word(&[
            ("check", QuickActions::Check),
            ("refuse", QuickActions::Refuse),
            ("escape", QuickActions::Escape),
        ]),
    };

    POLICY: PathBuf = Setting {
        name: "GITLAB_POLICY", flag: "policy", value: "FILE", example: "/etc/gitlab-mcp-policy.toml",
        what: "TOML file with rules by path, action and risk; see docs/concepts/policy.md.",
        takes: Text("the path of a readable TOML file", values::path),
    };
}
