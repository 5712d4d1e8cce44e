//! Bytes that are text although they are not quite UTF-8: a log with a stray byte, a file in another encoding.

/// Number of leading bytes of a file that are searched for a NUL byte, which makes it binary, as Git does it.
const LOOKED_AT: usize = 8_000;

/// The part of a text that may be broken: a tenth.
const BROKEN: usize = 10;

/// Media types that are never text, by their beginning.
const BINARY: [&str; 8] = [
    "image/",
    "audio/",
    "video/",
    "font/",
    "application/zip",
    "application/gzip",
    "application/x-tar",
    "application/pdf",
];

/// The bytes as text, with a note on lost bytes; none if they are binary.
pub fn text_of(bytes: &[u8], content_type: &str) -> Option<(String, Option<String>)> {
    let kind = content_type.trim().to_ascii_lowercase();
    let start = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    if BINARY.iter().any(|binary| kind.starts_with(binary)) && kind != "image/svg+xml" || start.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes).into_owned();
    let strays = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    let bytes_that_are = if strays == 1 { "1 byte is" } else { "some bytes are" };
    let note =
        (strays > 0).then(|| format!("{bytes_that_are} not UTF-8 and shown as \u{fffd} ({strays} times)"));
    (strays * BROKEN <= text.chars().count().max(BROKEN)).then_some((text, note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stray_byte_makes_no_binary() {
        let (text, note) = text_of(b"building\n\xff done\n", "text/plain").unwrap();
        assert_eq!(text, "building\n\u{fffd} done\n");
        assert!(note.unwrap().contains("not UTF-8"));
        let latin = b"Stra\xdfe und Gr\xfc\xdfe an alle, die das hier lesen".as_slice();
        assert!(text_of(latin, "application/octet-stream").is_some());
    }

    #[test]
    fn what_is_binary_stays_so() {
        let every: Vec<u8> = (1..=255).collect();
        assert_eq!(text_of(&every, "application/octet-stream"), None);
        assert_eq!(text_of(b"a\0b\xff", "text/plain"), None);
        assert_eq!(text_of(b"\xff\xfe", "text/plain"), None);
        assert_eq!(text_of(b"GIF89a \xff and much text that is none", "image/gif"), None);
    }
}
