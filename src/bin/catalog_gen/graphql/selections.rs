//! Default selection of a type: its scalars and the names of its objects, two levels deep. One fragment per type keeps
//! an operation's selection short.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::sdl::{Field, Sdl, Shape, Status, Ty};
use crate::rules::GraphqlRules;

/// Maximum complexity of a fragment. GitLab refuses queries above 200; a field costs 1 and a connection of a hundred
/// twice its content, so that two fragments, one of them below a connection, stay within the limit.
const MAX_COMPLEXITY: usize = 65;

/// Number of fields that name an object.
const NAMED_BY: usize = 3;

/// Cursors of the rows and the page of a connection.
const PLACES: &str = "edges{cursor}pageInfo{endCursor hasNextPage}";

/// Builds selections, and keeps the fragments that they spread.
pub struct Selections<'a> {
    sdl: &'a Sdl,
    /// Additions of curation to a type's fragment.
    extra: &'a BTreeMap<String, String>,
    rules: &'a GraphqlRules,
    fragments: RefCell<BTreeMap<String, String>>,
}

/// Text of a selection and its complexity.
struct Selected {
    text: String,
    cost: usize,
}

impl<'a> Selections<'a> {
    pub fn new(sdl: &'a Sdl, extra: &'a BTreeMap<String, String>, rules: &'a GraphqlRules) -> Self {
        Selections { sdl, extra, rules, fragments: RefCell::default() }
    }

    /// Selection of a field of the type.
    pub fn select(&self, ty: &Ty) -> String {
        if self.sdl.is_leaf(&ty.name) {
            return String::new();
        }
        match self.sdl.nodes(&ty.name) {
            Some(nodes) if self.sdl.is_leaf(&nodes.name) => format!("nodes {PLACES}"),
            Some(nodes) => format!("nodes{{{}}}{PLACES}", self.spread(&nodes.name)),
            None => self.spread(&ty.name),
        }
    }

    /// Selection of a mutation's payload: the errors and the changed objects.
    pub fn select_payload(&self, payload: &str) -> String {
        let fields = self.sdl.fields(payload).iter().filter(|field| is_asked(field, true));
        let chosen = fields.filter(|field| field.name != "clientMutationId").map(|field| {
            let inner = self.select(&field.ty);
            if inner.is_empty() { field.name.clone() } else { format!("{}{{{inner}}}", field.name) }
        });
        chosen.collect::<Vec<_>>().join(" ")
    }

    /// The spread fragments, each as one line of GraphQL.
    pub fn fragments(self) -> Vec<String> {
        let fragments = self.fragments.into_inner();
        fragments.into_iter().map(|(name, text)| format!("fragment {name} on {name}{{{text}}}")).collect()
    }

    fn spread(&self, name: &str) -> String {
        if !self.fragments.borrow().contains_key(name) {
            let text = self.full(name);
            self.fragments.borrow_mut().insert(name.to_owned(), text);
        }
        format!("...{name}")
    }

    fn full(&self, name: &str) -> String {
        if let Some(Shape::Union(members)) = self.sdl.shape(name) {
            return self.members(members);
        }
        let extra = self.extra.get(name);
        let mut left =
            MAX_COMPLEXITY.saturating_sub(extra.map_or(0, |text| text.split([' ', '{', '}']).count()));
        let mut kept: Vec<String> = Vec::new();
        for part in self.parts(name) {
            if part.cost <= left {
                left -= part.cost;
                kept.push(part.text);
            }
        }
        kept.extend(extra.cloned());
        if matches!(self.sdl.shape(name), Some(Shape::Interface(_))) || kept.is_empty() {
            kept.insert(0, "__typename".to_owned());
        }
        kept.join(" ")
    }

    /// All parts of a type's selection, most important first.
    fn parts(&self, name: &str) -> Vec<Selected> {
        let all = |experiments: bool| {
            let mut fields: Vec<&Field> =
                self.sdl.fields(name).iter().filter(|field| is_asked(field, experiments)).collect();
            fields.sort_by_key(|field| self.importance(field));
            fields.into_iter().filter_map(|field| self.part(field)).collect::<Vec<_>>()
        };
        let finished = all(false);
        if finished.is_empty() { all(true) } else { finished }
    }

    fn importance(&self, field: &Field) -> u8 {
        let (name, rules) = (&field.name, self.rules);
        match self.sdl.is_leaf(&field.ty.name) {
            true if rules.name_fields.contains(name) => 0,
            false if rules.short_connections.contains(name) || rules.first_objects.contains(name) => 1,
            true => 2,
            false => 3,
        }
    }

    fn part(&self, field: &Field) -> Option<Selected> {
        if self.sdl.is_leaf(&field.ty.name) {
            return self.is_plain_leaf(field).then(|| Selected { text: field.name.clone(), cost: 1 });
        }
        self.nested(field)
    }

    fn is_plain_leaf(&self, field: &Field) -> bool {
        let rules = self.rules;
        let is_left_out = rules.left_out_endings.iter().any(|ending| field.name.ends_with(ending));
        self.sdl.is_leaf(&field.ty.name) && (!is_left_out || rules.kept_leaves.contains(&field.name))
    }

    /// Selection of a nested object: its naming fields.
    fn nested(&self, field: &Field) -> Option<Selected> {
        if self.rules.left_out_objects.contains(&field.name) {
            return None;
        }
        if let Some(nodes) = self.sdl.nodes(&field.ty.name) {
            let named = self
                .select_names(&nodes.name)
                .filter(|_| self.rules.short_connections.contains(&field.name))?;
            let text = format!("{}{{nodes{{{}}}}}", field.name, named.text);
            return Some(Selected { text, cost: 2 * (named.cost + 2) });
        }
        if field.ty.name.ends_with("Connection") {
            return None;
        }
        let named = self.select_names(&field.ty.name)?;
        Some(Selected { text: format!("{}{{{}}}", field.name, named.text), cost: named.cost + 2 })
    }

    fn select_names(&self, name: &str) -> Option<Selected> {
        let has = |wanted: &str| {
            self.sdl
                .field(name, wanted)
                .filter(|field| is_asked(field, false) && self.sdl.is_leaf(&field.ty.name))
        };
        let mut fields: Vec<&str> = self
            .rules
            .name_fields
            .iter()
            .map(String::as_str)
            .filter(|wanted| has(wanted).is_some())
            .take(NAMED_BY)
            .collect();
        if fields.is_empty() {
            let leaves = self
                .sdl
                .fields(name)
                .iter()
                .filter(|field| is_asked(field, false) && self.is_plain_leaf(field));
            fields = leaves.map(|field| field.name.as_str()).take(NAMED_BY).collect();
        }
        let cost = fields.len();
        (!fields.is_empty()).then(|| Selected { text: fields.join(" "), cost })
    }

    /// Selection of each member of a union; a field name may not have two types across members.
    fn members(&self, members: &[String]) -> String {
        let mut types: BTreeMap<&str, &str> = BTreeMap::new();
        let mut parts = vec!["__typename".to_owned()];
        for member in members {
            let Some(named) = self.select_names(member) else { continue };
            let fields: BTreeSet<&str> = named.text.split(' ').collect();
            let agreed: Vec<&str> = fields
                .into_iter()
                .filter_map(|name| {
                    let field = self.sdl.field(member, name)?;
                    let known = types.entry(&field.name).or_insert(&field.ty.text);
                    (*known == field.ty.text).then_some(field.name.as_str())
                })
                .collect();
            if !agreed.is_empty() {
                parts.push(format!("...on {member}{{{}}}", agreed.join(" ")));
            }
        }
        parts.join(" ")
    }
}

/// True if a field is selected by default: it is stable and has no required argument.
pub fn is_asked(field: &Field, experiments: bool) -> bool {
    let stands = match field.status {
        Status::Stable => true,
        Status::Experiment(_) => experiments,
        Status::Deprecated => false,
    };
    stands && field.arguments.iter().all(|argument| !argument.ty.required || argument.default.is_some())
}
