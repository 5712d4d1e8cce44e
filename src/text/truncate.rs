//! Truncation to a budget of bytes: whole rows of a list, long texts cut at a line, never half a character.

use std::io;

use serde_json::{Map, Value};

use super::window::{Position, Window, lines_within, window};

/// Maximum number of cut texts for which there is a call that continues them.
pub const MAX_CUT: usize = 10;

/// Maximum number of those in a list; the others are continued in the same way.
const MAX_CUT_IN_LISTS: usize = 3;

/// A text of which a part is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The field, or nothing where the whole answer is a text.
    pub path: Option<String>,
    pub window: Window,
}

/// A value that fits, with a record of the cut parts.
pub struct Limited {
    pub value: Value,
    pub rows: Option<(usize, usize)>,
    pub cut: Vec<Cut>,
    /// Note on fields, items and texts that were left out or cut.
    pub note: Option<String>,
}

/// Maximum number of lengths of texts that are tried before the minimum is used.
const MAX_TRIES: usize = 3;

/// A key longer than this is cut where a value does not fit otherwise.
const LONGEST_KEY: usize = 120;

/// Maximum length in bytes of the path of a cut text; one with a longer path cannot be asked for by itself.
const LONGEST_PATH: usize = 500;

/// Minimum bytes of a field when many share the budget.
const MIN_FIELD_BYTES: usize = 64;

/// Fits a value of any shape into the budget.
pub fn within(whole: Value, budget: usize) -> Limited {
    if fits(&whole, budget) {
        return Limited { value: whole, rows: None, cut: Vec::new(), note: None };
    }
    // A list of things with long texts shows more things and less of each.
    let least = if whole.is_array() { budget / 20 } else { budget / 50 };
    let mut longest = fair_share(&whole, budget).clamp(least, (budget * 3 / 4).max(least));
    let mut tries = 1;
    let (value, cut, rows) = loop {
        let (mut value, mut cut) = (whole.clone(), Vec::new());
        shorten(&mut value, longest, (&mut String::new(), false), &mut cut);
        let rows = value.as_array_mut().and_then(|items| keep_rows(items, budget));
        if rows.is_some() || longest == least || fits(&value, budget) {
            break (value, cut, rows);
        }
        // Line breaks and quotes take more bytes as JSON than in the text; the rest of the value does not shrink.
        let scaled = longest * budget / size(&value) * 19 / 20;
        longest = if tries == MAX_TRIES { least } else { scaled.max(least) };
        tries += 1;
    };
    let mut left_out = LeftOut::default();
    // One row or field is shown however small the budget.
    let value = fitted(value, budget.max(4 * MIN_FIELD_BYTES), &mut left_out);
    Limited { value, rows, cut, note: left_out.note() }
}

/// The bytes that each text of a value may have so that all of it fits: short texts are whole, long ones share the rest.
fn fair_share(value: &Value, budget: usize) -> usize {
    // The sign of a cut text: `… (800 of 12000 bytes)`.
    const SIGN: usize = 30;
    let mut texts = Vec::new();
    text_sizes(value, &mut texts);
    let structure = size(value).saturating_sub(texts.iter().sum());
    let signs = texts.iter().filter(|text| **text > budget / 50).count() * SIGN;
    share(&texts, budget.saturating_sub(structure + signs))
}

/// The bytes that each text takes as JSON.
fn text_sizes(value: &Value, sizes: &mut Vec<usize>) {
    match value {
        Value::String(_) => sizes.push(size(value)),
        Value::Array(items) => items.iter().for_each(|item| text_sizes(item, sizes)),
        Value::Object(map) => map.values().for_each(|value| text_sizes(value, sizes)),
        _ => {}
    }
}

/// Fits a value into at most `budget` bytes of JSON: the first rows and fields stay whole, long ones are cut, the rest
/// is left out. Returns a note on what was left out.
pub fn fit(value: Value, budget: usize) -> (Value, Option<String>) {
    let mut left_out = LeftOut::default();
    let value = fitted(value, budget, &mut left_out);
    (value, left_out.note())
}

/// Truncates a list to the rows that could fit at all, before any costly step. Returns the total if rows were dropped.
pub fn keep_possible(value: &mut Value, budget: usize) -> Option<usize> {
    // `0,`
    const LEAST_ROW: usize = 2;
    let items = value.as_array_mut()?;
    let (most, total) = ((budget / LEAST_ROW).max(1), items.len());
    items.truncate(most);
    (total > most).then_some(total)
}

fn keep_rows(items: &mut Vec<Value>, budget: usize) -> Option<(usize, usize)> {
    let total = items.len();
    let mut used = 2;
    let fitting = items
        .iter()
        .take_while(|item| {
            used += size(item) + 1;
            used <= budget
        })
        .count();
    let shown = fitting.max(1);
    items.truncate(shown);
    (shown < total).then_some((shown, total))
}

/// Counts of omitted values.
#[derive(Clone, Copy, Default)]
struct LeftOut {
    items: usize,
    fields: usize,
    cut: usize,
}

impl LeftOut {
    fn note(&self) -> Option<String> {
        let counts = [
            (self.fields, "fields left out"),
            (self.items, "items of lists left out"),
            (self.cut, "texts and names cut"),
        ];
        let said: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        (!said.is_empty()).then(|| format!("too long to show whole: {}", said.join(", ")))
    }
}

fn fitted(value: Value, budget: usize, left_out: &mut LeftOut) -> Value {
    if fits(&value, budget) {
        return value;
    }
    match value {
        Value::String(text) => {
            left_out.cut += 1;
            Value::String(cut(&text, budget))
        }
        Value::Array(items) => {
            let total = items.len();
            let mut kept = Vec::new();
            let mut used = 2;
            for item in items {
                let size = size_within(&item, budget.saturating_sub(used + 1));
                match size {
                    Some(size) => used += size + 1,
                    None if kept.is_empty() && budget > used + MIN_FIELD_BYTES => {
                        kept.push(fitted(item, budget - used, left_out));
                        break;
                    }
                    None => break,
                }
                kept.push(item);
            }
            left_out.items += total - kept.len();
            Value::Array(kept)
        }
        Value::Object(map) => Value::Object(fitted_fields(map, budget, left_out)),
        // A number longer than the budget.
        _ => Value::Null,
    }
}

/// Truncates the fields of an object: small ones are kept, large ones are cut to equal shares of the remaining budget.
fn fitted_fields(map: Map<String, Value>, budget: usize, left_out: &mut LeftOut) -> Map<String, Value> {
    let total = map.len();
    let mut kept = Map::new();
    let mut used = 2;
    let sizes: Vec<usize> =
        map.iter().map(|(key, value)| key_size(key) + size_within(value, budget).unwrap_or(budget)).collect();
    let share = share(&sizes, budget.saturating_sub(used)).max(MIN_FIELD_BYTES);
    for (key, value) in map {
        let key = if key.len() > LONGEST_KEY {
            left_out.cut += 1;
            format!("{}…", key.get(..key.floor_char_boundary(LONGEST_KEY)).unwrap_or_default())
        } else {
            key
        };
        let room = share.min(budget.saturating_sub(used)).saturating_sub(key_size(&key));
        let before = *left_out;
        let value = fitted(value, room, left_out);
        let Some(size) = size_within(&value, room) else {
            // Not even the least of it fits.
            *left_out = before;
            break;
        };
        used += key_size(&key) + size;
        kept.insert(key, value);
    }
    left_out.fields += total - kept.len();
    kept
}

/// Bytes of a field apart from its value: `"key":,`.
fn key_size(key: &str) -> usize {
    serde_json::to_string(key).map_or(key.len(), |text| text.len()) + 2
}

/// The most bytes of each of several, so that all together have no more than the budget.
pub fn share(sizes: &[usize], budget: usize) -> usize {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut left = budget;
    for (at, size) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - at);
        if *size > share {
            return share;
        }
        left -= size;
    }
    usize::MAX
}

/// The beginning of a text that takes at most so many bytes of JSON with the sign that it is cut.
fn cut(text: &str, budget: usize) -> String {
    let mut bytes = budget.saturating_sub(MIN_FIELD_BYTES / 2);
    loop {
        let shown = lines_within(text, bytes);
        let said = if bytes == 0 {
            "…".to_owned()
        } else {
            format!("{shown}… ({} of {} bytes)", shown.len(), text.len())
        };
        if bytes == 0 || fits(&Value::String(said.clone()), budget) {
            return said;
        }
        // Escaped characters take more bytes than plain ones.
        bytes = bytes * 3 / 4;
    }
}

/// Returns true if a value takes at most `budget` bytes of JSON. Serializes no more than that.
pub fn fits(value: &Value, budget: usize) -> bool {
    size_within(value, budget).is_some()
}

fn size(value: &Value) -> usize {
    size_within(value, usize::MAX).unwrap_or(usize::MAX)
}

/// Size of a value as JSON in bytes. None if it exceeds the budget.
pub fn size_within(value: &Value, budget: usize) -> Option<usize> {
    let mut counted = Counted { bytes: 0, budget };
    serde_json::to_writer(&mut counted, value).ok().map(|()| counted.bytes)
}

/// Counts the bytes written, up to a budget.
struct Counted {
    bytes: usize,
    budget: usize,
}

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        if self.bytes > self.budget { Err(io::ErrorKind::WriteZero.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Cuts every text that is longer than that. In the path of a cut, items of a list are counted from 0: `changes.3.diff`.
fn shorten(value: &mut Value, longest: usize, (path, in_list): (&mut String, bool), cut: &mut Vec<Cut>) {
    match value {
        Value::String(text) if text.len() > longest => {
            let shown = lines_within(text, longest).to_owned();
            let is_named = !path.is_empty() && path.len() <= LONGEST_PATH;
            let most = if in_list { MAX_CUT_IN_LISTS } else { MAX_CUT };
            if is_named && cut.len() < most {
                cut.push(Cut {
                    path: Some(path.clone()),
                    window: window(text, Position::Beginning, longest),
                });
            }
            *text = format!("{shown}… ({} of {} bytes)", shown.len(), text.len());
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                let length = path.len();
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&at.to_string());
                shorten(item, longest, (path, true), cut);
                path.truncate(length);
            }
        }
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                let length = path.len();
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
                shorten(value, longest, (path, in_list), cut);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_small_are_whole_and_the_large_have_equal_shares() {
        assert_eq!(share(&[10, 20, 30], 60), usize::MAX);
        assert_eq!(share(&[10, 500, 700], 110), 50);
        assert_eq!(share(&[500, 10, 30], 110), 70);
        assert_eq!(share(&[], 110), usize::MAX);
    }

    #[test]
    fn many_keys_nulls_and_long_keys_fit() {
        let keys: Map<String, Value> = (0..100_000).map(|n| (format!("key_{n}"), json!(1))).collect();
        let row: Map<String, Value> = (0..2_000).map(|n| (format!("c{n}"), Value::Null)).collect();
        for value in [
            Value::Object(keys),
            json!({"nulls": vec![Value::Null; 300_000]}),
            json!({"k".repeat(1_000_000): 1}),
            json!([{"k".repeat(1_000_000): "v".repeat(1_000_000)}]),
            json!(vec![Value::Object(row); 50]),
            json!([[[["\"".repeat(100_000)]]]]),
        ] {
            let limited = within(value, 1_000);
            assert!(limited.value.to_string().len() <= 1_000, "{}", limited.value.to_string().len());
            let is_told = limited.rows.is_some() || limited.note.is_some();
            assert!(is_told || limited.value.to_string().contains(" bytes)"));
            assert!(limited.value.to_string().len() > 100, "{}", limited.value);
        }
    }

    #[test]
    fn texts_with_many_line_breaks_share_the_budget_and_are_counted_whole() {
        let text = "x\n".repeat(3_000);
        let limited = within(json!({"a": text, "b": text, "c": 1}), 10_000);
        for field in ["a", "b"] {
            let shown = limited.value[field].as_str().unwrap();
            assert!(shown.len() > 2_000, "{}", shown.len());
            assert!(shown.ends_with(" of 6000 bytes)"), "{shown}");
        }
        assert!(limited.cut.iter().all(|cut| cut.window.total_bytes == 6_000), "{:?}", limited.cut);
        assert!(fits(&limited.value, 10_000));
    }

    #[test]
    fn cut_texts_are_named_up_to_a_number_and_a_length() {
        let start = std::time::Instant::now();
        let texts: Map<String, Value> =
            (0..10_000).map(|n| (format!("t{n}"), json!("x".repeat(2_000)))).collect();
        let long = "k".repeat(1_000_000);
        for (value, most) in [(json!({&long: texts}), 0), (json!({"a": texts}), MAX_CUT)] {
            let limited = within(value, 20_000);
            assert!(limited.cut.len() <= most, "{}", limited.cut.len());
        }
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            ".{0,80}".prop_map(Value::String),
            Just(json!(null)),
            any::<f64>().prop_map(|n| json!(n))
        ];
        leaf.prop_recursive(4, 64, 12, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..12).prop_map(Value::Array),
                proptest::collection::vec((".{0,150}", inner), 0..12)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn everything_fits(value in value(), budget in 256usize..4_000) {
            let whole = value.to_string().len();
            let (fitted, note) = fit(value.clone(), budget);
            prop_assert!(fitted.to_string().len() <= budget);
            prop_assert_eq!(note.is_none(), whole <= budget);
            if whole <= budget {
                prop_assert_eq!(fitted, value);
            }
        }
    }
}
