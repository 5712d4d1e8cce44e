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

/// Text in UTF-16 with its byte order mark, as editors on Windows write it.
pub fn utf_16(bytes: &[u8]) -> Option<String> {
    let units = |from: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.get(2..)?.as_chunks();
        let units = pairs.iter().map(|pair| from(*pair));
        char::decode_utf16(units).collect::<Result<String, _>>().ok().filter(|_| rest.is_empty())
    };
    let text = match bytes {
        [0xff, 0xfe, _, ..] => units(u16::from_le_bytes),
        [0xfe, 0xff, _, ..] => units(u16::from_be_bytes),
        _ => None,
    };
    text.filter(|text| !text.contains('\0'))
}

/// The bytes as text, with a note on lost bytes; none if they are binary.
pub fn text_of(bytes: &[u8], content_type: &str) -> Option<(String, Option<String>)> {
    if let Some(text) = utf_16(bytes) {
        return Some((text, Some("the text is UTF-16".to_owned())));
    }
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
    fn text_of_windows_editors_is_text() {
        let little = b"\xff\xfeG\0r\0\xfc\0\xdf\0e\0\n\0".as_slice();
        let big = b"\xfe\xff\0G\0r\0\xfc\0\xdf\0e\0\n".as_slice();
        for bytes in [little, big] {
            let (text, note) = text_of(bytes, "application/octet-stream").unwrap();
            assert_eq!((text.as_str(), note.as_deref()), ("Grüße\n", Some("the text is UTF-16")));
        }
        let odd = little.get(..little.len() - 1).unwrap();
        let with_nul = b"\xff\xfeG\0\0\0".as_slice();
        let lone_surrogate = b"\xff\xfe\x00\xd8".as_slice();
        for bytes in [odd, with_nul, lone_surrogate] {
            assert_eq!(utf_16(bytes), None, "{bytes:?}");
        }
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
