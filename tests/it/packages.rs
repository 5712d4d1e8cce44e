//! The packages of `.release`: manifests are those of their templates, and links and pages show the same
//! configuration. `tests/clients/packages/check.sh` builds and runs the packages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use url::Url;

use crate::support::client::maintainers_program;

fn load(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn manifests_are_those_of_the_templates() {
    let mut command = maintainers_program(&["packages", "--check"], &[]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The parameters of the link with a label on a page.
fn link(page: &str, label: &str) -> BTreeMap<String, String> {
    let text = load(page);
    let target =
        text.split_once(&format!("[{label}](")).unwrap_or_else(|| panic!("{page}: no link {label}")).1;
    let url = Url::parse(target.split_once(')').unwrap().0).unwrap();
    assert_eq!(url.scheme(), "https", "pages drop links of other schemes");
    url.query_pairs().map(|(key, value)| (key.into_owned(), value.into_owned())).collect()
}

/// The configuration in the first JSON block after a text.
fn shown(page: &str, after: &str) -> Value {
    let text = load(page);
    let rest = text.split_once(after).unwrap_or_else(|| panic!("{page}: no {after:?}")).1;
    let block = rest.split_once("```json\n").unwrap().1.split_once("```").unwrap().0;
    serde_json::from_str(block).unwrap()
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn links_install_the_configuration_that_pages_show() {
    let vscode = shown("docs/guides/clients.md", "\n## VS Code\n");
    assert_eq!(shown("README.md", "**VS Code**"), vscode, "README.md and clients.md differ");
    let cursor = shown("docs/guides/clients.md", "\n## Cursor\n");
    for page in ["README.md", "docs/guides/install.md"] {
        let link_of_vscode = link(page, "Install in VS Code");
        assert_eq!(link_of_vscode["name"], "gitlab");
        assert_eq!(parse(&link_of_vscode["config"]), vscode["servers"]["gitlab"]);
        assert_eq!(parse(&link_of_vscode["inputs"]), vscode["inputs"]);
        let link_of_cursor = link(page, "Install in Cursor");
        assert_eq!(link_of_cursor["name"], "gitlab");
        let decoded = String::from_utf8(STANDARD.decode(&link_of_cursor["config"]).unwrap()).unwrap();
        assert_eq!(parse(&decoded), cursor["mcpServers"]["gitlab"]);
    }
}

#[test]
fn no_link_or_manifest_has_a_token() {
    for page in ["README.md", "docs/guides/install.md"] {
        let (vscode, mut cursor) = (link(page, "Install in VS Code"), link(page, "Install in Cursor"));
        let decoded = String::from_utf8(STANDARD.decode(&cursor["config"]).unwrap()).unwrap();
        cursor.insert("config".to_owned(), decoded);
        let values: Vec<&String> = [&vscode, &cursor].into_iter().flat_map(BTreeMap::values).collect();
        assert!(values.iter().all(|value| !value.contains("glpat-")), "{page}: {values:?}");
    }
    let bundle = parse(&load(".release/mcpb/linux-x64/manifest.json"));
    assert_eq!(bundle["user_config"]["gitlab_token"]["sensitive"], true);
    assert_eq!(bundle["user_config"]["gitlab_token"].get("default"), None);
    for package in parse(&load(".release/server.json"))["packages"].as_array().unwrap() {
        let variables = package["environmentVariables"].as_array().unwrap();
        let token = variables.iter().find(|variable| variable["name"] == "GITLAB_TOKEN").unwrap();
        assert_eq!(token["isSecret"], true, "{package}");
    }
}

#[test]
fn the_guide_to_containers_is_about_the_published_image() {
    let page = load("docs/guides/deploy.md");
    let block = page.split_once("```dockerfile\n").unwrap().1.split_once("```").unwrap().0;
    let image = load(".release/container/Containerfile");
    for line in block.lines() {
        assert!(image.lines().any(|known| known == line), "the Containerfile has no line {line:?}");
    }
}

/// Platforms of npm, MCPB and the targets of a release are the same.
#[test]
fn each_platform_has_each_package() {
    let packages: toml::Table = load(".release/packages.toml").parse().unwrap();
    let main = parse(&load(".release/npm/main/package.json"));
    let platforms = packages["platform"].as_array().unwrap();
    assert_eq!(main["optionalDependencies"].as_object().unwrap().len(), platforms.len());
    let (ci, manifest) = (load(".gitlab-ci.yml"), load("Cargo.toml"));
    for platform in platforms {
        let name = platform["name"].as_str().unwrap();
        let package = parse(&load(&format!(".release/npm/{name}/package.json")));
        assert_eq!(main["optionalDependencies"][package["name"].as_str().unwrap()], main["version"]);
        let bundle = parse(&load(&format!(".release/mcpb/{name}/manifest.json")));
        assert_eq!(bundle["compatibility"]["platforms"][0], package["os"][0]);
        let target = platform["target"].as_str().unwrap();
        assert!(ci.contains(target), ".gitlab-ci.yml does not build {target}");
        let is_default = target.ends_with("-darwin") || manifest.contains(target);
        assert!(is_default, "cargo binstall does not find {target}");
    }
}

/// There was no job for Homebrew, and none installed the registry's program.
#[test]
fn each_channel_is_published_by_a_job_that_the_page_names() {
    let (ci, page) = (load(".gitlab-ci.yml"), load("docs/contributing/releasing.md"));
    let (before, _) = page.split_once("## Packages").unwrap();
    let jobs: Vec<&str> = ci.split("\n\n").filter(|job| job.contains("  extends: .publish\n")).collect();
    let name = |job: &str| job.lines().find_map(|line| line.strip_suffix(':')).unwrap().to_owned();
    let names: Vec<String> = jobs.iter().map(|job| name(job)).collect();
    for channel in ["release", "npm", "pypi", "container", "crates", "homebrew", "mcp-registry"] {
        assert!(names.iter().any(|name| name == channel), "no job publishes {channel}: {names:?}");
    }
    let is_ours = |word: &str| !word.starts_with("CI_") && !word.starts_with("GITLAB_");
    for (job, name) in jobs.iter().zip(&names) {
        assert!(before.contains(&format!("`{name}`")), "the steps do not name {name}");
        let row =
            page.lines().find(|line| line.starts_with('|') && line.contains(&format!("`{name}`"))).unwrap();
        let words = job.split(|c: char| !c.is_ascii_uppercase() && c != '_' && !c.is_ascii_digit());
        let secret = |word: &&str| ["_TOKEN", "_PASSWORD", "_KEY"].iter().any(|end| word.ends_with(end));
        for variable in words.filter(secret).filter(|word| is_ours(word)) {
            assert!(
                row.contains(&format!("`{variable}`")),
                "{name} takes {variable}, and the page has {row}"
            );
        }
    }
    // A tag publishes nothing that was not checked, and nobody has to start a job.
    assert!(
        ci.contains("  needs: [check, build, build-macos]\n")
            && jobs.iter().all(|job| !job.contains("manual"))
    );
    assert!(before.matches("\n6. ").count() == 1 && !before.contains("\n7. "), "six steps at most");
}

/// A copy of what the manifests are made from, and of the manifests.
fn copied() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for path in ["Cargo.toml", "README.md", "catalog/SOURCE.toml", "docs/guides/clients.md"] {
        fs::create_dir_all(copy.path().join(path).parent().unwrap()).unwrap();
        fs::write(copy.path().join(path), load(path)).unwrap();
    }
    copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".release"), &copy.path().join(".release"));
    copy
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let place = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_folder(&path, &place),
            false => drop(fs::copy(&path, &place).unwrap()),
        }
    }
}

/// The exit code of `catalog_gen packages` in a folder, and its standard error.
fn packages(root: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = maintainers_program(&[&["packages"], arguments].concat(), &[]);
    let output = command.current_dir(root).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_new_version_is_written_into_every_manifest() {
    let copy = copied();
    let manifest = load("Cargo.toml");
    let version = manifest.lines().find(|line| line.starts_with("version = ")).unwrap();
    fs::write(copy.path().join("Cargo.toml"), manifest.replacen(version, "version = \"7.8.9\"", 1)).unwrap();
    let (code, differences) = packages(copy.path(), &["--check"]);
    assert_eq!(code, Some(1));
    for name in
        ["npm/main/package.json", "server.json", "pypi/pyproject.toml", "mcpb/win32-x64/manifest.json"]
    {
        assert!(differences.contains(&format!(".release/{name}")), "{name}: {differences}");
    }
    assert_eq!(packages(copy.path(), &[]).0, Some(0));
    assert_eq!(packages(copy.path(), &["--check"]), (Some(0), String::new()));
    let server = fs::read_to_string(copy.path().join(".release/server.json")).unwrap();
    let server = parse(&server);
    assert_eq!(server["version"], "7.8.9");
    let bundle = &server["packages"].as_array().unwrap().last().unwrap()["identifier"];
    assert!(
        bundle.as_str().unwrap().ends_with("/v7.8.9/downloads/gitlab-mcp-7.8.9-darwin-x64.mcpb"),
        "{bundle}"
    );
}

#[test]
fn edited_and_obsolete_manifests_are_found_and_put_right() {
    let copy = copied();
    let of = |name: &str| copy.path().join(".release").join(name);
    fs::write(of("npm/main/package.json"), "{}\n").unwrap();
    fs::create_dir(of("npm/plan9-mips")).unwrap();
    fs::write(of("npm/plan9-mips/package.json"), "{}\n").unwrap();
    let (code, differences) = packages(copy.path(), &["--check"]);
    assert_eq!(code, Some(1));
    assert!(differences.contains("npm/main/package.json") && differences.contains("npm/plan9-mips"));
    assert_eq!(packages(copy.path(), &[]).0, Some(0));
    assert!(!of("npm/plan9-mips/package.json").exists());
    // Text that is written by hand stays.
    assert!(of("pack.py").exists() && of("packages.toml").exists());
    assert_eq!(
        fs::read_to_string(of("npm/main/package.json")).unwrap(),
        load(".release/npm/main/package.json")
    );
}

#[test]
fn a_template_that_renders_no_json_is_refused() {
    let copy = copied();
    for (template, reason) in [("{\"name\": }", "expected value"), ("{{ names.nothing }}", "undefined value")]
    {
        fs::write(copy.path().join(".release/templates/server.json"), template).unwrap();
        let (code, error) = packages(copy.path(), &[]);
        assert_eq!(code, Some(2));
        assert!(error.contains(".release/templates/server.json") && error.contains(reason), "{error}");
        let server = fs::read_to_string(copy.path().join(".release/server.json")).unwrap();
        assert_eq!(server, load(".release/server.json"), "nothing is written");
    }
}

/// With other features for the build script than for the program, tantivy and what is above it are compiled twice, which
/// takes a fifth of a first build. The features of `[build-dependencies]` keep them the same.
#[test]
fn no_library_is_compiled_twice_in_a_first_build() {
    let graph = std::process::Command::new(env!("CARGO"))
        .args(["build", "--locked", "--offline", "--unit-graph", "-Z", "unstable-options"])
        .env("RUSTC_BOOTSTRAP", "1")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(graph.status.success(), "{}", String::from_utf8_lossy(&graph.stderr));
    let graph: Value = serde_json::from_slice(&graph.stdout).unwrap();
    let mut features: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for unit in graph["units"].as_array().unwrap() {
        let is_library =
            unit["mode"] == "build" && unit["target"]["kind"] != serde_json::json!(["custom-build"]);
        if is_library {
            let name = format!("{} {}", unit["pkg_id"], unit["target"]["name"]);
            features.entry(name).or_default().push(unit["features"].to_string());
        }
    }
    assert!(features.len() > 200, "{}", features.len());
    features.retain(|_, features| features.len() > 1);
    assert!(features.is_empty(), "compiled with several sets of features: {features:#?}");
}
