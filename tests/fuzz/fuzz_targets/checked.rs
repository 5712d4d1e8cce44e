//! Shared by the targets: a call checked as execute checks it, and the properties of every call.

use std::sync::LazyLock;

use gitlab_mcp::call::{Call, Context, Lookup, LookupAnswer, LookupCache, Step, check};
use gitlab_mcp::catalog::{Action, Catalog, Scope};
use serde_json::{Map, Value};
use url::Url;

pub static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().unwrap());
static BASE: LazyLock<Url> = LazyLock::new(|| Url::parse("https://gitlab.example/sub/").unwrap());

/// The call that the parameters make; every look-up finds a project or the id 7.
pub fn call(action: Action, params: Map<String, Value>) -> Option<Call> {
    let context = Context {
        base: &BASE,
        words: CATALOG.words().unwrap(),
        surface: CATALOG.operations().unwrap(),
        catalog: &CATALOG,
        quick_actions: Default::default(),
    };
    let checked = check(action, params, &context).ok()?;
    let mut known = LookupCache::default();
    for _ in 0..5 {
        match checked.step(&known).ok()? {
            Step::Ready(call) => return Some(call),
            Step::Params(_) => return None,
            Step::Ask(questions) => questions.into_iter().for_each(|question| {
                let answer = match question {
                    Lookup::KindOf { .. } => LookupAnswer::Kind(Scope::Project),
                    _ => LookupAnswer::Id(7),
                };
                known.learn(question, answer);
            }),
        }
    }
    None
}

/// Checks that a call stays below the configured URL, at the path that policy decided on.
pub fn sound(call: &Call) {
    assert!(call.path().starts_with("/api/"), "{}", call.path());
    assert!(!call.path().split('/').any(|part| part == "." || part == ".."), "{}", call.path());
    assert!(!call.path().contains(['?', '#', '\\']) && call.path().is_ascii(), "{}", call.path());
    let url = BASE.join(&format!("/sub{}", call.path())).unwrap();
    assert_eq!(url.path(), format!("/sub{}", call.path()));
    assert_eq!(url.host_str(), Some("gitlab.example"));
    assert!(!call.touches().is_empty());
}
