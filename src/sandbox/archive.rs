//! Archives of files: zip without compression, tar, and tar compressed by gzip.

use std::io::{self, Write as _};

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};

use super::diff::Tree;

/// Size of a block of a tar archive.
const BLOCK: usize = 512;

/// A zip archive; each path begins with `prefix`.
pub fn zip(tree: &Tree, prefix: &str) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (path, bytes) in tree {
        let name = format!("{prefix}{path}");
        let mut crc = Crc::new();
        crc.update(bytes);
        let size = length(bytes);
        let mut common = Vec::new();
        // Version 2.0, names in UTF-8, stored, on the first day that the format has.
        for field in [20_u16, 0x0800, 0, 0, 0x0021] {
            common.extend_from_slice(&field.to_le_bytes());
        }
        for field in [crc.sum(), size, size] {
            common.extend_from_slice(&field.to_le_bytes());
        }
        let short = u16::try_from(name.len()).unwrap_or(u16::MAX);
        common.extend_from_slice(&short.to_le_bytes());
        common.extend_from_slice(&0_u16.to_le_bytes());
        let offset = length(&archive);
        archive.extend_from_slice(b"PK\x03\x04");
        archive.extend_from_slice(&common);
        archive.extend_from_slice(name.as_bytes());
        archive.extend_from_slice(bytes);
        directory.extend_from_slice(b"PK\x01\x02\x14\0");
        directory.extend_from_slice(&common);
        // No comment, the first disk, no attributes.
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
    }
    let count = u16::try_from(tree.len()).unwrap_or(u16::MAX).to_le_bytes();
    let (start, size) = (length(&archive), length(&directory));
    archive.extend_from_slice(&directory);
    archive.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    archive.extend_from_slice(&count);
    archive.extend_from_slice(&count);
    archive.extend_from_slice(&size.to_le_bytes());
    archive.extend_from_slice(&start.to_le_bytes());
    archive.extend_from_slice(&[0; 2]);
    archive
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// A tar archive; each path begins with `prefix`.
pub fn tar(tree: &Tree, prefix: &str) -> Vec<u8> {
    let mut archive = Vec::new();
    for (path, bytes) in tree {
        archive.extend_from_slice(&header(&format!("{prefix}{path}"), bytes.len()));
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    archive
}

/// The header of a file in the format `ustar`.
fn header(name: &str, size: usize) -> Vec<u8> {
    // A name longer than its field is divided at a slash.
    let at =
        name.char_indices().find(|(at, letter)| *letter == '/' && name.len() - at <= 100).map(|(at, _)| at);
    let (before, name) = match at.filter(|_| name.len() > 100).and_then(|at| name.split_at_checked(at)) {
        Some((before, after)) => (before, after.trim_start_matches('/')),
        None => ("", name),
    };
    let fields: [(&str, usize); 8] = [
        (name, 100),
        ("0000644", 8),
        ("0000000", 8),
        ("0000000", 8),
        (&format!("{size:011o}"), 12),
        ("00000000000", 12),
        // The sum of all bytes, with spaces in place of itself.
        ("        ", 8),
        ("0", 1),
    ];
    let mut header = Vec::new();
    let mut put = |text: &[u8], width: usize| {
        let end = header.len() + width;
        header.extend(text.iter().take(width));
        header.resize(end, 0);
    };
    for (text, width) in fields {
        put(text.as_bytes(), width);
    }
    put(b"", 100);
    put(b"ustar\x0000", 8);
    put(b"", 80);
    put(before.as_bytes(), 155);
    put(b"", 12);
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    let sum = format!("{sum:06o}\0 ");
    header.splice(148..156, sum.bytes());
    header
}

/// A tar archive compressed by gzip.
pub fn tar_gz(tree: &Tree, prefix: &str) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&tar(tree, prefix))?;
    encoder.finish()
}
