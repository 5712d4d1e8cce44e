//! Embeds the catalog: `gitlab-mcp-embed` writes what the program includes as bytes.

use std::env;
use std::error::Error;
use std::path::PathBuf;

/// Number of copies of the catalog to embed, for `benches/find.rs`.
const TIMES: &str = "GITLAB_MCP_CATALOG_TIMES";

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
    Ok(())
}
