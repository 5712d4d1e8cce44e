//! Reads `catalog/senses.txt`, which people's requests taught. Compiled into the build script alone.

use std::collections::BTreeMap;
use std::error::Error;

use super::deeds::key;
use super::senses::{DIMENSIONS, PARTS, ROW, SPAN, Senses, UNITS};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What the lines with the worth of each component's steps begin with, in the order of the parts.
const STEPS: [&str; PARTS] = ["words: ", "actions: ", "listens: ", "adds: "];

/// What the names begin with of topics that have nothing to do with GitLab, of what units listen for, and of what they
/// add; they stand in the order of their numbers.
const NOTHING: &str = "nothing.";
const UNIT: char = '+';
const ADDS: &str = "+adds";

/// The lines of the file, in bytes.
#[derive(Default)]
struct Rows<'t> {
    steps: [Vec<f32>; PARTS],
    words: BTreeMap<u32, Vec<u8>>,
    actions: BTreeMap<&'t str, Vec<u8>>,
    listens: Vec<u8>,
    adds: Vec<u8>,
}

/// The vectors of the words, of the actions in the order of their ids, and of the units, as bytes.
pub fn build<'i>(text: &str, ids: impl Iterator<Item = &'i str>) -> Outcome<Vec<u8>> {
    let Rows { steps, words, mut actions, listens, adds } = Rows::read(text)?;
    let keys: Vec<u8> = words.keys().flat_map(|key| key.to_be_bytes()).collect();
    let words: Vec<u8> = words.into_values().flatten().collect();
    let nothing = actions.iter().filter(|(name, _)| name.starts_with(NOTHING));
    let nothing: Vec<u8> = nothing.flat_map(|(_, row)| row.clone()).collect();
    let actions: Vec<u8> = ids.flat_map(|id| actions.remove(id).unwrap_or(vec![0; ROW])).collect();
    Ok(postcard::to_allocvec(&Senses {
        keys: &keys,
        words: &words,
        actions: &actions,
        nothing: &nothing,
        listens: &listens,
        adds: &adds,
        steps,
    })?)
}

impl<'t> Rows<'t> {
    fn read(text: &'t str) -> Outcome<Rows<'t>> {
        let mut rows = Rows::default();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            rows.add(line).map_err(|error| format!("senses.txt:{}: {error}: {line}", at + 1))?;
        }
        if rows.steps.iter().any(|steps| steps.len() != DIMENSIONS) {
            return Err("senses.txt does not say what the steps of each component are worth".into());
        }
        if rows.listens.len() != UNITS * SPAN * ROW || rows.adds.len() != UNITS * ROW {
            return Err("senses.txt has not what each unit listens for and adds".into());
        }
        Ok(rows)
    }

    fn add(&mut self, line: &'t str) -> Outcome<()> {
        if let Some((steps, numbers)) = steps_of(line, &mut self.steps) {
            *steps = numbers.split(' ').map(str::parse).collect::<Result<_, _>>()?;
            return Ok(());
        }
        let (name, row) = row(line).ok_or("no name with a vector")?;
        let is_new = match name.split_once('.') {
            Some((ADDS, _)) => {
                self.adds.extend(row);
                true
            }
            Some((part, _)) if part.starts_with(UNIT) => {
                self.listens.extend(row);
                true
            }
            Some(_) => self.actions.insert(name, row).is_none(),
            None => self.words.insert(key(&[name]), row).is_none(),
        };
        if is_new { Ok(()) } else { Err("another has this name, or its key".into()) }
    }
}

fn steps_of<'s, 'l>(line: &'l str, steps: &'s mut [Vec<f32>; PARTS]) -> Option<(&'s mut Vec<f32>, &'l str)> {
    let found = steps.iter_mut().zip(STEPS);
    found.filter_map(|(steps, name)| Some((steps, line.strip_prefix(name)?))).next()
}

/// A name and its vector: the scale as a byte and a digit for each component, all in hexadecimal.
fn row(line: &str) -> Option<(&str, Vec<u8>)> {
    let (name, digits) = line.split_once(' ')?;
    let byte = |at: usize| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok();
    let scale = byte(0)?;
    // The first digit of a pair is the earlier component, which lies in the lower half.
    let pairs = (1..digits.len() / 2).map(|at| byte(at).map(|byte| byte.rotate_left(4)));
    let row: Vec<u8> = std::iter::once(Some(scale)).chain(pairs).collect::<Option<_>>()?;
    (row.len() == ROW).then_some((name, row))
}
