//! GitLab's limits on a GraphQL query: its size, its depth, and its complexity.

use std::collections::BTreeMap;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::ast::Value as Argument;
use apollo_compiler::executable::{Field, Operation, Selection, SelectionSet};
use apollo_compiler::response::JsonMap;

/// Maximum number of characters of a query.
pub const SIZE: usize = 10_000;

/// Who asks, with the maxima of complexity and depth.
#[derive(Debug, Clone, Copy)]
pub enum Asker {
    Anonymous,
    User,
    Admin,
}

impl Asker {
    fn limits(self) -> (f64, usize) {
        match self {
            Self::Anonymous => (200.0, 15),
            Self::User => (250.0, 20),
            Self::Admin => (300.0, 20),
        }
    }
}

/// Cost of a part of a query.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    complexity: f64,
    depth: usize,
}

/// GitLab's refusals of an operation.
pub fn refusals(
    document: &ExecutableDocument,
    operation: &Operation,
    variables: &JsonMap,
    asker: Asker,
) -> Vec<String> {
    let cost = cost_of(document, &operation.selection_set, variables);
    let (complexity, depth) = asker.limits();
    let mut refusals = Vec::new();
    if cost.complexity.floor() > complexity {
        let of = cost.complexity.floor();
        refusals.push(format!("Query has complexity of {of}, which exceeds max complexity of {complexity}"));
    }
    if cost.depth > depth {
        refusals.push(format!("Query has depth of {}, which exceeds max depth of {depth}", cost.depth));
    }
    refusals
}

/// The cost of a selection: of fragments for different types, the largest.
fn cost_of(document: &ExecutableDocument, set: &SelectionSet, variables: &JsonMap) -> Cost {
    let mut cost = Cost::default();
    let mut by_type: BTreeMap<&str, f64> = BTreeMap::new();
    for selection in &set.selections {
        let (inner, name) = match selection {
            Selection::Field(field) => (cost_of_field(document, field, variables), &set.ty),
            Selection::InlineFragment(fragment) => {
                let name = fragment.type_condition.as_ref().unwrap_or(&set.ty);
                (cost_of(document, &fragment.selection_set, variables), name)
            }
            Selection::FragmentSpread(spread) => {
                let Some(fragment) = document.fragments.get(&spread.fragment_name) else { continue };
                (cost_of(document, &fragment.selection_set, variables), fragment.type_condition())
            }
        };
        cost.depth = cost.depth.max(inner.depth);
        *by_type.entry(name.as_str()).or_default() += inner.complexity;
    }
    let own = by_type.remove(set.ty.as_str()).unwrap_or_default();
    cost.complexity = own + by_type.into_values().fold(0.0, f64::max);
    cost
}

/// Each field costs one. A list costs as much again for every hundred elements that it may have, as do all fields within,
/// and a search five.
fn cost_of_field(document: &ExecutableDocument, field: &Field, variables: &JsonMap) -> Cost {
    let mut cost = cost_of(document, &field.selection_set, variables);
    cost.depth += 1;
    cost.complexity += 1.0;
    let given = |name: &str| match field.specified_argument_by_name(name).map(|value| &**value) {
        Some(Argument::Variable(variable)) => variables.get(variable.as_str()).cloned(),
        Some(Argument::Int(number)) => number.as_str().parse::<i64>().ok().map(Into::into),
        Some(Argument::Null) | None => None,
        Some(_) => Some(true.into()),
    };
    let is_given = |name: &str| given(name).is_some_and(|value| !value.is_null());
    cost.complexity += if is_given("sort") { 1.0 } else { 0.0 } + if is_given("search") { 5.0 } else { 0.0 };
    if field.ty().inner_named_type().ends_with("Connection") {
        let sizes = ["first", "last"].iter().filter_map(|name| given(name)?.as_f64());
        cost.complexity += cost.complexity * sizes.fold(100.0, f64::min) / 100.0;
    }
    cost
}
