//! Pictures for a model: PNG, JPEG, GIF and WebP, scaled down if they are large.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageError, ImageFormat, ImageReader, Limits};

/// Maximum edge of a shown picture in pixels. Vision models scale down larger pictures.
const LONGEST_EDGE: u32 = 1_568;

/// Largest file that is shown as it is, in bytes.
const LARGEST_FILE: usize = 1_000_000;

/// Maximum number of pixels that are decoded. A small file may claim any number.
const MAX_PIXELS: u64 = 16_000_000;

/// Maximum allocation of the decoder, in bytes: [`MAX_PIXELS`] with four bytes each.
const MAX_DECODED_BYTES: u64 = 64 * 1024 * 1024;

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

/// Reason for which a picture is not shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    #[error("the picture is not shown: the file is damaged")]
    Damaged,
    #[error("the picture of {0}x{1} pixels is not shown: at most {MAX_PIXELS} pixels of 4 bytes are decoded")]
    TooLarge(u32, u32),
}

/// True if a file begins as a picture does that can be shown, whatever its name.
pub fn is_picture(bytes: &[u8]) -> bool {
    shown_format(bytes).is_some()
}

/// The format of a picture that can be shown, and its media type.
fn shown_format(bytes: &[u8]) -> Option<(ImageFormat, &'static str)> {
    let format = image::guess_format(bytes).ok()?;
    let media_type = match format {
        ImageFormat::Png => "image/png",
        ImageFormat::Jpeg => "image/jpeg",
        ImageFormat::Gif => "image/gif",
        ImageFormat::WebP => "image/webp",
        _ => return None,
    };
    Some((format, media_type))
}

/// The picture in a file. Takes up to 100 MB and a second: callers decode one at a time.
pub fn decode_picture(bytes: &[u8]) -> Result<Picture, PictureError> {
    let (format, media_type) = shown_format(bytes).ok_or(PictureError::Damaged)?;
    // Decoded even if it is shown as it is: some clients end the conversation over a damaged picture.
    let image = decode(bytes, format)?;
    let original = (image.width(), image.height());
    if original.0.max(original.1) <= LONGEST_EDGE && bytes.len() <= LARGEST_FILE {
        return Ok(Picture { bytes: bytes.to_vec(), media_type, original, shown: original });
    }
    let reduced = image.thumbnail(LONGEST_EDGE.min(original.0), LONGEST_EDGE.min(original.1));
    drop(image);
    let shown = (reduced.width(), reduced.height());
    let (bytes, media_type) = encoded(&reduced).ok_or(PictureError::Damaged)?;
    Ok(Picture { bytes, media_type, original, shown })
}

/// Decodes a picture whose header says that it is not too large.
fn decode(bytes: &[u8], format: ImageFormat) -> Result<DynamicImage, PictureError> {
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    let reader = || {
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        reader.limits(limits.clone());
        reader
    };
    let (width, height) = reader().into_dimensions().map_err(|_| PictureError::Damaged)?;
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(PictureError::TooLarge(width, height));
    }
    reader().decode().map_err(|error| match error {
        ImageError::Limits(_) => PictureError::TooLarge(width, height),
        _ => PictureError::Damaged,
    })
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
        let shown = decode_picture(&file).unwrap();
        assert_eq!((shown.bytes.as_slice(), shown.media_type), (file.as_slice(), "image/png"));
        assert_eq!((shown.original, shown.shown, shown.is_reduced()), ((40, 30), (40, 30), false));
    }

    #[test]
    fn a_large_picture_is_scaled_down_and_bounded() {
        let file = png(2_000, 1_000);
        assert!(file.len() > 5_000_000);
        let shown = decode_picture(&file).unwrap();
        assert_eq!((shown.original, shown.shown, shown.is_reduced()), ((2_000, 1_000), (1_568, 784), true));
        assert_eq!(shown.media_type, "image/jpeg");
        assert!(shown.bytes.len() < 2 * LARGEST_FILE, "{}", shown.bytes.len());
        let again = image::load_from_memory(&shown.bytes).unwrap();
        assert_eq!((again.width(), again.height()), (1_568, 784));
    }

    #[test]
    fn a_damaged_picture_is_refused() {
        let whole = png(20, 10);
        for file in [&b"GIF89a"[..], b"", b"%PDF-1.7", &whole[..whole.len() / 2]] {
            assert_eq!(decode_picture(file), Err(PictureError::Damaged));
        }
        assert!(is_picture(&whole) && !is_picture(b"%PDF-1.7"));
    }

    /// A header may claim a size that no memory holds; only the header is sent.
    #[test]
    fn a_picture_that_claims_to_be_huge_is_not_decoded() {
        let mut file = png(2_000, 10);
        for (width, height) in [(0xffff_u32, 0xffff_u32), (4_000, 4_001), (16_000_001, 1)] {
            file[16..20].copy_from_slice(&width.to_be_bytes());
            file[20..24].copy_from_slice(&height.to_be_bytes());
            // The header has a checksum.
            let sum = checksum(&file[12..29]);
            file[29..33].copy_from_slice(&sum.to_be_bytes());
            assert_eq!(decode_picture(&file), Err(PictureError::TooLarge(width, height)));
        }
    }

    /// CRC-32 as PNG has it.
    fn checksum(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |sum, byte| {
            (0..8)
                .fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
        })
    }
}
