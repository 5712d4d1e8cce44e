//! The catalog: actions, their operations, parameters and vocabulary, embedded in the binary at build time. The only
//! reader of the embedded data; `gitlab-mcp-embed` defines the types and writes the data.

mod date_names;
mod error;
mod example;
mod family;
mod fragments;
mod kinds;
mod locates;
mod presentation;
mod reader;
mod schema;
mod secret_names;
mod signature;
mod structured_content;
mod types;

pub use date_names::{is_called_a_date, is_called_a_day};
pub use error::CatalogError;
pub use example::example;
pub use family::ShortName;
pub use gitlab_mcp_embed::catalog::kinds::{
    ChangeForm, CompletionRow, FilterName, ItemKind, ItemPlace, KindRead, KindRow, NameForm, NewItemKind,
    ObjectKind, PageValue, Resolver, ResolverRead, ResourceRow, ResourceVariable,
};
pub use gitlab_mcp_embed::catalog::language::{
    AbsentToolset, Agent, BackgroundChange, ChangeWords, ClientTools, Domain, DoneState, ExampleWords,
    Foreign, GlossaryEntry, Language, ListWords, LocalWords, QuickAction, ReadableTable, Receipt,
    RowAddition, ShownAs, ShownBy, Synonym, Toolset, Verb, Words,
};
pub use gitlab_mcp_embed::catalog::model::*;
pub use gitlab_mcp_embed::catalog::names::Names;
pub use gitlab_mcp_embed::catalog::operation_index::{OperationIndex, Touched};
pub use gitlab_mcp_embed::catalog::presentation::RepeatedPart;
pub use gitlab_mcp_embed::catalog::secret_names::SecretNameRules;
pub use gitlab_mcp_embed::catalog::tool_names::{bare, singular};
pub use kinds::{
    ITEM_TYPE, TRACKED_MARKS, completion, kind_named, kind_of_object, kinds, resolver, without_state,
};
pub use locates::{locates_by_name, split_words};
pub use presentation::PRESENTATION;
pub use reader::Catalog;
pub use schema::{input_schema, note};
pub use secret_names::SECRET_NAMES;
pub use signature::{BY_NAME, FOLD, required, signature};
pub use structured_content::STRUCTURE_ALONE;
pub use types::{Holds, Type, TypeField, Types};
