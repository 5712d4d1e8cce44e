//! The arrows between the modules, read from the sources: each outside world has one room, and a module names
//! only those below it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Crates and modules with the places that may name them: a module, or one file of it.
const ROOMS: &[(&str, &[&str])] = &[
    ("rmcp", &["server"]),
    ("reqwest", &["gitlab"]),
    ("hyper_util", &["gitlab", "server/http/listener", "server/http/health"]),
    ("hyper", &["gitlab/upload", "server/http/listener", "server/http/health"]),
    ("tokio_rustls", &["server/http/tls", "server/http/listener", "server/http/health"]),
    ("tantivy", &["search", "embed"]),
    ("strsim", &["search", "bin"]),
    ("gitlab_mcp_encoder", &["search"]),
    ("gitlab_mcp_weights", &["search"]),
    ("gitlab_mcp_embed", &["catalog", "search", "build"]),
    ("pulp", &["encoder"]),
    ("gitlab_mcp_sandbox", &["documentation"]),
    ("gitlab_mcp_allocator", &["main"]),
    ("libmimalloc_sys", &["allocator"]),
    // Patterns of a caller, whose size and time are bounded there.
    ("regex", &["text/grep"]),
    ("comfy_table", &["cli/terminal"]),
    ("terminal_size", &["cli/terminal"]),
    ("shlex", &["cli/shell_line"]),
    ("webbrowser", &["cli/auth/mod"]),
    ("axum", &["sandbox", "server"]),
    ("apollo_compiler", &["sandbox", "call/document"]),
    // The module `env` of clap_complete reads which shell asks.
    ("env", &["config", "build", "bin", "cli/completions"]),
    ("cap_std", &["files"]),
    // GitLab names lines by SHA-1, as git names its objects; the other is rustls's own name for it.
    (
        "ring",
        &[
            "text/diff/line",
            "messages/token",
            "gitlab/derived_key",
            "gitlab/tls",
            "server/http/caller_key",
            "server/http/tls",
            "server/http/health",
            "sandbox/git_object",
            "cli/setup/record",
        ],
    ),
    ("jsonc_parser", &["cli/setup/jsonc"]),
    // For calls, only `files` opens files; the other modules are of the configuration and the command line.
    (
        "fs",
        &[
            "files",
            "config",
            "cli",
            "credentials",
            "gitlab/tls",
            "server/http/listener",
            "server/signals",
            "sandbox/journal",
            "embed",
            "bin",
        ],
    ),
];

/// Folders that are crates of their own: what they name by `crate` is theirs.
const CRATES: &[&str] = &["allocator", "embed", "encoder", "sandbox"];

/// Modules that a module may name.
const ARROWS: &[(&str, &[&str])] = &[
    ("allocator", &[]),
    ("encoder", &[]),
    ("embed", &[]),
    ("sandbox", &[]),
    ("untrusted", &[]),
    ("catalog", &[]),
    ("search", &["catalog"]),
    ("call", &["catalog", "text"]),
    ("policy", &["catalog", "call"]),
    ("gitlab", &["catalog", "call", "policy", "untrusted"]),
    ("credentials", &["gitlab", "untrusted"]),
    ("files", &[]),
    ("present", &["catalog", "text", "untrusted"]),
    ("guides", &["present"]),
    ("text", &[]),
    ("messages", &["catalog", "call", "gitlab", "present", "text", "untrusted"]),
    (
        "tools",
        &[
            "catalog",
            "search",
            "call",
            "policy",
            "gitlab",
            "files",
            "messages",
            "present",
            "text",
            "untrusted",
        ],
    ),
    // A step of a composite action is an execute, so composites are above the tools, which run them by a trait.
    (
        "composite",
        &[
            "catalog",
            "search",
            "call",
            "policy",
            "gitlab",
            "messages",
            "present",
            "text",
            "tools",
            "untrusted",
        ],
    ),
    ("context", &["catalog", "search", "gitlab", "guides", "messages", "present", "text", "tools"]),
    ("surface", &["call", "catalog", "search", "context", "tools"]),
    ("server", &["context", "surface", "tools"]),
    ("documentation", &["catalog"]),
    (
        "config",
        &["call", "credentials", "gitlab", "policy", "search", "server", "surface", "tools", "untrusted"],
    ),
    (
        "cli",
        &[
            "catalog",
            "composite",
            "config",
            "credentials",
            "documentation",
            "gitlab",
            "search",
            "server",
            "surface",
            "text",
            "tools",
            "untrusted",
        ],
    ),
    ("main", &["cli", "config"]),
    ("bin", &["catalog", "composite", "gitlab", "search", "tools"]),
];

/// A source file: its path, the module at the top that it belongs to, and its code.
struct Source {
    path: PathBuf,
    module: String,
    /// Path below `src`, without its extension.
    inside: String,
    /// Number of modules between it and the crate's root.
    depth: usize,
    code: String,
    paths: Vec<Vec<String>>,
}

#[test]
fn each_outside_world_has_one_room() {
    let sources = sources();
    for (name, rooms) in ROOMS {
        for source in sources.iter().filter(|source| names(&source.paths, name)) {
            let is_room = |room: &&str| *room == source.module || *room == source.inside;
            assert!(rooms.iter().any(is_room), "{} names {name}", source.path.display());
        }
    }
    assert!(sources.iter().any(|source| source.module == "server" && names(&source.paths, "rmcp")));
    assert!(sources.iter().any(|source| source.module == "config" && names(&source.paths, "env")));
}

#[test]
fn the_arrows_are_those_that_are_drawn() {
    for source in sources().iter().filter(|source| !["lib", "build"].contains(&source.module.as_str())) {
        let drawn = ARROWS.iter().find(|(module, _)| *module == source.module);
        let (_, below) = drawn.unwrap_or_else(|| panic!("no arrows are drawn for {}", source.module));
        for named in modules_named(source).into_iter().filter(|named| *named != source.module) {
            assert!(below.contains(&named), "{} names {named}", source.path.display());
        }
    }
}

#[test]
fn secrets_are_read_only_where_they_are_sent_or_kept() {
    let sources = sources();
    let readers = |source: &&Source| source.code.contains(".reveal()");
    for source in sources.iter().filter(readers) {
        let may_read = ["gitlab", "credentials"].contains(&source.module.as_str());
        assert!(may_read, "{} reads a secret", source.path.display());
    }
    assert!(sources.iter().filter(readers).count() >= 3);
}

#[test]
fn processes_are_started_in_one_place() {
    for source in sources().iter().filter(|source| {
        !["bin", "build"].contains(&source.module.as_str()) && source.inside != "credentials/process"
    }) {
        let starts = source.code.contains("process::Command");
        assert!(!starts, "{} starts a process", source.path.display());
    }
}

#[test]
fn names_are_found_however_they_are_written() {
    let source = |code: &str, inside: &str| Source::new(inside.to_owned(), PathBuf::new(), code);
    let code = "use crate::{catalog::Action, gitlab::{self, Token}, tools}; fn f() { crate::search::x() }";
    let modules = |code: &str, inside: &str| {
        modules_named(&source(code, inside)).into_iter().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let all = ["catalog", "gitlab", "search", "tools"].map(str::to_owned);
    assert_eq!(modules(code, "x"), BTreeSet::from(all));
    assert_eq!(
        modules("fn f() { super::call::Call; super::super::y }", "x"),
        BTreeSet::from(["call".to_owned()])
    );
    let policy = BTreeSet::from(["policy".to_owned()]);
    assert_eq!(modules("use super::near; fn f() { json!(super::super::policy::p) }", "x/y"), policy);
    assert!(modules("//! [`crate::server`]\n/// crate::cli\nfn x() {} // crate::eval", "x").is_empty());
    let names_in = |code: &str, name: &str| names(&paths_named(code), name);
    assert!(names_in("use rmcp::model;", "rmcp") && !names_in("use not_rmcp::model;", "rmcp"));
    assert!(!names_in("use rmcp_like::model;", "rmcp") && !names_in("const X: &str = env!(\"X\");", "env"));
}

#[test]
fn no_two_modules_import_each_other_in_a_circle() {
    let graph = module_graph(&sources());
    let circles = circles(&graph);
    assert!(circles.is_empty(), "modules import each other in circles:\n{}", described(&graph, &circles));
}

/// Lines of code that a room has at most, so that one can find one's way in it; the sandbox is a GitLab of its own.
const MAX_ROOM: usize = 12_000;

#[test]
fn no_room_is_too_large() {
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources() {
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        *sizes.entry(source.module).or_default() += source.code.lines().filter(is_code).count();
    }
    sizes.retain(|room, size| *size > MAX_ROOM && room != "sandbox");
    assert!(sizes.is_empty(), "{sizes:?}");
}

#[test]
fn parts_of_a_room_do_not_import_each_other_in_a_circle() {
    let graph = module_graph(&sources());
    // `tools/decide/ask` is of the part `tools/decide`; `bin` has rooms of its own below.
    let part = |file: &str| {
        let depth = if file.starts_with("bin/") { 3 } else { 2 };
        file.split('/').take(depth).collect::<Vec<_>>().join("/")
    };
    let mut parts: Graph = BTreeMap::new();
    for (file, named) in &graph {
        let others = named.iter().map(|named| part(named)).filter(|other| *other != part(file));
        parts.entry(part(file)).or_default().extend(others);
    }
    let circles = circles(&parts);
    assert!(
        circles.is_empty(),
        "parts of a room import each other in circles:\n{}",
        described(&parts, &circles)
    );
}

#[test]
fn imports_are_resolved_to_the_files_that_define_the_names() {
    let file = |inside: &str, code: &str| Source::new(inside.to_owned(), PathBuf::from(inside), code);
    let sources = [
        file("a/mod", "mod b;\nmod c;\npub use b::Shared;\nfn own() {}"),
        file("a/b", "pub struct Shared;\nfn f() { super::own() }"),
        file("a/c", "use crate::a::{Shared, b::{self, other}};\nuse super::d;\nfn f() { crate::x::y::z() }"),
        file("a/d", "use super::*;\nuse crate::x::{\n    y::z,\n};"),
        file("x/y", ""),
        file("x/mod", "pub mod y;"),
    ];
    let graph = module_graph(&sources);
    let of = |name: &str| graph[name].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(of("a/mod"), ["a/b"], "a re-export is an arrow, a declaration is none");
    assert_eq!(of("a/b"), ["a/mod"]);
    assert_eq!(of("a/c"), ["a/b", "a/d", "x/y"]);
    assert_eq!(of("a/d"), ["a/mod", "x/y"], "a comma behind the last name is no name");
    assert_eq!(circles(&graph), [["a/b", "a/mod"]]);
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    collect(&root, &root, &mut sources);
    assert!(sources.len() > 20);
    sources
}

fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test(&path) {
            sources.push(Source::load(root, path));
        }
    }
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs")
}

impl Source {
    fn new(inside: String, path: PathBuf, code: &str) -> Source {
        let module = inside.split('/').next().unwrap().to_owned();
        let depth = inside.split('/').filter(|part| *part != "mod").count();
        Source { module, depth, paths: paths_named(code), code: code.to_owned(), inside, path }
    }

    fn load(root: &Path, path: PathBuf) -> Source {
        let inside = path.strip_prefix(root).unwrap().with_extension("");
        let parts: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
        let depth = parts.iter().filter(|part| **part != "mod").count();
        let text = fs::read_to_string(&path).unwrap();
        // A file's own tests may name anything. They end the file.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        Source { depth, ..Source::new(parts.join("/"), path, text) }
    }
}

/// True if a path in the code begins with, or goes through, that name.
fn names(paths: &[Vec<String>], name: &str) -> bool {
    paths
        .iter()
        .any(|path| path.split_last().is_some_and(|(_, before)| before.iter().any(|word| word == name)))
}

/// The modules at the top of the crate that a source names.
fn modules_named(source: &Source) -> Vec<&str> {
    let top = |path: &'_ Vec<String>| -> Option<usize> {
        let ups = path.iter().take_while(|word| *word == "super").count();
        match path.first()?.as_str() {
            // The generator is one more crate: only by the library's name does it name modules here.
            "gitlab_mcp" => Some(1),
            _ if source.module == "bin" || CRATES.contains(&source.module.as_str()) => None,
            "crate" => Some(1),
            _ if ups == source.depth => Some(ups),
            _ => None,
        }
    };
    source.paths.iter().filter_map(|path| path.get(top(path)?).map(String::as_str)).collect()
}

/// The modules that each module (a file below `src`, without its ending) takes names from.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Reads the imports of every source. A declaration (`mod x;`) is no arrow. A name that a `mod.rs` re-exports counts
/// for the file that defines it.
fn module_graph(sources: &[Source]) -> Graph {
    let files: BTreeMap<&str, &Source> =
        sources.iter().map(|source| (source.inside.as_str(), source)).collect();
    let arrows = |source: &Source| {
        let own = module_path(&source.inside);
        let paths = &source.paths;
        let targets = paths.iter().filter_map(|path| target(&files, &own, path, 0));
        targets.filter(|target| *target != source.inside).collect()
    };
    sources.iter().map(|source| (source.inside.clone(), arrows(source))).collect()
}

/// `a/mod` is the module `a`, `a/b` the module `a::b`; the roots of crates are the empty path.
fn module_path(inside: &str) -> Vec<&str> {
    let mut path: Vec<&str> = inside.split('/').collect();
    if path.last().is_some_and(|last| matches!(*last, "mod" | "lib" | "main")) {
        path.pop();
    }
    path
}

/// The file in which the name at the end of a path is defined.
fn target(files: &BTreeMap<&str, &Source>, own: &[&str], path: &[String], turns: usize) -> Option<String> {
    let mut module: Vec<&str> = own.to_vec();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            module = root(own);
            rest = &rest[1..];
        }
        "super" => {
            while rest.first().is_some_and(|word| word == "super") {
                module.pop()?;
                rest = &rest[1..];
            }
        }
        "self" => rest = &rest[1..],
        // A name by itself is of another crate, unless it is a child.
        first => {
            let child = [own, &[first]].concat();
            file_of(files, &child)?;
        }
    }
    while let Some(word) = rest.first() {
        let child = [module.as_slice(), &[word.as_str()]].concat();
        if file_of(files, &child).is_none() && !is_folder(files, &child) {
            break;
        }
        module = child;
        rest = &rest[1..];
    }
    let file = file_of(files, &module)?;
    let reexport = rest.first().filter(|_| turns < 4 && file.ends_with("/mod")).and_then(|name| {
        let from = files.get(file)?.paths.iter().find(|used| used.last() == Some(name))?;
        target(files, &module, from, turns + 1)
    });
    Some(reexport.unwrap_or_else(|| file.to_owned()))
}

/// The root of the crate that a module is in: the generator and the small crates have their own.
fn root<'a>(own: &[&'a str]) -> Vec<&'a str> {
    match own {
        ["bin", name, ..] => vec!["bin", name],
        [name, ..] if CRATES.contains(name) => vec![*name],
        _ => Vec::new(),
    }
}

fn file_of<'a>(files: &BTreeMap<&'a str, &Source>, module: &[&str]) -> Option<&'a str> {
    let path = module.join("/");
    let names = [path.clone(), format!("{path}/mod"), format!("{path}/main"), format!("{path}/lib")];
    names.iter().find_map(|name| files.get_key_value(name.as_str()).map(|(name, _)| *name))
}

fn is_folder(files: &BTreeMap<&str, &Source>, module: &[&str]) -> bool {
    let folder = format!("{}/", module.join("/"));
    files.keys().any(|name| name.starts_with(&folder))
}

/// Every path of at least two names in the code, those in braces expanded: `use a::{b, c::D}` has `a::b` and `a::c::D`.
/// Comments are no code, and neither are strings.
fn paths_named(code: &str) -> Vec<Vec<String>> {
    let tokens: TokenStream = code.parse().expect("Rust");
    let mut paths = Vec::new();
    collect_paths(tokens, &[], &mut paths);
    paths.retain(|path| path.len() > 1);
    paths
}

/// Collects the paths of a group of tokens; `before` is the path in front of its braces.
fn collect_paths(tokens: TokenStream, before: &[String], paths: &mut Vec<Vec<String>>) {
    let mut path = before.to_vec();
    let (mut colons, mut in_alias) = (0, false);
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            TokenTree::Ident(ident) if ident == "as" => in_alias = true,
            // `super::super` goes on; a name without colons begins a path, and so does one after a comma.
            TokenTree::Ident(ident) if !in_alias => {
                if colons != 2 && path.len() > before.len() {
                    paths.push(std::mem::replace(&mut path, before.to_vec()));
                }
                path.extend(Some(ident.to_string()).filter(|name| name != "self"));
                colons = 0;
            }
            TokenTree::Punct(punct) if punct.as_char() == '*' && colons == 2 => path.push("*".to_owned()),
            TokenTree::Group(group) if colons == 2 && group.delimiter() == Delimiter::Brace => {
                collect_paths(group.stream(), &path, paths);
                path = before.to_vec();
                colons = 0;
            }
            token => {
                if path.len() > before.len() {
                    paths.push(std::mem::replace(&mut path, before.to_vec()));
                }
                (colons, in_alias) = (0, false);
                if let TokenTree::Group(group) = token {
                    collect_paths(group.stream(), &[], paths);
                }
            }
        }
    }
    if path.len() > before.len() {
        paths.push(path);
    }
}

/// The groups of modules of which each reaches every other.
fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|name| (name.as_str(), reached_from(graph, name))).collect();
    let mut knots: Vec<Vec<String>> = Vec::new();
    for (name, others) in &reached {
        let is_mutual = |other: &&&str| reached.get(**other).is_some_and(|back| back.contains(name));
        let knot: Vec<String> = others.iter().filter(is_mutual).map(|other| (*other).to_owned()).collect();
        if knot.len() > 1 && !knots.contains(&knot) {
            knots.push(knot);
        }
    }
    knots
}

fn reached_from<'g>(graph: &'g Graph, name: &str) -> BTreeSet<&'g str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = graph[name].iter().map(String::as_str).collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(graph.get(module).into_iter().flatten().map(String::as_str));
        }
    }
    reached
}

/// Each circle with the arrows within it.
fn described(graph: &Graph, circles: &[Vec<String>]) -> String {
    let mut lines = Vec::new();
    for circle in circles {
        for name in circle {
            let within: Vec<&str> =
                graph[name].iter().filter(|to| circle.contains(to)).map(String::as_str).collect();
            lines.push(format!("  {name} -> {}", within.join(", ")));
        }
        lines.push(String::new());
    }
    lines.join("\n")
}

#[test]
fn the_top_level_has_nothing_else() {
    let output = std::process::Command::new("git")
        .args(["ls-tree", "--name-only", "HEAD"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    // A source archive has no history to ask.
    let Some(output) = output.ok().filter(|output| output.status.success()) else { return };
    let names = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = names.lines().filter(|name| !name.starts_with('.')).collect();
    let expected =
        ["Cargo.lock", "Cargo.toml", "LICENSE", "README.md", "benches", "catalog", "docs", "src", "tests"];
    assert_eq!(names, expected);
}
