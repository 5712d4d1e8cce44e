//! Manifests of the packages in `.release`: its templates, rendered with the names and platforms of `packages.toml`,
//! the metadata of `Cargo.toml` and the counts of the catalog.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use minijinja::{Environment, UndefinedBehavior};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::documentation::{self, Figures};
use crate::error::{GeneratorError, print_message};
use crate::files;
use crate::output;

/// Folder of the packages, next to the catalog's.
const FOLDER: &str = ".release";

/// Folder of a template that is rendered once for each platform; the name of the platform replaces it.
const PLATFORM: &str = "PLATFORM";

/// Rendered text by path within [`FOLDER`].
type Files = BTreeMap<PathBuf, String>;

/// `packages.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Packages {
    names: Names,
    platform: Vec<Platform>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    npm: String,
    pypi: String,
    /// Namespace of the server in the MCP registry: a domain of the publisher, reversed.
    namespace: String,
    /// Container image, with its registry.
    image: String,
}

/// Platform of a release.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Platform {
    /// Node's name of it, as in `linux-x64`.
    name: String,
    /// Rust's target.
    target: String,
    os: String,
    cpu: String,
    /// Platform tag of the wheel.
    wheel: String,
}

/// Writes the manifests, or compares them with `is_check`; false if one differs.
pub fn run(catalog: &Path, is_check: bool) -> Result<bool, GeneratorError> {
    let root = catalog.join("..");
    let figures = output::figures(catalog)?;
    let rendered = render(&root, &figures)?;
    let folder = root.join(FOLDER);
    let committed = committed(&folder)?;
    if is_check {
        let is_documented = documentation::check(catalog, &figures)?;
        return Ok(output::compare(&by_name(&committed), &by_name(&rendered)) && is_documented);
    }
    documentation::write(catalog, &figures)?;
    for (name, text) in rendered.iter().filter(|(name, text)| committed.get(*name) != Some(*text)) {
        files::write(&folder.join(name), text)?;
        print_message(&format!("wrote {FOLDER}/{}\n", name.display()));
    }
    for name in committed.keys().filter(|name| !rendered.contains_key(*name)) {
        files::remove(&folder.join(name))?;
        print_message(&format!("removed {FOLDER}/{}\n", name.display()));
    }
    Ok(true)
}

fn by_name(files: &Files) -> output::Files {
    files.iter().map(|(name, text)| (format!("{FOLDER}/{}", name.display()), text.clone())).collect()
}

/// Renders each template.
fn render(root: &Path, figures: &Figures) -> Result<Files, GeneratorError> {
    let packages: Packages = files::load_toml(&root.join(FOLDER).join("packages.toml"))?;
    let crate_data = crate_data(root)?;
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    let mut files = Files::new();
    for (name, template) in load_files(&root.join(FOLDER).join("templates"))? {
        let path = Path::new(FOLDER).join("templates").join(&name);
        let malformed = |reason: String| files::malformed(&path, reason);
        let of_platform = |platform: Option<&Platform>| -> Result<String, GeneratorError> {
            let binary = platform.map(|platform| match platform.os.as_str() {
                "win32" => "gitlab-mcp.exe",
                _ => "gitlab-mcp",
            });
            let values = minijinja::Value::from_serialize(json!({
                "binary": binary,
                "counts": counts(figures),
                "crate": crate_data,
                "downloads": downloads(&crate_data),
                "names": packages.names,
                "platform": platform,
                "platforms": packages.platform,
                "server": format!("{}/{}", packages.names.namespace, text(&crate_data, "name")),
            }));
            let text =
                environment.render_str(&template, values).map_err(|error| malformed(format!("{error:#}")))?;
            validate(&name, &text).map_err(malformed)?;
            Ok(text)
        };
        if name.iter().any(|part| part == PLATFORM) {
            for platform in &packages.platform {
                let place = name
                    .iter()
                    .map(|part| if part == PLATFORM { platform.name.as_ref() } else { part })
                    .collect();
                files.insert(place, of_platform(Some(platform))?);
            }
        } else {
            let text = of_platform(None)?;
            files.insert(name, text);
        }
    }
    Ok(files)
}

/// Metadata of `Cargo.toml`.
fn crate_data(root: &Path) -> Result<Value, GeneratorError> {
    let path = root.join("Cargo.toml");
    let manifest: toml::Table = files::load_toml(&path)?;
    let value = |key: &str| {
        let found = manifest.get("package").and_then(|package| package.get(key));
        let found = found.and_then(|value| serde_json::to_value(value).ok());
        found.ok_or_else(|| files::malformed(&path, format!("package.{key} is missing")))
    };
    Ok(json!({
        "name": value("name")?,
        "version": value("version")?,
        "description": value("description")?,
        "license": value("license")?,
        "repository": value("repository")?,
        "keywords": value("keywords")?,
        "author": "gitlab-mcp maintainers",
    }))
}

/// Address of the files of a release.
fn downloads(crate_data: &Value) -> String {
    format!("{}/-/releases/v{}/downloads", text(crate_data, "repository"), text(crate_data, "version"))
}

fn text<'a>(values: &'a Value, key: &str) -> &'a str {
    values.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn counts(figures: &Figures) -> Value {
    json!({
        "gitlab": figures.get("gitlab.version"),
        "rest": figures.get("rest.operations"),
        "graphql": figures.get("graphql.operations"),
        "actions": figures.get("catalog.actions"),
    })
}

/// Parses a rendered manifest by its extension.
fn validate(name: &Path, text: &str) -> Result<(), String> {
    match name.extension().and_then(|extension| extension.to_str()) {
        Some("json") => serde_json::from_str::<Value>(text).map(drop).map_err(|error| error.to_string()),
        Some("toml") => text.parse::<toml::Table>().map(drop).map_err(|error| error.to_string()),
        _ => Ok(()),
    }
}

/// The rendered files on disk: all below the folders, and at the top, whose names a template has.
fn committed(folder: &Path) -> Result<Files, GeneratorError> {
    let mut texts = Files::new();
    let templates = load_files(&folder.join("templates"))?;
    let mut tops: Vec<_> = templates.keys().filter_map(|name| name.iter().next()).collect();
    tops.dedup();
    for top in tops {
        let path = folder.join(top);
        if path.is_dir() {
            texts
                .extend(load_files(&path)?.into_iter().map(|(name, text)| (Path::new(top).join(name), text)));
        } else if path.is_file() {
            texts.insert(PathBuf::from(top), files::load_text(&path)?);
        }
    }
    Ok(texts)
}

/// Every file below a folder, by its path within it.
fn load_files(folder: &Path) -> Result<Files, GeneratorError> {
    let mut texts = Files::new();
    for path in files::list(folder)? {
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        if path.is_dir() {
            texts.extend(load_files(&path)?.into_iter().map(|(inner, text)| (name.join(inner), text)));
        } else {
            texts.insert(name, files::load_text(&path)?);
        }
    }
    Ok(texts)
}
