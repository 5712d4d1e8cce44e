//! Checks an action and its parameters and builds a [`Call`], the request. Only this module builds calls, and the
//! client sends nothing else.
//!
//! `validate` checks the parameters. [`Checked::step`] selects the operation and returns the call, or the look-ups that
//! it needs first.

mod affected_paths;
mod checked_call;
mod coerce;
mod context;
mod document;
mod effects;
mod encode;
mod encoded;
mod given_forms;
mod global_id;
mod graphql;
mod graphql_lookups;
mod items;
mod location;
mod lookup;
mod lookup_cache;
mod name_resolution;
mod named_ids;
mod noun;
mod param_error;
mod param_names;
mod path_match;
mod quick_action;
mod raised_risk;
mod raw_path;
mod raw_request;
mod relative_date;
mod request;
mod revision;
mod select_operation;
mod selection_set;
mod taken_away;
mod target;
#[cfg(test)]
mod tests;
mod validate;

pub use affected_paths::can_be_placed;
pub use checked_call::{Body, Call, Part};
pub use coerce::render_value;
pub use context::Context;
pub use document::UnknownField;
pub use effects::{Effects, Role, TouchedPlace};
pub use encode::RESERVED;
pub use encoded::list_in_text;
pub use given_forms::literal_line_ends;
pub use graphql_lookups::{Batch, batch};
pub use location::{FullPath, GLOBAL, HolderKind, Location};
pub use lookup::{Candidate, Lookup, LookupAnswer, LookupRequest, LookupResult, list_of};
pub use lookup_cache::LookupCache;
pub use name_resolution::Resolved;
pub use named_ids::named_ids;
pub use noun::{folded, is_of_other_kind};
pub use param_error::{Fault, Invalid, TARGET};
pub use param_names::param_named;
pub use path_match::{Routed, routed, split_request_line};
pub use quick_action::{QuickActions, QuickCommand, Scanned, commands, commands_in_rows, scan, takes_rows};
pub use raised_risk::raised_first;
pub use raw_request::is_reserved_param;
pub use revision::merge_request_head;
pub use select_operation::selected as selected_scope;
pub use selection_set::{FieldsError, select_fields};
pub use target::{
    WebPage, is_spelling as is_target_spelling, is_url_of, is_web_url, mark_of, noun as object_noun, page,
    parse_page, path_of, reference, takes, takes_target,
};
pub use validate::step::{ResolvedParams, Step};
pub use validate::{Checked, check};
