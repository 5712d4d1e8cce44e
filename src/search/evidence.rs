//! BM25F over the index's places: which actions each concept of a request speaks for, and how strongly.

use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, Index, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use super::SearchError;
use super::directory::StaticDirectory;
use super::fields::{PLACES, Place, schema};
use super::lexicon::Meaning;
use super::profile::{Profiles, Vocabulary, WordId};
use super::request::{Concept, Request};
use super::weights::Weights;

static TABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_table.bin"));
static BLOCK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_index.bin"));

/// The actions a concept speaks for, with how strongly.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    pub actions: Vec<(usize, f32)>,
    /// The most it could say for an action, in idf.
    pub mass: f32,
}

/// The index, open.
pub struct InvertedIndex {
    places: Vec<OpenPlace>,
    actions: usize,
}

struct OpenPlace {
    field: Field,
    words: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
    /// How long its texts are on average.
    average: f32,
}

impl InvertedIndex {
    /// Opens the embedded index in place.
    pub fn open(profiles: &Profiles<'_>) -> Result<InvertedIndex, SearchError> {
        let directory = StaticDirectory::open(TABLE, BLOCK).map_err(SearchError::Embedded)?;
        let index = Index::open(directory)?;
        let segment = index.searchable_segments()?.pop().ok_or(SearchError::Empty)?;
        let reader = SegmentReader::open(&segment)?;
        let actions = reader.max_doc() as usize;
        let (_, fields) = schema();
        let places = fields
            .into_iter()
            .zip(&profiles.lengths)
            .map(|(field, average)| OpenPlace::open(field, *average, &reader))
            .collect::<Result<_, _>>()?;
        Ok(InvertedIndex { places, actions })
    }

    /// How many actions are in the index.
    pub fn len(&self) -> usize {
        self.actions
    }

    /// What each concept says, in the order of the concepts.
    pub fn evidence(
        &self,
        request: &Request,
        vocabulary: &Vocabulary<'_>,
        weights: &Weights,
    ) -> Result<Vec<Evidence>, SearchError> {
        let mut scratch = Scratch::new(self.actions);
        let mut of = |concept| self.of_concept(concept, vocabulary, weights, &mut scratch);
        request.concepts.iter().map(&mut of).collect()
    }

    fn of_concept(
        &self,
        concept: &Concept,
        vocabulary: &Vocabulary<'_>,
        weights: &Weights,
        scratch: &mut Scratch,
    ) -> Result<Evidence, SearchError> {
        let mut mass: f32 = 0.0;
        for Meaning { words, weight, .. } in &concept.meanings {
            let mut sum = 0.0;
            for word in words {
                let idf = vocabulary.idf(*word);
                sum += idf;
                self.add_word(*word, idf * weight, concept.head, (vocabulary, weights), scratch)?;
            }
            mass = mass.max(sum * weight);
            let Scratch { sum, best, .. } = scratch;
            sum.drain(|action, score| best.raise(action, score));
        }
        let mass = if concept.meanings.is_empty() { weights.unknown } else { mass };
        Ok(Evidence { actions: scratch.best.take(), mass })
    }

    fn add_word(
        &self,
        word: WordId,
        idf: f32,
        head: bool,
        (vocabulary, weights): (&Vocabulary<'_>, &Weights),
        Scratch { word: found, sum, .. }: &mut Scratch,
    ) -> Result<(), SearchError> {
        let Some(text) = vocabulary.words().get(usize::from(word)) else { return Ok(()) };
        for ((open, weight), (place, _)) in self.places.iter().zip(&weights.places).zip(PLACES) {
            let object = matches!(place, Place::Object | Place::Id | Place::Nouns);
            let boost = if head || !object { weight.boost } else { weight.boost * weights.beside };
            let (least, by_length) = (1.0 - weight.dilution, weight.dilution / open.average);
            open.each(text, |action, count, length| {
                found.add(action, boost * count / (least + by_length * length));
            })?;
        }
        found.drain(|action, frequency| sum.add(action, idf * frequency / (weights.saturation + frequency)));
        Ok(())
    }
}

impl OpenPlace {
    fn open(field: Field, average: f32, reader: &SegmentReader) -> Result<OpenPlace, SearchError> {
        let words = reader.inverted_index(field)?;
        let lengths = reader.get_fieldnorms_reader(field)?;
        Ok(OpenPlace { field, words, lengths, average: average.max(f32::MIN_POSITIVE) })
    }

    /// Calls with each action that has the word here, how often, and how long its text is.
    fn each(&self, word: &str, mut found: impl FnMut(usize, f32, f32)) -> Result<(), SearchError> {
        let term = Term::from_field_text(self.field, word);
        let Some(mut postings) = self.words.read_postings(&term, IndexRecordOption::WithFreqs)? else {
            return Ok(());
        };
        let mut action = postings.doc();
        while action != TERMINATED {
            found(action as usize, postings.term_freq() as f32, self.lengths.fieldnorm(action) as f32);
            action = postings.advance();
        }
        Ok(())
    }
}

/// A number for each action, of which few are set.
struct Accumulator {
    scores: Vec<f32>,
    set: Vec<usize>,
}

impl Accumulator {
    fn new(actions: usize) -> Accumulator {
        Accumulator { scores: vec![0.0; actions], set: Vec::new() }
    }

    fn change(&mut self, action: usize, with: impl FnOnce(f32) -> f32) {
        if let Some(score) = self.scores.get_mut(action) {
            if *score == 0.0 {
                self.set.push(action);
            }
            *score = with(*score);
        }
    }

    fn add(&mut self, action: usize, more: f32) {
        self.change(action, |score| score + more);
    }

    fn raise(&mut self, action: usize, to: f32) {
        self.change(action, |score| score.max(to));
    }

    /// Calls with what is set, leaving the accumulator empty.
    fn drain(&mut self, mut each: impl FnMut(usize, f32)) {
        for action in self.set.drain(..) {
            if let Some(score) = self.scores.get_mut(action) {
                each(action, std::mem::take(score));
            }
        }
    }

    /// What is set, leaving the accumulator empty.
    fn take(&mut self) -> Vec<(usize, f32)> {
        let mut taken = Vec::with_capacity(self.set.len());
        self.drain(|action, score| taken.push((action, score)));
        taken
    }
}

/// The accumulators of one search: what a word says, what a meaning's words say together, and the best meaning.
struct Scratch {
    word: Accumulator,
    sum: Accumulator,
    best: Accumulator,
}

impl Scratch {
    fn new(actions: usize) -> Scratch {
        Scratch {
            word: Accumulator::new(actions),
            sum: Accumulator::new(actions),
            best: Accumulator::new(actions),
        }
    }
}
