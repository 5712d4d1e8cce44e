//! JSON values inside a record.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A JSON value inside a record: plain in JSON, as text in postcard, which has no self-describing values.
#[derive(Clone, Debug, PartialEq)]
pub struct Json(pub serde_json::Value);

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            self.0.serialize(serializer)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            serde_json::Value::deserialize(deserializer).map(Json)
        } else {
            let text = String::deserialize(deserializer)?;
            serde_json::from_str(&text).map(Json).map_err(serde::de::Error::custom)
        }
    }
}
