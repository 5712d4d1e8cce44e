//! References of a call of a batch to the answers of earlier calls: `$1.iid`, `$2.author.username`, `$3[0].name`.
//! The number is that of the call; the path consists of fields in the data of its answer. A string that is a
//! reference becomes the value itself; within a longer string the value's text is inserted. `$$` is a literal
//! dollar.

use std::cell::Cell;

use serde_json::{Map, Value};

use crate::text::plain_text;

/// Maximum number of references in one call.
pub const MAX_REFERENCES: usize = 100;

/// Maximum size in bytes of the values that references insert into one call.
pub const MAX_FILLED_BYTES: usize = 1024 * 1024;

/// A reference in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AnswerReference<'t> {
    /// The text of the reference.
    text: &'t str,
    /// The call's number, from 1.
    call: usize,
    steps: Vec<ReferenceStep<'t>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ReferenceStep<'t> {
    Field(&'t str),
    Row(usize),
}

/// Reasons why a reference has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingValue {
    /// The original text of the reference.
    pub reference: String,
    /// The number of the referenced call.
    pub call: usize,
    pub why: MissingReason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingReason {
    /// The number is that of the call itself, of a later call, or of none.
    NotBefore,
    /// The referenced call failed or was not made.
    NoAnswer,
    /// The object at the end of the path has other fields.
    NoField { step: String, fields: Vec<String> },
    /// The path ends at a list with that many rows.
    List { rows: usize },
    /// The values would exceed the size limit.
    TooLarge,
    /// The path continues after a scalar.
    Leaf { step: String },
}

/// The numbers of the calls that the parameters refer to.
pub fn referenced_calls(value: &Value) -> Vec<usize> {
    let mut found = Vec::new();
    visit(value, &mut |text| found.extend(references(text).into_iter().map(|reference| reference.call)));
    found
}

/// Fills in the references of parameters. `answered` returns the data of a call's answer by its number, in each form of
/// its field names.
pub fn fill_references<'v>(
    params: &Map<String, Value>,
    own: usize,
    answered: &impl Fn(usize) -> Option<Vec<&'v Value>>,
) -> Result<Map<String, Value>, MissingValue> {
    fields(params, &ReferenceFiller { own, answered, left: Cell::new(MAX_FILLED_BYTES) })
}

/// Fills references with values.
struct ReferenceFiller<'f, F> {
    own: usize,
    answered: &'f F,
    /// Remaining bytes.
    left: Cell<usize>,
}

impl<F> ReferenceFiller<'_, F> {
    /// Takes a value's size from the budget; false if the budget does not suffice.
    fn take_budget(&self, value: &Value) -> bool {
        let left = self.left.get().checked_sub(size(value));
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// Approximate size of the value as JSON, in bytes.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| size(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| name.len() + size(field) + 4).sum::<usize>() + 2
        }
        _ => 8,
    }
}

fn fields<'v>(
    params: &Map<String, Value>,
    filler: &ReferenceFiller<'_, impl Fn(usize) -> Option<Vec<&'v Value>>>,
) -> Result<Map<String, Value>, MissingValue> {
    params.iter().map(|(name, value)| Ok((name.clone(), fill_reference(value, filler)?))).collect()
}

fn fill_reference<'v>(
    value: &Value,
    filler: &ReferenceFiller<'_, impl Fn(usize) -> Option<Vec<&'v Value>>>,
) -> Result<Value, MissingValue> {
    match value {
        Value::String(text) => in_text(text, filler),
        Value::Array(items) => items.iter().map(|item| fill_reference(item, filler)).collect(),
        Value::Object(params) => fields(params, filler).map(Value::Object),
        scalar => Ok(scalar.clone()),
    }
}

fn in_text<'v>(
    text: &str,
    filler: &ReferenceFiller<'_, impl Fn(usize) -> Option<Vec<&'v Value>>>,
) -> Result<Value, MissingValue> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        if let Some(after) = from.strip_prefix("$$") {
            out.push('$');
            rest = after;
        } else if let Some(reference) = reference(from) {
            let value = value(&reference, filler)?;
            if reference.text == text {
                return Ok(value);
            }
            out.push_str(&plain_text(&value));
            rest = from.get(reference.text.len()..).unwrap_or_default();
        } else {
            out.push('$');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    Ok(Value::String(out))
}

fn value<'v>(
    reference: &AnswerReference<'_>,
    filler: &ReferenceFiller<'_, impl Fn(usize) -> Option<Vec<&'v Value>>>,
) -> Result<Value, MissingValue> {
    let missing =
        |why: MissingReason| MissingValue { reference: reference.text.to_owned(), call: reference.call, why };
    if reference.call == 0 || reference.call >= filler.own {
        return Err(missing(MissingReason::NotBefore));
    }
    let forms = (filler.answered)(reference.call).ok_or_else(|| missing(MissingReason::NoAnswer))?;
    let mut first = None;
    for (at, form) in forms.iter().enumerate() {
        match value_at(form, &reference.steps) {
            // As with `fields`, a secret is unmasked only if it is named itself: objects and lists are inserted as
            // shown.
            Ok(found) if holds_fields(found) && at + 1 < forms.len() => {}
            Ok(found) if filler.take_budget(found) => return Ok(found.clone()),
            Ok(_) => return Err(missing(MissingReason::TooLarge)),
            Err(why) => first = first.or(Some(why)),
        }
    }
    Err(missing(first.unwrap_or(MissingReason::NoAnswer)))
}

fn holds_fields(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().any(holds_fields),
        _ => false,
    }
}

/// The value at a path. A leading `data` that is not a field is skipped.
fn value_at<'v>(data: &'v Value, steps: &[ReferenceStep<'_>]) -> Result<&'v Value, MissingReason> {
    let steps = match steps {
        [ReferenceStep::Field("data"), rest @ ..] if data.get("data").is_none() => rest,
        steps => steps,
    };
    steps.iter().try_fold(data, |value, step| match (step, value) {
        (ReferenceStep::Field(name), Value::Object(fields)) => fields.get(*name).ok_or_else(|| {
            MissingReason::NoField { step: (*name).to_owned(), fields: fields.keys().cloned().collect() }
        }),
        (ReferenceStep::Row(at), Value::Array(rows)) => {
            rows.get(*at).ok_or(MissingReason::List { rows: rows.len() })
        }
        (_, Value::Array(rows)) => Err(MissingReason::List { rows: rows.len() }),
        (ReferenceStep::Field(name), _) => Err(MissingReason::Leaf { step: (*name).to_owned() }),
        (ReferenceStep::Row(at), Value::Object(fields)) => {
            Err(MissingReason::NoField { step: format!("[{at}]"), fields: fields.keys().cloned().collect() })
        }
        (ReferenceStep::Row(at), _) => Err(MissingReason::Leaf { step: format!("[{at}]") }),
    })
}

fn references(text: &str) -> Vec<AnswerReference<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let from = rest.get(at..).unwrap_or_default();
        let reference = reference(from).filter(|_| !from.starts_with("$$"));
        let length =
            if from.starts_with("$$") { 2 } else { reference.as_ref().map_or(1, |it| it.text.len()) };
        found.extend(reference);
        rest = from.get(length..).unwrap_or_default();
    }
    found
}

/// Parses a reference at the start of a text. A number alone is one only if no letter follows; prices and shell
/// variables are plain text.
fn reference(text: &str) -> Option<AnswerReference<'_>> {
    let after = text.strip_prefix('$')?;
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let call = after.get(..digits)?.parse::<usize>().ok().filter(|_| digits <= 2)?;
    let mut rest = after.get(digits..)?;
    let mut steps = Vec::new();
    while let Some((step, length)) = step(rest) {
        steps.push(step);
        rest = rest.get(length..)?;
    }
    let length = text.len() - rest.len();
    let alone = steps.is_empty() && !rest.is_empty();
    (!alone).then(|| AnswerReference { text: text.get(..length).unwrap_or_default(), call, steps })
}

/// `.name` or `[0]`, with its length.
fn step(text: &str) -> Option<(ReferenceStep<'_>, usize)> {
    if let Some(name) = text.strip_prefix('.') {
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let name = name.get(..end)?;
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        return is_name.then(|| (ReferenceStep::Field(name), end + 1));
    }
    let (number, _) = text.strip_prefix('[')?.split_once(']')?;
    number.parse().ok().map(|row| (ReferenceStep::Row(row), number.len() + 2))
}

fn visit(value: &Value, see: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(items) => items.iter().for_each(|item| visit(item, see)),
        Value::Object(fields) => fields.values().for_each(|field| visit(field, see)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fill(params: Value) -> Result<Value, MissingValue> {
        let data = [
            json!({"iid": 7, "labels": ["a", "b"], "author": {"username": "alice"}}),
            json!([{"name": "main"}, {"name": "next"}]),
        ];
        let answered = |call: usize| call.checked_sub(1).and_then(|at| data.get(at)).map(|data| vec![data]);
        fill_references(params.as_object().unwrap(), 4, &answered).map(Value::Object)
    }

    #[test]
    fn a_whole_reference_keeps_its_type_and_others_are_interpolated() {
        let params = json!({
            "iid": "$1.iid", "labels": "$1.labels", "all": "$2", "by": {"deep": ["$2[1].name"]},
            "text": "Follows #$1.iid of $1.author.username ($1.data.iid), on $2[0].name.",
        });
        assert_eq!(
            fill(params).unwrap(),
            json!({
                "iid": 7, "labels": ["a", "b"], "all": [{"name": "main"}, {"name": "next"}],
                "by": {"deep": ["next"]}, "text": "Follows #7 of alice (7), on main.",
            })
        );
    }

    #[test]
    fn objects_and_lists_are_inserted_as_shown() {
        let raw = json!({"key": "A", "value": "hunter2", "tags": ["x"], "owner": {"token": "t"}});
        let shown = json!({"key": "A", "value": "(masked)"});
        let answered = |_: usize| Some(vec![&raw, &shown]);
        let fill = |text: &str| {
            let params = Map::from_iter([("it".to_owned(), json!(text))]);
            fill_references(&params, 2, &answered).map(|mut params| params.remove("it").unwrap())
        };
        assert_eq!(fill("$1.value").unwrap(), "hunter2", "by its own name");
        assert_eq!(fill("$1.tags").unwrap(), json!(["x"]));
        assert_eq!(fill("$1").unwrap(), shown);
        assert_eq!(fill("all: $1").unwrap(), json!(format!("all: {shown}")));
        assert!(fill("$1.owner").is_err(), "it was not shown");
    }

    #[test]
    fn similar_texts_are_not_references() {
        for text in ["$5.00 off", "a $VARIABLE", "$", "$1st", "100$", "$123456.iid"] {
            assert_eq!(fill(json!({"text": text})).unwrap()["text"], text);
            assert!(referenced_calls(&json!(text)).is_empty(), "{text}");
        }
        assert_eq!(fill(json!({"text": "$$1.iid and $$"})).unwrap()["text"], "$1.iid and $");
        assert_eq!(referenced_calls(&json!({"a": ["x $3.b", {"c": "$1[0]"}], "d": "$$2.x"})), [3, 1]);
    }

    #[test]
    fn inserted_values_have_a_size_limit() {
        let text = json!({"text": "x".repeat(MAX_FILLED_BYTES / 4)});
        let answered = |_: usize| Some(vec![&text]);
        let fill = |params: Value| fill_references(params.as_object().unwrap(), 2, &answered);
        assert!(fill(json!({"a": "$1.text$1.text", "b": ["$1.text"]})).is_ok());
        for params in [json!({"a": "$1.text".repeat(5)}), json!({"a": ["$1", "$1", "$1", "$1", "$1"]})] {
            assert_eq!(fill(params).unwrap_err().why, MissingReason::TooLarge);
        }
    }

    #[test]
    fn a_missing_value_lists_the_available_fields() {
        let why = |text: &str| fill(json!({"text": text})).unwrap_err().why;
        let fields = vec!["iid".to_owned(), "labels".to_owned(), "author".to_owned()];
        assert_eq!(why("$1.idd"), MissingReason::NoField { step: "idd".to_owned(), fields });
        assert_eq!(why("see $2.name"), MissingReason::List { rows: 2 });
        assert_eq!(why("$2[2].name"), MissingReason::List { rows: 2 });
        assert_eq!(why("$1.iid.more"), MissingReason::Leaf { step: "more".to_owned() });
        assert_eq!(why("$3.iid"), MissingReason::NoAnswer);
        assert_eq!(why("$4.iid"), MissingReason::NotBefore);
        assert_eq!(why("$0.iid"), MissingReason::NotBefore);
    }
}
