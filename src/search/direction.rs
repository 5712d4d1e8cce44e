//! Which way a vector points, against rows of `catalog/senses.txt`: sums of whole numbers, sixteen bytes of a row at once.

use wide::{i16x16, i32x8, u8x16};

use super::senses::{DIMENSIONS, Vector, scale_of};

/// So many bytes of a row are multiplied at once, two components in each.
const GROUP: usize = 16;
const GROUPS: usize = DIMENSIONS / 2 / GROUP;

/// The largest component in whole numbers; the sum of all products stays far below 2^31.
const LARGEST: f32 = 32_767.0;

/// A vector of length 1, or of nothing, against rows of one part of the table.
#[derive(Debug)]
pub struct Direction {
    /// What one step of each component of a row is worth.
    groups: [Group; GROUPS],
    /// What one in those whole numbers is worth.
    worth: f32,
}

/// The components that lie in the lower halves of a group of bytes, and those in the upper halves.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    lower: i16x16,
    upper: i16x16,
}

impl Direction {
    /// Of a vector, against rows whose components have these steps.
    pub fn new(vector: &Vector, steps: &[f32]) -> Direction {
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        let mut parts = *vector;
        parts.iter_mut().zip(steps).for_each(|(part, step)| *part *= step);
        let largest = parts.iter().copied().map(f32::abs).fold(f32::EPSILON, f32::max);
        let worth = if length > 0.0 { largest / LARGEST / length } else { 0.0 };
        Direction { groups: groups(&parts, LARGEST / largest), worth }
    }

    /// How far a row reaches this way: the cosine, where its length is 1 as well.
    pub fn along(&self, row: &[u8]) -> f32 {
        let Some((scale, parts)) = row.split_first() else { return 0.0 };
        product(parts, &self.groups) as f32 * scale_of(*scale) * self.worth
    }
}

/// A vector in whole numbers, so many times as large.
fn groups(vector: &Vector, times: f32) -> [Group; GROUPS] {
    let mut whole = vector.iter().map(|part| (part * times).round() as i16);
    std::array::from_fn(|_| {
        let (mut lower, mut upper) = ([0; GROUP], [0; GROUP]);
        for (lower, upper) in lower.iter_mut().zip(&mut upper) {
            *lower = whole.next().unwrap_or_default();
            *upper = whole.next().unwrap_or_default();
        }
        Group { lower: i16x16::new(lower), upper: i16x16::new(upper) }
    })
}

fn product(parts: &[u8], groups: &[Group; GROUPS]) -> i32 {
    let (chunks, _) = parts.as_chunks::<GROUP>();
    let products = chunks.iter().zip(groups).map(|(bytes, Group { lower, upper })| {
        let pairs = i16x16::from(u8x16::new(*bytes));
        half(pairs << 12_i32).dot(*lower) + half(pairs << 8_i32).dot(*upper)
    });
    products.fold(i32x8::ZERO, |sum, product| sum + product).reduce_add()
}

/// The signed numbers of four bits that lie at the top of others.
fn half(pairs: i16x16) -> i16x16 {
    pairs >> 12_i32
}
