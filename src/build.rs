//! Embeds the catalog: `gitlab-mcp-embed` writes what the program includes as bytes.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

/// Number of copies of the catalog to embed, for `benches/find.rs`.
const TIMES: &str = "GITLAB_MCP_CATALOG_TIMES";

/// Short id and date of the commit, for `gitlab-mcp version`. A release of the pipeline sets it.
const COMMIT: &str = "GITLAB_MCP_COMMIT";

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("catalog");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed={}", root.display());
    println!("cargo::rerun-if-changed=src/build.rs");
    println!("cargo::rerun-if-env-changed={TIMES}");
    // Tests that need GitLab's own files show as ignored unless the variable says where those are.
    println!("cargo::rerun-if-env-changed=GITLAB_API_FILES");
    println!("cargo::rustc-check-cfg=cfg(gitlab_api_files)");
    if env::var_os("GITLAB_API_FILES").is_some() {
        println!("cargo::rustc-cfg=gitlab_api_files");
    }
    let times: u8 = env::var(TIMES).map_or(Ok(1), |times| times.parse())?;
    let gitlab = gitlab_mcp_embed::writer::write(&root, &out, times)?;
    println!("cargo::rustc-env=CATALOG_GITLAB_VERSION={gitlab}");
    println!("cargo::rerun-if-env-changed={COMMIT}");
    // A debug build is not made anew for each commit, and the repository around a package is another.
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if env::var_os(COMMIT).is_none() && is_release && PathBuf::from(".git/logs/HEAD").exists() {
        println!("cargo::rerun-if-changed=.git/logs/HEAD");
        let git = Command::new("git").args(["log", "-1", "--format=%h %cs"]).output();
        if let Some(commit) = git.ok().filter(|git| git.status.success()) {
            println!("cargo::rustc-env={COMMIT}={}", String::from_utf8_lossy(&commit.stdout).trim());
        }
    }
    Ok(())
}
