//! Fields of the search index. The build script includes this file by path.

use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};

/// Indexed field. The order is the same in the index and in the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The words of the id.
    Id,
    /// The object's noun: the last of the id's domain and of the path.
    Object,
    Summary,
    Phrases,
    Aliases,
    /// Nouns of the domain.
    Nouns,
    /// The words of the operations' paths.
    Path,
    Params,
    /// The values that parameters accept.
    Choices,
}

pub const PLACES: [(Place, &str); 9] = [
    (Place::Id, "id"),
    (Place::Object, "object"),
    (Place::Summary, "summary"),
    (Place::Phrases, "phrases"),
    (Place::Aliases, "aliases"),
    (Place::Nouns, "nouns"),
    (Place::Path, "path"),
    (Place::Params, "params"),
    (Place::Choices, "choices"),
];

/// The schema, and the fields in the order of [`PLACES`]. Nothing is stored: a document's number is its action's.
pub fn schema() -> (Schema, Vec<Field>) {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(true);
    let options = TextOptions::default().set_indexing_options(indexing);
    let mut builder = Schema::builder();
    let fields = PLACES.iter().map(|(_, name)| builder.add_text_field(name, options.clone())).collect();
    (builder.build(), fields)
}
