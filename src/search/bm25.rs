//! Lexical search: tantivy queries from the concepts of a query, scored by BM25.

use gitlab_mcp_embed::search::fields::{FieldPlace, PLACES, schema};
use gitlab_mcp_embed::search::profile::{Vocabulary, WordId};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, DisjunctionMaxQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Index, ReloadPolicy, Searcher, Term};

use super::directory::StaticDirectory;
use super::error::SearchError;
use super::model::Model;
use super::request::{Concept, ParsedRequest};
use super::segment::Segment;

static TABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_table.bin"));
static BLOCK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_index.bin"));

/// The opened index.
pub struct LexicalIndex {
    searcher: Searcher,
    fields: Vec<Field>,
}

impl LexicalIndex {
    /// Opens the embedded index in place.
    pub fn open() -> Result<LexicalIndex, SearchError> {
        let directory = StaticDirectory::open(TABLE, BLOCK).map_err(SearchError::Embedded)?;
        let reader =
            Index::open(directory)?.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(LexicalIndex { searcher: reader.searcher(), fields: schema().1 })
    }

    /// Number of indexed actions.
    pub fn len(&self) -> usize {
        usize::try_from(self.searcher.num_docs()).unwrap_or_default()
    }

    /// The best actions for the concepts of a segment with their BM25 scores, best first.
    pub fn search(
        &self,
        request: &ParsedRequest,
        segment: &Segment,
        vocabulary: &Vocabulary<'_>,
        model: &Model,
    ) -> Result<Vec<(usize, f32)>, SearchError> {
        let concepts = segment.concepts.iter().filter_map(|at| request.concepts.get(*at));
        let clauses: Vec<Box<dyn Query>> =
            concepts.filter_map(|concept| self.concept_query(concept, vocabulary, model)).collect();
        if clauses.is_empty() {
            return Ok(Vec::new());
        }
        let collector = TopDocs::with_limit(model.limits.by_words).order_by_score();
        let found = self.searcher.search(&BooleanQuery::union(clauses), &collector)?;
        Ok(found.into_iter().map(|(score, document)| (document.doc_id as usize, score)).collect())
    }

    /// Query for the best of a concept's meanings.
    fn concept_query(
        &self,
        concept: &Concept,
        vocabulary: &Vocabulary<'_>,
        model: &Model,
    ) -> Option<Box<dyn Query>> {
        let mut meanings: Vec<Box<dyn Query>> = Vec::new();
        for meaning in &concept.meanings {
            let words = meaning
                .words
                .iter()
                .filter_map(|word| self.word_query(*word, concept.head, vocabulary, model));
            let words: Vec<Box<dyn Query>> = words.collect();
            if !words.is_empty() {
                meanings
                    .push(Box::new(BoostQuery::new(Box::new(BooleanQuery::union(words)), meaning.weight)));
            }
        }
        match meanings.len() {
            0 => None,
            1 => meanings.pop(),
            _ => Some(Box::new(DisjunctionMaxQuery::new(meanings))),
        }
    }

    fn word_query(
        &self,
        word: WordId,
        is_head: bool,
        vocabulary: &Vocabulary<'_>,
        model: &Model,
    ) -> Option<Box<dyn Query>> {
        let text = vocabulary.words().get(usize::from(word))?;
        let mut fields: Vec<Box<dyn Query>> = Vec::with_capacity(self.fields.len());
        for ((field, boost), (place, _)) in self.fields.iter().zip(model.fields).zip(PLACES) {
            let names_object = matches!(place, FieldPlace::Object | FieldPlace::Id | FieldPlace::Nouns);
            let boost = if is_head || !names_object { boost } else { boost * model.concepts.beside };
            let term = Term::from_field_text(*field, text);
            let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
            fields.push(Box::new(BoostQuery::new(Box::new(query), boost)));
        }
        Some(Box::new(BooleanQuery::union(fields)))
    }
}
