//! Fields of each type that an operation returns, written to `catalog/types.txt` one type per line, so that requested
//! fields can be checked and selected.
//!
//! `Issue iid title author:UserCore labels:Label# discussions:Discussion+`: a leaf field is a plain name, an object has
//! its type after a colon, a connection has the type of its nodes and `+`, or `#` if it also has a `count`.
//! `Todoable|Issue|Epic` is an interface or union with its objects; its fields that have different types in different
//! objects are marked: `!state`. Deprecated fields and fields with required arguments are left out.

use std::collections::{BTreeMap, BTreeSet};

use super::sdl::{Field, Sdl, Shape};
use super::selections::is_asked;

/// Renders a line for every type reachable from these.
pub fn lines<'a>(sdl: &Sdl, from: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut open: Vec<String> = from.map(str::to_owned).collect();
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    while let Some(name) = open.pop() {
        if lines.contains_key(&name) {
            continue;
        }
        let (line, next) = line(sdl, &name);
        lines.insert(name, line);
        open.extend(next);
    }
    lines.into_values().collect()
}

/// Line of a type, and the types it refers to.
fn line(sdl: &Sdl, name: &str) -> (String, Vec<String>) {
    let members = sdl.members(name);
    let mut next: Vec<String> = members.clone();
    let mut line: String =
        std::iter::once(name).chain(members.iter().map(String::as_str)).collect::<Vec<_>>().join("|");
    for field in sdl.fields(name).iter().filter(|field| is_asked(field, true)) {
        let Some((text, object)) = described(sdl, field) else { continue };
        line.push(' ');
        line.push_str(&text);
        next.extend(object);
    }
    for field in disagreed(sdl, &members) {
        line.push_str(" !");
        line.push_str(&field);
    }
    (line, next)
}

/// A field, with its type if that is an object.
fn described(sdl: &Sdl, field: &Field) -> Option<(String, Option<String>)> {
    let name = &field.ty.name;
    if sdl.is_leaf(name) {
        return Some((field.name.clone(), None));
    }
    if let Some(nodes) = sdl.nodes(name) {
        let mark = if sdl.field(name, "count").is_some() { '#' } else { '+' };
        let nodes = &nodes.name;
        return (!sdl.is_leaf(nodes)).then(|| (format!("{}:{nodes}{mark}", field.name), Some(nodes.clone())));
    }
    (!name.ends_with("Connection")).then(|| (format!("{}:{name}", field.name), Some(name.clone())))
}

/// Fields whose type differs between members, so that they can be selected for one member only.
fn disagreed(sdl: &Sdl, members: &[String]) -> BTreeSet<String> {
    let mut types: BTreeMap<&str, &str> = BTreeMap::new();
    let fields = members.iter().flat_map(|member| sdl.fields(member)).filter(|field| is_asked(field, true));
    let other = fields.filter(|field| {
        let known = types.entry(&field.name).or_insert(&field.ty.text);
        *known != field.ty.text
    });
    other.map(|field| field.name.clone()).collect()
}

impl Sdl {
    /// The members of a union, or the objects of an interface.
    fn members(&self, name: &str) -> Vec<String> {
        match self.shape(name) {
            Some(Shape::Union(members)) => members.clone(),
            Some(Shape::Interface(_)) => self.implementors(name).to_vec(),
            _ => Vec::new(),
        }
    }
}
