//! Parameters of any action: its number in two bytes, then JSON.

#![no_main]

mod checked;

use checked::{CATALOG, call, sound};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Some((number, json)) = data.split_at_checked(2) else { return };
    let number = usize::from(u16::from_le_bytes([number[0], number[1]])) % CATALOG.len();
    let Ok(Value::Object(params)) = serde_json::from_slice(json) else { return };
    let _ = call(CATALOG.action(number).unwrap(), params).map(|call| sound(&call));
});
