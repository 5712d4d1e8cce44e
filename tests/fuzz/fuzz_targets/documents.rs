//! Documents of GraphQL: one that passes a policy of reads is a query, and is sent as it was parsed.

#![no_main]

mod checked;

use std::sync::LazyLock;

use checked::{CATALOG, call, sound};
use gitlab_mcp::call::Body;
use gitlab_mcp::policy::{Consent, Policy, PolicySettings, Ruling};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, json};

static READ_ONLY: LazyLock<Policy> = LazyLock::new(|| {
    Policy::new(PolicySettings { read_only: true, ..PolicySettings::default() }, &CATALOG).unwrap()
});

fuzz_target!(|text: &str| {
    let action = CATALOG.get("api.graphql").unwrap().unwrap();
    let Some(first) = call(action.clone(), Map::from_iter([("document".to_owned(), json!(text))])) else {
        return;
    };
    sound(&first);
    let Body::Json(body) = first.body() else { panic!("a document is JSON") };
    let sent = body["query"].as_str().unwrap().to_owned();
    // The sent document parses to the same: nothing changes its meaning on the way.
    let again = call(action, Map::from_iter([("document".to_owned(), json!(sent))])).unwrap();
    assert_eq!(again.body(), first.body());
    assert_eq!(again.touches(), first.touches());
    if READ_ONLY.decide(first.effects(), Consent::default()) == Ruling::Allow {
        assert!(sent.trim_start().starts_with(['q', '{', 'f']), "{sent}");
    }
});
