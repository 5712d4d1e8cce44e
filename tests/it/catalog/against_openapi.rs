//! The catalog against GitLab's own OpenAPI document, where `GITLAB_API_FILES` says it is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use gitlab_mcp::call::{Body, Call, Part};
use gitlab_mcp::catalog::{Action, Audience, Catalog, example};
use regex::Regex;
use serde_json::Value;

use crate::catalog::data::{actions, call};
use crate::support::client::maintainers_program;
use crate::support::gitlab_files;

const METHODS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];

fn document_path() -> PathBuf {
    gitlab_files::folder().join("openapi.yaml")
}

/// True if the document can say anything of the action.
fn is_rest(action: &Action) -> bool {
    action.operations.iter().all(|operation| operation.graphql.is_none() && operation.any.is_none())
}

/// An operation of the document: what its requests look like, and every name it knows.
struct Documented {
    method: String,
    path: Regex,
    names: BTreeSet<String>,
    /// Required names of the query and the body.
    required: BTreeSet<String>,
}

fn document() -> Vec<Documented> {
    let text = std::fs::read_to_string(document_path()).unwrap();
    let document: Value = serde_saphyr::from_str(&text).unwrap();
    let kept = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/catalog/kept/openapi.json"));
    let kept: Value = serde_json::from_str(kept).unwrap();
    let mut operations = Vec::new();
    for (path, item) in [&document, &kept].into_iter().flat_map(|one| one["paths"].as_object().unwrap()) {
        for method in METHODS.iter().filter(|method| item.get(method).is_some()) {
            let mut operation = item[*method].clone();
            // Since GitLab 19, bodies are references.
            if let Some(reference) = operation.pointer("/requestBody/content").and_then(Value::as_object) {
                let content = reference.clone().into_iter().map(|(kind, mut body)| {
                    let pointer =
                        body["schema"]["$ref"].as_str().map(|of| of.trim_start_matches('#').to_owned());
                    if let Some(schema) = pointer.and_then(|pointer| document.pointer(&pointer)) {
                        body["schema"] = schema.clone();
                    }
                    (kind, body)
                });
                operation["requestBody"]["content"] = content.collect();
            }
            let names = names(&operation);
            // Some parts of the path are listed as parameters too.
            let mut required = required(&operation);
            required.retain(|name| !in_path(path, name));
            // Kept paths are written as in the catalog.
            let root = if path.starts_with("/api/") { "" } else { "/api/v4" };
            operations.push(Documented {
                method: method.to_uppercase(),
                path: pattern(&format!("{root}{path}")),
                names,
                required,
            });
        }
    }
    operations
}

/// Placeholders that were globs (`*x`) in GitLab 18.9's document. That of 19.5 does not tell them from others.
const GLOBS: [&str; 16] = [
    "artifact_path",
    "direct_asset_path",
    "distribution",
    "file_identifier",
    "file_name",
    "file_path",
    "module_name",
    "module_version",
    "package_file_id",
    "package_filename",
    "package_name",
    "package_version",
    "path",
    "same_file_name",
    "signature",
    "suffix_path",
];

/// A path of the document as a pattern: `(…)` is optional, `{x}` a segment, `*x` any number of them. The parentheses of
/// a call, empty or with `=`, are of the path.
fn pattern(path: &str) -> Regex {
    let unescaped = path.replace("\\(", "\u{1}").replace("\\)", "\u{2}");
    let mut pattern = String::from("^");
    let mut rest = unescaped.as_str();
    let mut is_call = false;
    let placeholder = Regex::new(r"^(\{\w+\}|[*:][a-z_]\w*)").unwrap();
    while let Some(first) = rest.chars().next() {
        if let Some(found) = placeholder.find(rest) {
            let name = found.as_str().trim_matches(['{', '}', '*', ':']);
            pattern.push_str(if first == '*' || GLOBS.contains(&name) { ".+" } else { "[^/]+" });
            rest = &rest[found.end()..];
            continue;
        }
        let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(inside, _)| inside);
        is_call |= inside.is_some_and(|inside| inside.is_empty() || inside.contains('='));
        match first {
            '(' if is_call => pattern.push_str("\\("),
            ')' if std::mem::take(&mut is_call) => pattern.push_str("\\)"),
            '(' => pattern.push_str("(?:"),
            ')' => pattern.push_str(")?"),
            '\u{1}' => pattern.push_str("\\("),
            '\u{2}' => pattern.push_str("\\)"),
            other => pattern.push_str(&regex::escape(&other.to_string())),
        }
        rest = &rest[first.len_utf8()..];
    }
    Regex::new(&format!("{pattern}$")).unwrap()
}

fn names(operation: &Value) -> BTreeSet<String> {
    let listed = operation["parameters"].as_array().into_iter().flatten();
    let mut names: BTreeSet<String> = listed.map(|param| bare(param["name"].as_str().unwrap())).collect();
    if let Some(content) = operation.pointer("/requestBody/content").and_then(Value::as_object) {
        for schema in content.values() {
            names.extend(
                schema["schema"]["properties"].as_object().into_iter().flatten().map(|(name, _)| bare(name)),
            );
        }
    }
    names
}

/// Actions for which the document requires parameters that GitLab does not: a file next to a JSON body (GitLab's proxy
/// adds it), a line of a comment on a whole commit, a range of a whole file's blame, the owner of an instance runner,
/// or the one file of a snippet that has `files`.
const REQUIRED_BY_MISTAKE: [&str; 7] = [
    "commit.create",
    "commit_comment.create",
    "repository_file.blame",
    "repository_file.create",
    "repository_file.update",
    "runner.create",
    "snippet.create",
];

fn in_path(path: &str, name: &str) -> bool {
    [format!("{{{name}}}"), format!("*{name}"), format!("/:{name}")]
        .iter()
        .any(|written| path.contains(written))
}

fn required(operation: &Value) -> BTreeSet<String> {
    let listed = operation["parameters"].as_array().into_iter().flatten();
    let in_query = listed.filter(|param| param["in"] == "query" && param["required"] == true);
    let mut required: BTreeSet<String> =
        in_query.map(|param| bare(param["name"].as_str().unwrap())).collect();
    if let Some(content) = operation.pointer("/requestBody/content").and_then(Value::as_object) {
        let of = |schema: &Value| -> BTreeSet<String> {
            let names = schema["schema"]["required"].as_array().into_iter().flatten();
            names.map(|name| bare(name.as_str().unwrap())).collect()
        };
        // The media types of one operation describe the same body.
        required.extend(content.values().map(of).next().unwrap_or_default());
    }
    required
}

/// `not[labels]` and `iids[]` by the name before the brackets.
fn bare(name: &str) -> String {
    name.split('[').next().unwrap().to_owned()
}

fn sent_names(call: &Call) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = call.query().iter().map(|(name, _)| bare(name)).collect();
    match call.body() {
        Body::Empty | Body::Raw(_) | Body::Local(_) => {}
        Body::Json(body) => names.extend(body.as_object().unwrap().keys().cloned()),
        Body::Multipart(parts) => names.extend(parts.iter().map(|part| match part {
            Part::Text { name, .. } | Part::File { name, .. } | Part::Local { name, .. } => bare(name),
        })),
    }
    names
}

#[test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's openapi.yaml")]
fn every_example_is_a_request_of_the_document() {
    let document = document();
    let catalog = Catalog::embedded().unwrap();
    let words = catalog.words().unwrap();
    let mut faults = Vec::new();
    for action in actions().into_iter().filter(is_rest) {
        // For machine protocols the document lists parts of the path as parameters.
        let is_mistaken =
            REQUIRED_BY_MISTAKE.contains(&action.id.as_str()) || action.audience != Audience::Person;
        let call = call(&action, example(&action, words));
        let matching: Vec<&Documented> = document
            .iter()
            .filter(|operation| {
                operation.method == call.method().name() && operation.path.is_match(call.path())
            })
            .collect();
        let unknown: Vec<String> = sent_names(&call)
            .into_iter()
            .filter(|name| !matching.iter().any(|operation| operation.names.contains(name)))
            .filter(|name| !action.param(name).is_some_and(|param| param.undocumented))
            .collect();
        let mut sent = sent_names(&call);
        if matches!(call.body(), Body::Raw(_) | Body::Local(_)) {
            sent.insert("file".to_owned());
        }
        let absent = |operation: &&&Documented| !operation.required.iter().all(|name| sent.contains(name));
        let missing: Vec<&BTreeSet<String>> =
            match !is_mistaken && matching.iter().all(|operation| absent(&operation)) {
                true => matching.iter().map(|operation| &operation.required).collect(),
                false => Vec::new(),
            };
        if matching.is_empty() || !unknown.is_empty() || !missing.is_empty() {
            faults.push(format!(
                "{}: {} {}, unknown {unknown:?}, one of these is required {missing:?}, sent {sent:?}",
                action.id,
                call.method().name(),
                call.path()
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's openapi.yaml")]
fn every_operation_of_the_document_is_in_the_catalog() {
    let text = std::fs::read_to_string(document_path()).unwrap();
    let document: Value = serde_saphyr::from_str(&text).unwrap();
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for action in actions().iter().filter(|action| is_rest(action)) {
        for operation in &action.operations {
            *left.entry(normal(operation.method.name(), &operation.path)).or_default() += 1;
        }
    }
    let mut missing = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in METHODS.iter().filter(|method| item.get(method).is_some()) {
            let key = normal_raw(&method.to_uppercase(), path);
            match left.get_mut(&key) {
                Some(count) if *count > 0 => *count -= 1,
                _ => missing.push(key),
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
    let kept = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/catalog/kept/openapi.json"));
    let kept: Value = serde_json::from_str(kept).unwrap();
    for (path, item) in kept["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            *left.get_mut(&normal_raw(&method.to_uppercase(), path)).unwrap() -= 1;
        }
    }
    left.retain(|_, count| *count > 0);
    assert!(left.is_empty(), "neither in the document nor kept: {left:?}");
}

/// An operation of the document as the catalog writes it, every placeholder as `{}`.
fn normal_raw(method: &str, path: &str) -> String {
    let path = path.replace("\\(", "\u{1}").replace("\\)", "\u{2}");
    let path = Regex::new(r"\([^()=]+\)").unwrap().replace_all(&path, "").into_owned();
    let path = path.replace('\u{1}', "(").replace('\u{2}', ")");
    normal(method, path.strip_prefix("/api/v4").unwrap_or(&path))
}

fn normal(method: &str, path: &str) -> String {
    let path = Regex::new(r"\{\w+\}|[:*][A-Za-z_]\w*").unwrap().replace_all(path, "{}").into_owned();
    format!("{method} {path}")
}

#[test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's openapi.yaml")]
fn the_generator_has_nothing_to_change() {
    let Some(generator) = option_env!("CARGO_BIN_EXE_catalog_gen") else {
        panic!("the generator is not built: run the tests with --all-features");
    };
    let output = Command::new(generator)
        .args(["generate", "--check", "--openapi"])
        .arg(document_path())
        .arg("--graphql")
        .arg(document_path().with_file_name("schema.graphql"))
        .args(["--catalog", concat!(env!("CARGO_MANIFEST_DIR"), "/catalog")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// An update to a document without two operations that the catalog has.
#[test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's openapi.yaml")]
fn an_update_names_the_operations_that_it_marks_as_gone() {
    const REMOVED: &str = "  /api/v4/projects/{id}/feature_flags_settings:\n";
    let files = tempfile::tempdir().unwrap();
    let document = std::fs::read_to_string(document_path()).unwrap();
    let (before, after) = document.split_once(REMOVED).expect("the document has the path");
    let next = after.find("\n  /api/").expect("another path follows");
    let newer = format!("{before}{}", &after[next + 1..]);
    let version = concat!("version: '", env!("CATALOG_GITLAB_VERSION"), "'");
    assert!(newer.contains(version), "the document has its version");
    std::fs::write(files.path().join("openapi.yaml"), newer.replacen(version, "version: '99.1'", 1)).unwrap();
    let keep = format!("{}={}", env!("CATALOG_GITLAB_VERSION"), gitlab_files::folder().display());
    let output = maintainers_program(&["update", "--preview", "--keep", &keep, "--openapi"], &[])
        .arg(files.path().join("openapi.yaml"))
        .arg("--graphql")
        .arg(document_path().with_file_name("schema.graphql"))
        .args(["--catalog", concat!(env!("CARGO_MANIFEST_DIR"), "/catalog")])
        .output()
        .unwrap();
    let (report, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{report}{errors}");
    let gone: Vec<&str> = report.lines().filter(|line| line.contains("gone")).collect();
    let line = |id: &str, method: &str| {
        format!(
            "marked as gone: {id}: {method} /projects/:id/feature_flags_settings since 99.1; remove the mark from \
             catalog/kept if GitLab still has it"
        )
    };
    assert_eq!(
        gone,
        [line("feature_flags_settings.get", "GET"), line("feature_flags_settings.update", "PUT")]
    );
    assert!(!report.contains("no longer have"), "{report}");
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/catalog/kept/openapi.json");
    assert!(!std::fs::read_to_string(kept).unwrap().contains("99.1"), "a preview writes nothing");
}
