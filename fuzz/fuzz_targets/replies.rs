//! JSON as GitLab, or who wrote it there, may send: within its budget, cleaned, inside its marks.

#![no_main]

mod shown;

use gitlab_mcp::present::{Content, Kind, Options, Place, present};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// So much may a single row, or what names what was left out, be beyond the budget.
const BEYOND: usize = 4;

fuzz_target!(|data: &[u8]| {
    let Some((choice, json)) = data.split_first() else { return };
    let Ok(value) = serde_json::from_slice::<Value>(json) else { return };
    let fields = ["title".to_owned(), "author.username".to_owned(), "pipelines[].status".to_owned()];
    let options = Options {
        kind: Kind { log: false, variables: choice & 1 > 0, secret_file: false, made: choice & 2 > 0 },
        fields: if choice & 4 > 0 { &fields } else { &[] },
        full: choice & 8 > 0,
        unmasked: choice & 16 > 0,
        budget: 2_000,
        place: (choice & 32 > 0).then_some(Place::Byte(100)),
    };
    let size = json.len();
    let presented = present(Content::Json(value), &options);
    shown::sound(&presented);
    assert!(presented.data.to_string().len() <= (size * 8).max(options.budget * BEYOND), "{}", presented.data);
});
