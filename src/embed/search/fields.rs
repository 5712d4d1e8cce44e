//! Fields of the search index. The build script includes this file by path.

use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};

/// Indexed field. The order is the same in the index and in the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPlace {
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

pub const PLACES: [(FieldPlace, &str); 9] = [
    (FieldPlace::Id, "id"),
    (FieldPlace::Object, "object"),
    (FieldPlace::Summary, "summary"),
    (FieldPlace::Phrases, "phrases"),
    (FieldPlace::Aliases, "aliases"),
    (FieldPlace::Nouns, "nouns"),
    (FieldPlace::Path, "path"),
    (FieldPlace::Params, "params"),
    (FieldPlace::Choices, "choices"),
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
