//! Reader of the embedded catalog: decodes actions, operations and vocabulary on first use.

use std::io::Read;
use std::sync::OnceLock;

use flate2::read::DeflateDecoder;
use gitlab_mcp_embed::catalog::embedded::Header;
use gitlab_mcp_embed::catalog::language::Words;
use gitlab_mcp_embed::catalog::model::Action;
use gitlab_mcp_embed::catalog::operation_index::OperationIndex;
use lz4_flex::block;

use super::error::CatalogError;
use super::fragments::Fragments;
use super::types::Types;

static DICTIONARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalog_dictionary.bin"));
static HEADER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalog_header.bin"));
static RECORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalog_records.bin"));
static SURFACE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalog_surface.bin"));
static WORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalog_words.bin"));

/// Catalog of actions. Cheap to create: actions are decoded on first use; only ids and aliases are read before.
#[derive(Debug)]
pub struct Catalog {
    header: Header<'static>,
    words: OnceLock<Words>,
    surface: OnceLock<OperationIndex<'static>>,
    fragments: Fragments,
    types: Types,
}

impl Catalog {
    /// The catalog compiled into this binary.
    pub fn embedded() -> Result<Catalog, CatalogError> {
        let header = postcard::from_bytes(HEADER).map_err(CatalogError::Header)?;
        let (words, surface) = (OnceLock::new(), OnceLock::new());
        let (fragments, types) = (Fragments::default(), Types::default());
        Ok(Catalog { header, words, surface, fragments, types })
    }

    /// Number of actions.
    pub fn len(&self) -> usize {
        self.header.entries.len()
    }

    /// Returns true if the catalog has no actions.
    pub fn is_empty(&self) -> bool {
        self.header.entries.is_empty()
    }

    /// The ids in order; an action's position here is its number everywhere.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.header.entries.iter().map(|entry| entry.id)
    }

    /// Number of the action with an id.
    pub fn number(&self, id: &str) -> Option<usize> {
        self.header.entries.binary_search_by(|entry| entry.id.cmp(id)).ok()
    }

    /// Id of the action with a number.
    pub fn id(&self, number: usize) -> Option<&'static str> {
        self.header.entries.get(number).map(|entry| entry.id)
    }

    /// Decodes the action with a number.
    pub fn action(&self, number: usize) -> Result<Action, CatalogError> {
        let start =
            self.header.entries.get(number).ok_or(CatalogError::NoSuchAction(number))?.offset as usize;
        let end = self.header.entries.get(number + 1).map_or(RECORDS.len(), |next| next.offset as usize);
        let packed = RECORDS.get(start..end).unwrap_or_default();
        let record = block::decompress_size_prepended_with_dict(packed, DICTIONARY)
            .map_err(|source| CatalogError::Packed(number, source))?;
        let mut action =
            postcard::from_bytes(&record).map_err(|source| CatalogError::Record(number, source))?;
        self.fragments.complete(&mut action)?;
        Ok(action)
    }

    /// Decodes the action with exactly this id.
    pub fn get(&self, id: &str) -> Result<Option<Action>, CatalogError> {
        self.number(id).map(|number| self.action(number)).transpose()
    }

    /// Iterates over all actions by id, decoding each on demand.
    pub fn actions(&self) -> impl Iterator<Item = Result<Action, CatalogError>> + '_ {
        (0..self.len()).map(|number| self.action(number))
    }

    /// Numbers of the actions with an alias; more than one if it is ambiguous.
    pub fn by_alias(&self, alias: &str) -> Vec<usize> {
        let found = self.header.aliases.binary_search_by(|(known, _)| (*known).cmp(alias));
        let numbers =
            found.ok().and_then(|at| self.header.aliases.get(at)).map(|(_, numbers)| numbers.as_slice());
        numbers.unwrap_or_default().iter().map(|number| usize::from(*number)).collect()
    }

    /// The aliases in order.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> {
        self.header.aliases.iter().map(|(alias, _)| *alias)
    }

    /// Every operation with the action that it belongs to, decoded on first use and kept.
    pub fn operations(&self) -> Result<&OperationIndex<'static>, CatalogError> {
        if let Some(surface) = self.surface.get() {
            return Ok(surface);
        }
        // Kept apart from the catalog, as the operations borrow from it.
        static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
        let bytes = match BYTES.get() {
            Some(bytes) => bytes,
            None => {
                let bytes = inflated(SURFACE)?;
                BYTES.get_or_init(|| bytes)
            }
        };
        let surface = postcard::from_bytes(bytes).map_err(CatalogError::Operations)?;
        Ok(self.surface.get_or_init(|| surface))
    }

    /// Fields of the types that GraphQL returns.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// The words of the field, decoded on first use and kept.
    pub fn words(&self) -> Result<&Words, CatalogError> {
        if let Some(words) = self.words.get() {
            return Ok(words);
        }
        let words = postcard::from_bytes(&inflated(WORDS)?).map_err(CatalogError::Words)?;
        Ok(self.words.get_or_init(|| words))
    }
}

/// Inflates data that the build script deflated.
fn inflated(packed: &[u8]) -> Result<Vec<u8>, CatalogError> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(packed).read_to_end(&mut bytes).map_err(CatalogError::Inflate)?;
    Ok(bytes)
}
