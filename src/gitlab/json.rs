//! Parser of JSON bodies with a limit on the number of values. A limit on bytes alone does not bound memory: eight
//! bytes of JSON may take several hundred bytes.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Maximum number of values and keys kept of a body. A page of a hundred of the largest objects that GitLab lists has
/// about 40,000. The maximum takes about 25 MB, not counting strings.
const MAX_VALUES: usize = 125_000;

/// A parsed body.
#[derive(Debug, PartialEq)]
pub(super) enum Parsed {
    Whole(Value),
    /// The first rows of a list, and its total number of rows.
    First {
        rows: Value,
        came: usize,
    },
    /// More values than are kept, and not a list.
    TooMany {
        limit: usize,
    },
}

/// Parses a body; `None` if it is not JSON. A byte order mark is skipped. Input that other parsers accept and this one
/// does not is replaced: a lone surrogate and bytes that are no UTF-8 by U+FFFD, a number out of range by its text.
pub(super) fn parse(bytes: &[u8]) -> Option<Parsed> {
    let bytes = without_mark(bytes);
    parse_within(bytes, MAX_VALUES).or_else(|| {
        let text = String::from_utf8_lossy(bytes);
        let repaired = repair(text.as_bytes());
        parse_within(repaired.as_deref().unwrap_or(text.as_bytes()), MAX_VALUES)
    })
}

/// True if a body begins as an object or a list does.
pub(super) fn is_object_or_list(bytes: &[u8]) -> bool {
    matches!(without_mark(bytes).trim_ascii_start().first(), Some(b'{' | b'['))
}

/// The body without its byte order mark (RFC 8259, section 8.1).
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Replaces lone surrogates and numbers out of range; `None` if there are none.
fn repair(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut in_text = false;
    while let Some((byte, after)) = rest.split_first() {
        let taken = match byte {
            b'\\' if in_text => {
                let (written, taken) = escape(rest);
                out.extend_from_slice(written);
                taken
            }
            b'"' => {
                in_text = !in_text;
                out.push(b'"');
                1
            }
            b'-' | b'0'..=b'9' if !in_text => {
                let is_number = |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E');
                let length = rest.iter().take_while(|byte| is_number(byte)).count();
                let number = rest.get(..length).unwrap_or_default();
                let value = std::str::from_utf8(number).ok().and_then(|text| text.parse::<f64>().ok());
                let quote: &[u8] = if value.is_some_and(f64::is_infinite) { b"\"" } else { b"" };
                [quote, number, quote].iter().for_each(|part| out.extend_from_slice(part));
                length
            }
            _ => {
                out.push(*byte);
                1
            }
        };
        rest = if taken == 1 { after } else { rest.get(taken..).unwrap_or_default() };
    }
    (out != bytes).then_some(out)
}

/// Normalizes the escape at the start of a text and returns it with its length. A lone surrogate becomes U+FFFD.
fn escape(text: &[u8]) -> (&[u8], usize) {
    let high = match unit(text) {
        None => return (text.get(..2).unwrap_or(text), 2),
        Some(unit) if !(0xD800..=0xDFFF).contains(&unit) => return (text.get(..6).unwrap_or(text), 6),
        Some(unit) => unit < 0xDC00,
    };
    let low = text.get(6..).and_then(unit);
    if high && low.is_some_and(|low| (0xDC00..=0xDFFF).contains(&low)) {
        (text.get(..12).unwrap_or(text), 12)
    } else {
        (b"\\ufffd", 6)
    }
}

/// Parses the code unit of the `\uXXXX` at the start of a text.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn parse_within(bytes: &[u8], most: usize) -> Option<Parsed> {
    let count = Count { left: Cell::new(most), is_over: Cell::new(false) };
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let is_list = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let parsed = if is_list {
        let (rows, came) = JsonRows(&count).deserialize(&mut parser).ok()?;
        match rows.len() {
            shown if shown == came => Parsed::Whole(Value::Array(rows)),
            0 => Parsed::TooMany { limit: most },
            _ => Parsed::First { rows: Value::Array(rows), came },
        }
    } else {
        let value = Element(&count).deserialize(&mut parser).ok()?;
        if count.is_over.get() { Parsed::TooMany { limit: most } } else { Parsed::Whole(value) }
    };
    parser.end().ok()?;
    Some(parsed)
}

/// Counter of the values that may still be kept.
struct Count {
    left: Cell<usize>,
    is_over: Cell<bool>,
}

impl Count {
    /// Counts one value or key. Returns false once the limit is exceeded.
    fn take(&self) -> bool {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => self.is_over.set(true),
        }
        !self.is_over.get()
    }
}

/// Seed of a top-level list: the rows within the limit, and the number of all rows.
struct JsonRows<'c>(&'c Count);

impl<'de> DeserializeSeed<'de> for JsonRows<'_> {
    type Value = (Vec<Value>, usize);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for JsonRows<'_> {
    type Value = (Vec<Value>, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut rows = Vec::new();
        let mut came = 0;
        while !self.0.is_over.get() {
            let Some(row) = items.next_element_seed(Element(self.0))? else { return Ok((rows, came)) };
            came += 1;
            // The row that exceeded the limit is incomplete.
            if !self.0.is_over.get() {
                rows.push(row);
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            came += 1;
        }
        Ok((rows, came))
    }
}

/// Seed of any value. Nothing more is kept once the limit is exceeded.
struct Element<'c>(&'c Count);

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.0.take() {
            deserializer.deserialize_any(self)
        } else {
            deserializer.deserialize_ignored_any(IgnoredAny).map(|_| Value::Null)
        }
    }
}

impl<'de> Visitor<'de> for Element<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        while let Some(item) = items.next_element_seed(Element(self.0))? {
            if !self.0.is_over.get() {
                kept.push(item);
            }
        }
        Ok(Value::Array(kept))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut kept = Map::new();
        loop {
            if self.0.is_over.get() {
                while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Ok(Value::Object(kept));
            }
            let Some(key) = fields.next_key::<String>()? else { return Ok(Value::Object(kept)) };
            self.0.take();
            let value = fields.next_value_seed(Element(self.0))?;
            if !self.0.is_over.get() {
                kept.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn whole(text: &str) -> Option<Value> {
        match parse(text.as_bytes())? {
            Parsed::Whole(value) => Some(value),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_byte_order_mark_lone_surrogates_and_numbers_out_of_range_are_read() {
        for (text, value) in [
            ("\u{feff}{\"a\": 1}", json!({"a": 1})),
            (r#"{"a": "x\ud83dy"}"#, json!({"a": "x\u{fffd}y"})),
            (
                r#"["\ude00", "\ud83d\ude00", "\ud83d\ud83d\ude00", "\\ud83d"]"#,
                json!(["\u{fffd}", "\u{1f600}", "\u{fffd}\u{1f600}", "\\ud83d"]),
            ),
            (
                r#"{"n": 1e400, "m": -1e999, "k": 1e3, "text": "\" 1e400"}"#,
                json!({"n": "1e400", "m": "-1e999", "k": 1e3, "text": "\" 1e400"}),
            ),
        ] {
            assert_eq!(whole(text), Some(value), "{text}");
        }
        let one_bad_byte = b"[{\"title\": \"caf\xe9\", \"n\": 1e400}, {\"title\": \"tea\"}]";
        let read = json!([{"title": "caf\u{fffd}", "n": "1e400"}, {"title": "tea"}]);
        assert_eq!(parse(one_bad_byte), Some(Parsed::Whole(read)));
        for text in [r#"{"a": "\ud83d"#, r#"{"iid": 1, "ti"#, "{\"a\": 1e400", "\u{feff}", r#"["\u12"]"#] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn bodies_within_the_limit_parse_as_with_serde_json() {
        for text in [
            "null",
            " true ",
            "-1",
            "18446744073709551615",
            "1.5e3",
            "123456789012345678901234567890",
            "\"a\\u00e9\\ud83d\\ude00\"",
            "[]",
            " [1,[2,{\"a\":null}]] ",
            "{\"a\":1,\"b\":{},\"a\":2}",
            "",
            "{",
            "[1,",
            "[1] x",
            "{\"a\":1}{}",
            "nul",
            "[1,]",
        ] {
            assert_eq!(whole(text), serde_json::from_str::<Value>(text).ok(), "{text}");
        }
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(whole(&deep), None);
    }

    #[test]
    fn a_list_keeps_its_first_rows_and_counts_the_rest() {
        let text = json!(vec![json!({"a": 1}); 100]).to_string();
        let Some(Parsed::First { rows, came }) = parse_within(text.as_bytes(), 31) else { panic!() };
        assert_eq!((rows, came), (json!(vec![json!({"a": 1}); 10]), 100));
        assert_eq!(parse_within(b"[[1,2,3,4],1]", 3), Some(Parsed::TooMany { limit: 3 }), "no row is whole");
        assert_eq!(parse_within(b"[1,2,3,", 2), None, "the rest is read all the same");
        assert_eq!(parse_within(b"[1,2,3]", 3), Some(Parsed::Whole(json!([1, 2, 3]))));
    }

    #[test]
    fn an_object_beyond_the_limit_is_refused() {
        assert_eq!(parse_within(b"{\"a\":[1,2,3,4]}", 5), Some(Parsed::TooMany { limit: 5 }));
        assert_eq!(parse_within(b"{\"a\":1,\"b\":2,\"c\":3}", 6), Some(Parsed::TooMany { limit: 6 }));
        assert_eq!(parse_within(b"{\"a\":1}", 3), Some(Parsed::Whole(json!({"a": 1}))));
        assert_eq!(parse_within(b"{\"a\":1,\"b\":2,\"c\":", 4), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_first_rows_are_kept(lengths in proptest::collection::vec(0usize..9, 0..40), most in 0usize..120) {
            let rows: Vec<Value> = lengths.iter().map(|length| json!(vec![json!({"k": 1}); *length])).collect();
            let list = json!(rows);
            match parse_within(list.to_string().as_bytes(), most).unwrap() {
                Parsed::Whole(value) => prop_assert_eq!(value, list),
                Parsed::First { rows: kept, came } => {
                    let kept = kept.as_array().unwrap();
                    prop_assert_eq!(kept.as_slice(), &rows[..kept.len()]);
                    prop_assert!(kept.len() < came && came == rows.len());
                }
                Parsed::TooMany { .. } => prop_assert!(!rows.is_empty()),
            }
        }
    }
}
