//! How answers show the fields of GitLab's objects, from `catalog/presentation.toml`.

use gitlab_mcp_embed::catalog::presentation::RepeatedPart;
use gitlab_mcp_embed::catalog::presentation::RepeatedPart::{All, Beginning, End};

/// The lists, written by the build script.
pub const PRESENTATION: Presentation = include!(concat!(env!("OUT_DIR"), "/presentation.rs"));

/// Lists of fields, in order of preference where a list has one.
pub struct Presentation {
    /// Fields that a reader rarely misses. An answer names them as left out.
    pub noise: &'static [&'static str],
    /// Fields that no reader misses: links apart from the one URL, pictures, ids of objects that are named, repeated forms of
    /// another field. An answer does not name them.
    pub silent_noise: &'static [&'static str],
    /// Ends of the names of flags that say something where they are off: whether a thing works, may be done or was found good.
    /// Any other flag says something only where it is on: that a thing is a draft, and not that it is none.
    pub told_off: &'static [&'static str],
    /// Numbers that say something only where they are not 0; apart from these, all that end in `_count`.
    pub counted: &'static [&'static str],
    /// Objects that say nothing where they count nothing.
    pub counts: &'static [&'static str],
    /// Objects within a mentioned thing that are no more than its surroundings.
    pub surroundings: &'static [&'static str],
    /// Fields that name an object, in order of preference.
    pub object_names: &'static [&'static str],
    /// Fields that identify an object and say its state: kept in any view.
    pub identity: &'static [&'static str],
    /// Columns of a table, in order of preference.
    pub columns: &'static [&'static str],
    /// Fields that identify a row, and so are shown in each even if all rows share the value.
    pub row_identity: &'static [&'static str],
    /// Fields that name a row whatever fields were asked for, in order of preference.
    pub row_names: &'static [&'static str],
    /// Fields that can be the heading of a list item, in order of preference.
    pub headings: &'static [&'static str],
    /// Fields whose values occur in the URL of an object, in order of preference.
    pub url_parts: &'static [&'static str],
    /// Fields by which the answer of a write names its object, in order of preference.
    pub subject_names: &'static [&'static str],
    /// Fields by which the objects next to a missing one are named.
    pub sibling_names: &'static [&'static str],
    /// Fields that are selected of a GraphQL object of which none was asked for, in order of preference.
    pub selected_names: &'static [&'static str],
    /// Fields of the object that a question about a call shows.
    pub summary: &'static [&'static str],
    /// Paths of the fields of an object that consent to its change is bound to.
    pub bound: &'static [&'static str],
    /// Fields of the merge request in its overview.
    pub merge_request_overview: &'static [&'static str],
    /// Fields of a resolved project.
    pub resolved_project: &'static [&'static str],
    /// Fields that a better one makes redundant, if the row has it.
    pub said_better: &'static [(&'static str, &'static str)],
    /// Fields that say something where they are null, each with one beside which that is so.
    pub told_null: &'static [(&'static str, &'static str)],
    /// Texts that say nothing: the value that GitLab gives to each object without another.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Fields that say nothing where their value is that of another field (`all`), or its beginning or end.
    pub repeated: &'static [(&'static str, &'static str, RepeatedPart)],
    /// Fields kept of a nested object, by a field that tells its kind: of a pipeline or a job the result, of a commit the title.
    pub mentioned: &'static [(&'static str, &'static [&'static str])],
}

impl Presentation {
    /// True for a field that a compact view leaves out.
    pub fn is_noise(&self, name: &str) -> bool {
        self.noise.contains(&name) || self.silent_noise.contains(&name)
    }
}
