//! Pictures for a model: PNG, JPEG, GIF and WebP, scaled down if they are large.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageFormat, ImageReader, Limits};

/// Maximum edge of a shown picture in pixels. Vision models scale down larger pictures.
const LONGEST_EDGE: u32 = 1_568;

/// Largest file that is shown as it is, in bytes.
const LARGEST_FILE: usize = 1_000_000;

/// Longest edge in pixels that is decoded. A small file may claim any.
const DECODED_EDGE: u32 = 12_000;

/// Largest allocation of the decoder, in bytes: 16 million pixels of four.
const DECODED_BYTES: u64 = 64 * 1024 * 1024;

/// Quality of a picture that is encoded again with loss.
const QUALITY: u8 = 85;

/// A picture as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub bytes: Vec<u8>,
    /// Its media type, such as `image/png`.
    pub media_type: &'static str,
    /// Width and height in pixels of the original.
    pub original: (u32, u32),
    /// Width and height in pixels as shown.
    pub shown: (u32, u32),
}

impl Picture {
    /// True if it is smaller than the original.
    pub fn is_reduced(&self) -> bool {
        self.original != self.shown
    }
}

/// The picture in a file, by its content whatever its name; none if it is no picture, or one that is damaged or too
/// large to decode.
pub fn picture(bytes: &[u8]) -> Option<Picture> {
    let format = image::guess_format(bytes).ok()?;
    let media_type = match format {
        ImageFormat::Png => "image/png",
        ImageFormat::Jpeg => "image/jpeg",
        ImageFormat::Gif => "image/gif",
        ImageFormat::WebP => "image/webp",
        _ => return None,
    };
    // Decoded even if it is shown as it is: some clients end the conversation over a damaged picture.
    let image = decoded(bytes, format)?;
    let original = (image.width(), image.height());
    if original.0.max(original.1) <= LONGEST_EDGE && bytes.len() <= LARGEST_FILE {
        return Some(Picture { bytes: bytes.to_vec(), media_type, original, shown: original });
    }
    let reduced = image.thumbnail(LONGEST_EDGE.min(original.0), LONGEST_EDGE.min(original.1));
    let shown = (reduced.width(), reduced.height());
    let (bytes, media_type) = encoded(&reduced)?;
    Some(Picture { bytes, media_type, original, shown })
}

fn decoded(bytes: &[u8], format: ImageFormat) -> Option<DynamicImage> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(DECODED_EDGE);
    limits.max_image_height = Some(DECODED_EDGE);
    limits.max_alloc = Some(DECODED_BYTES);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    reader.decode().ok()
}

/// Without loss if that is small enough: text in a screenshot stays sharp.
fn encoded(image: &DynamicImage) -> Option<(Vec<u8>, &'static str)> {
    let mut lossless = Cursor::new(Vec::new());
    image.write_to(&mut lossless, ImageFormat::Png).ok()?;
    let lossless = lossless.into_inner();
    if lossless.len() <= LARGEST_FILE {
        return Some((lossless, "image/png"));
    }
    let mut lossy = Vec::new();
    image.to_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut lossy, QUALITY)).ok()?;
    Some((lossy, "image/jpeg"))
}

#[cfg(test)]
mod tests {
    use image::RgbImage;

    use super::*;

    /// A PNG with noise of three levels, which compresses little.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut state = 1_u32;
        let noise = RgbImage::from_fn(width, height, |_, _| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            image::Rgb([(state >> 24) as u8, (state >> 16) as u8, (state >> 8) as u8])
        });
        let mut file = Cursor::new(Vec::new());
        DynamicImage::ImageRgb8(noise).write_to(&mut file, ImageFormat::Png).unwrap();
        file.into_inner()
    }

    #[test]
    fn a_small_picture_stays_as_it_is() {
        let file = png(40, 30);
        let shown = picture(&file).unwrap();
        assert_eq!((shown.bytes.as_slice(), shown.media_type), (file.as_slice(), "image/png"));
        assert_eq!((shown.original, shown.shown, shown.is_reduced()), ((40, 30), (40, 30), false));
    }

    #[test]
    fn a_large_picture_is_scaled_down_and_bounded() {
        let file = png(2_000, 1_000);
        assert!(file.len() > 5_000_000);
        let shown = picture(&file).unwrap();
        assert_eq!((shown.original, shown.shown, shown.is_reduced()), ((2_000, 1_000), (1_568, 784), true));
        assert_eq!(shown.media_type, "image/jpeg");
        assert!(shown.bytes.len() < 2 * LARGEST_FILE, "{}", shown.bytes.len());
        let again = image::load_from_memory(&shown.bytes).unwrap();
        assert_eq!((again.width(), again.height()), (1_568, 784));
    }

    #[test]
    fn no_picture_is_none() {
        let whole = png(20, 10);
        for file in [&b"GIF89a and much text that is none"[..], b"", b"%PDF-1.7", &whole[..whole.len() / 2]] {
            assert_eq!(picture(file), None);
        }
    }

    /// A header may claim a size that no memory holds; only the header is sent.
    #[test]
    fn a_picture_that_claims_to_be_huge_is_not_decoded() {
        let mut file = png(2_000, 10);
        file[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
        assert_eq!(picture(&file), None);
    }
}
