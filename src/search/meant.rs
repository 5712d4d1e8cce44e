//! Where the words of a request point, and which actions lie there. Every action's vector is compared with every request,
//! in whole numbers and sixteen bytes at once.

use std::cmp::Ordering;

use wide::{i16x16, i32x8, u8x16};

use super::senses::{DIMENSIONS, Heard, Part, ROW, Senses, Vector, row_of, scale_of};

/// So many bytes of a row are compared at once, two components in each.
const GROUP: usize = 16;
const GROUPS: usize = DIMENSIONS / 2 / GROUP;

/// The largest component of a request's direction, in whole numbers; the sum of what [`product`] adds up stays far
/// below 2^31.
const LARGEST: f32 = 32_767.0;

/// Where a request points.
pub struct Meant<'s> {
    senses: &'s Senses<'s>,
    /// What one step of each component of an action's vector adds to the cosine.
    direction: [Group; GROUPS],
    /// What one in those whole numbers is worth.
    worth: f32,
}

/// The components that lie in the lower halves of a group of bytes, and those in the upper halves.
#[derive(Clone, Copy, Default)]
struct Group {
    lower: i16x16,
    upper: i16x16,
}

impl<'s> Meant<'s> {
    /// What words mean together.
    pub fn new<'w>(senses: &'s Senses<'s>, words: impl Iterator<Item = &'w Heard>) -> Meant<'s> {
        let mut sum = [0.0; DIMENSIONS];
        for Heard { means, worth, .. } in words {
            sum.iter_mut().zip(means).for_each(|(sum, part)| *sum += part * worth);
        }
        let length = sum.iter().map(|part| part * part).sum::<f32>().sqrt();
        let steps = senses.steps.get(Part::Actions as usize).into_iter().flatten();
        sum.iter_mut().zip(steps).for_each(|(part, step)| *part *= step);
        let largest = sum.iter().copied().map(f32::abs).fold(f32::EPSILON, f32::max);
        let worth = if length > 0.0 { largest / LARGEST / length } else { 0.0 };
        Meant { senses, direction: groups(&sum, LARGEST / largest), worth }
    }

    /// How alike it is to an action: between -1 and 1; 0 where that cannot be told.
    pub fn alike(&self, action: usize) -> f32 {
        self.cosine(row_of(self.senses.actions, action))
    }

    /// How alike it is to what has nothing to do with GitLab.
    pub fn foreign(&self) -> f32 {
        self.senses.nothing.chunks_exact(ROW).map(|row| self.cosine(row)).fold(0.0, f32::max)
    }

    /// The actions that it is most like, best first; equal ones in catalog order.
    pub fn nearest(&self, most: usize) -> Vec<usize> {
        let rows = self.senses.actions.chunks_exact(ROW).enumerate();
        let cosines = rows.map(|(action, row)| (self.cosine(row), action));
        let mut found: Vec<(f32, usize)> = cosines.filter(|(cosine, _)| *cosine > 0.0).collect();
        if found.len() > most {
            found.select_nth_unstable_by(most, by_likeness);
            found.truncate(most);
        }
        found.sort_unstable_by(by_likeness);
        found.into_iter().map(|(_, action)| action).collect()
    }

    fn cosine(&self, row: &[u8]) -> f32 {
        let Some((scale, parts)) = row.split_first() else { return 0.0 };
        product(parts, &self.direction) as f32 * scale_of(*scale) * self.worth
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

fn product(parts: &[u8], direction: &[Group; GROUPS]) -> i32 {
    let (groups, _) = parts.as_chunks::<GROUP>();
    let products = groups.iter().zip(direction).map(|(bytes, Group { lower, upper })| {
        let pairs = i16x16::from(u8x16::new(*bytes));
        half(pairs << 12_i32).dot(*lower) + half(pairs << 8_i32).dot(*upper)
    });
    products.fold(i32x8::ZERO, |sum, product| sum + product).reduce_add()
}

/// The signed numbers of four bits that lie at the top of others.
fn half(pairs: i16x16) -> i16x16 {
    pairs >> 12_i32
}

fn by_likeness(one: &(f32, usize), other: &(f32, usize)) -> Ordering {
    other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
}
