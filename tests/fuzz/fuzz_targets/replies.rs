//! JSON as in responses of GitLab: the presented answer is within its budget, cleaned, and inside its tags.

#![no_main]

mod shown;

use gitlab_mcp::present::{ContentKind, GivenContent, Options, present};
use gitlab_mcp::text::Position;
use gitlab_mcp::untrusted::Secrets;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// A continued text is counted without its escapes.
const ESCAPED: usize = 2;

fuzz_target!(|data: &[u8]| {
    let Some((choice, json)) = data.split_first() else { return };
    let Ok(value) = serde_json::from_slice::<Value>(json) else { return };
    let fields = ["title".to_owned(), "author.username".to_owned(), "pipelines[].status".to_owned()];
    let kind =
        ContentKind { log: false, variables: choice & 1 > 0, secret_file: false, made: choice & 2 > 0 };
    let options = Options {
        fields: if choice & 4 > 0 { &fields } else { &[] },
        full: choice & 8 > 0,
        unmasked: choice & 16 > 0,
        place: (choice & 32 > 0).then_some(Position::Byte(100)),
        ..Options::new(kind, 2_000, Secrets::NONE)
    };
    let presented = present(GivenContent::Json(value), &options);
    shown::sound(&presented);
    assert!(presented.data.to_string().len() <= options.budget * ESCAPED, "{}", presented.data);
});
