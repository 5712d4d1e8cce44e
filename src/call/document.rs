//! Parses a caller's GraphQL document and computes its effects. The only module that uses the GraphQL parser.

use std::collections::{BTreeMap, BTreeSet};

use apollo_compiler::Node;
use apollo_compiler::ast::{
    Definition, Document, Field, FragmentDefinition, OperationDefinition, OperationType, Selection, Value,
};
use apollo_compiler::parser::Parser;
use serde_json::map::Entry;
use serde_json::{Map, Value as Json, json};

use super::Fault;
use crate::catalog::{OperationIndex, Risk, Touched};

/// More than any document that GitLab accepts (10,000 characters) has.
const MAX_TOKENS: usize = 20_000;
/// Maximum depth of a document; GitLab accepts less.
const DEEPEST: usize = 100;
/// Maximum number of selections with all fragments expanded: nested fragments grow exponentially.
const MAX_SELECTIONS: usize = 20_000;

const NOTHING: &str = "it holds no operation, such as `query { currentUser { username } }`";

/// A parsed document and its effects.
#[derive(Debug)]
pub struct Read {
    /// Serialized from the parsed document.
    pub text: String,
    /// `query project, currentUser`
    pub operation: String,
    pub touches: Vec<Touched>,
    /// Lists in the response by path, with the variable that feeds the `after` of each.
    pub cursors: BTreeMap<String, String>,
    /// Aliased fields by their paths in the response.
    pub field_names: BTreeMap<String, BTreeSet<String>>,
    /// Root fields of a mutation in order; empty for a query.
    pub mutations: Vec<Mutation>,
}

/// A root field of a mutation.
#[derive(Debug, PartialEq)]
pub struct Mutation {
    pub field: String,
    /// Its arguments, with the values of variables inserted.
    pub arguments: Map<String, Json>,
}

/// Parses a document with one operation.
pub fn parse(text: &str, variables: &Map<String, Json>, surface: &OperationIndex<'_>) -> Result<Read, Fault> {
    let document = parsed(text)?;
    let operation = only_operation(&document)?;
    let fields = Fields::new(&document, operation, surface.depth()).map_err(|reason| refused(&reason))?;
    let kind = operation.operation_type;
    let mutations = if kind == OperationType::Mutation {
        let given = |name: &str| variable(operation, variables, name);
        fields.root_fields.iter().map(|field| mutation_field(field, &given)).collect()
    } else {
        Vec::new()
    };
    Ok(Read {
        mutations,
        text: document.serialize().no_indent().to_string(),
        operation: format!("{kind} {}", fields.roots.iter().copied().collect::<Vec<_>>().join(", ")),
        touches: fields.touches(kind, surface),
        cursors: fields.cursors,
        field_names: fields.aliased,
    })
}

/// Returns the value of a variable: the given one, else its default.
fn variable(operation: &OperationDefinition, variables: &Map<String, Json>, name: &str) -> Json {
    if let Some(value) = variables.get(name) {
        return value.clone();
    }
    let declared = operation.variables.iter().find(|variable| variable.name == name);
    let default = declared.and_then(|variable| variable.default_value.as_ref());
    default.map_or(Json::Null, |value| literal(value, &|_| Json::Null))
}

fn mutation_field(field: &Field, given: &dyn Fn(&str) -> Json) -> Mutation {
    let mut arguments = Map::new();
    for argument in &field.arguments {
        add_value(&mut arguments, argument.name.as_str(), literal(&argument.value, given));
    }
    Mutation { field: field.name.to_string(), arguments }
}

/// Adds a value beside those that a name has already, never over them: policy decides on all, whichever GitLab takes.
pub fn add_value(fields: &mut Map<String, Json>, name: &str, value: Json) {
    match fields.entry(name) {
        Entry::Vacant(place) => drop(place.insert(value)),
        Entry::Occupied(mut place) => {
            let first = place.get_mut().take();
            place.insert(json!([first, value]));
        }
    }
}

/// Converts a value of a document to JSON. The parser bounds its depth.
fn literal(value: &Value, given: &dyn Fn(&str) -> Json) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Enum(name) => json!(name.as_str()),
        Value::Variable(name) => given(name.as_str()),
        Value::String(text) => json!(text),
        Value::Boolean(truth) => json!(truth),
        Value::Int(number) => {
            number.as_str().parse::<i64>().map_or_else(|_| json!(number.as_str()), |n| json!(n))
        }
        Value::Float(number) => {
            number.as_str().parse::<f64>().map_or_else(|_| json!(number.as_str()), |n| json!(n))
        }
        Value::List(items) => items.iter().map(|item| literal(item, given)).collect(),
        Value::Object(fields) => {
            let mut object = Map::new();
            for (name, value) in fields {
                add_value(&mut object, name.as_str(), literal(value, given));
            }
            Json::Object(object)
        }
    }
}

/// A field of a document that the instance does not know, with the position of its name, or a type, of which only the name
/// counts; lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    pub name: String,
    pub line: usize,
    pub column: usize,
}

/// Removes fields and the inline fragments of types from a document, with what becomes empty or unused by that. None if one
/// is missing, or if nothing of the operation or of a fragment would be left.
pub fn without_fields(text: &str, unknown: &[UnknownField]) -> Option<String> {
    let mut document = parsed(text).ok()?;
    let sources = document.sources.clone();
    let is_unknown = |field: &Node<Field>| {
        let at = field.line_column_range(&sources).map(|range| (range.start.line, range.start.column));
        unknown
            .iter()
            .any(|known| field.name == known.name.as_str() && at == Some((known.line, known.column)))
    };
    let mut removed = 0;
    for definition in &mut document.definitions {
        let selections = match definition {
            Definition::OperationDefinition(operation) => &mut operation.make_mut().selection_set,
            Definition::FragmentDefinition(fragment) => &mut fragment.make_mut().selection_set,
            _ => continue,
        };
        let is_unknown_type = |name: &str| unknown.iter().any(|known| known.name == name);
        removed += remove_fields(selections, &is_unknown, &is_unknown_type);
        if selections.is_empty() {
            return None;
        }
    }
    let of_unknown_types = |document: &Document| {
        let types = fragments(document).map(|fragment| fragment.type_condition.as_str());
        types.filter(|of| unknown.iter().any(|known| known.name == *of)).count()
    };
    let before = of_unknown_types(&document);
    remove_unused_fragments(&mut document);
    // The fragment of a type goes with the field that it was for.
    removed += before - of_unknown_types(&document);
    if removed < unknown.len() {
        return None;
    }
    Some(document.serialize().no_indent().to_string())
}

/// Removes fields and inline fragments, at any depth, and counts them. A field whose selection becomes empty goes too.
fn remove_fields(
    selections: &mut Vec<Selection>,
    is_unknown: &dyn Fn(&Node<Field>) -> bool,
    is_unknown_type: &dyn Fn(&str) -> bool,
) -> usize {
    let before = selections.len();
    selections.retain(|selection| match selection {
        Selection::Field(field) => !is_unknown(field),
        Selection::InlineFragment(fragment) => {
            !fragment.type_condition.as_ref().is_some_and(|of| is_unknown_type(of.as_str()))
        }
        Selection::FragmentSpread(_) => true,
    });
    let mut removed = before - selections.len();
    selections.retain_mut(|selection| {
        let below = match selection {
            Selection::Field(field) => &mut field.make_mut().selection_set,
            Selection::InlineFragment(fragment) => &mut fragment.make_mut().selection_set,
            Selection::FragmentSpread(_) => return true,
        };
        if below.is_empty() {
            return true;
        }
        removed += remove_fields(below, is_unknown, is_unknown_type);
        !below.is_empty()
    });
    removed
}

/// Removes unused fragments: GitLab refuses a document that has one.
fn remove_unused_fragments(document: &mut Document) {
    loop {
        let mut spread = BTreeSet::new();
        for definition in &document.definitions {
            let selections = match definition {
                Definition::OperationDefinition(operation) => &operation.selection_set,
                Definition::FragmentDefinition(fragment) => &fragment.selection_set,
                _ => continue,
            };
            collect_spreads(selections, &mut spread);
        }
        let before = document.definitions.len();
        document.definitions.retain(|definition| match definition {
            Definition::FragmentDefinition(fragment) => spread.contains(fragment.name.as_str()),
            _ => true,
        });
        if document.definitions.len() == before {
            return;
        }
    }
}

fn collect_spreads(selections: &[Selection], spread: &mut BTreeSet<String>) {
    for selection in selections {
        match selection {
            Selection::Field(field) => collect_spreads(&field.selection_set, spread),
            Selection::InlineFragment(fragment) => collect_spreads(&fragment.selection_set, spread),
            Selection::FragmentSpread(fragment) => {
                spread.insert(fragment.fragment_name.to_string());
            }
        }
    }
}

fn refused(reason: &str) -> Fault {
    Fault::NoDocument { reason: reason.to_owned(), line: None }
}

fn parsed(text: &str) -> Result<Document, Fault> {
    // A byte order mark is not part of the document, and the parser does not skip it.
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(refused(NOTHING));
    }
    let mut parser = Parser::new().token_limit(MAX_TOKENS).recursion_limit(DEEPEST);
    parser.parse_ast(text, "document").map_err(|faults| {
        let first = faults.errors.iter().next();
        let line = first.as_ref().and_then(|fault| fault.line_column_range()).map(|range| range.start.line);
        let reason = first.map_or_else(|| "it is no GraphQL".to_owned(), |fault| fault.error.to_string());
        // The reason stands inside a sentence of the error.
        let reason = reason.trim_end_matches('.').to_owned();
        Fault::NoDocument { reason, line }
    })
}

/// Returns the operation of a document. Several are refused: GitLab would need the name of the one to run.
fn only_operation(document: &Document) -> Result<&OperationDefinition, Fault> {
    let mut operations = Vec::new();
    for definition in &document.definitions {
        match definition {
            Definition::OperationDefinition(operation) => operations.push(operation),
            Definition::FragmentDefinition(_) => {}
            other => {
                let name = other.name().map_or_else(String::new, |name| format!(" `{name}`"));
                return Err(refused(&format!("the definition{name} is of a schema; operations run")));
            }
        }
    }
    match operations.as_slice() {
        [only] if only.operation_type == OperationType::Subscription => {
            Err(refused("a subscription has no one answer; a query or a mutation has"))
        }
        [only] => Ok(only),
        [] => Err(refused(NOTHING)),
        several => {
            let names: Vec<&str> = several
                .iter()
                .map(|operation| operation.name.as_ref().map_or("one without a name", |name| name.as_str()))
                .collect();
            Err(refused(&format!("it holds {} operations ({}); send one", names.len(), names.join(", "))))
        }
    }
}

/// Selected fields of an operation, with all fragments expanded.
#[derive(Debug, Default)]
struct Fields<'d> {
    /// Root fields by name, not by alias.
    roots: BTreeSet<&'d str>,
    root_fields: Vec<&'d Field>,
    /// Paths of fields from the root, as the catalog names queries: `project.branchRules`.
    paths: BTreeSet<String>,
    cursors: BTreeMap<String, String>,
    /// Aliased fields by their paths in the response. A path has several fields if fragments on different types use one
    /// alias for them.
    aliased: BTreeMap<String, BTreeSet<String>>,
}

/// Selections that are not visited yet.
#[derive(Clone, Default)]
struct Open<'d> {
    selections: &'d [Selection],
    /// Path of fields from the root, by name and as in the response.
    names: Vec<&'d str>,
    keys: Vec<&'d str>,
    /// The fragments around them.
    fragments: Vec<&'d str>,
}

impl<'d> Fields<'d> {
    /// Collects the fields of an operation up to `depth` from the root. Iterative, as the caller controls the nesting.
    fn new(document: &'d Document, operation: &'d OperationDefinition, depth: usize) -> Result<Self, String> {
        let mut fields = Fields::default();
        let mut open = vec![Open { selections: &operation.selection_set, ..Open::default() }];
        let mut seen = 0;
        while let Some(at) = open.pop() {
            for selection in at.selections {
                seen += 1;
                if seen > MAX_SELECTIONS {
                    return Err(format!("its fragments make more than {MAX_SELECTIONS} selections"));
                }
                match selection {
                    Selection::Field(field) => open.push(fields.add(field, &at, depth)),
                    Selection::InlineFragment(inline) => {
                        open.push(Open { selections: &inline.selection_set, ..at.clone() });
                    }
                    Selection::FragmentSpread(spread) => {
                        open.extend(spread_at(document, spread.fragment_name.as_str(), &at)?);
                    }
                }
            }
        }
        Ok(fields)
    }

    fn add(&mut self, field: &'d Field, at: &Open<'d>, depth: usize) -> Open<'d> {
        let mut below = at.clone();
        below.names.push(field.name.as_str());
        below.keys.push(field.alias.as_ref().unwrap_or(&field.name).as_str());
        below.selections = &field.selection_set;
        if at.names.is_empty() {
            self.roots.insert(field.name.as_str());
            self.root_fields.push(field);
        }
        if below.names.len() <= depth {
            self.paths.insert(below.names.join("."));
        }
        if field.alias.is_some() {
            self.aliased.entry(below.keys.join(".")).or_default().insert(field.name.to_string());
        }
        let after = field.arguments.iter().find(|argument| argument.name == "after");
        if let Some(Value::Variable(variable)) = after.map(|argument| &*argument.value) {
            self.cursors.insert(below.keys.join("."), variable.to_string());
        }
        below
    }

    /// Operations of the document: each root field, and for a query also the catalog's queries below them.
    fn touches(&self, kind: OperationType, surface: &OperationIndex<'_>) -> Vec<Touched> {
        if kind == OperationType::Mutation {
            return self.roots.iter().flat_map(|field| mutation(field, surface)).collect();
        }
        self.paths.iter().flat_map(|path| query(path, surface)).collect()
    }
}

/// Returns the operations of a root field of a mutation.
pub fn mutation(field: &str, surface: &OperationIndex<'_>) -> Vec<Touched> {
    let unknown = |risk| vec![Touched::unknown(format!("mutation {field}"), risk)];
    // `__typename` reads only a name, but the document still is a mutation.
    if field == "__typename" {
        return unknown(Risk::Write);
    }
    let found = surface.mutation(field);
    // A mutation that the catalog does not know may be irreversible.
    if found.is_empty() {
        return unknown(Risk::Destructive);
    }
    found.into_iter().map(|touched| Touched { risk: touched.risk.max(Risk::Write), ..touched }).collect()
}

fn query(path: &str, surface: &OperationIndex<'_>) -> Vec<Touched> {
    let found = surface.query(path);
    if found.is_empty() && !path.contains('.') {
        return vec![Touched::unknown(format!("query {path}"), Risk::Read)];
    }
    found
}

/// Returns the selections of a spread: of every fragment with that name, though GitLab accepts only one.
fn spread_at<'d>(document: &'d Document, name: &'d str, at: &Open<'d>) -> Result<Vec<Open<'d>>, String> {
    if at.fragments.contains(&name) {
        return Err(format!("the fragment `{name}` spreads itself"));
    }
    let found: Vec<Open<'d>> = fragments(document)
        .filter(|fragment| fragment.name == name)
        .map(|fragment| {
            let fragments = at.fragments.iter().copied().chain([name]).collect();
            Open { selections: &fragment.selection_set, fragments, ..at.clone() }
        })
        .collect();
    if found.is_empty() { Err(format!("there is no fragment `{name}`")) } else { Ok(found) }
}

fn fragments(document: &Document) -> impl Iterator<Item = &FragmentDefinition> {
    document.definitions.iter().filter_map(|definition| match definition {
        Definition::FragmentDefinition(fragment) => Some(&**fragment),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn reason(text: &str) -> Result<Read, String> {
        let catalog = Catalog::embedded().unwrap();
        parse(text, &Map::new(), catalog.operations().unwrap()).map_err(|fault| fault.to_string())
    }

    #[test]
    fn what_is_too_deep_is_refused_and_no_more() {
        for deep in [
            "{a".repeat(50_000),
            format!("{}a{}", "{a".repeat(5_000), "}".repeat(5_000)),
            format!("{{a(b:{}{})}}", "[".repeat(5_000), "]".repeat(5_000)),
            format!("{{a(b:{}{})}}", "{c:".repeat(5_000), "}".repeat(5_000)),
            format!("query($a:{}Int{}){{a}}", "[".repeat(5_000), "]".repeat(5_000)),
            format!("{{{}a{}}}", "...{".repeat(5_000), "}".repeat(5_000)),
            "{a} ".repeat(20_000),
        ] {
            assert!(reason(&deep).is_err());
        }
    }

    #[test]
    fn fragments_within_fragments_are_counted() {
        let mut text = "{...F0}".to_owned();
        for at in 0..60 {
            let next = at + 1;
            text.push_str(&format!("fragment F{at} on Query{{...F{next} ...F{next}}}"));
        }
        text.push_str("fragment F60 on Query{a}");
        assert!(reason(&text).unwrap_err().contains("selections"));
    }

    #[test]
    fn a_read_of_the_catalog_is_seen_below_the_root() {
        let read =
            reason("{x: project(fullPath: \"a\"){...F}} fragment F on Project{y: branchRules{nodes{name}}}");
        let touches = read.unwrap().touches;
        assert!(
            touches.iter().any(|touched| touched.ids.iter().any(|id| id == "branch_rule.list")),
            "{touches:?}"
        );
    }

    #[test]
    fn what_is_sent_is_written_anew() {
        let text = "\u{feff}query Q($a: String = \"x\\u0041\") { # mutation\r\n a(b: \"\"\"c\n\"d\" \"\"\", e: $a) @skip(if: false) { f } }";
        let sent = reason(text).unwrap().text;
        assert!(!sent.contains(['\n', '\r', '#', '\u{feff}']) && !sent.contains("mutation"), "{sent}");
        assert_eq!(reason(&sent).unwrap().text, sent);
    }

    #[test]
    fn the_strictest_field_decides() {
        let read =
            reason("mutation { a: updateIssue(input: {}) { errors } b: nothingThatIs { c } }").unwrap();
        let risks: Vec<(&str, Risk)> = read.touches.iter().map(|t| (t.operation.as_str(), t.risk)).collect();
        assert_eq!(
            risks,
            [("mutation nothingThatIs", Risk::Destructive), ("mutation updateIssue", Risk::Write)]
        );
    }

    /// The first occurrence of the field in a document of one line.
    fn unknown(document: &str, name: &str) -> UnknownField {
        UnknownField { name: name.to_owned(), line: 1, column: document.find(name).unwrap() + 1 }
    }

    #[test]
    fn a_removed_field_takes_the_fragments_along_that_nothing_else_spreads() {
        let document = "query($path:ID!){project(fullPath:$path){name owner{...Owner} lead{...Person}}} \
                        fragment Owner on Owner{id ...Address} fragment Address on Address{city} \
                        fragment Person on Person{username}";
        let left = without_fields(document, &[unknown(document, "owner")]).unwrap();
        let expected = "query($path:ID!){project(fullPath:$path){name lead{...Person}}} \
                        fragment Person on Person{username}";
        assert_eq!(left, reason(expected).unwrap().text);
    }

    #[test]
    fn a_fragment_that_something_else_spreads_stays() {
        let document =
            "{project(fullPath:\"a\"){owner{...Person} lead{...Person}}} fragment Person on Person{id}";
        let left = without_fields(document, &[unknown(document, "owner")]).unwrap();
        let expected = "{project(fullPath:\"a\"){lead{...Person}}} fragment Person on Person{id}";
        assert_eq!(left, reason(expected).unwrap().text);
    }

    #[test]
    fn a_field_within_a_fragment_is_removed() {
        let document = "{project(fullPath:\"a\"){...P}} fragment P on Project{name mood}";
        let left = without_fields(document, &[unknown(document, "mood")]).unwrap();
        let expected = "{project(fullPath:\"a\"){...P}} fragment P on Project{name}";
        assert_eq!(left, reason(expected).unwrap().text);
    }

    #[test]
    fn what_becomes_empty_goes_too_and_so_does_a_type() {
        let document = "{project(fullPath:\"a\"){name lead{mood}owner{...on Bot{kind}...on User{id}}}}";
        let bot = UnknownField { name: "Bot".to_owned(), line: 1, column: 1 };
        let left = without_fields(document, &[unknown(document, "mood"), bot]).unwrap();
        let expected = "{project(fullPath:\"a\"){name owner{...on User{id}}}}";
        assert_eq!(left, reason(expected).unwrap().text);
    }

    #[test]
    fn no_document_is_left_without_a_selection_or_for_a_field_that_is_elsewhere() {
        let document = "{project(fullPath:\"a\"){mood}}";
        assert_eq!(without_fields(document, &[unknown(document, "mood")]), None);
        assert_eq!(without_fields(document, &[unknown(document, "project")]), None);
        let document = "{project(fullPath:\"a\"){name mood}}";
        let named = "query{user{name mood{...Mood}}} fragment Mood on Mood{text}";
        let mood = UnknownField { name: "Mood".to_owned(), line: 1, column: 1 };
        let rest = without_fields(named, &[unknown(named, "mood"), mood.clone()]);
        assert_eq!(rest.as_deref(), Some("{ user { name } }"));
        // The type of a field that stays is asked for all the same.
        assert_eq!(without_fields(named, &[mood]), None);
        let elsewhere = UnknownField { column: 1, ..unknown(document, "mood") };
        assert_eq!(without_fields(document, &[elsewhere]), None);
    }
}
