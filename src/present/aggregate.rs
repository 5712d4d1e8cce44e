//! Counts and sums over the rows of a list. Rows are not kept, only their groups.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Number, Value, json};

use crate::present::{self, Missing};
use crate::untrusted::shortened;

/// Group of the rows without a value.
const NONE: &str = "(none)";

/// Maximum number of characters of a group's value. Longer values stay apart by their hash.
const LONGEST_VALUE: usize = 200;

/// Counts and sums to compute; fields are paths as in `fields`.
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    pub count_by: Option<String>,
    pub sum: Option<String>,
    pub top: Option<usize>,
}

/// Value of a group; none for the rows without a value.
type GroupKey = Option<(String, u64)>;

/// Counts of the rows so far.
#[derive(Debug, Default)]
pub struct Aggregator {
    aggregation: Aggregation,
    groups: BTreeMap<GroupKey, Group>,
    total: Sum,
    rows: u64,
    /// True if a row was in several groups.
    overlaps: bool,
    /// Rows without a number, and values that are no numbers.
    without_number: u64,
    not_numbers: u64,
    numbers: u64,
    counted: FieldPath,
    summed: FieldPath,
}

/// Number of rows that have a field, and what the first rows have in its place.
#[derive(Debug, Default)]
struct FieldPath {
    found: u64,
    missing: Option<Missing>,
}

#[derive(Clone, Debug, Default)]
struct Group {
    rows: u64,
    sum: Sum,
}

/// A sum, exact for integers.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    whole: i128,
    fraction: f64,
    is_fractional: bool,
}

/// A problem with the fields of an aggregation.
#[derive(Debug, PartialEq)]
pub enum FieldProblem {
    /// No row has the field: the name of the option, and what rows have in its place.
    Missing(&'static str, Missing),
    /// The field to add up has values, and none is a number.
    NotNumbers(String),
}

/// The computed counts and sums.
#[derive(Debug, PartialEq)]
pub struct Aggregate {
    /// Groups as rows of a table, or the sum alone.
    pub data: Value,
    /// Number of groups, of which the data has the first.
    pub groups: Option<usize>,
    /// The groups that `top` left out: the number of groups, their counts and their sum.
    pub others: Option<Value>,
    pub notes: Vec<String>,
}

impl Aggregator {
    pub fn new(aggregation: Aggregation) -> Aggregator {
        Aggregator { aggregation, ..Aggregator::default() }
    }

    /// Adds the rows of a page, a list.
    pub fn add(&mut self, page: &Value) {
        let rows = page.as_array().map(Vec::as_slice).unwrap_or_default();
        for row in rows {
            self.add_row(row);
        }
        let learn = |path: &Option<String>, field: &mut FieldPath| {
            if let Some(path) = path.as_ref().filter(|_| field.found == 0 && !rows.is_empty()) {
                field.missing.get_or_insert_with(|| present::missing_in(page, path));
            }
        };
        learn(&self.aggregation.count_by, &mut self.counted);
        learn(&self.aggregation.sum, &mut self.summed);
    }

    fn add_row(&mut self, row: &Value) {
        self.rows += 1;
        let sum = self.aggregation.sum.as_ref().map(|path| present::values_at(row, path));
        let sum = match sum {
            None => Sum::default(),
            Some(values) => {
                self.summed.found += u64::from(values.is_some());
                self.row_sum(&values.unwrap_or_default())
            }
        };
        self.total.add(sum);
        let Some(path) = &self.aggregation.count_by else { return };
        let values = present::values_at(row, path);
        self.counted.found += u64::from(values.is_some());
        let mut keys: BTreeSet<GroupKey> = values.unwrap_or_default().into_iter().map(group_key).collect();
        if keys.len() > 1 {
            // An empty item among others is no value.
            keys.remove(&None);
        }
        if keys.is_empty() {
            keys.insert(None);
        }
        self.overlaps |= keys.len() > 1;
        for key in keys {
            let group = self.groups.entry(key).or_default();
            group.rows += 1;
            group.sum.add(sum);
        }
    }

    /// Adds up the numbers of one row.
    fn row_sum(&mut self, values: &[&Value]) -> Sum {
        let mut sum = Sum::default();
        let mut found = 0;
        for value in values {
            match Sum::parse(value) {
                Some(number) => {
                    sum.add(number);
                    found += 1;
                }
                None => self.not_numbers += 1,
            }
        }
        self.numbers += found;
        self.without_number += u64::from(values.is_empty());
        sum
    }

    /// The problem with a field that no row so far has.
    pub fn problem(&self) -> Option<FieldProblem> {
        if self.rows == 0 {
            return None;
        }
        let fields = [
            ("count_by", &self.aggregation.count_by, &self.counted),
            ("sum", &self.aggregation.sum, &self.summed),
        ];
        for (option, path, field) in fields {
            if path.is_some()
                && field.found == 0
                && let Some(missing) = &field.missing
            {
                return Some(FieldProblem::Missing(option, missing.clone()));
            }
        }
        let path = self.aggregation.sum.as_ref().filter(|_| self.numbers == 0 && self.not_numbers > 0)?;
        Some(FieldProblem::NotNumbers(path.clone()))
    }

    /// The counts and sums, groups sorted by count descending, then by value.
    pub fn finish(self) -> Aggregate {
        let mut notes = Vec::new();
        let path = self.aggregation.sum.as_deref().unwrap_or_default();
        if self.without_number > 0 {
            let rows = counted(self.without_number, "row");
            notes.push(format!("{rows} without a number at `{path}`, which add nothing"));
        }
        if self.not_numbers > 0 {
            notes.push(format!("{} at `{path}` not added: no numbers", counted(self.not_numbers, "value")));
        }
        if self.aggregation.count_by.is_none() {
            let data = json!({"sum": self.total.number()});
            return Aggregate { data, groups: None, others: None, notes };
        }
        if self.overlaps {
            notes.push("a row with several values counts once for each".to_owned());
        }
        let has_sum = self.aggregation.sum.is_some();
        let mut groups: Vec<(GroupKey, Group)> = self.groups.into_iter().collect();
        // Groups of the same count: `(none)`, then numbers by their value. Stable: texts stay in their order.
        groups.sort_by_cached_key(|(key, group)| {
            let number = key.as_ref().map(|(value, _)| value.parse().unwrap_or(i64::MAX));
            (std::cmp::Reverse(group.rows), number)
        });
        let total = groups.len();
        let cut = groups.split_off(self.aggregation.top.unwrap_or(total).min(total));
        let others = (!cut.is_empty()).then(|| {
            let mut others = Group::default();
            for (_, group) in &cut {
                others.rows += group.rows;
                others.sum.add(group.sum);
            }
            let mut fields = Map::from_iter([("groups".to_owned(), json!(cut.len()))]);
            fields.extend(others.fields(has_sum));
            Value::Object(fields)
        });
        let row = |(key, group): &(GroupKey, Group)| {
            let value = key.as_ref().map_or(NONE, |(value, _)| value);
            let mut row = Map::from_iter([("value".to_owned(), json!(value))]);
            row.extend(group.fields(has_sum));
            Value::Object(row)
        };
        Aggregate { data: groups.iter().map(row).collect(), groups: Some(total), others, notes }
    }
}

fn group_key(value: &Value) -> GroupKey {
    let label = present::label(value);
    if label.trim().is_empty() {
        return None;
    }
    let shown = shortened(&label, LONGEST_VALUE);
    if shown == label {
        return Some((shown, 0));
    }
    let mut hasher = DefaultHasher::new();
    label.hash(&mut hasher);
    Some((shown, hasher.finish()))
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun} is") } else { format!("{count} {noun}s are") }
}

impl Group {
    fn fields(&self, has_sum: bool) -> Map<String, Value> {
        let mut fields = Map::from_iter([("count".to_owned(), json!(self.rows))]);
        if has_sum {
            fields.insert("sum".to_owned(), self.sum.number());
        }
        fields
    }
}

impl Sum {
    /// A number, or a text that is one: GraphQL sends large integers as texts.
    fn parse(value: &Value) -> Option<Sum> {
        let text = match value {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.trim().to_owned(),
            _ => return None,
        };
        if let Ok(whole) = text.parse::<i64>() {
            return Some(Sum { whole: whole.into(), ..Sum::default() });
        }
        let is_plain = text.bytes().any(|byte| byte.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        let fraction = text.parse::<f64>().ok().filter(|number| is_plain && number.is_finite())?;
        Some(Sum { fraction, is_fractional: true, ..Sum::default() })
    }

    fn add(&mut self, other: Sum) {
        self.whole = self.whole.saturating_add(other.whole);
        self.fraction += other.fraction;
        self.is_fractional |= other.is_fractional;
    }

    /// The sum as a number; fractions to nine places, so that 0.1 and 0.2 are 0.3.
    fn number(self) -> Value {
        if !self.is_fractional
            && let Ok(whole) = i64::try_from(self.whole)
        {
            return json!(whole);
        }
        const PLACES: f64 = 1e9;
        #[expect(clippy::cast_precision_loss, reason = "beyond 2^53 a sum of fractions is an approximation")]
        let sum = self.whole as f64 + self.fraction;
        let rounded = (sum * PLACES).round() / PLACES;
        Number::from_f64(if rounded.is_finite() { rounded } else { sum }).map_or(Value::Null, Value::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aggregate(
        count_by: Option<&str>,
        sum: Option<&str>,
        top: Option<usize>,
        pages: &[Value],
    ) -> Aggregate {
        let aggregation =
            Aggregation { count_by: count_by.map(str::to_owned), sum: sum.map(str::to_owned), top };
        let mut aggregator = Aggregator::new(aggregation);
        pages.iter().for_each(|page| aggregator.add(page));
        assert_eq!(aggregator.problem(), None);
        aggregator.finish()
    }

    #[test]
    fn groups_are_sorted_by_count_and_then_by_value() {
        let pages = [
            json!([{"a": {"n": "bob"}}, {"a": {"n": "alice"}}, {"a": {"n": "carol"}}]),
            json!([{"a": {"n": "carol"}}, {"a": null}, {"a": {"n": ""}}, {"a": {"n": "carol"}}]),
        ];
        let counted = aggregate(Some("a.n"), None, None, &pages);
        let expected = json!([
            {"value": "carol", "count": 3},
            {"value": "(none)", "count": 2},
            {"value": "alice", "count": 1},
            {"value": "bob", "count": 1},
        ]);
        assert_eq!((counted.data, counted.groups), (expected, Some(4)));
    }

    #[test]
    fn numbers_are_in_the_order_of_their_values() {
        let rows = json!([{"n": 10}, {"n": "x"}, {"n": 9}, {"n": null}]);
        let counted = aggregate(Some("n"), None, None, &[rows]);
        let values: Vec<&Value> = counted.data.as_array().unwrap().iter().map(|row| &row["value"]).collect();
        assert_eq!(values, ["(none)", "9", "10", "x"]);
    }

    #[test]
    fn lists_count_each_item_and_objects_by_name() {
        let rows = json!([
            {"labels": ["x", "y", "x"], "author": {"id": 1, "username": "alice"}},
            {"labels": [], "author": {"id": 1, "username": "alice"}},
            {"labels": {"nodes": [{"title": "x"}]}, "author": {"id": 2, "username": "bob"}},
        ]);
        let labels = aggregate(Some("labels"), None, None, std::slice::from_ref(&rows));
        let expected = json!([
            {"value": "x", "count": 2},
            {"value": "(none)", "count": 1},
            {"value": "y", "count": 1},
        ]);
        assert_eq!(labels.data, expected);
        assert!(labels.notes.iter().any(|note| note.contains("once for each")));
        let authors = aggregate(Some("author"), None, None, std::slice::from_ref(&rows));
        let expected = json!([{"value": "alice", "count": 2}, {"value": "bob", "count": 1}]);
        assert_eq!(authors.data, expected);
    }

    #[test]
    fn sums_are_exact_and_name_what_is_no_number() {
        let rows = json!([
            {"who": "a", "n": 9_007_199_254_740_993_i64}, {"who": "a", "n": "2"}, {"who": "b", "n": null},
            {"who": "b", "n": "many"},
        ]);
        let summed = aggregate(None, Some("n"), None, std::slice::from_ref(&rows));
        assert_eq!(summed.data, json!({"sum": 9_007_199_254_740_995_i64}));
        assert_eq!(summed.notes.len(), 2, "{:?}", summed.notes);
        let grouped = aggregate(Some("who"), Some("n"), Some(1), &[rows]);
        assert_eq!(grouped.data, json!([{"value": "a", "count": 2, "sum": 9_007_199_254_740_995_i64}]));
        assert_eq!(grouped.others, Some(json!({"groups": 1, "count": 2, "sum": 0})));
        let tenths = json!([{"n": 0.1}, {"n": 0.2}, {"n": 1}]);
        assert_eq!(aggregate(None, Some("n"), None, &[tenths]).data, json!({"sum": 1.3}));
    }

    #[test]
    fn a_field_that_no_row_has_is_a_problem_and_an_empty_one_is_none() {
        let mut aggregator =
            Aggregator::new(Aggregation { count_by: Some("author.nick".to_owned()), ..Default::default() });
        aggregator.add(&json!([{"author": {"name": "A"}}]));
        let Some(FieldProblem::Missing("count_by", missing)) = aggregator.problem() else { panic!() };
        assert_eq!((missing.step.as_str(), missing.known), ("nick", vec!["name".to_owned()]));
        let unassigned = json!([{"assignee": null}, {"assignee": null}]);
        let counted = aggregate(Some("assignee.username"), None, None, &[unassigned]);
        assert_eq!(counted.data, json!([{"value": "(none)", "count": 2}]));
    }

    #[test]
    fn long_values_with_the_same_beginning_stay_apart() {
        let long = "x".repeat(300);
        let rows = json!([{"t": format!("{long}a")}, {"t": format!("{long}b")}, {"t": format!("{long}a")}]);
        let counted = aggregate(Some("t"), None, None, &[rows]);
        assert_eq!(counted.groups, Some(2));
        assert_eq!((&counted.data[0]["count"], &counted.data[1]["count"]), (&json!(2), &json!(1)));
    }
}
