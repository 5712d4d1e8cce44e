//! The object that a call leaves out: a read takes the only one that there is, an update the one that has the name which it
//! sets, and the error of any other call lists what there is.

use serde_json::{Map, Value};

use crate::call::{self, Fault, Invalid};
use crate::catalog::{self, Action, Risk};
use crate::gitlab::Content;
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;
use crate::untrusted::{quote, shortened};

/// Maximum number of names that an error lists, and of characters of each.
const MAX_LISTED: usize = 10;
const MAX_NAME: usize = 80;

/// A call without the object that it is of.
pub enum OmittedObject {
    /// The parameters with the only object that there is or has the name, and a note.
    Only(Map<String, Value>, String),
    /// A hint with the names of those that there are.
    Among(String),
}

/// The objects that the only missing parameter may name; none if another is wrong, or if they cannot be listed.
pub async fn find(tools: &Tools, action: &Action, invalid: &Invalid) -> Option<OmittedObject> {
    let [Fault::Missing { name, .. }] = invalid.faults.as_slice() else { return None };
    let param = action.param(name)?;
    let (list, params) = call::list_of(param, &invalid.right)?;
    // One's own snippets are none of a project's.
    if invalid.right.contains_key("fullPath") && !params.contains_key("fullPath") {
        return None;
    }
    // A list that a title narrows does not have all.
    let resolver = catalog::resolver(param.names.filter(|_| !params.contains_key("search"))?)?;
    let read = resolver.reads.iter().find(|read| read.action == list)?;
    let (_, reply) = lookups::read_once(tools, list, params, Purpose::LookUp).await.ok()?;
    let Content::Json(Value::Array(rows)) = &reply.content else { return None };
    let is_whole = reply.page.next_page.is_none() && reply.page.next_query.is_none();
    // A number says nothing of what it is of.
    let pointers = || resolver.reads.iter().filter(|read| read.action == list).flat_map(|read| &read.by);
    let name_of = |row: &Value| {
        let name = pointers().find_map(|pointer| row.pointer(pointer)?.as_str())?;
        Some(quote(&shortened(name, MAX_NAME)))
    };
    let with = |row: &Value, note: String| {
        let mut params = invalid.right.clone();
        params.insert(name.clone(), row.pointer(&read.id)?.clone());
        Some(OmittedObject::Only(params, note))
    };
    if is_whole && action.verb().starts_with("update") {
        // A name that one of them has already is no new one.
        let set = |pointer: &str| invalid.right.get(pointer.trim_start_matches('/'))?.as_str();
        let has_it = |row: &&Value| {
            let named = |pointer: &String| row.pointer(pointer).and_then(Value::as_str).zip(set(pointer));
            pointers().filter_map(named).any(|(name, set)| name == set)
        };
        let mut named = rows.iter().filter(has_it);
        if let (Some(row), None) = (named.next(), named.next()) {
            return with(row, format!("`{name}` is that of {} {}", resolver.noun, name_of(row)?));
        }
    }
    match rows.as_slice() {
        [] if is_whole => Some(OmittedObject::Among(format!("There is no {}.", resolver.noun))),
        [only] if is_whole && action.risk == Risk::Read => {
            with(only, format!("`{name}` is the only {}: {}", resolver.noun, name_of(only)?))
        }
        rows => {
            let names: Vec<String> = rows.iter().take(MAX_LISTED).filter_map(name_of).collect();
            let more = if is_whole && rows.len() <= MAX_LISTED { "" } else { " and others" };
            let verb = if rows.len() == 1 { "is" } else { "are" };
            (!names.is_empty())
                .then(|| OmittedObject::Among(format!("There {verb} {}{more}.", names.join(", "))))
        }
    }
}
