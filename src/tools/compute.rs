//! Runs CPU-heavy work so that other calls continue.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

use crate::gitlab::Content;
use crate::present::{self, Picture, PictureError};

/// Size in bytes of a body that is presented in place: too small to take long with any content.
const SMALL: u64 = 4 * 1024;

/// Computes something from so many bytes. On the server's runtime of calls, other calls move to another thread where it
/// may take long; a runtime that has only the one thread computes in place.
pub fn compute<T>(bytes: u64, work: impl FnOnce() -> T) -> T {
    let can_move =
        || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > SMALL && can_move() { tokio::task::block_in_place(work) } else { work() }
}

/// Maximum number of pictures that are decoded at once in the whole server: each may take 100 MB and a second, whatever
/// the size of its file.
const MAX_DECODED_AT_ONCE: usize = 1;

static DECODERS: Semaphore = Semaphore::const_new(MAX_DECODED_AT_ONCE);

/// Decodes the picture that a reply is, if it is one. A call that waits for its turn holds no thread.
pub async fn decode_picture(content: &Content) -> Option<Result<Picture, PictureError>> {
    let Content::Binary { bytes, .. } = content else { return None };
    if !present::is_picture(bytes) {
        return None;
    }
    // It is never closed.
    let _turn = DECODERS.acquire().await.ok()?;
    // A small file may have many pixels.
    Some(compute(u64::MAX, || present::decode_picture(bytes)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    const PIXEL: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

    fn file(bytes: &[u8]) -> Content {
        Content::Binary { bytes: bytes.to_vec(), content_type: "image/png".to_owned(), filename: None }
    }

    #[tokio::test]
    async fn pictures_are_decoded_in_turn_and_other_files_wait_for_none() {
        let picture = file(&STANDARD.decode(PIXEL).unwrap());
        let turn = DECODERS.acquire().await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(50), decode_picture(&picture)).await.is_err());
        assert_eq!(decode_picture(&file(b"PK\x03\x04")).await, None);
        assert_eq!(decode_picture(&Content::Empty).await, None);
        drop(turn);
        assert_eq!(decode_picture(&picture).await.unwrap().unwrap().original, (1, 1));
    }
}
