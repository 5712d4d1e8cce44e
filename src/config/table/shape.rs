//! Settings of the tools as a client sees them.

use std::path::PathBuf;

use crate::config::table::setting::settings;
use crate::config::values;
use crate::surface::{ParamSchema, SchemaMode, StructuredContent, SurfaceKind};

settings! {
    SHAPE:

    TOOL_SURFACE: SurfaceKind = Setting {
        name: "TOOL_SURFACE", aliases: ["GITLAB_TOOL_SURFACE"], flag: "tool-surface", value: "KIND",
        default: "dynamic", example: "meta",
        what: "Tools for the client: two (`dynamic`), one for each family of actions (`meta`), one for each \
               action (`individual`), or those of one `toolset` at a time.",
        takes: Word(&[
            ("dynamic", SurfaceKind::Dynamic),
            ("meta", SurfaceKind::Meta),
            ("individual", SurfaceKind::Individual),
            ("toolset", SurfaceKind::Toolset),
        ]),
    };

    READ_TOOL: bool = Switch {
        name: "GITLAB_READ_TOOL", flag: "read-tool", default: false,
        what: "Also offer `gitlab_read_action`, which runs reads only and is marked read-only, for clients \
               that ask before every other tool (`dynamic` and `toolset`).",
    };

    STRUCTURED_CONTENT: StructuredContent = Setting {
        name: "GITLAB_STRUCTURED_CONTENT", flag: "structured-content", value: "WHEN", default: "auto",
        example: "never",
        what: "Give answers as structured content as well as text: `always`, `never`, or `auto`, which \
               leaves it out for clients that are known to show a model the structure in place of the \
               shorter text (catalog/structured_content.toml).",
        takes: Word(&[
            ("auto", StructuredContent::Auto),
            ("always", StructuredContent::Always),
            ("never", StructuredContent::Never),
        ]),
    };

    TOOLSETS: Vec<String> = Setting {
        name: "GITLAB_TOOLSETS", flag: "toolsets", value: "LIST", example: "issues,merge_requests",
        what: "Offer and execute only the actions of these toolsets; see docs/reference/toolsets.md.",
        takes: Text("names of toolsets, separated by commas", values::list),
    };

    DOMAINS: Vec<String> = Setting {
        name: "GITLAB_DOMAINS", flag: "domains", value: "LIST", example: "issue,merge_request",
        what: "Offer and execute only the actions of these domains, in addition to those of GITLAB_TOOLSETS.",
        takes: Text("domains (the part of an id before the dot), separated by commas", values::list),
    };

    META_PARAMS: ParamSchema = Setting {
        name: "META_PARAM_SCHEMA", flag: "meta-param-schema", value: "HOW", default: "opaque",
        example: "full",
        what: "Parameters in the tools of `meta`: none (`opaque`), names and types (`compact`), or with \
               descriptions (`full`).",
        takes: Word(&[
            ("opaque", ParamSchema::Opaque),
            ("compact", ParamSchema::Compact),
            ("full", ParamSchema::Full),
        ]),
    };

    META_SPLIT: bool = Setting {
        name: "GITLAB_META_SPLIT", flag: "meta-split", value: "HOW", default: "none", example: "cqrs",
        what: "`cqrs` splits each tool of `meta` into one for reads (`browse_…`) and one for changes \
               (`manage_…`).",
        takes: Word(&[("none", false), ("cqrs", true)]),
    };

    SCHEMA_MODE: SchemaMode = Setting {
        name: "GITLAB_SCHEMA_MODE", flag: "schema-mode", value: "HOW", default: "flat",
        example: "discriminated",
        what: "Schema of a tool with several actions: one object with every parameter (`flat`), or a `oneOf` \
               with an alternative for each action (`discriminated`), which some clients refuse.",
        takes: Word(&[("flat", SchemaMode::Flat), ("discriminated", SchemaMode::Discriminated)]),
    };

    CUSTOMIZE: PathBuf = Setting {
        name: "GITLAB_CUSTOMIZE", aliases: ["GITLAB_CUSTOMISE"], flag: "customize", value: "FILE",
        example: "/etc/gitlab-mcp-words.toml",
        what: "TOML file with descriptions that replace the catalog's; see docs/reference/customization.md.",
        takes: Text("the path of a readable TOML file", values::path),
    };
}
