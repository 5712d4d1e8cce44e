//! GitLab's kinds of objects, from `catalog/kinds.toml`.

use std::sync::LazyLock;

use gitlab_mcp_embed::catalog::kinds::{CompletionRow, KindRow, Kinds, ObjectKind, Resolver};
use gitlab_mcp_embed::catalog::names::Names;

static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalog_kinds.bin"));

// The build script wrote the bytes from the same types, and a test decodes them.
static KINDS: LazyLock<Kinds> = LazyLock::new(|| postcard::from_bytes(BYTES).unwrap_or_default());

/// Marks of the kinds that are told apart by theirs: issues, merge requests and epics.
pub const TRACKED_MARKS: [char; 3] = ['#', '!', '&'];

/// The field of an item of composite actions that names its kind.
pub const ITEM_TYPE: &str = "itemType";

/// Every kind, and every resolver of names.
pub fn kinds() -> &'static Kinds {
    &KINDS
}

/// The row of the kind that URLs and references name so.
pub fn kind_of_object(object: ObjectKind) -> Option<&'static KindRow> {
    KINDS.kinds.iter().find(|row| row.object == Some(object))
}

/// The row of the kind with that name in `itemType`.
pub fn kind_named(name: &str) -> Option<&'static KindRow> {
    KINDS.kinds.iter().find(|row| row.name == name)
}

/// A reference without what GitLab's pages print after its number: ` (closed)`, and the `+` or `+s` of a reference with its
/// title.
pub fn without_state(reference: &str) -> &str {
    let reference = reference.trim_end();
    let stated = reference.strip_suffix(')').and_then(|inner| inner.rsplit_once(" ("));
    let number = match stated {
        Some((number, state)) if KINDS.reference_states.iter().any(|known| known == state) => {
            number.trim_end()
        }
        _ => reference,
    };
    number.strip_suffix("+s").or_else(|| number.strip_suffix('+')).unwrap_or(number)
}

/// The resolver of a kind of name.
pub fn resolver(names: Names) -> Option<&'static Resolver> {
    KINDS.resolvers.iter().find(|resolver| resolver.names == names)
}

/// The completions of that name.
pub fn completion(name: &str) -> Option<&'static CompletionRow> {
    KINDS.completions.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_kinds_are_read() {
        let decoded: Result<Kinds, _> = postcard::from_bytes(BYTES);
        assert!(decoded.is_ok_and(|kinds| !kinds.kinds.is_empty() && !kinds.resolvers.is_empty()));
    }

    #[test]
    fn the_marks_are_those_of_the_kinds() {
        let tracked = KINDS.kinds.iter().filter(|kind| kind.global_id_type.is_some());
        assert!(tracked.filter_map(|kind| kind.sigil).eq(TRACKED_MARKS));
    }
}
