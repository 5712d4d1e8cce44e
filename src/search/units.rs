//! What a word means between its neighbours: `issue` is another thing in `move the issue` than in `issue tracker`. Units
//! that requests taught listen to each word with the one before it and the one behind it, and the more of what they
//! listen for is there, the more they add to its vector.

use wide::f32x8;

use super::senses::{DIMENSIONS, Heard, Part, SPAN, Senses, UNITS, Vector, Word};

/// So many numbers are added up at once.
const LANES: usize = 8;

/// A number for each unit, and for each component.
type OfUnits = [f32x8; UNITS / LANES];
type OfComponents = [f32x8; DIMENSIONS / LANES];

/// The units, in plain numbers.
#[derive(Debug)]
pub struct Units {
    /// For each word of the span and each component of its direction, what it tells each unit.
    listens: Vec<OfUnits>,
    /// What each unit adds.
    adds: Vec<OfComponents>,
}

impl Units {
    /// Those of the table.
    pub fn new(senses: &Senses<'_>) -> Units {
        let mut listens = vec![[0.0; UNITS]; SPAN * DIMENSIONS];
        // A row of the table is what one unit listens for in one word of the span; here, what is heard together
        // stands together.
        for row in 0..UNITS * SPAN {
            let (unit, place) = (row / SPAN, row % SPAN);
            let told = listens.iter_mut().skip(place * DIMENSIONS);
            for (told, part) in told.zip(senses.vector(Part::Listens, row)) {
                told.get_mut(unit).into_iter().for_each(|told| *told = part);
            }
        }
        Units {
            listens: listens.iter().map(lanes).collect(),
            adds: (0..UNITS).map(|unit| lanes(&senses.vector(Part::Adds, unit))).collect(),
        }
    }

    /// The words of a request, in their order, as they are meant between their neighbours.
    pub fn hear(&self, senses: &Senses<'_>, words: &[Word]) -> Vec<Heard> {
        let vectors: Vec<Vector> = words.iter().map(|word| senses.vector(Part::Words, word.row)).collect();
        let directions: Vec<Vector> = vectors.iter().map(direction).collect();
        let heard = words.iter().zip(&vectors).enumerate().map(|(at, (word, vector))| {
            let mut means: OfComponents = lanes(vector);
            let excited = self.excited(&directions, at);
            for (excited, adds) in excited.iter().flat_map(f32x8::as_array).zip(&self.adds) {
                if *excited > 0.0 {
                    add(&mut means, *excited, adds);
                }
            }
            Heard { word: *word, worth: 1.0, means: plain(&means) }
        });
        heard.collect()
    }

    /// How much each unit hears of what it listens for around a word.
    fn excited(&self, directions: &[Vector], at: usize) -> OfUnits {
        let mut excited = OfUnits::default();
        for (place, listens) in self.listens.chunks_exact(DIMENSIONS).enumerate() {
            let neighbour = (at + place).checked_sub(SPAN / 2).and_then(|at| directions.get(at));
            for (part, told) in neighbour.into_iter().flatten().zip(listens) {
                add(&mut excited, *part, told);
            }
        }
        excited
    }
}

/// Adds so many times some numbers to others.
fn add<const N: usize>(sums: &mut [f32x8; N], times: f32, numbers: &[f32x8; N]) {
    let times = f32x8::new([times; LANES]);
    sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += times * *number);
}

fn lanes<const ALL: usize, const N: usize>(numbers: &[f32; ALL]) -> [f32x8; N] {
    let (groups, _) = numbers.as_chunks::<LANES>();
    std::array::from_fn(|at| groups.get(at).map_or(f32x8::ZERO, |group| f32x8::new(*group)))
}

fn plain(numbers: &OfComponents) -> Vector {
    let mut all = numbers.iter().flat_map(f32x8::as_array).copied();
    std::array::from_fn(|_| all.next().unwrap_or_default())
}

fn direction(vector: &Vector) -> Vector {
    let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    vector.map(|part| if length > 0.0 { part / length } else { 0.0 })
}
