//! Incremental scanner of a JSON message: nesting depth and `id`, without parsing or buffering the message.

use serde_json::Value;

/// Maximum length of a returned id in bytes.
const LONGEST_ID: usize = 200;

const KEY: &[u8] = b"\"id\"";

/// State of the scanner.
#[derive(Debug, Default)]
pub(super) struct Outline {
    depth: usize,
    deepest: usize,
    in_string: bool,
    escaped: bool,
    /// True if the outermost value is an object and one of its keys is next or being scanned.
    at_key: bool,
    is_object: bool,
    /// Key, or value of the key `id`, being scanned.
    kept: Vec<u8>,
    in_id: bool,
    id: Option<Vec<u8>>,
}

impl Outline {
    /// Scans the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.take(*byte));
    }

    /// Nesting depth of objects and arrays.
    pub(super) fn nesting(&self) -> usize {
        self.deepest
    }

    /// Id of the message if it is an integer or a string, as JSON-RPC and MCP require; null otherwise.
    pub(super) fn id(&self) -> Value {
        let id = self.id.as_deref().and_then(|id| serde_json::from_slice::<Value>(id).ok());
        id.filter(|id| id.is_i64() || id.is_string()).unwrap_or_default()
    }

    fn take(&mut self, byte: u8) {
        if self.in_string {
            self.push_byte(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        let is_top = self.depth == 1 && self.is_object;
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                self.deepest = self.deepest.max(self.depth);
                if self.depth == 1 {
                    self.is_object = byte == b'{';
                    self.at_key = self.is_object;
                    self.kept.clear();
                }
                // An array or object is not a valid id.
                self.in_id &= self.depth < 2;
            }
            b'}' | b']' => {
                if is_top {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if is_top => {
                self.in_id = self.at_key && self.kept == KEY;
                self.at_key = false;
                self.kept.clear();
            }
            b',' if is_top => {
                self.end_value();
                self.at_key = true;
            }
            b'"' => {
                self.in_string = true;
                self.push_byte(byte);
            }
            byte if byte.is_ascii_whitespace() => {}
            byte => self.push_byte(byte),
        }
    }

    /// Keeps a byte of a key, or of the id.
    fn push_byte(&mut self, byte: u8) {
        if self.depth == 1 && (self.at_key || self.in_id) && self.kept.len() <= LONGEST_ID {
            self.kept.push(byte);
        }
    }

    fn end_value(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        if std::mem::take(&mut self.in_id) && kept.len() <= LONGEST_ID {
            self.id = Some(kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outline(text: &str, piece: usize) -> (Value, usize) {
        let mut outline = Outline::default();
        text.as_bytes().chunks(piece).for_each(|bytes| outline.feed(bytes));
        (outline.id(), outline.nesting())
    }

    #[test]
    fn the_id_is_found_wherever_it_is() {
        for (text, id) in [
            ("{\"id\": 7, \"params\": {\"id\": 8}}", json!(7)),
            ("{\"params\": {\"id\": 8, \"x\": [{}]}, \"id\":\"a\\\"b\"}", json!("a\"b")),
            ("{\"x\": \"\\\"id\\\": 9\", \"id\" : -3 }", json!(-3)),
            ("{\"x\": \"id\", \"y\": \"}\"}", Value::Null),
            ("{\"id\": 1.5}", Value::Null),
            ("{\"id\": [1]}", Value::Null),
            ("{\"id\": {\"id\": 1}}", Value::Null),
            ("[{\"id\": 1}]", Value::Null),
            ("\"id\": 4", Value::Null),
        ] {
            for piece in [1, 3, 100] {
                assert_eq!(outline(text, piece).0, id, "{text}");
            }
        }
    }

    #[test]
    fn the_depth_is_that_of_brackets_outside_strings() {
        assert_eq!(outline("{\"a\": [[\"[[[[\"]], \"b\": {}}", 2).1, 3);
    }
}
