//! Ids of git objects: the SHA-1 of an object's header and content, as git computes them.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use ring::digest::{Digest, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::diff::Tree;

/// Hexadecimal digits of bytes.
fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The SHA-1 of a text: forty digits for what needs an id that looks like git's.
pub fn sha1(text: &str) -> String {
    hex(digest(&SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()).as_ref())
}

/// The SHA-256 of a file's content.
pub fn sha256(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

/// The fingerprint of a public SSH key, as `ssh-keygen -l` prints it; none for what is no such key.
pub fn key_fingerprint(key: &str) -> Option<String> {
    let blob = STANDARD.decode(key.split_whitespace().nth(1)?).ok()?;
    Some(format!("SHA256:{}", STANDARD_NO_PAD.encode(digest(&SHA256, &blob))))
}

fn object(kind: &str, content: &[u8]) -> Digest {
    let mut bytes = format!("{kind} {}\0", content.len()).into_bytes();
    bytes.extend_from_slice(content);
    digest(&SHA1_FOR_LEGACY_USE_ONLY, &bytes)
}

/// The id of a file's content.
pub fn blob_id(bytes: &[u8]) -> String {
    hex(object("blob", bytes).as_ref())
}

/// The id of the directory that holds the paths that begin with `prefix`.
pub fn tree_id(tree: &Tree, prefix: &str) -> String {
    hex(directory(tree, prefix).as_ref())
}

fn directory(tree: &Tree, prefix: &str) -> Digest {
    // Git orders a directory as if its name ended with a slash.
    let mut entries: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let inside = tree.range(prefix.to_owned()..).take_while(|(path, _)| path.starts_with(prefix));
    for (path, bytes) in inside {
        let rest = path.strip_prefix(prefix).unwrap_or_default();
        let (key, mode, name) = match rest.split_once('/') {
            Some((folder, _)) => (format!("{folder}/"), "40000", folder),
            None => (rest.to_owned(), "100644", rest),
        };
        if entries.contains_key(&key) {
            continue;
        }
        let id = match key.ends_with('/') {
            true => directory(tree, &format!("{prefix}{key}")),
            false => object("blob", bytes),
        };
        let mut entry = format!("{mode} {name}\0").into_bytes();
        entry.extend_from_slice(id.as_ref());
        entries.insert(key, entry);
    }
    object("tree", &entries.into_values().flatten().collect::<Vec<u8>>())
}

/// The id of a commit; `author` is a name and an address.
pub fn commit_id(tree: &Tree, parents: &[String], author: (&str, &str), date: &str, message: &str) -> String {
    let seconds = OffsetDateTime::parse(date, &Rfc3339).map(OffsetDateTime::unix_timestamp);
    let by = format!("{} <{}> {} +0000", author.0, author.1, seconds.unwrap_or_default());
    let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
    let text = format!("tree {}\n{parents}author {by}\ncommitter {by}\n\n{message}", tree_id(tree, ""));
    hex(object("commit", text.as_bytes()).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().into())).collect()
    }

    #[test]
    fn ids_are_those_that_git_gives() {
        // printf 'hello\n' | git hash-object --stdin
        assert_eq!(blob_id(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
        // git write-tree, git commit-tree: of a repository with these files.
        let files = tree(&[("a.txt", "hello\n"), ("a/b.txt", "one\n"), ("a/c/d.txt", "two\n")]);
        assert_eq!(tree_id(&files, ""), "1821c7bca958507f36cd5afc7a6611d761f2ffa0");
        let author = ("A U Thor", "author@example.com");
        let id = commit_id(&files, &[], author, "2026-01-05T09:00:00.000Z", "Begin\n");
        assert_eq!(id, "9e232355d6812f962f1e8d198f1be031f396488f");
    }
}
