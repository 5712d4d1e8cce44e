//! Splits a diff of many files, as git prints it, into the sections of the files.

use crate::text::diff::hunks::HunkHeader;

/// The part of a whole diff that is the file's of that path, which is its new one unless it was deleted.
pub fn section<'d>(diff: &'d str, path: &str) -> Option<&'d str> {
    let starts = section_starts(diff);
    let ends = starts.iter().skip(1).copied().chain([diff.len()]);
    let mut parts = starts.iter().zip(ends).filter_map(|(start, end)| diff.get(*start..end));
    parts.find(|part| section_path(part).as_deref() == Some(path))
}

/// Byte offsets of the files' sections. A line in a hunk never begins one.
fn section_starts(diff: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut hunk: Option<HunkHeader> = None;
    let mut at = 0;
    for line in diff.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        match hunk.as_mut().filter(|hunk| hunk.is_open()) {
            Some(open) => drop(open.take(bare)),
            None if bare.starts_with("diff --git ") => starts.push(at),
            None => hunk = HunkHeader::parse(bare).or(hunk),
        }
        at += line.len();
    }
    starts
}

/// The path that a part names: the new one, or of a deleted file the old one.
fn section_path(part: &str) -> Option<String> {
    let header = || part.lines().take_while(|line| !line.starts_with("@@ -"));
    let named = |mark: &str, side: &str| {
        let path = header().find_map(|line| line.strip_prefix(mark).map(unquoted))?;
        path.strip_prefix(side).map(str::to_owned)
    };
    named("+++ ", "b/").or_else(|| named("--- ", "a/")).or_else(|| named("rename to ", ""))
}

/// Parses a path as git writes it: quoted, with octal bytes, if it has other than plain characters.
fn unquoted(text: &str) -> String {
    // A path with blanks in it has a tabulator behind it.
    let text = text.strip_suffix('\t').unwrap_or(text);
    let Some(quoted) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(next) = rest.next_if(|next| (b'0'..=b'7').contains(next)) {
                        value = value * 8 + u32::from(next - b'0');
                    }
                }
                bytes.extend(u8::try_from(value).ok());
            }
            Some(b't') => bytes.push(b'\t'),
            Some(b'n') => bytes.push(b'\n'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
