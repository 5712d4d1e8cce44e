//! What a word means between its neighbours: `issue` is another thing in `move the issue` than in `issue tracker`. Units
//! that requests taught listen to each word with the one before it and the one behind it, and the more of what they
//! listen for is there, the more they add to its vector.

use wide::f32x8;

use super::direction::Direction;
use super::senses::{DIMENSIONS, Heard, Part, ROW, SPAN, Senses, UNITS, Vector, Word};

/// So many numbers are added up at once.
const LANES: usize = 8;

/// A number for each component.
type Lanes = [f32x8; DIMENSIONS / LANES];

/// What the units add, in plain numbers; what they listen for is read in place.
#[derive(Debug)]
pub struct Units {
    adds: Vec<Lanes>,
}

impl Units {
    /// Those of the table.
    pub fn new(senses: &Senses<'_>) -> Units {
        Units { adds: (0..UNITS).map(|unit| lanes(&senses.vector(Part::Adds, unit))).collect() }
    }

    /// The words of a request, in their order, as they are meant between their neighbours.
    pub fn hear(&self, senses: &Senses<'_>, words: &[Word]) -> Vec<Heard> {
        let vectors: Vec<Vector> = words.iter().map(|word| senses.vector(Part::Words, word.row)).collect();
        let (rows, steps) = (senses.rows(Part::Listens), senses.steps(Part::Listens));
        let directions: Vec<Direction> = vectors.iter().map(|vector| Direction::new(vector, steps)).collect();
        let heard = words.iter().zip(&vectors).enumerate().map(|(at, (word, vector))| {
            let mut means = lanes(vector);
            for (adds, listens) in self.adds.iter().zip(rows.chunks_exact(SPAN * ROW)) {
                let excited = excited(listens, &directions, at);
                if excited > 0.0 {
                    add(&mut means, excited, adds);
                }
            }
            Heard { word: *word, worth: 1.0, means: plain(&means) }
        });
        heard.collect()
    }
}

/// How much a unit hears around a word of what it listens for, which is a row for each word of its span.
fn excited(listens: &[u8], directions: &[Direction], at: usize) -> f32 {
    let rows = listens.chunks_exact(ROW).enumerate();
    let heard = rows.filter_map(|(place, row)| {
        let neighbour = (at + place).checked_sub(SPAN / 2)?;
        Some(directions.get(neighbour)?.along(row))
    });
    heard.sum()
}

/// Adds so many times some numbers to others.
fn add(sums: &mut Lanes, times: f32, numbers: &Lanes) {
    let times = f32x8::new([times; LANES]);
    sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += times * *number);
}

fn lanes(numbers: &Vector) -> Lanes {
    let (groups, _) = numbers.as_chunks::<LANES>();
    std::array::from_fn(|at| groups.get(at).map_or(f32x8::ZERO, |group| f32x8::new(*group)))
}

fn plain(numbers: &Lanes) -> Vector {
    let mut all = numbers.iter().flat_map(f32x8::as_array).copied();
    std::array::from_fn(|_| all.next().unwrap_or_default())
}
