//! The arrows between the modules, read from the sources: each outside world has one room, and a module names
//! only those below it.

use std::fs;
use std::path::{Path, PathBuf};

/// What may be named where: in a module, or in one file of it.
const ROOMS: [(&str, &[&str]); 17] = [
    ("rmcp", &["server"]),
    ("reqwest", &["gitlab"]),
    ("hyper_util", &["gitlab"]),
    ("tantivy", &["search", "embed"]),
    ("strsim", &["search", "bin"]),
    ("gitlab_mcp_encoder", &["search"]),
    ("gitlab_mcp_embed", &["catalog", "search", "build"]),
    ("pulp", &["encoder"]),
    ("gitlab_mcp_allocator", &["main"]),
    ("libmimalloc_sys", &["allocator"]),
    // Patterns of a caller, whose size and time are bounded there.
    ("regex", &["present/grep"]),
    ("axum", &["sandbox"]),
    ("apollo_compiler", &["sandbox", "call/document"]),
    ("env", &["config", "build", "bin"]),
    ("cap_std", &["files"]),
    // GitLab names lines by SHA-1; the other is rustls's own name for it.
    ("ring", &["tools/lines/mod", "tools/confirmation/token", "gitlab/tls"]),
    // Of a call's files only `files` opens any; the rest is of the configuration and the command line.
    ("fs", &["files", "config", "cli", "gitlab/tls", "embed", "bin"]),
];

/// Which modules a module may name.
const ARROWS: [(&str, &[&str]); 20] = [
    // Crates of their own.
    ("allocator", &[]),
    ("encoder", &[]),
    // Modules of its own by these names.
    ("embed", &["catalog", "search"]),
    ("untrusted", &[]),
    ("catalog", &[]),
    ("search", &["catalog"]),
    ("call", &["catalog"]),
    ("policy", &["catalog", "call"]),
    ("gitlab", &["catalog", "call", "policy", "untrusted"]),
    ("files", &[]),
    ("present", &["catalog", "untrusted"]),
    ("guides", &["present"]),
    ("tools", &["catalog", "search", "call", "policy", "gitlab", "files", "present", "guides", "untrusted"]),
    ("surface", &["catalog", "search", "tools"]),
    ("server", &["surface", "tools"]),
    ("sandbox", &[]),
    ("config", &["call", "gitlab", "policy", "surface", "tools", "untrusted"]),
    ("cli", &["catalog", "config", "gitlab", "sandbox", "search", "server", "surface", "tools"]),
    ("main", &["cli", "config"]),
    ("bin", &["catalog", "gitlab", "search", "tools"]),
];

/// A source file: its path, the module at the top that it belongs to, and its code.
struct Source {
    path: PathBuf,
    module: String,
    /// Where it is below `src`, without its ending.
    inside: String,
    /// How many modules it is below the crate's root.
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
            sources.push(Source::read(root, path));
        }
    }
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs")
}

impl Source {
    fn read(root: &Path, path: PathBuf) -> Source {
        let inside = path.strip_prefix(root).unwrap().with_extension("");
        let parts: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
        let depth = parts.iter().filter(|part| **part != "mod").count();
        let text = fs::read_to_string(&path).unwrap();
        // What stands in a file's own tests may name anything.
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
        let module = parts[0].to_owned();
        Source { module, inside: parts.join("/"), depth, code: without_comments(text), path }
    }
}

fn without_comments(text: &str) -> String {
    let code = text.lines().map(|line| line.split(" //").next().unwrap());
    code.filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Whether a path in the code begins with, or goes through, that name.
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
