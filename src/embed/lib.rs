//! Embedded data formats, shared by the build script and the program: the types of the catalog and the search index,
//! and the code that writes them. A separate crate, so that both use the same types, compiled once.

pub mod writer;
/// The catalog's data types.
pub mod catalog {
    mod action;
    mod additions;
    mod effects;
    pub mod embedded;
    mod json;
    pub mod kinds;
    pub mod language;
    pub mod names;
    mod operation;
    pub mod operation_index;
    mod param;
    pub mod presentation;
    pub mod secret_names;
    pub mod structured_content;
    pub mod tool_names;
    mod version;

    /// Data model of actions. The same types are serialized as lines of `catalog/actions` (JSON, fields at their default
    /// omitted) and as the records embedded in the binary (postcard, every field present): generator, build script and
    /// server share one format.
    pub mod model {
        pub use super::action::{Action, Answers, Audience, Plan};
        pub use super::additions::{
            Companion, Join, KeptValue, LabelNames, ListChange, Presumed, RowFilter, RowTest, StateNote,
            StatePin, StateWait, TextEdit, TextMark,
        };
        pub use super::effects::{Landing, LandingChoice, LandingPlace, Raise, Risk, When};
        pub use super::json::Json;
        pub use super::operation::{
            BodyForm, Graphql, GraphqlKind, Interface, Method, Operation, Piece, Scope, leading_name, pieces,
        };
        pub use super::param::{ArrayForm, Base, Locates, Param, ParamKind, Place, ROLES};
        pub use super::version::Version;
    }
}
/// The search index and how text becomes its terms.
pub mod search {
    pub mod fields;
    pub mod indexing;
    pub mod normalise;
    pub mod packed;
    pub mod profile;
}
