//! A file in an answer, in addition to its text.

use super::picture::Picture;

/// Largest file that is attached, in bytes.
const MAX_ATTACHED_BYTES: usize = 1_000_000;

/// A file that is no text, or a picture as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    pub bytes: Vec<u8>,
    pub media_type: String,
    /// True if a model can look at it.
    pub is_picture: bool,
}

impl Attachment {
    /// A file of this content type; none if it is too large.
    pub fn new(bytes: Vec<u8>, content_type: &str) -> Option<Attachment> {
        let is_media_type = |kind: &&str| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || "/.+-_".contains(c);
            kind.contains('/') && kind.chars().all(is_part)
        };
        let kind = content_type.split(';').next().map(str::trim).filter(is_media_type);
        let media_type = kind.unwrap_or("application/octet-stream").to_owned();
        (bytes.len() <= MAX_ATTACHED_BYTES).then_some(Attachment { bytes, media_type, is_picture: false })
    }
}

impl From<Picture> for Attachment {
    fn from(picture: Picture) -> Attachment {
        Attachment { bytes: picture.bytes, media_type: picture.media_type.to_owned(), is_picture: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_is_not_attached_and_an_odd_type_is_replaced() {
        let of = |content_type| Attachment::new(vec![1], content_type).unwrap().media_type;
        assert_eq!(of("application/zip; charset=binary"), "application/zip");
        assert_eq!(of(""), "application/octet-stream");
        assert_eq!(of("a/b\r\nX: y"), "application/octet-stream");
        assert_eq!(Attachment::new(vec![0; MAX_ATTACHED_BYTES + 1], "application/zip"), None);
    }
}
