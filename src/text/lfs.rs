//! Git LFS pointers: the small file that stands in a repository for one that is stored apart
//! (<https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>).

/// First line of a pointer.
const FIRST_LINE: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// The file that a pointer stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LfsPointer {
    /// Hash of the content: `sha256:4d7a…`.
    pub oid: Option<String>,
    /// Size of the content in bytes.
    pub size: Option<u64>,
}

impl LfsPointer {
    /// Maximum size in bytes of a pointer.
    pub const MAX_BYTES: usize = 1_024;

    /// Parses a whole file; none if it is no pointer.
    pub fn parse(file: &[u8]) -> Option<LfsPointer> {
        if !file.starts_with(FIRST_LINE) || file.len() > LfsPointer::MAX_BYTES {
            return None;
        }
        let text = String::from_utf8_lossy(file).into_owned();
        let field =
            |name: &str| text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()));
        Some(LfsPointer { oid: field("oid "), size: field("size ").and_then(|size| size.parse().ok()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_has_an_object_id_and_a_size() {
        let file = [FIRST_LINE, b"oid sha256:4d7a2146\nsize 12345\n"].concat();
        let pointer = LfsPointer { oid: Some("sha256:4d7a2146".to_owned()), size: Some(12_345) };
        assert_eq!(LfsPointer::parse(&file), Some(pointer));
        assert_eq!(LfsPointer::parse(b"hello\n"), None);
        assert_eq!(LfsPointer::parse(&[FIRST_LINE, &[b'x'; 2_000]].concat()), None, "no pointer is so long");
    }
}
