//! Surface settings: tools offered, toolsets and domains, descriptions.

use super::setting::Setting;

pub static TOOL_SURFACE: Setting = Setting {
    name: "TOOL_SURFACE",
    aliases: &["GITLAB_TOOL_SURFACE"],
    flag: Some("tool-surface"),
    value: "KIND",
    what: "Which tools a client is offered: two (`dynamic`), one for each family of actions (`meta`), one for each \
           action (`individual`), or those of one `toolset` at a time.",
    accepts: "dynamic, meta, individual or toolset",
    default: Some("dynamic"),
    example: "meta",
};

pub static TOOLSETS: Setting = Setting {
    name: "GITLAB_TOOLSETS",
    aliases: &[],
    flag: Some("toolsets"),
    value: "LIST",
    what: "Only the actions of these toolsets are offered and run; docs/reference/toolsets.md has them.",
    accepts: "names of toolsets, separated by commas",
    default: None,
    example: "issues,merge_requests",
};

pub static DOMAINS: Setting = Setting {
    name: "GITLAB_DOMAINS",
    aliases: &[],
    flag: Some("domains"),
    value: "LIST",
    what: "Only the actions of these domains are offered and run, beside those of GITLAB_TOOLSETS.",
    accepts: "domains, the parts of ids before the dot, separated by commas",
    default: None,
    example: "issue,merge_request",
};

pub static META_PARAMS: Setting = Setting {
    name: "META_PARAM_SCHEMA",
    aliases: &[],
    flag: Some("meta-param-schema"),
    value: "HOW",
    what: "How much the tools of `meta` say of parameters: nothing, their names and types, or also what they mean.",
    accepts: "opaque, compact or full",
    default: Some("opaque"),
    example: "full",
};

pub static META_SPLIT: Setting = Setting {
    name: "GITLAB_META_SPLIT",
    aliases: &[],
    flag: Some("meta-split"),
    value: "HOW",
    what: "With `cqrs`, a family of `meta` has one tool that reads (`browse_…`) and one that changes (`manage_…`).",
    accepts: "none or cqrs",
    default: Some("none"),
    example: "cqrs",
};

pub static SCHEMA_MODE: Setting = Setting {
    name: "GITLAB_SCHEMA_MODE",
    aliases: &[],
    flag: Some("schema-mode"),
    value: "HOW",
    what: "How a tool of several actions describes them: one object with every parameter, or `oneOf` with an \
           alternative for each, which some clients refuse.",
    accepts: "flat or discriminated",
    default: Some("flat"),
    example: "discriminated",
};

pub static CUSTOMISE: Setting = Setting {
    name: "GITLAB_CUSTOMISE",
    aliases: &[],
    flag: Some("customise"),
    value: "FILE",
    what: "A TOML file of descriptions in place of the catalog's; docs/reference/customization.md has one.",
    accepts: "the path of a readable TOML file",
    default: None,
    example: "/etc/gitlab-mcp-words.toml",
};
