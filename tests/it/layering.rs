//! The arrows between the modules, read from the sources: each outside world has one room, and a module names
//! only those below it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates and modules with the places that may name them: a module, or one file of it.
const ROOMS: &[(&str, &[&str])] = &[
    ("rmcp", &["server"]),
    ("reqwest", &["gitlab"]),
    ("hyper_util", &["gitlab", "server/http/listener", "server/http/health"]),
    ("hyper", &["server/http/listener", "server/http/health"]),
    ("tokio_rustls", &["server/http/tls", "server/http/listener", "server/http/health"]),
    ("tantivy", &["search", "embed"]),
    ("strsim", &["search", "bin"]),
    ("gitlab_mcp_encoder", &["search"]),
    ("gitlab_mcp_weights", &["search"]),
    ("gitlab_mcp_embed", &["catalog", "search", "build"]),
    ("pulp", &["encoder"]),
    ("gitlab_mcp_allocator", &["main"]),
    ("libmimalloc_sys", &["allocator"]),
    // Patterns of a caller, whose size and time are bounded there.
    ("regex", &["text/grep"]),
    ("axum", &["sandbox", "server"]),
    ("apollo_compiler", &["sandbox", "call/document"]),
    ("env", &["config", "build", "bin"]),
    ("cap_std", &["files"]),
    // GitLab names lines by SHA-1, as git names its objects; the other is rustls's own name for it.
    (
        "ring",
        &[
            "text/diff/line",
            "tools/decide/token",
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
            "embed",
            "bin",
        ],
    ),
];

/// Modules that a module may name.
const ARROWS: &[(&str, &[&str])] = &[
    // Crates of their own.
    ("allocator", &[]),
    ("encoder", &[]),
    // Modules of its own by these names.
    ("embed", &["catalog", "search"]),
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
    ("tools", &["catalog", "search", "call", "policy", "gitlab", "files", "present", "text", "untrusted"]),
    // A step of a composite action is an execute, so composites are above the tools, which run them by a trait.
    (
        "composite",
        &["catalog", "search", "call", "policy", "gitlab", "present", "text", "tools", "untrusted"],
    ),
    ("context", &["catalog", "search", "gitlab", "guides", "present", "text", "tools"]),
    ("surface", &["catalog", "search", "context", "tools"]),
    ("server", &["context", "surface", "tools"]),
    ("sandbox", &["catalog"]),
    ("config", &["call", "credentials", "gitlab", "policy", "server", "surface", "tools", "untrusted"]),
    (
        "cli",
        &[
            "catalog",
            "composite",
            "config",
            "credentials",
            "gitlab",
            "sandbox",
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
}

#[test]
fn each_outside_world_has_one_room() {
    let sources = sources();
    for (name, rooms) in ROOMS {
        for source in sources.iter().filter(|source| names(&source.code, name)) {
            let is_room = |room: &&str| *room == source.module || *room == source.inside;
            assert!(rooms.iter().any(is_room), "{} names {name}", source.path.display());
        }
    }
    assert!(sources.iter().any(|source| source.module == "server" && names(&source.code, "rmcp")));
    assert!(sources.iter().any(|source| source.module == "config" && names(&source.code, "env")));
}

#[test]
fn the_arrows_are_those_that_are_drawn() {
    for source in sources().iter().filter(|source| !["lib", "build"].contains(&source.module.as_str())) {
        let drawn = ARROWS.iter().find(|(module, _)| *module == source.module);
        let (_, below) = drawn.unwrap_or_else(|| panic!("no arrows are drawn for {}", source.module));
        for named in modules_named(source).iter().filter(|named| **named != source.module) {
            assert!(below.contains(&named.as_str()), "{} names {named}", source.path.display());
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
    for source in
        sources().iter().filter(|source| source.module != "bin" && source.inside != "credentials/process")
    {
        let starts = source.code.contains("process::Command");
        assert!(!starts, "{} starts a process", source.path.display());
    }
}

#[test]
fn names_are_found_however_they_are_written() {
    let code = "use crate::{catalog::Action, gitlab::{self, Token}, tools}; fn f() { crate::search::x() }";
    let source = |code: &str, depth| Source {
        path: PathBuf::new(),
        module: "x".to_owned(),
        inside: "x".to_owned(),
        depth,
        code: without_comments(code),
    };
    assert_eq!(modules_named(&source(code, 1)), ["catalog", "gitlab", "tools", "search"]);
    assert_eq!(modules_named(&source("super::call::Call; super::super::y", 1)), ["call"]);
    assert_eq!(modules_named(&source("super::near; super::super::policy::p", 2)), ["policy"]);
    assert!(modules_named(&source("//! [`crate::server`]\n/// crate::cli\nx // crate::eval", 1)).is_empty());
    assert!(names("use rmcp::model;", "rmcp") && !names("use not_rmcp::model;", "rmcp"));
    assert!(!names("use rmcp_like::model;", "rmcp") && !names("env!(\"X\")", "env"));
}

#[test]
fn no_two_modules_import_each_other_in_a_circle() {
    let graph = module_graph(&sources());
    let circles = circles(&graph);
    assert!(circles.is_empty(), "modules import each other in circles:\n{}", described(&graph, &circles));
}

#[test]
fn imports_are_resolved_to_the_files_that_define_the_names() {
    let file = |inside: &str, code: &str| Source {
        path: PathBuf::from(inside),
        module: inside.split('/').next().unwrap().to_owned(),
        inside: inside.to_owned(),
        depth: inside.split('/').filter(|part| *part != "mod").count(),
        code: code.to_owned(),
    };
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
    fn load(root: &Path, path: PathBuf) -> Source {
        let inside = path.strip_prefix(root).unwrap().with_extension("");
        let parts: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
        let depth = parts.iter().filter(|part| **part != "mod").count();
        let text = fs::read_to_string(&path).unwrap();
        // A file's own tests may name anything. They end the file.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let module = parts[0].to_owned();
        Source { module, inside: parts.join("/"), depth, code: without_comments(text), path }
    }
}

fn without_comments(text: &str) -> String {
    let code = text.lines().map(|line| line.split(" //").next().unwrap());
    code.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// True if a path in the code begins with, or goes through, that name.
fn names(code: &str, name: &str) -> bool {
    code.match_indices(&format!("{name}::")).any(|(at, _)| !code[..at].ends_with(is_name))
}

/// The modules at the top of the crate that a source names.
fn modules_named(source: &Source) -> Vec<String> {
    let above = "super::".repeat(source.depth);
    // The generator is a crate of its own: only by the library's name does it name modules here.
    let roots: &[&str] =
        if source.module == "bin" { &["gitlab_mcp::"] } else { &["crate::", "gitlab_mcp::", &above] };
    let mut modules = Vec::new();
    for root in roots {
        for (at, _) in source.code.match_indices(root) {
            let before = &source.code[..at];
            let after = &source.code[at + root.len()..];
            if before.ends_with(is_name) || before.ends_with("super::") || after.starts_with("super::") {
                continue;
            }
            modules.extend(first_names(after));
        }
    }
    modules
}

/// The name that a path goes on with, or each of those in braces.
fn first_names(path: &str) -> Vec<String> {
    let Some(group) = path.strip_prefix('{') else {
        return vec![path.chars().take_while(|c| is_name(*c)).collect()];
    };
    let mut depth = 0;
    let mut names = vec![String::new()];
    let mut in_name = true;
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(String::new());
                in_name = true;
            }
            ':' if depth == 0 => in_name = false,
            c if depth == 0 && in_name && is_name(c) => names.last_mut().unwrap().push(c),
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
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
        let paths = paths_named(&source.code);
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
        let uses = paths_named(&files.get(file)?.code);
        let from = uses.into_iter().find(|used| used.last() == Some(name) && used.len() > 1)?;
        target(files, &module, &from, turns + 1)
    });
    Some(reexport.unwrap_or_else(|| file.to_owned()))
}

/// The root of the crate that a module is in: the generator and the small crates have their own.
fn root<'a>(own: &[&'a str]) -> Vec<&'a str> {
    match own {
        ["bin", name, ..] => vec!["bin", name],
        [name @ ("encoder" | "allocator" | "embed"), ..] => vec![name],
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

/// Every path in the code, those in braces expanded: `use a::{b, c::D}` has `a::b` and `a::c::D`.
fn paths_named(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find("::") {
        let start = rest[..at].rfind(|c: char| !is_name(c)).map_or(0, |before| before + 1);
        let end = path_end(rest, at);
        expand(&rest[start..end], &[], &mut paths);
        rest = &rest[end.max(at + 2)..];
    }
    paths
}

/// End of the path that has its first `::` at a position, with the names in its braces.
fn path_end(text: &str, at: usize) -> usize {
    let mut end = at;
    while text[end..].starts_with("::") {
        end += 2;
        if text[end..].starts_with('{') {
            let mut depth = 0_usize;
            for (offset, c) in text[end..].char_indices() {
                depth = if c == '{' {
                    depth + 1
                } else if c == '}' {
                    depth - 1
                } else {
                    depth
                };
                if depth == 0 {
                    return end + offset + 1;
                }
            }
            return text.len();
        }
        end += text[end..].find(|c: char| !is_name(c)).unwrap_or(text.len() - end);
    }
    end
}

fn expand(path: &str, before: &[String], paths: &mut Vec<Vec<String>>) {
    let Some((start, group)) = path.split_once('{') else {
        let name = path.split(" as ").next().unwrap();
        let words = name.split("::").map(str::trim).filter(|word| !word.is_empty() && *word != "self");
        let found: Vec<String> = before.iter().cloned().chain(words.map(str::to_owned)).collect();
        if !found.is_empty() {
            paths.push(found);
        }
        return;
    };
    let words = start.split("::").map(str::trim).filter(|word| !word.is_empty());
    let before: Vec<String> = before.iter().cloned().chain(words.map(str::to_owned)).collect();
    let mut depth = 0_usize;
    let mut part = String::new();
    for c in group.trim_end().trim_end_matches('}').chars().chain([',']) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let name = std::mem::take(&mut part);
                // A comma behind the last name has nothing after it.
                if !name.trim().is_empty() {
                    expand(&name, &before, paths);
                }
                continue;
            }
            _ => {}
        }
        part.push(c);
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
