//! Where the words of a request point, and which actions lie there. Every action's vector is compared with every request.

use super::direction::Direction;
use super::senses::{DIMENSIONS, Heard, Part, ROW, Senses};
use super::top::top;

/// Where a request points.
pub struct Meant<'s> {
    senses: &'s Senses<'s>,
    direction: Direction,
}

impl<'s> Meant<'s> {
    /// What words mean together.
    pub fn new<'w>(senses: &'s Senses<'s>, words: impl Iterator<Item = &'w Heard>) -> Meant<'s> {
        let mut sum = [0.0; DIMENSIONS];
        for Heard { means, worth, .. } in words {
            sum.iter_mut().zip(means).for_each(|(sum, part)| *sum += part * worth);
        }
        Meant { senses, direction: Direction::new(&sum, senses.steps(Part::Actions)) }
    }

    /// How alike it is to an action: between -1 and 1; 0 where that cannot be told.
    pub fn alike(&self, action: usize) -> f32 {
        self.direction.along(self.senses.row_of(Part::Actions, action))
    }

    /// How alike it is to what has nothing to do with GitLab.
    pub fn foreign(&self) -> f32 {
        self.senses.nothing.chunks_exact(ROW).map(|row| self.direction.along(row)).fold(0.0, f32::max)
    }

    /// The actions that it is most like, best first; equal ones in catalog order.
    pub fn nearest(&self, most: usize) -> Vec<usize> {
        let rows = self.senses.rows(Part::Actions).chunks_exact(ROW);
        top(most, rows.map(|row| self.direction.along(row)))
    }
}
