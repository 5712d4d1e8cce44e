//! The top level of the repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const FILES: [&str; 4] = ["Cargo.lock", "Cargo.toml", "LICENSE", "README.md"];
const FOLDERS: [&str; 5] = ["benches", "catalog", "docs", "src", "tests"];
/// Build output, which `.gitignore` lists.
const IGNORED: &str = "target";

#[test]
fn the_top_level_has_only_these_files_and_folders() {
    let (mut files, mut folders) = (BTreeSet::new(), BTreeSet::new());
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with('.') || name == IGNORED {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            folders.insert(name)
        } else {
            files.insert(name)
        };
    }
    assert_eq!(files, FILES.map(str::to_owned).into());
    assert_eq!(folders, FOLDERS.map(str::to_owned).into());
}
