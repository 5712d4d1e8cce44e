//! Settings of the tools as a client sees them.

use std::path::PathBuf;

use crate::config::table::setting::{Accepts, Row, Setting, settings};
use crate::config::values;
use crate::surface;
use crate::surface::ParamSchema;
use crate::surface::SchemaMode;

settings! {
    SHAPE:

    TOOL_SURFACE: surface::SurfaceKind = Setting {
        row: Row {
            name: "TOOL_SURFACE",
            aliases: &["GITLAB_TOOL_SURFACE"],
            flag: Some("tool-surface"),
            value: "KIND",
            what: "Tools for the client: two (`dynamic`), one for each family of actions (`meta`), one for each action \
                   (`individual`), or those of one `toolset` at a time.",
            default: Some("dynamic"),
            example: "meta",
        },
        takes: Accepts::Word(&[
            ("dynamic", surface::SurfaceKind::Dynamic),
            ("meta", surface::SurfaceKind::Meta),
            ("individual", surface::SurfaceKind::Individual),
            ("toolset", surface::SurfaceKind::Toolset),
        ]),
    };

    READ_TOOL: bool = Setting {
        row: Row {
            name: "GITLAB_READ_TOOL",
            aliases: &[],
            flag: Some("read-tool"),
            value: "BOOL",
            what: "Also offer `gitlab_read_action`, which runs reads only and is marked read-only, for clients that ask before \
                   every other tool (`dynamic` and `toolset`).",
            default: Some("false"),
            example: "true",
        },
        takes: Accepts::Switch(values::identity),
    };

    STRUCTURED_CONTENT: surface::StructuredContent = Setting {
        row: Row {
            name: "GITLAB_STRUCTURED_CONTENT",
            aliases: &[],
            flag: Some("structured-content"),
            value: "WHEN",
            what: "Give answers as structured content as well as text: `always`, `never`, or `auto`, which leaves it out for \
                   clients that are known to show a model the structure in place of the shorter text (catalog/structured_content.toml).",
            default: Some("auto"),
            example: "never",
        },
        takes: Accepts::Word(&[
            ("auto", surface::StructuredContent::Auto),
            ("always", surface::StructuredContent::Always),
            ("never", surface::StructuredContent::Never),
        ]),
    };

    TOOLSETS: Vec<String> = Setting {
        row: Row {
            name: "GITLAB_TOOLSETS",
            aliases: &[],
            flag: Some("toolsets"),
            value: "LIST",
            what: "Offer and execute only the actions of these toolsets; see docs/reference/toolsets.md.",
            default: None,
            example: "issues,merge_requests",
        },
        takes: Accepts::Text(
            "names of toolsets, separated by commas",
            values::list,
        ),
    };

    DOMAINS: Vec<String> = Setting {
        row: Row {
            name: "GITLAB_DOMAINS",
            aliases: &[],
            flag: Some("domains"),
            value: "LIST",
            what: "Offer and execute only the actions of these domains, in addition to those of GITLAB_TOOLSETS.",
            default: None,
            example: "issue,merge_request",
        },
        takes: Accepts::Text(
            "domains (the part of an id before the dot), separated by commas",
            values::list,
        ),
    };

    META_PARAMS: ParamSchema = Setting {
        row: Row {
            name: "META_PARAM_SCHEMA",
            aliases: &[],
            flag: Some("meta-param-schema"),
            value: "HOW",
            what: "Parameters in the tools of `meta`: none (`opaque`), names and types (`compact`), or with descriptions \
                   (`full`).",
            default: Some("opaque"),
            example: "full",
        },
        takes: Accepts::Word(&[
            ("opaque", ParamSchema::Opaque),
            ("compact", ParamSchema::Compact),
            ("full", ParamSchema::Full),
        ]),
    };

    META_SPLIT: bool = Setting {
        row: Row {
            name: "GITLAB_META_SPLIT",
            aliases: &[],
            flag: Some("meta-split"),
            value: "HOW",
            what: "`cqrs` splits each tool of `meta` into one for reads (`browse_…`) and one for changes (`manage_…`).",
            default: Some("none"),
            example: "cqrs",
        },
        takes: Accepts::Word(&[("none", false), ("cqrs", true)]),
    };

    SCHEMA_MODE: SchemaMode = Setting {
        row: Row {
            name: "GITLAB_SCHEMA_MODE",
            aliases: &[],
            flag: Some("schema-mode"),
            value: "HOW",
            what: "Schema of a tool with several actions: one object with every parameter (`flat`), or a `oneOf` with an \
                   alternative for each action (`discriminated`), which some clients refuse.",
            default: Some("flat"),
            example: "discriminated",
        },
        takes: Accepts::Word(&[("flat", SchemaMode::Flat), ("discriminated", SchemaMode::Discriminated)]),
    };

    CUSTOMIZE: PathBuf = Setting {
        row: Row {
            name: "GITLAB_CUSTOMIZE",
            aliases: &["GITLAB_CUSTOMISE"],
            flag: Some("customize"),
            value: "FILE",
            what: "TOML file with descriptions that replace the catalog's; see docs/reference/customization.md.",
            default: None,
            example: "/etc/gitlab-mcp-words.toml",
        },
        takes: Accepts::Text(
            "the path of a readable TOML file",
            values::path,
        ),
    };
}
