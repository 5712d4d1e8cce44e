//! What a word means between its neighbours: `issue` is another thing in `move the issue` than in `issue tracker`. Units
//! that requests taught listen to each word with the one before it and the one behind it, and the more of what they
//! listen for is there, the more they add to its vector.

use super::senses::{DIMENSIONS, Heard, Part, SPAN, Senses, UNITS, Vector, Word};

/// The units, in plain numbers.
#[derive(Debug)]
pub struct Units {
    /// For each word of the span and each component of its direction, what it tells each unit.
    listens: Vec<[f32; UNITS]>,
    /// What each unit adds.
    adds: Vec<Vector>,
}

impl Units {
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
        Units { listens, adds: (0..UNITS).map(|unit| senses.vector(Part::Adds, unit)).collect() }
    }

    /// The words of a request, in their order, as they are meant between their neighbours.
    pub fn hear(&self, senses: &Senses<'_>, words: &[Word]) -> Vec<Heard> {
        let vectors: Vec<Vector> = words.iter().map(|word| senses.vector(Part::Words, word.row)).collect();
        let directions: Vec<Vector> = vectors.iter().map(direction).collect();
        let heard = words.iter().zip(vectors).enumerate().map(|(at, (word, mut means))| {
            for (excited, adds) in self.excited(&directions, at).into_iter().zip(&self.adds) {
                if excited > 0.0 {
                    means.iter_mut().zip(adds).for_each(|(part, more)| *part += excited * more);
                }
            }
            Heard { word: *word, worth: 1.0, means }
        });
        heard.collect()
    }

    /// How much each unit hears of what it listens for around a word.
    fn excited(&self, directions: &[Vector], at: usize) -> [f32; UNITS] {
        let mut excited = [0.0; UNITS];
        for (place, listens) in self.listens.chunks_exact(DIMENSIONS).enumerate() {
            let neighbour = (at + place).checked_sub(SPAN / 2).and_then(|at| directions.get(at));
            for (part, told) in neighbour.into_iter().flatten().zip(listens) {
                excited.iter_mut().zip(told).for_each(|(excited, told)| *excited += part * told);
            }
        }
        excited
    }
}

fn direction(vector: &Vector) -> Vector {
    let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    vector.map(|part| if length > 0.0 { part / length } else { 0.0 })
}
