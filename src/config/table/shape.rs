//! Surface settings: tools offered, toolsets and domains, descriptions.

use super::setting::{SWITCH, Setting};

pub static TOOL_SURFACE: Setting = Setting {
    name: "TOOL_SURFACE",
    aliases: &["GITLAB_TOOL_SURFACE"],
    flag: Some("tool-surface"),
    value: "KIND",
    what: "Tools for the client: two (`dynamic`), one for each family of actions (`meta`), one for each action \
           (`individual`), or those of one `toolset` at a time.",
    accepts: "dynamic, meta, individual or toolset",
    default: Some("dynamic"),
    example: "meta",
};

pub static READ_TOOL: Setting = Setting {
    name: "GITLAB_READ_TOOL",
    aliases: &[],
    flag: Some("read-tool"),
    value: "BOOL",
    what: "Also offer `gitlab_read_action`, which runs reads only and is marked read-only, for clients that ask before \
           every other tool (`dynamic` and `toolset`).",
    accepts: SWITCH,
    default: Some("false"),
    example: "true",
};

pub static TOOLSETS: Setting = Setting {
    name: "GITLAB_TOOLSETS",
    aliases: &[],
    flag: Some("toolsets"),
    value: "LIST",
    what: "Offer and execute only the actions of these toolsets; see docs/reference/toolsets.md.",
    accepts: "names of toolsets, separated by commas",
    default: None,
    example: "issues,merge_requests",
};

pub static DOMAINS: Setting = Setting {
    name: "GITLAB_DOMAINS",
    aliases: &[],
    flag: Some("domains"),
    value: "LIST",
    what: "Offer and execute only the actions of these domains, in addition to those of GITLAB_TOOLSETS.",
    accepts: "domains (the part of an id before the dot), separated by commas",
    default: None,
    example: "issue,merge_request",
};

pub static META_PARAMS: Setting = Setting {
    name: "META_PARAM_SCHEMA",
    aliases: &[],
    flag: Some("meta-param-schema"),
    value: "HOW",
    what: "Parameters in the tools of `meta`: none (`opaque`), names and types (`compact`), or with descriptions \
           (`full`).",
    accepts: "opaque, compact or full",
    default: Some("opaque"),
    example: "full",
};

pub static META_SPLIT: Setting = Setting {
    name: "GITLAB_META_SPLIT",
    aliases: &[],
    flag: Some("meta-split"),
    value: "HOW",
    what: "`cqrs` splits each tool of `meta` into one for reads (`browse_…`) and one for changes (`manage_…`).",
    accepts: "none or cqrs",
    default: Some("none"),
    example: "cqrs",
};

pub static SCHEMA_MODE: Setting = Setting {
    name: "GITLAB_SCHEMA_MODE",
    aliases: &[],
    flag: Some("schema-mode"),
    value: "HOW",
    what: "Schema of a tool with several actions: one object with every parameter (`flat`), or a `oneOf` with an \
           alternative for each action (`discriminated`), which some clients refuse.",
    accepts: "flat or discriminated",
    default: Some("flat"),
    example: "discriminated",
};

pub static CUSTOMIZE: Setting = Setting {
    name: "GITLAB_CUSTOMIZE",
    aliases: &["GITLAB_CUSTOMISE"],
    flag: Some("customize"),
    value: "FILE",
    what: "TOML file with descriptions that replace the catalog's; see docs/reference/customization.md.",
    accepts: "the path of a readable TOML file",
    default: None,
    example: "/etc/gitlab-mcp-words.toml",
};
